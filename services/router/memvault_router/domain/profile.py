"""R-05 and R-06: the attention profile as numbers.

Counts come from three sliding windows. An empty window hands its weight to the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memvault_router.domain.state import Frequencies


@dataclass(frozen=True)
class Window:
    """The last `days` days count with `weight`; the weights of all windows sum to 1."""

    days: int
    weight: float


@dataclass(frozen=True)
class WindowCounts:
    """How often each label was asked within one window."""

    intents: Mapping[str, int]
    facets: Mapping[str, int]


@dataclass(frozen=True)
class Interest:
    """An entity or tag with its decayed weight, above 0."""

    name: str
    weight: float


@dataclass(frozen=True)
class InterestNumbers:
    """How interests grow and fade.

    `half_life_days` halves a weight. A delivered card adds `delivered`, an expanded one `expanded`, one dwelled on
    `dwelled`; feedback adds `liked` or takes `disliked`. `keep` names at most are kept per user.
    """

    half_life_days: float
    delivered: float
    expanded: float
    dwelled: float
    liked: float
    disliked: float
    keep: int

    def weight(self, kind: str) -> float:
        """Return what one access of this kind adds; an unknown kind counts as delivered."""
        return {"expanded": self.expanded, "dwelled": self.dwelled}.get(kind, self.delivered)


def combined(counts: Sequence[Mapping[str, int]], windows: Sequence[Window]) -> dict[str, float]:
    """Return label frequencies over the windows, the largest 1; empty when every window is empty.

    Args:
        counts: One mapping of label to count per window, in the order of `windows`.
        windows: The windows; those without counts give their weight to the others in proportion.
    """
    filled = [(window.weight, seen, sum(seen.values())) for window, seen in zip(windows, counts, strict=True)]
    filled = [item for item in filled if item[2] > 0]
    share = sum(weight for weight, _, _ in filled)
    if share <= 0:
        return {}
    frequencies: dict[str, float] = {}
    for weight, seen, total in filled:
        for label, count in seen.items():
            frequencies[label] = frequencies.get(label, 0.0) + weight / share * count / total
    largest = max(frequencies.values())
    return {label: value / largest for label, value in frequencies.items()}


def weighed(counts: Sequence[Mapping[str, int]], windows: Sequence[Window]) -> dict[str, float]:
    """Return label counts over the windows, each window's times its weight: a question within all of them counts 1.

    Args:
        counts: One mapping of label to count per window, in the order of `windows`.
        windows: The windows.
    """
    summed: dict[str, float] = {}
    for window, seen in zip(windows, counts, strict=True):
        for label, count in seen.items():
            summed[label] = summed.get(label, 0.0) + window.weight * count
    return summed


def frequencies(counts: Sequence[WindowCounts], windows: Sequence[Window]) -> Frequencies:
    """Return what the personal prior reads; the sample count is that of the longest window."""
    longest = max(range(len(windows)), key=lambda place: windows[place].days)
    return Frequencies(
        intents=combined([seen.intents for seen in counts], windows),
        facets=combined([seen.facets for seen in counts], windows),
        sample_count=sum(counts[longest].intents.values()),
        intent_counts=weighed([seen.intents for seen in counts], windows),
    )


def window_starts(now: datetime, windows: Sequence[Window]) -> tuple[datetime, ...]:
    """Return the first instant inside each window; an event at exactly that age still counts."""
    return tuple(now - timedelta(days=window.days) for window in windows)


def growth(at: datetime, epoch: datetime, half_life_days: float) -> float:
    """Return 2^(days since `epoch` / half life): the forward decay factor (Cormode et al. 2009).

    Adding `growth x weight` and dividing a sum by `growth(now)` decays every part by its own age, so that a store
    needs only an increment.
    """
    return float(2.0 ** ((at - epoch).total_seconds() / 86_400.0 / half_life_days))

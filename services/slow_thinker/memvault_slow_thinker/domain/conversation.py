"""What was said, and how far the talk has moved away from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Utterance:
    """One thing said. `at`: seconds since the epoch by event time. `event_id` makes it unique.

    `sequence` is its place in the stream: many clocks tell whole seconds only, and talk is faster.
    """

    event_id: str
    speaker: str
    text: str
    at: float
    sequence: int = 0


@dataclass(frozen=True)
class Place:
    """Whose conversation it is."""

    user_id: str
    conversation_id: str


def in_order(utterances: Sequence[Utterance]) -> tuple[Utterance, ...]:
    """Return the utterances by event time, then by place in the stream, then by event id, each id once."""
    unique = {utterance.event_id: utterance for utterance in utterances}
    return tuple(sorted(unique.values(), key=lambda one: (one.at, one.sequence, one.event_id)))


def topic_drift(vectors: Vectors) -> float:
    """Return how far the last utterance lies from everything said before it, in [0, 1] (R-52).

    One minus its best calibrated similarity (R-10a) to an earlier one: coming back to something said before
    is no drift. `vectors`: (n, d), centred, unit length, oldest first. 0 when there is nothing before.
    """
    if len(vectors) <= 1:
        return 0.0
    nearest = float((vectors[:-1] @ vectors[-1]).max())
    return 1.0 - min(max(nearest, 0.0), 1.0)

"""What a bench measures: sizes, sorts of stored vectors, modes, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from memvault_evals.house import Mode

PASSAGES_VARIABLE = "MEMVAULT__SEARCH__EMBEDDER__PASSAGES"
ENCODED = "encoded"
UNITS = {"k": 1000, "m": 1_000_000}


@dataclass(frozen=True)
class Vectors:
    """How passages get their vectors: `encoded`, or `synthetic:<seed>`. Questions are always encoded."""

    passages: str = ENCODED

    @property
    def synthetic(self) -> bool:
        """Whether they are invented."""
        return self.passages != ENCODED

    @property
    def name(self) -> str:
        """A word for folders."""
        return self.passages.replace(":", "-")

    def settings(self) -> dict[str, str]:
        """Settings of a house that stores such vectors."""
        return {PASSAGES_VARIABLE: self.passages}


@dataclass(frozen=True)
class Stage:
    """One size of a vault to measure. `marked` is how tables call it: a `*` says that stored vectors are invented."""

    size: int
    vectors: Vectors

    @property
    def marked(self) -> str:
        """Such as `100k*`."""
        return short(self.size) + ("*" if self.vectors.synthetic else "")


@dataclass(frozen=True)
class Plan:
    """Everything a run was told. `rounds` of the closed loop; `arrivals` of each rate of the open one."""

    stages: tuple[Stage, ...]
    modes: tuple[Mode, ...]
    rounds: int
    arrivals: int
    shares: tuple[float, ...]
    clients: tuple[int, ...]
    seed: int


def stages(sizes: str, *, encoded_up_to: int, seed: int) -> tuple[Stage, ...]:
    """Read sizes such as `1k,10k,100k`, smallest first; those above `encoded_up_to` are filled with invented vectors.

    Where there are invented ones, the largest size with encoded ones comes with invented ones too, so that growth
    compares like with like.

    Raises:
        ValueError: When a size is not a number above 0.
    """
    numbers = sorted({_number(word) for word in sizes.split(",")})
    invented = Vectors(f"synthetic:{seed}")
    small = [size for size in numbers if size <= encoded_up_to]
    large = [size for size in numbers if size > encoded_up_to]
    bridge = [Stage(small[-1], invented)] if small and large else []
    return (*(Stage(size, Vectors()) for size in small), *bridge, *(Stage(size, invented) for size in large))


def short(size: int) -> str:
    """Return 1000 as `1k`, 1500 as `1500`."""
    return f"{size // UNITS['k']}k" if size % UNITS["k"] == 0 else str(size)


def _number(word: str) -> int:
    told = word.strip().lower()
    unit = UNITS.get(told[-1:], 1)
    digits = told[:-1] if told[-1:] in UNITS else told
    if not digits.isdigit() or int(digits) < 1:
        raise ValueError(f"{word!r} is no size: give numbers such as 500, 1k, 100k")
    return int(digits) * unit

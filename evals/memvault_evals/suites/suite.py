"""What a suite is, and what it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memvault_evals.answers import AnswerLog
from memvault_evals.asking import Variant
from memvault_evals.house import Client
from memvault_evals.results import SetReport


@dataclass(frozen=True)
class Data:
    """Folders of normalised sets: `folder` (with `restricted` below it), and `corpora` with what multi-hop searches."""

    folder: Path
    corpora: Path


@dataclass(frozen=True)
class Gateway:
    """The running product. `nats` and `redis` are URLs; empty when only its HTTP face is known."""

    client: Client
    nats: str
    redis: str


class Progress(Protocol):
    """Shows how far a set is."""

    def begin(self, what: str, total: int) -> None:
        """A new stretch of `total` steps begins, such as `locomo: asking`."""
        ...

    def step(self, count: int = 1) -> None:
        """Some steps are done."""
        ...


@dataclass(frozen=True)
class Run:
    """One run of the command.

    Attributes:
        variants: At least one; the first is what others are compared with.
        scopes: Only these scopes; empty: all.
        written: Users whose blocks are in the vault already, with the digest of what was written; the suite that
            writes a user adds it.
    """

    data: Data
    gateway: Gateway
    variants: Sequence[Variant]
    log: AnswerLog
    progress: Progress
    written: Written
    scopes: frozenset[str] = frozenset()


class Written(Protocol):
    """Which users of the vault are complete, so that a kept vault need not be filled again."""

    def holds(self, user_id: str, blocks: Sequence[Mapping[str, Any]]) -> bool:
        """Tell whether exactly these blocks were written and confirmed."""
        ...

    def add(self, user_id: str, blocks: Sequence[Mapping[str, Any]]) -> None:
        """Remember that they were."""
        ...


class Suite(Protocol):
    """A kind of measurement over some sets."""

    name: str
    sets: tuple[str, ...]

    def measure(self, set_name: str, run: Run) -> Mapping[str, SetReport]:
        """Fill the vault, ask, and return a report for each variant's label.

        Raises:
            EvalError: When the product did not do its whole work: that is a failed run, not a low score.
        """
        ...

"""What a suite is, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from memvault_evals.answers import Answer, AnswerLog
from memvault_evals.asking import Variant
from memvault_evals.datasets import Data
from memvault_evals.house import Client
from memvault_evals.progress import Progress
from memvault_evals.results import SetReport
from memvault_evals.vault import Vault


@dataclass(frozen=True)
class Gateway:
    """The running product. `nats` and `redis` are URLs; empty when only its HTTP face is known."""

    client: Client
    nats: str
    redis: str


@dataclass(frozen=True)
class Run:
    """One run of the command.

    Attributes:
        variants: At least one; the first is what others are compared with.
        scopes: Only these scopes; empty: all.
        points: Conversations are drawn until so many points are in; 0: all.
        vault: Where users are written, once.
        at_once: Questions that are asked side by side.
        sets: Names of all sets of the run.
    """

    data: Data
    gateway: Gateway
    variants: Sequence[Variant]
    log: AnswerLog
    progress: Progress
    vault: Vault
    scopes: frozenset[str] = frozenset()
    points: int = 0
    at_once: int = 1
    sets: frozenset[str] = frozenset()

    def answers(self, asks: Sequence[tuple[str, Callable[[], Answer]]]) -> Iterator[Answer]:
        """Yield an answer for each key of the log in the order of `asks`, asking where there is none yet."""
        with ThreadPoolExecutor(self.at_once) as pool:
            running = [pool.submit(self.log.once, key, ask) for key, ask in asks]
            try:
                for one in running:
                    yield one.result()
                    self.progress.step()
            finally:
                for one in running:
                    one.cancel()


class Suite(Protocol):
    """A kind of measurement over some sets."""

    @property
    def name(self) -> str:
        """How the command calls it."""
        ...

    @property
    def sets(self) -> tuple[str, ...]:
        """The sets it can measure, by the names of their files."""
        ...

    def fill(self, set_name: str, run: Run) -> None:
        """Write into the vault what the set asks about. All sets are filled before the first one is measured."""
        ...

    def measure(self, set_name: str, run: Run) -> Mapping[str, SetReport]:
        """Ask, and return a report for each variant's label.

        Raises:
            EvalError: When the product did not do its whole work: that is a failed run, not a low score.
        """
        ...

"""What the slow thinker needs of the world, named for the need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memvault_slow_thinker.domain.conversation import Place, Utterance, Vectors
from memvault_slow_thinker.domain.prediction import Draft, Linked, Predicted


@dataclass(frozen=True)
class Encoded:
    """Vectors of texts, row by row, unit length.

    `raw`: as the encoder gives them, for the prefetch index. `centred`: mean taken away (R-10a), for similarity.
    """

    raw: Vectors
    centred: Vectors
    encoder_id: str


@dataclass(frozen=True)
class Fetched:
    """A full recall for a predicted question.

    `answer`: serialised `RecallResponse` with its candidates, already screened by the gateway. `block_ids`: every
    block in it, candidates included. `degraded`: parts that were left out. `took_ms`: what a hit will save.
    """

    answer: bytes
    block_ids: frozenset[str]
    cards: int
    confidence: str
    degraded: frozenset[str]
    write_version: int
    took_ms: float


@dataclass(frozen=True)
class Prepared:
    """An answer to be kept for a predicted question. Times in seconds since the epoch.

    `made_for`: the instant that the recall took as now, which is the event time of the utterance. `told_at`: when the
    utterance was published.
    """

    place: Place
    question: Draft
    vector: Vectors
    encoder_id: str
    fetched: Fetched
    made_at: float
    made_for: float
    told_at: float
    expires_at: float
    ruleset_version: str


@dataclass(frozen=True)
class PreparedQuestion:
    """A prepared answer that can still be used, as shown to people."""

    query: str
    confidence: float
    expires_at: float
    cards: int


@dataclass(frozen=True)
class ForgottenWords:
    """Utterances removed; `sequences` are their places in the bus's stream, where they must go as well."""

    utterances: int
    sequences: tuple[int, ...]


@dataclass(frozen=True)
class Announcement:
    """What came of an utterance: a stored answer, or the rule that refused. Empty strings where not given.

    `questions`: how many were predicted from the utterance; each is announced. `left_out`: parts that gave no fuel.
    """

    place: Place
    utterance_event_id: str
    query: str = ""
    refused_by: str = ""
    questions: int = 0
    left_out: tuple[str, ...] = ()


class Clock(Protocol):
    """The wall clock."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        ...


class Conversations(Protocol):
    """The users' conversation windows. Nothing in them is older than a day.

    Nothing is kept of what was told at `told_at`, in seconds since the epoch, when the user was forgotten then or
    later: it was still on its way. That is remembered for a day.

    Every method raises Fault(STORE_UNAVAILABLE) when the store cannot be reached.
    """

    async def append(
        self, place: Place, utterance: Utterance, *, sequence: int | None, now: float, told_at: float
    ) -> tuple[Utterance, ...]:
        """Add an utterance, once per event id, and return the window, oldest first; empty if nothing is kept."""
        ...

    async def note(self, user_id: str, conversation_id: str, *, told_at: float) -> None:
        """Remember that the user has had this conversation."""
        ...

    async def count(self, user_id: str) -> int:
        """Return how many distinct conversations have been seen of the user."""
        ...

    async def predicted(self, user_id: str, at: float) -> tuple[Predicted, ...]:
        """Return the user's predictions within `predictions_ttl_s` of event time `at` on either side, oldest first."""
        ...

    async def note_predicted(self, user_id: str, predicted: Sequence[Predicted], *, told_at: float) -> None:
        """Remember predictions, the latest of a user by event time, as many as the settings say."""
        ...

    async def forget(self, user_id: str, at: float) -> ForgottenWords:
        """Remove all utterances, conversations and predictions of the user, who is forgotten as of `at`."""
        ...

    async def settle(self, user_id: str, at: float) -> None:
        """Remember that nothing is left anywhere of the user as of `at`."""
        ...

    async def settled(self, user_id: str, at: float) -> bool:
        """Whether nothing was left of the user as of `at` or later."""
        ...


class PreparedAnswers(Protocol):
    """The prefetch cache. Every method raises Fault(STORE_UNAVAILABLE) when the store cannot be reached."""

    async def epoch(self, user_id: str) -> int:
        """Return a number that changes whenever something of the user was changed or forgotten."""
        ...

    async def store(self, prepared: Prepared, *, epoch: int) -> bool:
        """Keep an answer until it expires; False, and nothing kept, when the epoch is another one by now.

        The same when the user was forgotten since the utterance was published: it may have waited for its turn.
        """
        ...

    async def live(self, user_id: str, *, now: float) -> tuple[PreparedQuestion, ...]:
        """Return what can still be used, the surest first."""
        ...

    async def drop_holding(self, user_id: str, block_ids: Sequence[str]) -> int:
        """Remove the answers that hold one of the blocks, begin a new epoch, and return how many there were."""
        ...

    async def forget(self, user_id: str, at: float) -> int:
        """Remove all answers of the user, who is forgotten as of `at`; begin a new epoch, and return how many."""
        ...


class Figures(Protocol):
    """Counters per user and overall (R-56). Raises Fault(STORE_UNAVAILABLE) when the store cannot be reached."""

    async def add(self, user_id: str, amounts: Mapping[str, int], *, told_at: float) -> None:
        """Add to the user's counters and to those of all; only to the latter when the user was forgotten since."""
        ...

    async def read(self, user_id: str) -> dict[str, float]:
        """Return the counters of a user; of all users together for an empty id."""
        ...

    async def forget(self, user_id: str, at: float) -> None:
        """Remove the user's own counters as of `at`; the sums over all users stay, as they name nobody."""
        ...


class Recalls(Protocol):
    """The gateway."""

    async def recall(self, place: Place, question: str, *, now: float, timeout_s: float) -> Fetched:
        """Run the full recall with origin `prefetch`, as if it were `now`, in seconds since the epoch.

        Raises Fault when it could not be answered.
        """
        ...


class Graph(Protocol):
    """The user's graph."""

    async def linked(self, user_id: str, text: str, *, neighbours: int, timeout_s: float) -> tuple[Linked, ...]:
        """Return the entities in a text with their neighbours, most specific first. Raises Fault."""
        ...


class Encoder(Protocol):
    """The sentence encoder."""

    async def encode(self, texts: Sequence[str], *, kind: str, timeout_s: float) -> Encoded:
        """Encode texts as `query` or `passage`. Raises Fault."""
        ...


class QuestionWriter(Protocol):
    """An LLM that guesses what comes next."""

    async def write(self, sample: Sequence[Utterance], *, count: int, timeout_s: float) -> tuple[Draft, ...]:
        """Return up to `count` questions, each searchable by itself. Raises Fault."""
        ...


class Announcements(Protocol):
    """Where others learn what was prepared."""

    async def announce(self, announcement: Announcement) -> None:
        """Publish it. Raises Fault(BUS_UNAVAILABLE) when the bus does not take it in time."""
        ...


class UtteranceLog(Protocol):
    """The bus's own copies of what was said."""

    async def erase(self, user_id: str, sequences: Sequence[int]) -> int:
        """Remove stored events and dead letters of the user, and return how many there were. Raises Fault."""
        ...


class Notes(Protocol):
    """Where the service says aloud what it did without."""

    def left_out(self, part: str, reason: str) -> None:
        """Tell that a part was left out, and why."""
        ...


@dataclass(frozen=True)
class Reporting:
    """Everywhere the service tells what it does."""

    figures: Figures
    announcements: Announcements
    notes: Notes

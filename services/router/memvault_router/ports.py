"""What the router needs of the world, named for the need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Protocol

import numpy as np

from memvault_router.domain.prefetch import Prepared
from memvault_router.domain.profile import Interest, WindowCounts
from memvault_router.domain.state import Said, Vector


@dataclass(frozen=True)
class TokenBlock:
    """Token vectors of one text: int8 rows, `rows` x `columns`, row by row."""

    values: bytes
    rows: int
    columns: int


@dataclass(frozen=True)
class Encoded:
    """Vectors of texts in their order: unit float32 rows, shape (n, d), not centred; and the encoder that made them."""

    vectors: Vector
    tokens: tuple[TokenBlock | None, ...]
    encoder_id: str


@dataclass(frozen=True)
class EncoderFacts:
    """The encoder's id and its mean query vector, shape (d,)."""

    encoder_id: str
    query_mean: Vector

    @property
    def vectors_id(self) -> str:
        """What kept vectors are found by: encoder and mean.

        A version of the same encoder that rounds otherwise has another mean, and vectors that differ a little.
        """
        mean = np.asarray(self.query_mean, np.float32).tobytes()
        return f"{self.encoder_id}:{blake2b(mean, digest_size=4).hexdigest()}"


@dataclass(frozen=True)
class Verdict:
    """What a language model says: one of the intents, one of the facets or empty, a hypothetical answer or empty."""

    intent: str
    facet: str
    passage: str


@dataclass(frozen=True)
class Counted:
    """A question as the profile counts it: never its words."""

    id: str
    intent: str
    facet: str
    asked_at: datetime


@dataclass(frozen=True)
class Classified:
    """The fact that a user's question was classified; intent and facet are the raw ones."""

    user_id: str
    intent: str
    facet: str
    confidence: float
    asked_at: datetime
    recall_id: str


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the present instant, aware, UTC."""
        ...


class Encoder(Protocol):
    """Turns texts into vectors. Every method raises `Fault` when it cannot."""

    async def describe(self) -> EncoderFacts:
        """Return which encoder it is."""
        ...

    async def encode(self, texts: Sequence[str], kind: str, *, token_vectors: bool = False) -> Encoded:
        """Encode texts of one kind, `query` or `passage`."""
        ...


class ArchetypeCache(Protocol):
    """Keeps archetype vectors by `EncoderFacts.vectors_id` and content hash.

    Raises `Fault` when it cannot be reached.
    """

    async def load(self, vectors_id: str, content_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Return the raw vectors that are kept."""
        ...

    async def keep(self, vectors_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep raw vectors."""
        ...


class Profiles(Protocol):
    """The attention profiles. Raises `Fault` when they cannot be reached."""

    async def record(self, event_id: str, classified: Classified) -> bool:
        """Count a question once; False when the event had been counted, or the user was erased since it was asked."""
        ...

    async def counts(self, user_id: str, starts: Sequence[datetime], now: datetime) -> list[WindowCounts]:
        """Return the counts from each start up to now, both inside."""
        ...

    async def add_interests(
        self,
        user_id: str,
        event_id: str,
        grown: Mapping[str, float],
        keep: int,
        at: datetime,
        *,
        recall_id: str = "",
    ) -> bool:
        """Add forward-decayed weights to names once; False when nothing was added.

        Nothing is added of an event that had been counted, or of one that happened when the user was erased or
        before; nor to a name that was forgotten at `at` or later; nor, given a recall, to a name that it is no longer
        known to be about. Only the `keep` largest stay, and none at or below 0.

        Args:
            user_id: Whose interests.
            event_id: What is counted once.
            grown: The weights by name.
            keep: How many interests stay.
            at: When what they come from happened.
            recall_id: The recall whose topics the names are, when they were read from there.
        """
        ...

    async def remember_topics(self, user_id: str, recall_id: str, topics: Sequence[str], at: datetime) -> None:
        """Keep what a recall was about for a day, so that feedback on it can be understood.

        Left out are topics that were forgotten at `at` or later, and all when the user was erased then.
        """
        ...

    async def topics_of(self, user_id: str, recall_id: str) -> Sequence[str]:
        """Return what a recall was about; empty when it is no longer known."""
        ...

    async def interests(self, user_id: str, growth_now: float, limit: int) -> list[Interest]:
        """Return the largest interests, their weights divided by `growth_now`."""
        ...

    async def questions(self, user_id: str) -> list[Counted]:
        """Return every question that is kept, oldest first."""
        ...

    async def restore(
        self, user_id: str, questions: Sequence[Counted], interests: Mapping[str, float], keep: int
    ) -> tuple[int, int]:
        """Add questions that are not known, and forward-decayed weights that are larger than the known ones.

        Return how many of both; only the `keep` largest interests stay.
        """
        ...

    async def forget_topics(self, user_id: str, topics: Sequence[str], at: datetime) -> None:
        """Remove topics from the interests and from what recalls were about, and remember for a day that they went."""
        ...

    async def erase(self, user_id: str, at: datetime) -> bool:
        """Remove everything of a user, and remember for a day that they went at `at`; True when there was something.

        What happened at `at` or before and is told afterwards leaves nothing.
        """
        ...

    async def erased_since(self, user_id: str, at: datetime) -> bool:
        """Whether an erasure as of `at` or later was carried out to its end, as far as it is remembered."""
        ...

    async def expire(self, user_id: str, before: datetime) -> int:
        """Remove questions asked before an instant, of one user or of all (empty id); return how many."""
        ...


class ThresholdMemory(Protocol):
    """Keeps the rate of overrulings of the whole deployment. Raises `Fault` when it cannot be reached."""

    async def overruled_rate(self, start: float) -> float:
        """Return the rate; `start` when there was no verdict yet."""
        ...

    async def verdict(self, *, overruled: bool, start: float, rate: float) -> float:
        """Move the rate towards 1 or 0 by `rate`, atomically, and return it."""
        ...


class PreparedAnswers(Protocol):
    """Answers prepared by the slow thinker. Raises `Fault` when they cannot be reached."""

    async def exact(self, user_id: str, query_hash: str) -> Prepared | None:
        """Return the entry for exactly this normalised query."""
        ...

    async def index(self, user_id: str, now: datetime) -> Mapping[str, Vector]:
        """Return query hash and raw query vector of the user's live entries."""
        ...


class Judge(Protocol):
    """A language model that reads a question when the funnels are unsure."""

    async def judge(self, query: str, said: Sequence[Said], timeout_s: float) -> Verdict:
        """Return a valid verdict; `Fault` on time-out, error, a full rate limit or nonsense."""
        ...


class Announcer(Protocol):
    """Tells the world what was classified."""

    async def classified(self, fact: Classified) -> None:
        """Publish the fact. Raises `Fault` when the bus does not take it in time."""
        ...


class Observer(Protocol):
    """Counts what happens, for metrics."""

    def count(self, name: str, **attributes: str) -> None:
        """Add one to a counter."""
        ...

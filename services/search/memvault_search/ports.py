"""What search needs from the outside, each port named for the need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from memvault_search.domain.block import Block, Passage, StoredBlock
from memvault_search.domain.bm25 import SparseVector
from memvault_search.domain.embedding import EmbeddedTexts, FloatArray, TextKind, TokenVectors
from memvault_search.domain.moment import Moment
from memvault_search.domain.scoring.candidates import FloatArray as Float64Array
from memvault_search.domain.selection import Selection
from memvault_search.domain.similarity import EncoderMeans
from memvault_search.domain.statistics import Terms
from memvault_search.domain.views import View


class Embedder(Protocol):
    """Turns texts into vectors; every call is bounded by the current deadline."""

    @property
    def id(self) -> str:
        """Name and content of the encoder; vectors of two ids never mix in one index."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def prefix_version(self) -> str:
        """Version of the prefixes put before queries and passages."""
        ...

    @property
    def means(self) -> EncoderMeans:
        """Mean vectors that calibrate its similarities (R-10a)."""
        ...

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        """Embed texts in their order; queries go first, then passages that are wanted `soon`, then all others.

        Raises:
            Fault: DEADLINE_EXCEEDED when the work could not be done in time.

        """
        ...


class RunningEmbedder(Embedder, Protocol):
    """An embedder with a life."""

    async def start(self) -> None:
        """Load and warm up."""
        ...

    async def stop(self) -> None:
        """Let go of what start() took."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Ranker:
    """One ranked list to ask for: `vector` is float32 [d] for a dense one, indices and weights for a sparse one."""

    name: str
    view: View
    vector: FloatArray | SparseVector
    limit: int


@dataclass(frozen=True, slots=True, eq=False)
class RankedPoints:
    """Points that a ranker found, best first, with its own scores."""

    point_ids: tuple[str, ...]
    scores: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class ViewVectors:
    """One view of a passage as it is stored: raw dense vector, BM25 weights, length in words, token vectors.

    `average` is the length that the weights were normalised by.
    """

    dense: FloatArray
    words: SparseVector
    length: int
    average: float
    tokens: TokenVectors | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PassageVectors:
    """A passage with the views it is indexed in; `self` is always there."""

    block: Block
    passage: Passage
    views: Mapping[View, ViewVectors]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedPassage:
    """What is read back of a passage: raw dense vector, words and normalising length of each view."""

    dense: Mapping[View, FloatArray]
    terms: Mapping[View, Terms]
    averages: Mapping[View, float]


@dataclass(frozen=True, slots=True, eq=False)
class LoadedUser:
    """Everything of a user as the index holds it.

    `forgotten` maps a head point's id to when its block was forgotten.
    """

    write_version: int
    blocks: Sequence[tuple[StoredBlock, Sequence[LoadedPassage]]]
    forgotten: Mapping[str, Moment] = field(default_factory=dict)


class BlockIndex(Protocol):
    """Keeps blocks for good and finds them; every method names its user."""

    async def users(self) -> list[str]:
        """All users that have something stored."""
        ...

    async def load(self, user_id: str) -> LoadedUser:
        """Read everything of a user."""
        ...

    async def find(self, user_id: str, rankers: Sequence[Ranker], selection: Selection) -> dict[str, RankedPoints]:
        """Answer all rankers in one round trip, over the user's blocks in the selection."""
        ...

    async def write(
        self,
        user_id: str,
        stored: Sequence[StoredBlock],
        passages: Sequence[PassageVectors],
        *,
        stale_points: Sequence[str],
        write_version: int,
    ) -> int:
        """Store blocks and passages; returns after it survives a kill. The block is written after its passages.

        Returns the user's write version from now on: at least `write_version`, more when another replica
        wrote meanwhile.
        """
        ...

    async def write_version(self, user_id: str) -> int:
        """The user's write version as it is stored; 0 when nothing is."""
        ...

    async def raise_version(self, user_id: str, at_least: int) -> int:
        """Count a change that no passage took part in; returns the write version as `write` does."""
        ...

    async def rewrite(self, user_id: str, passages: Sequence[PassageVectors]) -> None:
        """Write passages again whose block stays; a view that is missing is taken away."""
        ...

    async def averages(self, user_id: str, point_ids: Sequence[str]) -> dict[str, Mapping[View, float]]:
        """Of each passage the average length that weighed the words of each view; unknown passages are left out."""
        ...

    async def passages(self, user_id: str, point_ids: Sequence[str]) -> dict[str, LoadedPassage]:
        """Read passages back; unknown ones are left out."""
        ...

    async def save(self, user_id: str, stored: Sequence[StoredBlock]) -> list[str]:
        """Store the mutable fields of blocks, each under the condition that nobody changed it meanwhile.

        Returns the ids of blocks that somebody else changed or removed; those were not touched.
        """
        ...

    async def remove(
        self,
        user_id: str,
        stored: Sequence[StoredBlock],
        *,
        named: Sequence[str],
        forgotten: Moment,
        write_version: int,
    ) -> int:
        """Remove blocks with everything made from them; returns the write version as `write` does.

        Remembers for a while that all of `named` were forgotten, those that are not here yet included.
        """
        ...

    async def remove_user(self, user_id: str, *, forgotten: Moment, write_version: int) -> None:
        """Remove everything of a user; only the time of the request stays, under a name that cannot be read back."""
        ...

    async def mark_user_forgotten(self, user_id: str, forgotten: Moment, *, write_version: int) -> None:
        """Remember when a user was forgotten, as `remove_user` does, and leave what was written since."""
        ...

    async def user_forgotten(self, user_id: str) -> Moment | None:
        """When the user was forgotten as a whole, if ever."""
        ...

    async def drop_tombstones(self, before: datetime) -> None:
        """Forget that single blocks were forgotten before this time."""
        ...

    async def orphans(self, user_id: str) -> list[str]:
        """Points of this user's passages that no block names: a write was cut off in the middle."""
        ...

    async def drop_orphans(self, user_id: str, point_ids: Sequence[str]) -> None:
        """Remove passages that belong to no block."""
        ...

    async def token_vectors(self, user_id: str, point_ids: Sequence[str]) -> dict[str, tuple[TokenVectors, ...]]:
        """Token vectors of passages, view `self` first; passages without any are left out."""
        ...

    async def count(self) -> tuple[int, int, int]:
        """Blocks, passages and frozen blocks of all users."""
        ...

    async def largest(self) -> int:
        """How many blocks the user has who has most; 0 when there is none."""
        ...


class NextIndex(Protocol):
    """An index that is being built beside the one that answers."""

    async def sources(self, user_id: str) -> dict[str, str]:
        """Of each of a user's passages the hash that `build` noted."""
        ...

    async def build(self, user_id: str, passages: Sequence[PassageVectors], sources: Mapping[str, str]) -> None:
        """Store passages, each with the hash of what it was built from; returns after it survives a kill."""
        ...

    async def drop_orphans(self, user_id: str, point_ids: Sequence[str]) -> None:
        """Remove passages of this user."""
        ...


RerankStatus = Literal["OK", "NO_MODEL", "BREAKER_OPEN", "TIMEOUT", "UNREACHABLE", "FAILED"]


@dataclass(frozen=True, slots=True, eq=False)
class RerankCandidate:
    """A candidate as the reranker reads it."""

    id: str
    text: str
    signals: Mapping[str, float]
    tokens: tuple[TokenVectors, ...] = ()


@dataclass(frozen=True, slots=True)
class Reranked:
    """Scores by candidate id when `status` is OK; otherwise none, and `detail` says more."""

    status: RerankStatus
    scores: Mapping[str, float] = field(default_factory=dict)
    relevance: Mapping[str, float] = field(default_factory=dict)
    model: str = ""
    detail: str = ""


class Reranker(Protocol):
    """Reads query and candidates together; never raises because of its own failure."""

    async def rerank(
        self,
        query: str,
        candidates: Sequence[RerankCandidate],
        *,
        query_tokens: TokenVectors | None,
        timeout_s: float,
    ) -> Reranked:
        """Score all candidates within the time."""
        ...


class Announcer(Protocol):
    """Tells the rest of the house what happened to blocks; returns once that is stored."""

    async def indexed(self, stored: StoredBlock, *, upsert_event_id: str, write_version: int, changed: bool) -> None:
        """A block can be recalled."""
        ...

    async def refused(self, user_id: str, block_id: str, *, upsert_event_id: str, reason: str, detail: str) -> None:
        """A block was not stored."""
        ...

    async def forgotten(self, user_id: str, block_ids: Sequence[str], tags: Sequence[str], *, whole_user: bool) -> int:
        """Blocks are gone, and labels with them; returns the event's sequence in the stream of blocks."""
        ...

    async def rejected(self, user_id: str, block_id: str, *, feedback_event_id: str) -> None:
        """Somebody said that a block is wrong: nothing shall be built on it any more."""
        ...

    async def dream_finished(self, run_id: str, changes: Mapping[str, int], took_ms: float) -> None:
        """Search has done its part of the nightly loop."""
        ...


class Clock(Protocol):
    """The time."""

    def now(self) -> datetime:
        """The current instant, aware UTC."""
        ...

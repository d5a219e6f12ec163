"""What the use cases need from outside, named for the need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from memvault_cascade.domain.graph.communities import Partitioner

if TYPE_CHECKING:
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.extraction import Fact
    from memvault_cascade.domain.graph.model import Community, GraphChange, UserGraph
    from memvault_cascade.domain.graph.summaries import Material

    Vector = NDArray[np.float32]

__all__ = [
    "Annotation",
    "Announcer",
    "Clock",
    "FactReader",
    "GraphState",
    "GraphStore",
    "Kind",
    "Nearest",
    "Partitioner",
    "SummaryWriter",
    "TextVectors",
    "Totals",
    "Written",
]


class Kind(StrEnum):
    """What has a vector in the store."""

    ENTITY = "entity"
    TRIPLE = "triple"
    COMMUNITY = "community"


@dataclass(frozen=True, slots=True)
class GraphState:
    """A user's graph as stored.

    `version` counts writes to the graph, `community_version` is the version that the communities were made from.
    `forgotten` maps the ids of forgotten blocks to the bus sequence of the request, `forgotten_through` is that of the
    whole user's.
    """

    graph: UserGraph
    communities: tuple[Community, ...] = ()
    version: int = 0
    community_version: int = 0
    forgotten: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    forgotten_through: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts; versions are the highest graph version and the lowest community version."""

    entities: int = 0
    triples: int = 0
    communities: int = 0
    version: int = 0
    community_version: int = 0


@dataclass(frozen=True, slots=True)
class Nearest:
    """A question to the vectors of one user: `vector` is calibrated, `limit` hits of one kind, told apart by `name`."""

    name: str
    kind: Kind
    vector: Vector
    limit: int


class GraphStore(Protocol):
    """Keeps graphs. What is written survives a kill; ids are unique within a user and a kind."""

    async def version(self, user_id: str) -> int:
        """Version of the stored graph, 0 for a user nobody wrote for."""
        ...

    async def community_version(self, user_id: str) -> int:
        """Version of the graph that the stored communities were made of, 0 for none."""
        ...

    async def load(self, user_id: str) -> GraphState:
        """The whole graph of one user; an empty one for an unknown user."""
        ...

    async def write(self, user_id: str, change: GraphChange, vectors: Mapping[str, Vector], version: int) -> None:
        """Apply a change and set the version; `vectors` are those of new entities and triples, by id."""
        ...

    async def write_communities(
        self,
        user_id: str,
        communities: Sequence[Community],
        vectors: Mapping[str, Vector],
        gone: Sequence[str],
        graph_version: int,
    ) -> None:
        """Put new and changed communities with their vectors, remove those that are gone, note the graph's version."""
        ...

    async def bury(self, user_id: str, block_ids: Sequence[str], sequence: int) -> None:
        """Remember that blocks were forgotten, so that a late event does not bring them back."""
        ...

    async def forget_user(self, user_id: str, sequence: int) -> None:
        """Remove everything of a user but the note that this was asked for; of several requests the latest counts."""
        ...

    async def forget_through(self, user_id: str, sequence: int) -> None:
        """Remember that everything of a user up to a place on the bus was forgotten; takes nothing away."""
        ...

    async def nearest(self, user_id: str, questions: Sequence[Nearest]) -> dict[str, list[tuple[str, float]]]:
        """Ids with their calibrated similarity in [0, 1], best first, by the question's name; one round trip."""
        ...

    async def totals(self, user_id: str) -> Totals:
        """Counts of one user's graph, or (empty) of all users' together."""
        ...

    async def users(self) -> list[str]:
        """All users that have a graph."""
        ...


class TextVectors(Protocol):
    """Calibrated vectors (R-10a): mean-free and of length 1, so that a dot product is a calibrated similarity."""

    async def passages(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of stored texts, in order."""
        ...

    async def query(self, text: str) -> Vector:
        """Vector of a question."""
        ...

    async def calibrated(self, raw_query: Vector) -> Vector:
        """A question's vector, as the encoder gave it, made comparable."""
        ...


@dataclass(frozen=True, slots=True)
class Annotation:
    """A change to a block that its owner shall make; None leaves a field, an empty `superseded_by` clears it."""

    block_id: str
    centrality: float | None = None
    superseded_by: str | None = None


class Announcer(Protocol):
    """Tells the others what has happened."""

    async def annotate(self, user_id: str, annotations: Sequence[Annotation]) -> None:
        """Ask the owner of the blocks to note these."""
        ...

    async def request_dream(self, run_id: str, now: datetime) -> None:
        """Start a nightly run; the same run id again starts nothing."""
        ...

    async def finish_dream(self, run_id: str, changes: Mapping[str, int], took_ms: float) -> None:
        """Tell that this service's part of a run is done."""
        ...

    async def claim(self, key: str, ttl_s: float) -> bool:
        """Take a lock among all replicas; False when another holds it."""
        ...

    async def release(self, key: str) -> None:
        """Give a lock back."""
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """A summary and what wrote it: `extractive` or `llm`."""

    text: str
    generator: str


class SummaryWriter(Protocol):
    """Writes the summary of a community."""

    @property
    def generator(self) -> str:
        """What writes when all goes well: `extractive` or `llm`."""
        ...

    async def write(self, found: Material) -> Written:
        """A summary of what was found; never more than the material says."""
        ...


class FactReader(Protocol):
    """Reads facts out of a text with a model."""

    async def read(self, text: str) -> tuple[Fact, ...]:
        """Facts that the text states; empty when it states none."""
        ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """The present instant, aware, UTC."""
        ...

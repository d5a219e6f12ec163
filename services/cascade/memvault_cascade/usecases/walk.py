"""The walk of a deep question (R-31, R-32): link, seed, rank, and bring back facts, blocks and communities."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from memvault.faults import Fault, Reason
from memvault_cascade.domain.graph.linking import SELF, Link, link
from memvault_cascade.domain.graph.overview import FitNumbers, FittingCommunity, as_it_was, fitting
from memvault_cascade.domain.graph.ppr import (
    Seeds,
    SeedWeights,
    WalkLimits,
    personalised_pagerank,
    restart_vector,
)
from memvault_cascade.domain.graph.view import GraphView, view_at
from memvault_cascade.domain.graph.walk import (
    NearBlock,
    NearTriple,
    PathCosts,
    Paths,
    near_blocks,
    near_triples,
)
from memvault_cascade.ports import Kind, Nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.matrix import EdgeWeights
    from memvault_cascade.domain.graph.summaries import SummaryLimits
    from memvault_cascade.ports import Clock, GraphState, GraphStore, TextVectors
    from memvault_cascade.usecases.graphs import Graphs

    Vector = NDArray[np.float32]

T = TypeVar("T")


class Mode(StrEnum):
    """Which layers a walk reads."""

    LOCAL = "LOCAL"
    GLOBAL = "GLOBAL"
    HYBRID = "HYBRID"


@dataclass(frozen=True, slots=True)
class WalkNumbers:
    """Numbers of one profile.

    Facts and blocks lighter than `least_triple` and `least_block` (0 to 1) are not returned. `facts` near the query by
    vector become seeds, those below `least_fact` (calibrated, 0 to 1) do not; likewise `synonyms`, entities by vector,
    with `least_synonym`. `limit` is the default count of each kind returned.
    """

    walk: WalkLimits
    seeds: SeedWeights
    paths: PathCosts
    fit: FitNumbers
    edges: EdgeWeights
    summaries: SummaryLimits
    facts: int = 8
    least_fact: float = 0.35
    synonyms: int = 5
    least_synonym: float = 0.45
    seed_blocks: int = 15
    limit: int = 20
    least_triple: float = 0.01
    least_block: float = 0.01


@dataclass(frozen=True, slots=True)
class Question:
    """A walk to do.

    `vector` is as the encoder gave it, None: the query is embedded here. `seeds`: block ids with scores, 0 to 1.
    """

    user_id: str
    query: str
    vector: Vector | None
    seeds: Mapping[str, float]
    mode: Mode
    as_of: datetime | None = None
    now: datetime | None = None
    profile: str = ""
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a walk found. `degraded`: part and reason of what was left out; `times`: milliseconds by step."""

    triples: tuple[NearTriple, ...] = ()
    blocks: tuple[NearBlock, ...] = ()
    communities: tuple[FittingCommunity, ...] = ()
    linked: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    degraded: tuple[tuple[str, str], ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)
    version: int = 0


class Walk:
    """Answers questions from the graph; writes nothing."""

    def __init__(
        self,
        graphs: Graphs,
        store: GraphStore,
        vectors: TextVectors,
        clock: Clock,
        profiles: Mapping[str, WalkNumbers],
        default_profile: str,
    ) -> None:
        """`profiles` by name; `default_profile` is used when a question names none."""
        self._graphs = graphs
        self._store = store
        self._vectors = vectors
        self._clock = clock
        self._profiles = profiles
        self._default = default_profile

    async def __call__(self, question: Question) -> Answer:
        """Walk. An empty graph gives an empty answer; a part that fails is left out and named."""
        numbers = self._numbers(question.profile)
        times: dict[str, float] = {}
        degraded: list[tuple[str, str]] = []
        with _timed(times, "cascade.load"):
            state = await self._graphs.state(question.user_id)
            view = await self._graphs.view(question.user_id)
        if not view.graph.entities:
            return Answer(times=times, version=state.version)
        moment = question.as_of or question.now or self._clock.now()
        if question.as_of is not None:
            view = await asyncio.to_thread(view_at, view, numbers.edges, question.as_of)
        with _timed(times, "cascade.vectors"):
            found = await self._nearest(question, numbers, degraded)
        with _timed(times, "cascade.walk"):
            walked = await asyncio.to_thread(_walk, question, view, found, numbers, moment)
        communities: tuple[FittingCommunity, ...] = ()
        if question.mode is not Mode.LOCAL:
            with _timed(times, "cascade.communities"):
                communities = self._fitting(question, state, view, found, walked, numbers)
        local = question.mode is not Mode.GLOBAL
        return Answer(
            walked.triples if local else (),
            walked.blocks if local else (),
            communities,
            tuple(
                view.graph.entities[item.entity_id].name
                for item in walked.links
                if item.entity_id in view.graph.entities and item.how != SELF
            ),
            {
                e: view.graph.entities[e].name
                for e in _mentioned(walked.triples, communities)
                if e in view.graph.entities
            },
            tuple(degraded),
            times,
            state.version,
        )

    def _numbers(self, profile: str) -> WalkNumbers:
        name = profile or self._default
        if name not in self._profiles:
            known = " or ".join(sorted(self._profiles))
            raise Fault(Reason.FIELD_INVALID, f"profile is {name!r}: send {known}, or leave it out", field="profile")
        return self._profiles[name]

    async def _nearest(
        self, question: Question, numbers: WalkNumbers, degraded: list[tuple[str, str]]
    ) -> Mapping[str, Sequence[tuple[str, float]]]:
        try:
            if question.vector is None:
                vector = await self._vectors.query(question.query)
            else:
                vector = await self._vectors.calibrated(question.vector)
        except Fault as fault:
            if fault.reason is Reason.FIELD_INVALID:
                raise
            # Names still link without vectors.
            degraded.append(("embed", fault.reason.value))
            return {}
        questions = [
            Nearest(Kind.TRIPLE.value, Kind.TRIPLE, vector, max(numbers.facts, question.limit or numbers.limit)),
            Nearest(Kind.ENTITY.value, Kind.ENTITY, vector, numbers.synonyms),
            Nearest(Kind.COMMUNITY.value, Kind.COMMUNITY, vector, question.limit or numbers.limit),
        ]
        return await self._store.nearest(question.user_id, questions)

    @staticmethod
    def _fitting(
        question: Question,
        state: GraphState,
        view: GraphView,
        found: Mapping[str, Sequence[tuple[str, float]]],
        walked: _Walked,
        numbers: WalkNumbers,
    ) -> tuple[FittingCommunity, ...]:
        similarity = dict(found.get(Kind.COMMUNITY.value, ()))
        limit = question.limit or numbers.limit
        best = fitting(state.communities, similarity, walked.seed_mass, numbers.fit, limit)
        if question.as_of is None:
            return best
        was = ((f, as_it_was(view.graph, f.community, question.as_of, numbers.summaries)) for f in best)
        return tuple(FittingCommunity(c, f.similarity, f.fit) for f, c in was if c is not None)


@dataclass(frozen=True, slots=True)
class _Walked:
    triples: tuple[NearTriple, ...]
    blocks: tuple[NearBlock, ...]
    links: tuple[Link, ...]
    seed_mass: Mapping[str, float]


def _walk(
    question: Question,
    view: GraphView,
    found: Mapping[str, Sequence[tuple[str, float]]],
    numbers: WalkNumbers,
    moment: datetime,
) -> _Walked:
    links = link(question.query, view.names)
    seeds = _seeds(question, view, links, found, numbers)
    mentions = {b: view.graph.blocks[b].mentions for b in seeds.blocks if b in view.graph.blocks}
    restart = restart_vector(view.matrix, seeds, mentions, numbers.seeds)
    rank = personalised_pagerank(view.matrix.adjacency, restart, numbers.walk)
    rows = np.flatnonzero(restart[: len(view.matrix.entity_ids)])
    planted = {view.matrix.entity_ids[row]: float(restart[row]) for row in rows}
    if question.mode is Mode.GLOBAL:
        return _Walked((), (), links, planted)
    limit = question.limit or numbers.limit
    paths = Paths(view.graph, view.matrix, view.facts, planted, numbers.paths, moment)
    similarity = dict(found.get(Kind.TRIPLE.value, ()))
    triples = near_triples(view.facts, rank, (similarity, numbers.least_fact), moment, limit)
    blocks = near_blocks(view.matrix, rank, limit, seeds.blocks.keys())
    return _Walked(
        tuple(
            NearTriple(triple, weight, paths.to_triple(triple))
            for triple, weight in triples
            if weight >= numbers.least_triple
        ),
        tuple(
            NearBlock(block, weight, paths.to_block(block)) for block, weight in blocks if weight >= numbers.least_block
        ),
        links,
        planted,
    )


def _seeds(
    question: Question,
    view: GraphView,
    links: Sequence[Link],
    found: Mapping[str, Sequence[tuple[str, float]]],
    numbers: WalkNumbers,
) -> Seeds:
    linked = {item.entity_id: item.confidence for item in links if item.how != SELF}
    for entity, similarity in found.get(Kind.ENTITY.value, ()):
        if similarity >= numbers.least_synonym and entity not in linked:
            linked[entity] = similarity
    ends: dict[str, float] = {}
    for fact, similarity in list(found.get(Kind.TRIPLE.value, ()))[: numbers.facts]:
        triple = view.graph.triples.get(fact)
        if triple is not None and view.graph.is_stated(triple) and similarity >= numbers.least_fact:
            for end in (triple.subject_id, triple.object_id):
                ends[end] = max(ends.get(end, 0.0), similarity)
    best = sorted(question.seeds.items(), key=lambda item: (-item[1], item[0]))[: numbers.seed_blocks]
    if not (linked or ends or best):
        # Everything a person writes is near to themselves: "I" leads somewhere only when nothing else does.
        linked = {item.entity_id: item.confidence for item in links}
    return Seeds(linked, ends, dict(best))


def _mentioned(triples: Sequence[NearTriple], communities: Sequence[FittingCommunity]) -> set[str]:
    ends = {end for near in triples for end in (near.triple.subject_id, near.triple.object_id)}
    return ends | {e for fit in communities for e in fit.community.entity_ids}


class _timed:  # noqa: N801 - reads as a statement
    """Adds the milliseconds of a block to a table."""

    def __init__(self, times: dict[str, float], name: str) -> None:
        self._times, self._name = times, name

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._times[self._name] = (time.perf_counter() - self._start) * 1000

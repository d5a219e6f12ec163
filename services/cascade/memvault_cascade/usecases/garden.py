"""Communities, summaries and centrality kept up with the graph, in the background (R-30, R-36).

A recall never waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memvault.screening import sanitize_for_injection
from memvault_cascade.domain.graph.communities import Cluster, CommunityLimits, Partitioner, cluster
from memvault_cascade.domain.graph.model import BlockNode, Community, GraphChange
from memvault_cascade.domain.graph.ppr import WalkLimits, centrality
from memvault_cascade.domain.graph.summaries import SummaryLimits, material
from memvault_cascade.ports import Annotation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.model import UserGraph
    from memvault_cascade.domain.graph.view import GraphView
    from memvault_cascade.ports import Announcer, GraphState, SummaryWriter, TextVectors
    from memvault_cascade.usecases.graphs import Graphs

    Vector = NDArray[np.float32]


_DIGITS = 4


@dataclass(frozen=True, slots=True)
class GardenLimits:
    """Pauses in seconds and a floor.

    A graph is tended `quiet_s` after its last change, or `longest_s` after its first one while changes go on, and then
    left alone for `rest` times as long as that took, so that a large graph takes no more than its share. Between
    two nights a block's centrality is announced when it moved by at least `centrality_step` (0 to 1).
    """

    quiet_s: float = 1.5
    longest_s: float = 60.0
    rest: float = 3.0
    centrality_step: float = 0.02


@dataclass(frozen=True, slots=True)
class Tended:
    """What a round changed."""

    communities: int = 0
    summaries: int = 0
    removed: int = 0
    centralities: int = 0


@dataclass(frozen=True, slots=True)
class GardenParts:
    """What tending needs."""

    graphs: Graphs
    vectors: TextVectors
    announcer: Announcer
    partitioner: Partitioner
    writer: SummaryWriter
    limits: GardenLimits
    communities: CommunityLimits
    summaries: SummaryLimits
    walk: WalkLimits


@dataclass(slots=True)
class _Due:
    first: float
    last: float


class Garden:
    """Tends graphs that changed, one at a time."""

    def __init__(self, parts: GardenParts, report: Callable[[str, Exception], None]) -> None:
        """`report` hears of a user whose round failed; the user stays due and is tried again."""
        self._parts = parts
        self._report = report
        self._due: dict[str, _Due] = {}
        self._busy: set[str] = set()
        self._rested_at: dict[str, float] = {}
        self._wake = asyncio.Event()
        self._tending = asyncio.Lock()

    def changed(self, user_id: str) -> None:
        """Note that a user's graph changed."""
        now = asyncio.get_running_loop().time()
        due = self._due.setdefault(user_id, _Due(now, now))
        due.last = now
        self._wake.set()

    @property
    def waiting(self) -> int:
        """Users whose communities are behind their graph."""
        return len(self._due.keys() | self._busy)

    async def run(self) -> None:
        """Tend what changes, until cancelled; begins with what a former process left behind."""
        for user_id in await self._parts.graphs.users():
            if await self._parts.graphs.behind(user_id):
                self.changed(user_id)
        while True:
            pause = await self._tend_ripe()
            self._wake.clear()
            try:
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(min(self._parts.limits.quiet_s, 0.2))

    async def _tend_ripe(self) -> float | None:
        """Tend every user whose time has come; seconds until the next one's, None when nobody waits."""
        limits = self._parts.limits
        loop = asyncio.get_running_loop()
        for user_id in list(self._due):
            begun = loop.time()
            if begun < self._ripe_at(user_id):
                continue
            del self._due[user_id]
            self._busy.add(user_id)
            try:
                await self.tend(user_id)
            except Exception as error:  # noqa: BLE001 - one user's trouble must not stop the others' rounds
                self._report(user_id, error)
                later = loop.time() + limits.longest_s
                self._due.setdefault(user_id, _Due(later, later))
            finally:
                self._busy.discard(user_id)
            self._rested_at[user_id] = loop.time() + limits.rest * (loop.time() - begun)
        now = loop.time()
        self._rested_at = {user_id: at for user_id, at in self._rested_at.items() if at > now}
        ripe = [self._ripe_at(user_id) for user_id in self._due]
        return max(0.01, min(ripe) - now) if ripe else None

    def _ripe_at(self, user_id: str) -> float:
        due, limits = self._due[user_id], self._parts.limits
        changed = min(due.last + limits.quiet_s, due.first + limits.longest_s)
        return max(changed, self._rested_at.get(user_id, 0.0))

    async def tend(self, user_id: str, *, renew: bool = False) -> Tended:
        """Bring one user's communities, summaries and centralities up to the present graph.

        With `renew` also summaries that another writer wrote are written again, and every centrality is announced that
        is not yet exact.
        """
        async with self._tending:
            view = await self._parts.graphs.fresh_view(user_id)
            state = await self._parts.graphs.state(user_id)
            clusters = await asyncio.to_thread(self._cut, view, state)
            communities, rewritten = await self._written(view.graph, clusters, state.communities, renew=renew)
            vectors = await self._parts.vectors.passages([f"{c.title}. {c.summary}" for c in rewritten])
            ranks = await asyncio.to_thread(centrality, view.matrix, self._parts.walk)
            step = 0.0 if renew else self._parts.limits.centrality_step
            return await self._store(user_id, view, communities, (rewritten, vectors), ranks, step)

    async def recentre(self, user_id: str) -> int:
        """Announce what small steps left behind of a graph whose communities are up to date; how many blocks moved.

        What a block's centrality is must not depend on the order in which its neighbours came.
        """
        async with self._tending:
            view = await self._parts.graphs.fresh_view(user_id)
            state = await self._parts.graphs.state(user_id)
            ranks = await asyncio.to_thread(centrality, view.matrix, self._parts.walk)
            tended = await self._store(user_id, view, state.communities, ((), ()), ranks, 0.0)
            return tended.centralities

    def _cut(self, view: GraphView, state: GraphState) -> tuple[Cluster, ...]:
        parts = self._parts
        return cluster(view.graph, view.matrix, state.communities, parts.partitioner, parts.communities)

    async def _written(
        self, graph: UserGraph, clusters: Sequence[Cluster], former: Sequence[Community], *, renew: bool
    ) -> tuple[list[Community], list[Community]]:
        known = {c.id: c for c in former}
        communities, rewritten = [], []
        for found in clusters:
            old = known.get(found.id)
            stale = renew and old is not None and old.generator != self._parts.writer.generator
            if old is not None and old.fingerprint == found.fingerprint and not stale:
                communities.append(old)
                continue
            said = await asyncio.to_thread(material, graph, found.entity_ids, found.block_ids, self._parts.summaries)
            written = await self._parts.writer.write(said)
            summary = sanitize_for_injection(written.text).text
            fresh = Community(
                found.id, said.title, summary, found.entity_ids, found.block_ids, found.fingerprint, written.generator
            )
            communities.append(fresh)
            rewritten.append(fresh)
        return communities, rewritten

    async def _store(
        self,
        user_id: str,
        view: GraphView,
        communities: Sequence[Community],
        fresh_ones: tuple[Sequence[Community], Sequence[Vector]],
        ranks: dict[str, float],
        step: float,
    ) -> Tended:
        parts = self._parts
        rewritten, vectors = fresh_ones
        async with parts.graphs.writing(user_id) as state:
            # Blocks forgotten or put into quarantine meanwhile must not come back through the summaries.
            alive = [c for c in communities if all(map(state.graph.may_quote, c.block_ids))]
            kept = {c.id for c in alive}
            fresh = [c for c in rewritten if c.id in kept]
            by_id = {c.id: vector for c, vector in zip(rewritten, vectors, strict=True) if c.id in kept}
            removed = len({c.id for c in state.communities} - kept)
            moved = _moved(state.graph, ranks, step)
            version = state.version
            if moved:
                version = (await parts.graphs.commit(user_id, GraphChange(blocks=moved), {})).version
            up_to_date = state.graph.revision == view.graph.revision
            await parts.graphs.commit_communities(user_id, alive, fresh, by_id, version if up_to_date else 0)
        if moved:
            await parts.announcer.annotate(user_id, [Annotation(b.id, centrality=b.centrality) for b in moved])
        return Tended(len(alive), len(fresh), removed, len(moved))


def _moved(graph: UserGraph, ranks: dict[str, float], step: float) -> tuple[BlockNode, ...]:
    """Blocks whose centrality, kept to `_DIGITS` digits, moved by at least `step`; with 0 those that moved at all."""
    rounded = ((block, round(value, _DIGITS)) for block, value in ranks.items() if block in graph.blocks)
    return tuple(
        replace(graph.blocks[block], centrality=value)
        for block, value in rounded
        if value != graph.blocks[block].centrality and abs(graph.blocks[block].centrality - value) >= step
    )

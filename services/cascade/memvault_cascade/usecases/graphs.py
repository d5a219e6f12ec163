"""User graphs on demand: loaded, cached, versioned, and changed under one lock per user."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from memvault_cascade.domain.graph.model import UserGraph, apply
from memvault_cascade.domain.graph.view import GraphView, build_view
from memvault_cascade.ports import GraphState, Totals

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.linking import LinkLimits
    from memvault_cascade.domain.graph.matrix import EdgeWeights
    from memvault_cascade.domain.graph.model import Community, GraphChange
    from memvault_cascade.ports import Clock, GraphStore


@dataclass(frozen=True, slots=True)
class CacheLimits:
    """`users`: graphs kept in memory.

    `fresh_view_s`: how long a recall waits for a new view while it has an older one.
    """

    users: int = 64
    fresh_view_s: float = 0.25


@dataclass(slots=True)
class _Entry:
    state: GraphState
    view: GraphView | None = None
    building: asyncio.Task[None] | None = None
    oldest: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Graphs:
    """The only way for use cases to a graph."""

    def __init__(
        self, store: GraphStore, clock: Clock, edges: EdgeWeights, links: LinkLimits, limits: CacheLimits
    ) -> None:
        """`edges` and `links` shape the views."""
        self._store = store
        self._clock = clock
        self._edges = edges
        self._links = links
        self._limits = limits
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._loading: dict[str, asyncio.Lock] = {}

    async def state(self, user_id: str) -> GraphState:
        """The graph as last written, by whichever replica."""
        return (await self._entry(user_id)).state

    async def view(self, user_id: str) -> GraphView:
        """What a recall reads. An older view is returned when a newer one is not ready in time."""
        return await self._view(user_id, self._limits.fresh_view_s)

    async def fresh_view(self, user_id: str) -> GraphView:
        """A view of the graph as it is now or later, however long it takes; for work that no recall awaits."""
        return await self._view(user_id, math.inf)

    async def _view(self, user_id: str, patience_s: float) -> GraphView:
        entry = await self._entry(user_id)
        wanted = _age(entry.state.graph)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + patience_s
        while entry.view is None or _age(entry.view.graph) < wanted:
            left = give_up - loop.time()
            if entry.view is not None and left <= 0:
                break
            building = self._build(entry)
            await asyncio.wait({building}, timeout=None if entry.view is None or left == math.inf else left)
            if building.done():
                building.result()
        return entry.view

    @asynccontextmanager
    async def writing(self, user_id: str) -> AsyncIterator[GraphState]:
        """The graph, locked for one writer in this process."""
        entry = await self._entry(user_id)
        async with entry.lock:
            yield (await self._entry(user_id)).state

    async def commit(self, user_id: str, change: GraphChange, vectors: Mapping[str, NDArray[np.float32]]) -> GraphState:
        """Write a change through and remember it; only inside `writing`."""
        entry = await self._entry(user_id)
        version = entry.state.version + 1
        await self._store.write(user_id, change, vectors, version)
        entry.state = replace(entry.state, graph=apply(entry.state.graph, change, str(version)), version=version)
        return entry.state

    async def commit_communities(
        self,
        user_id: str,
        communities: Sequence[Community],
        changed: Sequence[Community],
        vectors: Mapping[str, NDArray[np.float32]],
        graph_version: int,
    ) -> None:
        """Replace the communities by `communities`, of which only `changed` are written; only inside `writing`."""
        entry = await self._entry(user_id)
        kept = {c.id for c in communities}
        gone = [c.id for c in entry.state.communities if c.id not in kept]
        await self._store.write_communities(user_id, changed, vectors, gone, graph_version)
        entry.state = replace(entry.state, communities=tuple(communities), community_version=graph_version)

    async def bury(self, user_id: str, block_ids: Sequence[str], sequence: int) -> None:
        """Remember forgotten blocks; only inside `writing`."""
        entry = await self._entry(user_id)
        later = [b for b in block_ids if sequence >= entry.state.forgotten.get(b, 0)]
        await self._store.bury(user_id, later, sequence)
        forgotten = {**entry.state.forgotten, **dict.fromkeys(later, sequence)}
        entry.state = replace(entry.state, forgotten=forgotten)

    async def forget_user(self, user_id: str, sequence: int) -> None:
        """Remove a user's graph from the store and from memory; only inside `writing`."""
        entry = await self._entry(user_id)
        await self._store.forget_user(user_id, sequence)
        version = await self._store.version(user_id)
        empty = UserGraph(user_id, str(version))
        # A request that does not know its place on the bus must not open the door again that an earlier one closed.
        through = max(sequence, entry.state.forgotten_through)
        entry.state = GraphState(empty, (), version, version, {}, through)
        # A view that is being built of what was forgotten comes too late.
        entry.view, entry.oldest = None, version

    async def forget_through(self, user_id: str, sequence: int) -> None:
        """Remember that a user forgot everything up to a place on the bus; only inside `writing`."""
        entry = await self._entry(user_id)
        await self._store.forget_through(user_id, sequence)
        through = max(sequence, entry.state.forgotten_through)
        entry.state = replace(entry.state, forgotten_through=through)

    async def totals(self, user_id: str) -> Totals:
        """Counts of one user's graph, or (empty) of all, without loading any."""
        return await self._store.totals(user_id)

    async def behind(self, user_id: str) -> bool:
        """Whether communities were made of an older graph than the stored one, without loading any."""
        return await self._store.version(user_id) != await self._store.community_version(user_id)

    async def users(self) -> list[str]:
        """All users that have a graph."""
        return await self._store.users()

    async def _entry(self, user_id: str) -> _Entry:
        entry = self._entries.get(user_id)
        version = await self._store.version(user_id)
        if entry is not None and (entry.state.version >= version or entry.lock.locked()):
            self._entries.move_to_end(user_id)
            return entry
        async with self._loading.setdefault(user_id, asyncio.Lock()):
            entry = self._entries.get(user_id)
            if entry is None or entry.state.version < version:
                state = await self._store.load(user_id)
                entry = self._entries.setdefault(user_id, _Entry(state))
                entry.state = state
        self._loading.pop(user_id, None)
        self._evict(user_id)
        return entry

    def _evict(self, newest: str) -> None:
        self._entries.move_to_end(newest)
        for user_id in list(self._entries):
            if len(self._entries) <= self._limits.users:
                return
            # An entry that somebody writes to must not be replaced by another one under another lock.
            if not self._entries[user_id].lock.locked():
                del self._entries[user_id]

    def _build(self, entry: _Entry) -> asyncio.Task[None]:
        """Build a view of the present graph, or wait for the one that is being built.

        Never two at a time: while a graph is being written, each would be out of date before it is done, and all of
        them late.
        """
        if entry.building is None or entry.building.done():
            graph = entry.state.graph
            entry.building = asyncio.create_task(self._finish(entry, lambda: self._view_of(graph, entry.view)))
        return entry.building

    def _view_of(self, graph: UserGraph, previous: GraphView | None) -> GraphView:
        return build_view(graph, self._edges, self._links, self._clock.now(), previous)

    @staticmethod
    async def _finish(entry: _Entry, make: Callable[[], GraphView]) -> None:
        view = await asyncio.to_thread(make)
        if _age(view.graph) >= entry.oldest and (entry.view is None or _age(entry.view.graph) < _age(view.graph)):
            entry.view = view


def _age(graph: UserGraph) -> int:
    """Of two graphs of one user the one with the higher number is the later one."""
    return int(graph.revision or 0)

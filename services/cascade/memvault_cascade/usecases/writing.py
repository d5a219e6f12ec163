"""How a plan gets into the graph: embedded, joined to its synonyms, stored, told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memvault_cascade.domain.graph.linking import may_be_synonyms
from memvault_cascade.domain.graph.model import Entity, EntityKind, Synonym
from memvault_cascade.domain.graph.newcomers import near_newcomers, nearest_of
from memvault_cascade.ports import Kind, Nearest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memvault_cascade.ports import Announcer, GraphState, GraphStore, TextVectors
    from memvault_cascade.usecases.graphs import Graphs
    from memvault_cascade.usecases.plan import Plan


@dataclass(frozen=True, slots=True)
class SynonymLimits:
    """When two entities are synonyms: `similarity` is calibrated and in [0, 1]; at most `most` for a new entity."""

    similarity: float
    most: int


@dataclass(frozen=True, slots=True)
class _Prepared:
    plan: Plan
    vectors: dict[str, NDArray[np.float32]]
    synonyms: tuple[Synonym, ...]


class Writer:
    """Carries plans out."""

    def __init__(
        self,
        graphs: Graphs,
        store: GraphStore,
        vectors: TextVectors,
        announcer: Announcer,
        limits: SynonymLimits,
        changed: Callable[[str], None],
    ) -> None:
        """`changed` is told the user whose graph changed."""
        self._graphs = graphs
        self._store = store
        self._vectors = vectors
        self._announcer = announcer
        self._limits = limits
        self._changed = changed

    async def write(self, user_id: str, work_out: Callable[[GraphState], Plan]) -> Plan:
        """Work a plan out and carry it out.

        Encoder and store are asked before the graph is locked, so that nobody who writes, and forgets above all, waits
        for them. When somebody else wrote meanwhile the plan is worked out again; its vectors are remembered by then.
        """
        prepared = await self._prepared(user_id, work_out(await self._graphs.state(user_id)))
        async with self._graphs.writing(user_id) as state:
            if state is not prepared.plan.state:
                prepared = await self._prepared(user_id, work_out(state))
            await self._store_it(user_id, prepared)
        return prepared.plan

    async def write_locked(self, user_id: str, plan: Plan) -> None:
        """Carry a plan out whose graph is locked already."""
        await self._store_it(user_id, await self._prepared(user_id, plan))

    async def _prepared(self, user_id: str, plan: Plan) -> _Prepared:
        found = await self._vectors.passages(list(plan.texts.values())) if plan.texts else []
        vectors = dict(zip(plan.texts, found, strict=True))
        return _Prepared(plan, vectors, await self._synonyms(user_id, plan, vectors))

    async def _store_it(self, user_id: str, prepared: _Prepared) -> None:
        change = prepared.plan.change(prepared.synonyms)
        if change.is_empty():
            return
        await self._graphs.commit(user_id, change, prepared.vectors)
        if prepared.plan.notes:
            await self._announcer.annotate(user_id, list(prepared.plan.notes.values()))
        self._changed(user_id)

    async def _synonyms(self, user_id: str, plan: Plan, vectors: dict[str, NDArray[np.float32]]) -> tuple[Synonym, ...]:
        limits = self._limits
        come = {one: plan.draft.entities[one] for one in plan.born}
        fresh = [one for one, entity in come.items() if entity.kind is EntityKind.NAME]
        if not fresh or not limits.most:
            return ()
        beside = near_newcomers({one: vectors[one] for one in come}, plan.born, limits.similarity)
        questions = [Nearest(one, Kind.ENTITY, vectors[one], limits.most) for one in fresh]
        found = await self._store.nearest(user_id, questions)
        joined: list[Synonym] = []
        for one in fresh:
            hits = nearest_of(found[one], beside[one], limit=limits.most)
            known = ((plan.draft.entities.get(other), similarity) for other, similarity in hits if other != one)
            joined += [
                Synonym(one, other.id, similarity)
                for other, similarity in known
                if other is not None and similarity >= limits.similarity and _may_join(come[one], other)
            ]
        return tuple(joined)


def _may_join(one: Entity, other: Entity) -> bool:
    return other.kind is EntityKind.NAME and may_be_synonyms(one.name, other.name)

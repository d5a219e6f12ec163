"""Ports in memory, for tests: the same promises, nothing kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from memvault.text import search_tokens
from memvault_cascade.domain.graph.model import UserGraph, apply
from memvault_cascade.ports import Annotation, GraphState, Kind, Nearest, Totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memvault_cascade.domain.graph.model import Community, GraphChange

DIMENSION = 256


class MemoryStore:
    """A `GraphStore` in dictionaries."""

    def __init__(self) -> None:
        self._states: dict[str, GraphState] = {}
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}

    async def version(self, user_id: str) -> int:
        """See `GraphStore.version`."""
        return self._state(user_id).version

    async def community_version(self, user_id: str) -> int:
        """See `GraphStore.community_version`."""
        return self._state(user_id).community_version

    async def load(self, user_id: str) -> GraphState:
        """See `GraphStore.load`."""
        return self._state(user_id)

    async def write(
        self, user_id: str, change: GraphChange, vectors: Mapping[str, NDArray[np.float32]], version: int
    ) -> None:
        """See `GraphStore.write`."""
        state = self._state(user_id)
        self._states[user_id] = replace(state, graph=apply(state.graph, change, str(version)), version=version)
        self._vectors |= {(user_id, identity): vector for identity, vector in vectors.items()}

    async def write_communities(
        self,
        user_id: str,
        communities: Sequence[Community],
        vectors: Mapping[str, NDArray[np.float32]],
        gone: Sequence[str],
        graph_version: int,
    ) -> None:
        """See `GraphStore.write_communities`."""
        state = self._state(user_id)
        known = {c.id: c for c in (*state.communities, *communities) if c.id not in set(gone)}
        ordered = tuple(known[i] for i in sorted(known))
        self._states[user_id] = replace(state, communities=ordered, community_version=graph_version)
        self._vectors |= {(user_id, identity): vector for identity, vector in vectors.items()}

    async def bury(self, user_id: str, block_ids: Sequence[str], sequence: int) -> None:
        """See `GraphStore.bury`."""
        state = self._state(user_id)
        self._states[user_id] = replace(state, forgotten={**state.forgotten, **dict.fromkeys(block_ids, sequence)})

    async def forget_user(self, user_id: str, sequence: int) -> None:
        """See `GraphStore.forget_user`."""
        known = self._state(user_id)
        version, through = known.version + 1, max(sequence, known.forgotten_through)
        graph = UserGraph(user_id, str(version))
        self._states[user_id] = GraphState(graph, (), version, version, {}, through)

    async def forget_through(self, user_id: str, sequence: int) -> None:
        """See `GraphStore.forget_through`."""
        known = self._state(user_id)
        self._states[user_id] = replace(known, forgotten_through=max(sequence, known.forgotten_through))

    async def nearest(self, user_id: str, questions: Sequence[Nearest]) -> dict[str, list[tuple[str, float]]]:
        """See `GraphStore.nearest`."""
        return {q.name: self._nearest(user_id, q) for q in questions}

    async def totals(self, user_id: str) -> Totals:
        """See `GraphStore.totals`."""
        states = [self._state(user_id)] if user_id else list(self._states.values())
        return Totals(
            sum(len(s.graph.entities) for s in states),
            sum(len(s.graph.triples) for s in states),
            sum(len(s.communities) for s in states),
            max((s.version for s in states), default=0),
            min((s.community_version for s in states), default=0),
        )

    async def users(self) -> list[str]:
        """See `GraphStore.users`."""
        return sorted(self._states)

    def _nearest(self, user_id: str, question: Nearest) -> list[tuple[str, float]]:
        state = self._state(user_id)
        ids = {
            Kind.ENTITY: list(state.graph.entities),
            Kind.TRIPLE: list(state.graph.triples),
            Kind.COMMUNITY: [c.id for c in state.communities],
        }[question.kind]
        vectors = ((i, self._vectors.get((user_id, i))) for i in ids)
        scored = [(i, float(np.clip(v @ question.vector, 0, 1))) for i, v in vectors if v is not None]
        return sorted(scored, key=lambda item: (-item[1], item[0]))[: question.limit]

    def _state(self, user_id: str) -> GraphState:
        return self._states.get(user_id, GraphState(UserGraph(user_id)))


class WordVectors:
    """`TextVectors` from hashed words: texts that share words are near, others are orthogonal."""

    async def passages(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """See `TextVectors.passages`."""
        return [word_vector(text) for text in texts]

    async def query(self, text: str) -> NDArray[np.float32]:
        """See `TextVectors.query`."""
        return word_vector(text)

    async def calibrated(self, raw_query: NDArray[np.float32]) -> NDArray[np.float32]:
        """See `TextVectors.calibrated`; these vectors have no mean."""
        return raw_query


def word_vector(text: str) -> NDArray[np.float32]:
    """A unit vector with one dimension a word."""
    vector = np.zeros(DIMENSION, np.float32)
    for token in search_tokens(text):
        # Python's own hash changes with each process.
        vector[sum(ord(c) * (i + 1) * 31 for i, c in enumerate(token)) % DIMENSION] += 1
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


class Told:
    """An `Announcer` that remembers what it was told."""

    def __init__(self) -> None:
        self.annotations: dict[str, list[Annotation]] = {}
        self.requested: list[str] = []
        self.finished: list[tuple[str, dict[str, int]]] = []
        self._claimed: set[str] = set()

    async def annotate(self, user_id: str, annotations: Sequence[Annotation]) -> None:
        """See `Announcer.annotate`."""
        self.annotations.setdefault(user_id, []).extend(annotations)

    async def request_dream(self, run_id: str, now: datetime) -> None:  # noqa: ARG002 - the port's
        """See `Announcer.request_dream`."""
        self.requested.append(run_id)

    async def finish_dream(self, run_id: str, changes: Mapping[str, int], took_ms: float) -> None:  # noqa: ARG002
        """See `Announcer.finish_dream`."""
        self.finished.append((run_id, dict(changes)))

    async def claim(self, key: str, ttl_s: float) -> bool:  # noqa: ARG002 - the port's
        """See `Announcer.claim`."""
        if key in self._claimed:
            return False
        self._claimed.add(key)
        return True

    async def release(self, key: str) -> None:
        """See `Announcer.release`."""
        self._claimed.discard(key)


class StoppedClock:
    """A `Clock` that stands until it is set."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        """The instant it was set to."""
        return self._now

    def set(self, now: datetime) -> None:
        """Set it."""
        self._now = now

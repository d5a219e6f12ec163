"""Takes the questions of a set out of the running product.

The house is asked as the gateway asks it: the router what a question means, search what it finds. Then the house is
stopped, and what search read from its store is read again by the product's own code: every ranker's list, the
candidates' columns, and late interaction with all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from memvault.recall.v1 import types_pb2
from memvault.router.v1 import router_pb2
from memvault.router.v1.router_pb2_grpc import RouterServiceStub
from memvault.rpc.client import call, open_channel
from memvault.rpc.stamps import timestamp
from memvault.runtime.settings import Profile, load
from memvault.search.v1 import search_pb2
from memvault.search.v1.search_pb2_grpc import SearchServiceStub
from memvault.vectors.edge import EdgeStore
from memvault_evals.datasets import Query, Scope
from memvault_evals.fitting.cases import Case
from memvault_evals.house import EvalError
from memvault_rerank.domain.maxsim import Directions, directions_of
from memvault_search.adapters.deeds_file import load_deeds
from memvault_search.adapters.e5_tokenizer import PREFIX_VERSION
from memvault_search.adapters.embedder_means import packaged_means
from memvault_search.adapters.generations import Generations
from memvault_search.adapters.index import StoredIndex
from memvault_search.adapters.persons_file import load_persons
from memvault_search.adapters.token_opening import tokens_beside
from memvault_search.domain.made import Made
from memvault_search.domain.replies import Replies
from memvault_search.domain.scoring.candidates import Candidates
from memvault_search.domain.similarity import EncoderMeans, centred
from memvault_search.domain.vault import Vault
from memvault_search.handlers.convert import time_range_from, vector_from
from memvault_search.handlers.embed import unpacked_tokens
from memvault_search.settings import SearchSettings
from memvault_search.usecases.asking import Conditions, Question
from memvault_search.usecases.finishing import joined
from memvault_search.usecases.gathering import Gathering
from memvault_search.usecases.rankers import known_share_of
from memvault_search.usecases.readings import readings_of
from memvault_search.usecases.vaults import Vaults
from memvault_search.usecases.write_barrier import WriteBarrier

PROFILE: Profile = "tuned"
WHOLE = ("parts",)
"""Switched off: a case holds the lists of one question, so that numbers are fitted on questions as they are asked."""
LIMIT = 100
CALL_S = 120.0
NO_COPIES = 0.8
"""Dedup is never tried below this cosine: vectors of candidates without a nearer neighbour need not be kept."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A question as router and search of the running product answered it."""

    scope: Scope
    query: Query
    now: datetime
    understanding: search_pb2.Understanding
    order: tuple[str, ...]
    reranked: int


async def ask_all(addresses: Mapping[str, str], scopes: Sequence[Scope], off: Sequence[str] = WHOLE) -> list[Asked]:
    """Ask every question of the scopes; `addresses` are those of the house's services.

    Raises:
        EvalError: When a part of an answer was degraded.
    """
    router, search = open_channel(addresses["router"]), open_channel(addresses["search"])
    try:
        classify, find = RouterServiceStub(router).Classify, SearchServiceStub(search).Search
        asked: list[Asked] = []
        for scope in scopes:
            now = scope.now or datetime.now(UTC)
            for query in scope.queries:
                request = router_pb2.ClassifyRequest(
                    user_id=scope.user_id,
                    query=query.text,
                    now=timestamp(now),
                    time_zone="UTC",
                    origin="eval",
                    profile=PROFILE,
                    off=off,
                )
                understood = await call(classify, request, timeout_s=CALL_S)
                understanding = _understanding(scope.user_id, query.text, understood)
                conditions = search_pb2.SearchConditions(now=timestamp(now), profile=PROFILE, off=off)
                wanted = search_pb2.SearchRequest(understanding=understanding, conditions=conditions, limit=LIMIT)
                found = await call(find, wanted, timeout_s=CALL_S)
                if understood.degraded or found.degraded:
                    raise EvalError(f"{query.id} was answered degraded: {understood.degraded} {found.degraded}")
                order = tuple(hit.block.id for hit in found.hits)
                asked.append(Asked(scope, query, now, understanding, order, found.reranked))
        return asked
    finally:
        await router.close(None)
        await search.close(None)


def _understanding(user_id: str, text: str, found: router_pb2.ClassifyResponse) -> search_pb2.Understanding:
    message = search_pb2.Understanding(
        user_id=user_id,
        query=found.completed_query or text,
        intent=found.intent,
        facet=found.facet,
        time_range=found.time_range if found.HasField("time_range") else types_pb2.TimeRange(),
        time_explicit=found.time_explicit,
        query_vector=found.query_vector,
        hyde_vector=found.hyde_vector,
        raw_query_vector=found.raw_query_vector,
        encoder_id=found.encoder_id,
        grouping=found.grouping,
        bare=found.bare,
    )
    message.query_tokens.CopyFrom(found.query_tokens)
    return message


async def cases_of(set_name: str, home: Path, asked: Sequence[Asked]) -> list[Case]:
    """Read from the store of a stopped house what the questions found there."""
    numbers = evenly_weighed(load("search", SearchSettings, profile=PROFILE))
    store = EdgeStore(home / "data" / "search", flush_every_s=numbers.index.flush_every_s)
    means = packaged_means(asked[0].understanding.encoder_id)
    tokens = tokens_beside(store, cached=numbers.index.token_cache)
    index = StoredIndex(store, tokens, dimension=len(means.query), page=numbers.index.page)
    await Generations(store, tokens).open(index, Made(means.encoder_id, PREFIX_VERSION, len(means.passage)), {})
    try:
        vaults = Vaults(
            index,
            means,
            WriteBarrier(),
            blocks_in_memory=numbers.index.blocks_in_memory,
            lasting_blocks=numbers.index.lasting_blocks,
            shared=False,
        )
        reader = CaseReader(set_name, vaults, index, means, numbers)
        return [await reader.case(one) for one in asked]
    finally:
        await tokens.close()
        await store.close()


def evenly_weighed(numbers: SearchSettings) -> SearchSettings:
    """The same numbers with all base weights 1, so that a list's weight is what the question alone made of it."""
    even = dict.fromkeys(numbers.finding.weights, 1.0)
    finding = numbers.finding.model_copy(update={"weights": even, "rerank_among_neighbours": True})
    return numbers.model_copy(update={"finding": finding})


@dataclass(frozen=True, eq=False)
class CaseReader:
    """Makes cases from a store; `numbers` with all base weights 1 (see `evenly_weighed`)."""

    set_name: str
    vaults: Vaults
    index: StoredIndex
    means: EncoderMeans
    numbers: SearchSettings

    async def case(self, one: Asked) -> Case:
        """What one question found.

        Raises:
            EvalError: When nobody made its vector.
        """
        question = _question(one.understanding, len(self.means.query))
        vault = await self.vaults.of(question.user_id)
        vector = question.vector
        if vector is None:
            raise EvalError(f"{one.query.id} has no vector")
        gathered = await Gathering(self.index, load_persons(), load_deeds(), self.means).gather(
            question, Conditions(now=one.now), vector, vault, self.numbers, None
        )
        best = gathered.pool.best
        replies = Replies(vault.get, vault.sessions, self.numbers.finding.reply_width)
        ids = sorted(best.rows)
        rows, slots = [best.rows[one_id] for one_id in ids], [best.slots[one_id] for one_id in ids]
        close = vault.vectors_of(slots) @ centred(vector, self.means.query) if ids else np.zeros(0)
        similarity = np.clip(close, 0.0, 1.0).astype(np.float64)
        candidates = _slim(vault.candidates(rows, slots, np.zeros(len(ids)), similarity))
        return Case(
            set_name=self.set_name,
            scope=one.scope.user_id,
            id=one.query.id,
            kind=one.query.kind,
            text=question.text,
            gold=one.query.gold,
            also=one.query.also,
            intent=question.intent,
            facet=question.facet,
            bare=question.bare and self.numbers.finding.bare_by_recency,
            grouping=question.grouping,
            now=one.now.timestamp(),
            time_range=question.time_range,
            time_explicit=question.time_explicit,
            lists=tuple(gathered.pool.rankings),
            candidates=candidates,
            speakers=tuple(vault.at(row).block.speaker for row in rows),
            directions=await self._directions(question, vault, rows, slots, replies),
            query_tokens=len(question.tokens) if question.tokens is not None else 0,
            known=known_share_of(question, vault),
            replies={one: reply for one in ids if (reply := replies.of(one)) is not None},
            order=one.order,
            reranked=one.reranked,
        )

    async def _directions(
        self, question: Question, vault: Vault, rows: Sequence[int], slots: Sequence[int], replies: Replies
    ) -> Directions | None:
        among = self.numbers.finding.rerank_among_neighbours
        reading = readings_of(vault, rows, slots, among_neighbours=among, replies=replies)
        readings = [reading(number) for number in range(len(rows))]
        points = list(dict.fromkeys(point for one in readings for point in one))
        tokens = await self.index.token_vectors(question.user_id, points)
        if question.tokens is None or set(points) - set(tokens):
            return None
        documents = [
            joined(one, vault.point_of(slot), tokens)[0].values for one, slot in zip(readings, slots, strict=True)
        ]
        return directions_of(question.tokens.values, documents)


def _question(message: search_pb2.Understanding, dimension: int) -> Question:
    return Question(
        user_id=message.user_id,
        text=message.query,
        intent=message.intent or "unknown",
        facet=message.facet or "none",
        time_range=time_range_from(message.time_range),
        time_explicit=message.time_explicit,
        vector=vector_from(message.query_vector, dimension, "query_vector"),
        tokens=unpacked_tokens(message.query_tokens) if message.query_tokens.rows else None,
        hyde_vector=vector_from(message.hyde_vector, dimension, "hyde_vector"),
        follow_up_vector=vector_from(message.raw_query_vector, dimension, "raw_query_vector"),
        grouping=message.grouping,
        bare=message.bare,
    )


def _slim(candidates: Candidates) -> Candidates:
    """Candidates without the vectors and texts that no comparison of copies needs."""
    close = candidates.vectors @ candidates.vectors.T
    np.fill_diagonal(close, 0.0)
    near = close.max(axis=1, initial=0.0) > NO_COPIES
    if not near.any():
        vectors = np.zeros((len(candidates), 1), np.float32)
    else:
        vectors = np.where(near[:, None], candidates.vectors, np.float32(0.0))
    texts = tuple(text if keep else "" for text, keep in zip(candidates.texts, near, strict=True))
    return Candidates(**{**vars(candidates), "vectors": vectors, "texts": texts})

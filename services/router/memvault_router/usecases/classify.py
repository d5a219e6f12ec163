"""Finds out what is being asked: words, vector, prepared answers, profile, and a language model only when unsure."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta

import numpy as np
import structlog

from memvault.faults import Fault, Reason
from memvault.ops import changed, run
from memvault_router.domain.labels import top
from memvault_router.domain.operators.embedding import centred
from memvault_router.domain.operators.plan import Planner
from memvault_router.domain.pipeline import Pipeline, with_verdict
from memvault_router.domain.prefetch import Circumstances, Match
from memvault_router.domain.state import NO_OVERRIDES, Degraded, Frequencies, Question, Skipped, Vector
from memvault_router.domain.threshold import start_rate, threshold
from memvault_router.ports import Announcer, Classified, Clock, Encoded, Encoder, Judge, Observer, ThresholdMemory
from memvault_router.settings import RouterSettings
from memvault_router.usecases.archetypes import ArchetypeShelf
from memvault_router.usecases.asked import Answered, Asked
from memvault_router.usecases.beside import Beside, First, absent, begun, give_up
from memvault_router.usecases.prepared import PreparedLookup
from memvault_router.usecases.profile import AttentionProfile
from memvault_router.usecases.stopwatch import Stopwatch

_EVALUATION = "evaluation"
log = structlog.get_logger("memvault.router")


@dataclass(frozen=True)
class Parts:
    """What classification works with; `judge` None means that no language model is configured."""

    clock: Clock
    encoder: Encoder
    shelf: ArchetypeShelf
    lookup: PreparedLookup
    profile: AttentionProfile
    memory: ThresholdMemory
    announcer: Announcer
    judge: Judge | None
    observer: Observer


class ClassifyQuestion:
    """The use case behind `Classify`."""

    def __init__(self, parts: Parts, pipelines: Mapping[str, Pipeline], settings: Mapping[str, RouterSettings]) -> None:
        self._parts = parts
        self._pipelines = pipelines
        self._settings = settings
        self._announcing: set[asyncio.Task[None]] = set()

    async def __call__(self, asked: Asked) -> Answered:
        """Classify one question.

        The encoder begins as soon as it is known what to encode; the words are read, and the others asked, while it
        works: what is left to do once the vector is there is to compare it. An answer that lies ready needs none of
        the others.

        Raises:
            Fault: Only for a question that cannot be read; every missing part degrades the answer instead.
        """
        pipeline, watch = self._pipelines[asked.profile], Stopwatch()
        now = asked.now or self._parts.clock.now()
        state = Question(
            asked.query,
            now,
            asked.zone,
            said=asked.said,
            off=asked.off,
            overrides=asked.overrides,
            completed=asked.query,
        )
        state = pipeline.complete(state, watch)
        first, keep = self._first(state, asked, watch), False
        try:
            for step in pipeline.reading:
                await asyncio.sleep(0)  # lets the others begin, and take what arrived
                state = run((step,), state, watch)
            state, match = self._exact(state, await first.exact, asked)
            if match is not None:
                keep = _teaches(asked)
                return self._from_prepared(state, match, first.encoding, asked, watch)
            beside = self._beside(state, asked, watch)
            try:
                return await self._classified(state, first.encoding, beside, asked, watch)
            finally:
                give_up(beside.past, beside.predicted)
        finally:
            give_up(first.exact, *([] if keep else [first.encoding]))

    async def _classified(
        self,
        state: Question,
        encoding: asyncio.Task[Encoded | Fault],
        beside: Beside,
        asked: Asked,
        watch: Stopwatch,
    ) -> Answered:
        pipeline = self._pipelines[asked.profile]
        state, encoded = self._with_vector(state, await encoding)
        with watch.measure("router.fuse"):
            state = pipeline.classify(state, self._parts.shelf.index)
        state, passage, passage_vector = await self._judge(state, asked, watch)
        self._announce(state, asked)
        state = _with_past(state, await beside.past)
        state = pipeline.decide(state, watch)
        state, match = await self._near(state, encoded, await beside.predicted, asked, watch)
        if passage_vector is None:
            passage_vector = self._facet_passage(state, encoded, asked)
        self._parts.observer.count("memvault.router.classified", intent=state.intent, funnel=state.funnel)
        return Answered(state, encoded, match, passage, passage_vector, watch.times)

    def warm_up(self) -> None:
        """Compile the patterns and load the dictionary, so that the first question does not wait for it."""
        now = self._parts.clock.now()
        for pipeline in self._pipelines.values():
            # two texts: one with Latin words is known to have a subject before the dictionary would cut it
            for text in ("warm up", "熱身"):
                pipeline.understand(Question(text, now, UTC, completed=text))

    async def settle(self) -> None:
        """Wait until all facts under way are published or given up."""
        while self._announcing:
            await asyncio.gather(*self._announcing, return_exceptions=True)

    # -- prepared answers ----------------------------------------------------------------------------------

    def _exact(self, state: Question, found: Match | Fault | None, asked: Asked) -> tuple[Question, Match | None]:
        if not _may_use_prepared(asked):
            return _skipped(state, "prefetch", _why_no_prepared(asked)), None
        return (_degraded(state, "redis", found), None) if isinstance(found, Fault) else (state, found)

    async def _near(
        self,
        state: Question,
        encoded: Encoded | None,
        predicted: Mapping[str, Vector] | Fault | None,
        asked: Asked,
        watch: Stopwatch,
    ) -> tuple[Question, Match | None]:
        mean = self._parts.shelf.query_mean
        if isinstance(predicted, Fault):
            return _degraded(state, "redis", predicted), None
        if predicted is None or encoded is None or mean is None or _store_is_down(state):
            return state, None
        settings = self._settings[asked.profile]
        try:
            with watch.measure("router.prefetch_near"):
                match, reason = await self._parts.lookup.near(
                    state, predicted, mean, encoded.encoder_id, self._circumstances(asked), settings
                )
        except Fault as fault:
            return _degraded(state, "redis", fault), None
        if asked.now is not None and reason in {"no_entry", "unusable"}:
            reason = _EVALUATION
        if match is None and reason != "no_entry":
            state = _skipped(state, "prefetch", reason)
        return state, match

    def _circumstances(self, asked: Asked) -> Circumstances:
        now, apart_s = self._parts.clock.now(), self._settings[asked.profile].prepared_apart_s
        return Circumstances(asked.user_id, asked.conditions, now, asked.now or now, timedelta(seconds=apart_s))

    def _from_prepared(
        self,
        state: Question,
        match: Match,
        encoding: asyncio.Task[Encoded | Fault],
        asked: Asked,
        watch: Stopwatch,
    ) -> Answered:
        """Answer with the classification of the stored recall; the profile still learns from an own one, afterwards."""
        entry = match.prepared
        routes = self._settings[asked.profile].routes
        intents = {name: entry.confidence if name == entry.intent else 0.0 for name in state.intents}
        rest = (1.0 - entry.confidence) / (len(intents) - 1)
        intents = {name: value or rest for name, value in intents.items()}
        facets = {name: 1.0 if name == entry.facet else 0.0 for name in state.facets}
        decided = Planner(routes)(
            changed(state, intents=intents, facets=facets, raw_intents=intents, raw_facets=facets)
        )
        if _teaches(asked):
            self._start(self._announce_later(state, encoding, asked))
        self._parts.observer.count("memvault.router.prefetch", match="exact")
        return Answered(decided, None, match, "", None, watch.times)

    # -- vectors -------------------------------------------------------------------------------------------

    async def _encode(self, state: Question) -> Encoded:
        texts = [state.completed, *filter(None, [state.beside])]
        return await self._parts.encoder.encode(texts, "query", token_vectors=True)

    def _with_vector(self, state: Question, encoded: Encoded | Fault) -> tuple[Question, Encoded | None]:
        if isinstance(encoded, Fault):
            return _degraded(state, "embed", encoded, "classified by keywords alone"), None
        self._parts.shelf.seen(encoded.encoder_id)
        mean, index = self._parts.shelf.query_mean, self._parts.shelf.index
        if index is None or mean is None or index.encoder_id != encoded.encoder_id:
            waiting = Fault(Reason.SERVICE_UNAVAILABLE, "the archetypes are not encoded yet")
            return _degraded(state, "embed", waiting, "classified by keywords alone"), encoded
        return changed(state, vector=centred(np.asarray(encoded.vectors[0]), mean)), encoded

    # -- the language model --------------------------------------------------------------------------------

    async def _judge(self, state: Question, asked: Asked, watch: Stopwatch) -> tuple[Question, str, Encoded | None]:
        judge, settings = self._parts.judge, self._settings[asked.profile]
        if judge is None or asked.overrides.intent:
            reason = "not_configured" if judge is None else "forced"
            return _skipped(state, "llm", reason), "", None
        fused, confidence = top(state.raw_intents)
        numbers = settings.threshold
        try:
            known = await self._parts.memory.overruled_rate(start_rate(numbers))
        except Fault as fault:
            known, state = start_rate(numbers), _degraded(state, "redis", fault)
        if confidence >= threshold(known, numbers):
            return _skipped(state, "llm", "sure"), "", None
        try:
            with watch.measure("router.llm"):
                verdict = await judge.judge(state.completed, state.said, settings.waits.llm_s)
        except Fault as fault:
            return _degraded(state, "llm", fault, "the fused result stands"), "", None
        overruled = verdict.intent != fused
        try:
            await self._parts.memory.verdict(overruled=overruled, start=start_rate(numbers), rate=numbers.rate)
        except Fault as fault:
            state = _degraded(state, "redis", fault)
        state = with_verdict(state, verdict.intent, verdict.facet, settings.llm_share)
        return state, verdict.passage, await self._encode_passage(verdict.passage)

    async def _encode_passage(self, passage: str) -> Encoded | None:
        if not passage:
            return None
        try:
            return await self._parts.encoder.encode([passage], "passage")
        except Fault as fault:
            log.info("passage_not_encoded", reason=fault.reason)
            return None

    def _facet_passage(self, state: Question, encoded: Encoded | None, asked: Asked) -> Encoded | None:
        """Return the vector of what an answer of the facet could say, for a question that names no subject."""
        known = self._parts.shelf.passages.get(state.facet)
        if not (state.bare and self._settings[asked.profile].facet_passages) or known is None or encoded is None:
            return None
        return Encoded(known[None, :], (None,), encoded.encoder_id)

    # -- beside the encoding -------------------------------------------------------------------------------

    def _first(self, state: Question, asked: Asked, watch: Stopwatch) -> First:
        encoding = begun(watch, "router.embed", self._encode(state))
        if not _may_use_prepared(asked):
            return First(absent(), encoding)
        exact = self._parts.lookup.exact(state.completed, self._circumstances(asked))
        return First(begun(watch, "router.prefetch", exact), encoding)

    def _beside(self, state: Question, asked: Asked, watch: Stopwatch) -> Beside:
        past: asyncio.Task[Frequencies | Fault | None] = absent()
        predicted: asyncio.Task[Mapping[str, Vector] | Fault | None] = absent()
        if "personalise" not in state.off:
            frequencies = self._parts.profile.read_frequencies(asked.user_id, state.now)
            past = begun(watch, "router.profile", frequencies)
        if _may_use_prepared(asked):
            predicted = begun(watch, "router.predicted", self._parts.lookup.predicted(self._circumstances(asked)))
        return Beside(past, predicted)

    # -- the profile ---------------------------------------------------------------------------------------

    def _announce(self, state: Question, asked: Asked) -> None:
        if not _teaches(asked):
            return
        intent, confidence = top(state.raw_intents)
        facet, _ = top(state.raw_facets)
        fact = Classified(asked.user_id, intent, facet, confidence, state.now, asked.recall_id)
        self._start(self._publish(fact))

    async def _announce_later(self, state: Question, encoding: asyncio.Task[Encoded | Fault], asked: Asked) -> None:
        state, _ = self._with_vector(state, await encoding)
        self._announce(self._pipelines[asked.profile].classify(state, self._parts.shelf.index), asked)

    async def _publish(self, fact: Classified) -> None:
        try:
            await self._parts.announcer.classified(fact)
        except Fault as fault:
            # the profile misses one question of thousands; the answer must not wait for it
            log.warning("intent_not_published", reason=fault.reason, recall_id=fact.recall_id)
            self._parts.observer.count("memvault.router.unpublished")

    def _start(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._announcing.add(task)
        task.add_done_callback(self._announcing.discard)


def _teaches(asked: Asked) -> bool:
    """Say whether the profile learns from a question: an own one that is forced nowhere."""
    return asked.origin == "user" and asked.overrides == NO_OVERRIDES


def _skipped(state: Question, step: str, reason: str) -> Question:
    return changed(state, skipped=(*state.skipped, Skipped(step, reason)))


def _may_use_prepared(asked: Asked) -> bool:
    return not _why_no_prepared(asked)


def _why_no_prepared(asked: Asked) -> str:
    if asked.origin == "prefetch":
        return "prefetch_itself"
    if "prefetch" in asked.off:
        return "switched_off"
    # what was prepared for a plain question does not serve one that is forced onto another way
    return _EVALUATION if asked.overrides != NO_OVERRIDES else ""


def _degraded(state: Question, part: str, fault: Fault, consequence: str = "") -> Question:
    if any(known.part == part for known in state.degraded):
        return state
    words = {Reason.DEADLINE_EXCEEDED: "TIMEOUT", Reason.SERVICE_UNAVAILABLE: "UNREACHABLE"}
    words |= {Reason.STORE_UNAVAILABLE: "UNREACHABLE", Reason.SEARCH_UNAVAILABLE: "UNREACHABLE"}
    detail = f"{fault.message}; {consequence}" if consequence else fault.message
    return changed(state, degraded=(*state.degraded, Degraded(part, words.get(fault.reason, fault.reason), detail)))


def _with_past(state: Question, past: Frequencies | Fault | None) -> Question:
    return _degraded(state, "redis", past) if isinstance(past, Fault) else changed(state, frequencies=past)


def _store_is_down(state: Question) -> bool:
    return any(known.part == "redis" for known in state.degraded)

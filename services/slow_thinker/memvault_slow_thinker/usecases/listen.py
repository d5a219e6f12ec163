"""Listening (R-50 to R-52): an utterance comes in; perhaps a prediction is made and its fetching begins."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import TypeVar
from weakref import WeakValueDictionary

import numpy as np

from memvault.faults import Fault
from memvault.ops import NULL_OBSERVER, Observer, run
from memvault_slow_thinker.domain.admission import Rule, Situation, refuse_drift, refuse_situation
from memvault_slow_thinker.domain.conversation import Place, Utterance, Vectors, topic_drift
from memvault_slow_thinker.domain.pipeline import PredictionPipeline
from memvault_slow_thinker.domain.prediction import Draft, Predicted, Prediction
from memvault_slow_thinker.ports import (
    Announcement,
    Clock,
    Conversations,
    Encoded,
    Encoder,
    Graph,
    QuestionWriter,
    Reporting,
)
from memvault_slow_thinker.settings import Settings
from memvault_slow_thinker.usecases.fetch import BUSY, Job, SpeculativeFetcher

LATE = "late"
NO_ENCODER = "no_encoder"
NOTHING_TO_ASK = "nothing_to_ask"
REPEATED = "repeated"
FORGOTTEN = "forgotten"
T = TypeVar("T")


@dataclass(frozen=True)
class Heard:
    """An utterance as it came over the bus. `published_at`: seconds since the epoch; `sequence`: in its stream."""

    place: Place
    utterance: Utterance
    published_at: float
    sequence: int | None


@dataclass(frozen=True)
class Sources:
    """Where fuel comes from. `writer` is None when no LLM is configured, which is the normal case."""

    encoder: Encoder
    graph: Graph
    writer: QuestionWriter | None


@dataclass(frozen=True)
class Outcome:
    """`refused_by` names the rule, or is empty; `questions` are being fetched."""

    refused_by: str
    questions: tuple[Draft, ...] = ()


class Listen:
    """Remembers what is said and, when admission lets it, prepares for what may be asked next."""

    def __init__(
        self,
        conversations: Conversations,
        sources: Sources,
        fetcher: SpeculativeFetcher,
        pipeline: PredictionPipeline,
        *,
        reporting: Reporting,
        clock: Clock,
        settings: Settings,
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        self._conversations = conversations
        self._sources = sources
        self._fetcher = fetcher
        self._pipeline = pipeline
        self._reporting = reporting
        self._clock = clock
        self._settings = settings
        self._observer = observer
        self._turns: WeakValueDictionary[Place, asyncio.Lock] = WeakValueDictionary()

    async def __call__(self, heard: Heard) -> Outcome:
        """Take in one utterance; the utterances of a conversation are taken one after the other.

        One that was on its way when its user was forgotten is refused as `FORGOTTEN`, and nobody is told of it.

        Raises Fault(STORE_UNAVAILABLE) when the window cannot be kept: then the event must come again.
        """
        turn = self._turns.setdefault(heard.place, asyncio.Lock())
        async with turn:
            outcome = await self._hear(heard)
        if outcome.refused_by != FORGOTTEN:
            await self._tell(heard, outcome)
        return outcome

    async def _hear(self, heard: Heard) -> Outcome:
        place, numbers = heard.place, self._settings.prediction
        now = self._clock.now().timestamp()
        window = await self._conversations.append(
            place, heard.utterance, sequence=heard.sequence, now=now, told_at=heard.published_at
        )
        if not window:
            return Outcome(FORGOTTEN)
        await self._conversations.note(place.user_id, place.conversation_id, told_at=heard.published_at)
        if now - heard.published_at > self._settings.perishable_s:
            return Outcome(LATE)
        recent = await self._conversations.predicted(place.user_id, heard.utterance.at)
        rule = refuse_situation(await self._situation(heard, window, recent), self._settings.admission)
        if rule is not None:
            return Outcome(rule)
        start = Prediction(heard.utterance.at, window, numbers, self._settings.admission, recent=recent)
        sampled = run(self._pipeline.sampling, start, self._observer)
        spoken = await self._encoded([utterance.text for utterance in sampled.sample], "passage")
        if spoken is None:
            return Outcome(NO_ENCODER)
        rule = refuse_drift(topic_drift(spoken.centred), self._settings.admission)
        if rule is not None:
            return Outcome(rule)
        return await self._predict(heard, await self._fuelled(place, sampled), spoken.centred[-1:])

    async def _situation(self, heard: Heard, window: tuple[Utterance, ...], recent: tuple[Predicted, ...]) -> Situation:
        here = [one.at for one in recent if one.conversation_id == heard.place.conversation_id]
        return Situation(
            conversations=await self._conversations.count(heard.place.user_id),
            turns=len(window),
            since_last_s=heard.utterance.at - max(here) if here else None,
        )

    async def _fuelled(self, place: Place, state: Prediction) -> Prediction:
        text = "\n".join(utterance.text for utterance in state.sample)
        linking = self._or_without(
            "cascade",
            self._sources.graph.linked(
                place.user_id,
                text,
                neighbours=self._settings.neighbours,
                timeout_s=self._settings.ask_timeout_s,
            ),
        )
        linked, written = await asyncio.gather(linking, self._written(state))
        left_out = tuple(part for part, fuel in (("cascade", linked), ("llm", written)) if fuel is None)
        return replace(state, linked=linked or (), written=written or (), left_out=left_out)

    async def _written(self, state: Prediction) -> tuple[Draft, ...] | None:
        writer = self._sources.writer
        if writer is None:
            return ()
        writing = writer.write(state.sample, count=state.numbers.drafts, timeout_s=self._settings.llm_timeout_s)
        return await self._or_without("llm", writing)

    async def _predict(self, heard: Heard, state: Prediction, last_vector: Vectors) -> Outcome:
        drafted = run(self._pipeline.generating, state, self._observer)
        if not drafted.drafts:
            return Outcome(NOTHING_TO_ASK)
        asked = await self._encoded([draft.text for draft in drafted.drafts], "query")
        if asked is None:
            return Outcome(NO_ENCODER)
        vectors = np.concatenate([asked.centred, last_vector])
        chosen = run(self._pipeline.choosing, replace(drafted, vectors=vectors), self._observer)
        made = {"predictions": len(drafted.drafts)}
        await self._reporting.figures.add(heard.place.user_id, made, told_at=heard.published_at)
        if not chosen.emitted:
            return Outcome(Rule.LOW_CONFIDENCE if chosen.refused else REPEATED)
        return await self._fetch(heard, drafted, chosen, asked)

    async def _fetch(self, heard: Heard, drafted: Prediction, chosen: Prediction, asked: Encoded) -> Outcome:
        rows = {draft.text: row for row, draft in enumerate(drafted.drafts)}
        place = heard.place
        noted = [Predicted(draft.text, place.conversation_id, heard.utterance.at) for draft in chosen.emitted]
        await self._conversations.note_predicted(place.user_id, noted, told_at=heard.published_at)
        jobs = [
            Job(
                place,
                draft,
                asked.raw[rows[draft.text]],
                asked.encoder_id,
                heard.utterance.event_id,
                heard.utterance.at,
                heard.published_at,
                questions=len(chosen.emitted),
                left_out=drafted.left_out,
            )
            for draft in chosen.emitted
        ]
        waiting = self._fetcher.start(jobs)
        started = jobs[: len(jobs) - len(waiting)]
        if not started:
            return Outcome(BUSY)
        for job in waiting:
            await self._or_without("bus", self._reporting.announcements.announce(job.announced(BUSY)))
        return Outcome("", tuple(job.question for job in started))

    async def _encoded(self, texts: list[str], kind: str) -> Encoded | None:
        encoding = self._sources.encoder.encode(texts, kind=kind, timeout_s=self._settings.ask_timeout_s)
        return await self._or_without("embed", encoding)

    async def _or_without(self, part: str, answer: Awaitable[T]) -> T | None:
        try:
            return await answer
        except Fault as fault:
            self._reporting.notes.left_out(part, fault.reason)
            return None

    async def _tell(self, heard: Heard, outcome: Outcome) -> None:
        counted = f"refused.{outcome.refused_by}" if outcome.refused_by else "admitted"
        made = {"utterances": 1, counted: 1}
        await self._reporting.figures.add(heard.place.user_id, made, told_at=heard.published_at)
        if outcome.refused_by:
            told = Announcement(heard.place, heard.utterance.event_id, refused_by=outcome.refused_by)
            await self._or_without("bus", self._reporting.announcements.announce(told))

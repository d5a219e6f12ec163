"""SpeculativeFetcher (R-53): full recalls in the background. Fire and forget, no retries."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from memvault.faults import Fault
from memvault.screening import RULESET_VERSION
from memvault_slow_thinker.domain.conversation import Place, Vectors
from memvault_slow_thinker.domain.prediction import Draft
from memvault_slow_thinker.ports import (
    Announcement,
    Clock,
    Prepared,
    PreparedAnswers,
    Recalls,
    Reporting,
)
from memvault_slow_thinker.settings import FetchSettings

NOTHING_FOUND = "nothing_found"
FETCH_FAILED = "fetch_failed"
DEGRADED = "degraded"
CHANGED_MEANWHILE = "changed_meanwhile"
BUSY = "busy"
_LOW = "low"


@dataclass(frozen=True)
class Job:
    """A question to fetch. `vector`: raw query vector, (d,).

    `at`: event time of the utterance, `told_at`: when it was published, both in seconds since the epoch.

    `questions` were predicted from the same utterance, this one among them, without the parts `left_out`.
    """

    place: Place
    question: Draft
    vector: Vectors
    encoder_id: str
    utterance_event_id: str
    at: float
    told_at: float
    questions: int = 1
    left_out: tuple[str, ...] = ()

    def announced(self, refused_by: str) -> Announcement:
        """What is told of it; `refused_by` is empty when its answer lies ready."""
        return Announcement(
            self.place,
            self.utterance_event_id,
            query=self.question.text,
            refused_by=refused_by,
            questions=self.questions,
            left_out=self.left_out,
        )


class SpeculativeFetcher:
    """Runs recalls for predicted questions, a few at a time, and keeps their answers for 300 s."""

    def __init__(
        self,
        recalls: Recalls,
        prepared: PreparedAnswers,
        reporting: Reporting,
        *,
        clock: Clock,
        settings: FetchSettings,
    ) -> None:
        self._recalls = recalls
        self._prepared = prepared
        self._reporting = reporting
        self._clock = clock
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, jobs: Sequence[Job]) -> tuple[Job, ...]:
        """Begin fetching and return at once; what does not fit into the waiting line comes back."""
        free = max(self._settings.concurrency + self._settings.waiting - len(self._tasks), 0)
        for job in jobs[:free]:
            task = asyncio.create_task(self._run(job), name="prefetch")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return tuple(jobs[free:])

    async def idle(self) -> None:
        """Wait until nothing is being fetched."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def stop(self) -> None:
        """Give up what is being fetched: nobody has asked for it yet."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self, job: Job) -> None:
        try:
            async with self._slots:
                outcome = await self._fetch(job)
            await self._tell(job, outcome)
        except Fault as fault:
            # the store or the bus is away: the next utterance makes a new prediction anyway
            self._reporting.notes.left_out("prefetch", fault.reason)

    async def _fetch(self, job: Job) -> str:
        """Return the reason why nothing was kept, or an empty string."""
        user_id = job.place.user_id
        await self._reporting.figures.add(user_id, {"fetches": 1}, told_at=job.told_at)
        epoch = await self._prepared.epoch(user_id)
        try:
            fetched = await self._recalls.recall(
                job.place, job.question.text, now=job.at, timeout_s=self._settings.timeout_s
            )
        except Fault as fault:
            self._reporting.notes.left_out("gateway", fault.reason)
            return FETCH_FAILED
        if not fetched.cards or fetched.confidence == _LOW:
            return NOTHING_FOUND
        if fetched.degraded & self._settings.unusable_when_degraded:
            return DEGRADED
        now = self._clock.now().timestamp()
        prepared = Prepared(
            place=job.place,
            question=job.question,
            vector=job.vector,
            encoder_id=job.encoder_id,
            fetched=fetched,
            made_at=now,
            made_for=job.at,
            told_at=job.told_at,
            expires_at=now + self._settings.entry_ttl_s,
            ruleset_version=RULESET_VERSION,
        )
        return "" if await self._prepared.store(prepared, epoch=epoch) else CHANGED_MEANWHILE

    async def _tell(self, job: Job, outcome: str) -> None:
        counted = f"dropped.{outcome}" if outcome else "stored"
        await self._reporting.figures.add(job.place.user_id, {counted: 1}, told_at=job.told_at)
        await self._reporting.announcements.announce(job.announced(outcome))

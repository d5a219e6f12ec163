"""Reranking behind the circuit breaker."""

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memvault.faults import Fault, Reason
from memvault_rerank.domain.breaker import Admission, Breaker, Limits, Outcome, ask, tell
from memvault_rerank.domain.reading import Batched, Reading, Score
from memvault_rerank.ports import BreakerObserver, Clock, RerankModel

_LOG = logging.getLogger(__name__)


class Status(StrEnum):
    """How a rerank ended; the values are those of the contract."""

    OK = "OK"
    BYPASSED = "BYPASSED"
    NO_MODEL = "NO_MODEL"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    EXPIRED = "EXPIRED"


@dataclass(frozen=True, slots=True)
class Reranked:
    """Scores when the status is OK; otherwise none, and `detail` tells people why.

    Attributes:
        status: how it ended.
        breaker: state after the call.
        scores: one per document that could be scored.
        model_ms: milliseconds between handing the work to the model and its answer.
        detail: a sentence, empty when OK.

    """

    status: Status
    breaker: Breaker
    scores: tuple[Score, ...] = ()
    model_ms: float = 0.0
    detail: str = ""


class Rerank:
    """One model behind one breaker; the state lives as long as the process."""

    def __init__(
        self,
        model: RerankModel | None,
        clock: Clock,
        limits: Limits,
        *,
        timeout_s: float,
        observer: BreakerObserver | None = None,
    ) -> None:
        self._model, self._clock, self._limits, self._timeout_s = model, clock, limits, timeout_s
        self._observer = observer
        self._breaker = Breaker()

    @property
    def breaker(self) -> Breaker:
        """State of the breaker now."""
        return self._breaker

    @property
    def model_name(self) -> str:
        """The model in use; empty: none."""
        return "" if self._model is None else self._model.name

    @property
    def batched(self) -> Batched:
        """What reached the model since the start."""
        return Batched() if self._model is None else self._model.batched

    async def __call__(self, reading: Reading, *, within_s: float) -> Reranked:
        """Score a reading.

        Args:
            reading: query and candidates.
            within_s: seconds until the answer is of no use any more.

        """
        if self._model is None:
            return self._without(Status.NO_MODEL, "no rerank model is configured: set rerank.model")
        lacking = self._model.lacks(reading)
        if lacking:
            return self._without(Status.NO_MODEL, lacking)
        if within_s <= 0:
            return self._without(Status.EXPIRED, "the deadline had passed before the model was asked")
        breaker, admission = ask(self._breaker, now=self._now(), limits=self._limits)
        self._move(breaker)
        if admission is None:
            wait_s = self._breaker.retry_at - self._now()
            return self._without(Status.BYPASSED, f"the model failed repeatedly; the next try is in {wait_s:.0f} s")
        return await self._ask_model(self._model, reading, admission, within_s)

    async def _ask_model(self, model: RerankModel, reading: Reading, admission: Admission, within_s: float) -> Reranked:
        """Only the service's own limit is a failure of the model: a caller in a hurry would close it for everybody."""
        impatient = within_s < self._timeout_s
        limit = asyncio.timeout(min(within_s, self._timeout_s))
        started = time.perf_counter()
        outcome = Outcome.ABANDONED  # stands when the caller is cancelled
        status, detail, scores = Status.OK, "", []
        try:
            async with limit:
                scores = await model.score(reading, within_s=min(within_s, self._timeout_s))
            bad = _not_finite(scores)
            outcome = Outcome.FAILED if bad else Outcome.SUCCEEDED
            if bad:
                status, detail = Status.FAILED, f"{model.name} gave {bad} scores that are no finite numbers"
        except TimeoutError:
            if limit.expired() and impatient:
                status, detail = Status.EXPIRED, f"the caller waited {within_s:.2f} s, {model.name} may take longer"
            else:
                outcome, status = Outcome.FAILED, Status.TIMEOUT
                detail = f"{model.name} did not answer within {self._timeout_s:.2f} s"
        except Fault as fault:
            if fault.reason is Reason.DEADLINE_EXCEEDED:
                status, detail = Status.EXPIRED, "too little time was left: dropped before it reached the model"
            else:
                outcome, status, detail = Outcome.FAILED, Status.FAILED, fault.message
        except Exception as error:  # noqa: BLE001 - whatever a model throws, the caller gets an answer
            _LOG.exception("%s failed", model.name)
            outcome, status, detail = Outcome.FAILED, Status.FAILED, f"{model.name}: {type(error).__name__}"
        finally:
            self._move(tell(self._breaker, admission, outcome, now=self._now(), limits=self._limits))
        if status is not Status.OK:
            return self._without(status, detail)
        took_ms = (time.perf_counter() - started) * 1000
        return Reranked(status, self._breaker, tuple(scores), took_ms)

    def _move(self, breaker: Breaker) -> None:
        """Keep the new state and tell of a change: here, since calls side by side see each other's changes."""
        changed = breaker.generation != self._breaker.generation
        self._breaker = breaker
        if changed and self._observer is not None:
            self._observer.changed(breaker)

    def _without(self, status: Status, detail: str) -> Reranked:
        return Reranked(status, self._breaker, detail=detail)

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _not_finite(scores: Sequence[Score]) -> int:
    return sum(not math.isfinite(score.score) for score in scores)

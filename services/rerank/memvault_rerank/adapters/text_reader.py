"""The life of a model that reads texts: loaded and run in one worker thread, or absent with the reason."""

import logging
from collections.abc import Callable, Sequence

from memvault.faults import Fault, Reason
from memvault.runtime.batching import BatchQueue, Urgency
from memvault_rerank.domain.reading import Batched, Document, Reading, Score

_LOG = logging.getLogger(__name__)
_WARM_UP = Reading("warm up", (Document("warm-up", "a short document"),))

Scorer = Callable[[Reading], list[Score]]
"""Scores all documents of a reading; runs in the thread that made it."""


class TextReader:
    """Gives one model its thread. A model that is not there costs no start: every answer says what to do."""

    def __init__(self, name: str, make: Callable[[], Scorer]) -> None:
        """Keep the parts; nothing is loaded before start().

        Args:
            name: of the model, as answers tell it.
            make: loads it; called in the worker thread. Raises Fault NO_MODEL when it is not there.

        """
        self.name = name
        self._make = make
        self._scorer: Scorer | None = None
        self._absent = f"{name} is not loaded yet"
        self._queue = BatchQueue[Reading, list[Score]](self._score, _characters, batch_size=1, name="reranker")

    async def start(self) -> None:
        """Load and score once, so that the first caller does not pay for it."""
        try:
            await self._queue.start(self._load)
        except Fault as fault:
            if fault.reason is not Reason.NO_MODEL:
                raise
            self._absent = fault.message
            _LOG.warning("no rerank model: %s", fault.message)
        else:
            self._absent = ""

    async def stop(self) -> None:
        """Let the running reading end; what waits is cancelled."""
        await self._queue.stop()
        self._scorer = None

    @property
    def batched(self) -> Batched:
        """What reached the model since the start."""
        return Batched(self._queue.works, self._queue.batches)

    def lacks(self, reading: Reading) -> str:
        """Any reading will do, once the model is there."""
        del reading
        return self._absent

    async def score(self, reading: Reading, *, within_s: float) -> list[Score]:
        """Score all documents.

        Raises:
            Fault: DEADLINE_EXCEEDED when the work was dropped before it began.

        """
        if not reading.documents:
            return []
        (scores,) = await self._queue.submit([reading], urgency=Urgency.NOW, within_s=within_s)
        return scores

    def _load(self) -> None:
        self._scorer = self._make()
        self._scorer(_WARM_UP)

    def _score(self, batch: Sequence[Reading]) -> list[list[Score]]:
        if self._scorer is None:
            raise RuntimeError("start() the model before using it")
        return [self._scorer(reading) for reading in batch]


def _characters(reading: Reading) -> int:
    """What a reading costs: the queue learns how long a character takes."""
    return len(reading.query) + sum(len(document.text) for document in reading.documents)

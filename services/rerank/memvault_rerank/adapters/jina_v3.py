"""jina-reranker-v3 on MLX: reads a query with all its documents at once.

One prompt holds up to 64 documents, each followed by the token <|embed_token|>, and the query, followed by
<|rerank_token|>. The last layer's rows of these tokens go through a projector, Linear, ReLU, Linear without bias; a
document's score is the cosine of its vector with the query's. More documents are read in blocks; the query's vectors
of the blocks are averaged, each weighted by (1 + best score of its block) / 2.

The weights are CC BY-NC 4.0: for non-commercial use.

Source: F. Wang, Y. Li, H. Xiao, jina-reranker-v3: Last but Not Late Interaction for Document Reranking,
arXiv 2509.25085, and the code published with the weights.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.faults import Fault, Reason
from memvault.models.qwen3 import Qwen3, mlx_core
from memvault.models.shelf import found
from memvault.models.tokenizer import QwenTokenizer
from memvault_rerank.adapters.text_reader import TextReader
from memvault_rerank.domain.reading import Reading, Score
from memvault_rerank.settings import JinaV3Settings

FloatArray = npt.NDArray[np.float32]

NAME = "jina-reranker-v3"
DOCUMENT_END, QUERY_END = "<|embed_token|>", "<|rerank_token|>"
PROJECTOR, FIRST, SECOND = "projector.safetensors", "linear1.weight", "linear2.weight"
SMALLEST = 1e-12  # a vector of length 0 has the cosine 0 with everything

_SYSTEM = (
    "You are a search relevance expert who can determine a ranking of the passages based on how relevant they are to "
    "the query. If the query is a question, how relevant a passage is depends on how well it answers the question. If "
    "not, try to analyze the intent of the query and assess how well each passage satisfies the intent. If an "
    "instruction is provided, you should follow the instruction when determining the ranking."
)


@dataclass(frozen=True, slots=True)
class _Clipped:
    text: str
    tokens: int


class JinaV3:
    """Loaded model, tokenizer and projector; synchronous, belongs to the thread that made it."""

    def __init__(self, folder: Path, settings: JinaV3Settings) -> None:
        """Load everything. Raises Fault NO_MODEL when a part is missing or another model's."""
        self._settings = settings
        self._tokenizer = QwenTokenizer(folder)
        self._document_end = self._tokenizer.id_of(DOCUMENT_END)
        self._query_end = self._tokenizer.id_of(QUERY_END)
        self._first, self._second = _projector(folder / PROJECTOR)
        self._model = Qwen3(folder, head=False)

    def __call__(self, reading: Reading) -> list[Score]:
        """Score every document, in their order; cosines in [-1, 1]."""
        if not reading.documents:
            return []
        query = self._clipped(reading.query, self._settings.query_tokens)
        documents = [self._clipped(document.text, self._settings.document_tokens) for document in reading.documents]
        vectors, queries, weights = [], [], []
        for block in self._blocks(documents, query.tokens):
            own, asked = self._read(query.text, [document.text for document in block])
            vectors.append(own)
            queries.append(asked)
            weights.append((1.0 + float(_cosines(own, asked).max())) / 2.0)
        scores = _cosines(np.concatenate(vectors), _average(queries, weights))
        return [Score(document.id, float(score)) for document, score in zip(reading.documents, scores, strict=True)]

    def _clipped(self, text: str, limit: int) -> _Clipped:
        return _Clipped(*self._tokenizer.clipped(self._tokenizer.plain(text), limit))

    def _blocks(self, documents: Sequence[_Clipped], query_tokens: int) -> Iterator[list[_Clipped]]:
        """Cut as the published code does: a block ends when it is full, or when the longest document may not fit."""
        room = whole = self._settings.pass_tokens - 2 * query_tokens  # the query stands in the prompt twice
        block: list[_Clipped] = []
        for document in documents:
            block.append(document)
            room -= document.tokens
            if len(block) >= self._settings.documents_a_pass or room <= self._settings.document_tokens:
                yield block
                block, room = [], whole
        if block:
            yield block

    def _read(self, query: str, documents: Sequence[str]) -> tuple[FloatArray, FloatArray]:
        """Return the vectors of the documents [n, projected] and of the query [projected]."""
        ids = self._tokenizer.ids(prompt(query, documents))
        own = [place for place, token in enumerate(ids) if token == self._document_end]
        asked = [place for place, token in enumerate(ids) if token == self._query_end]
        (rows,) = self._model.rows([ids], [[*own, *asked]])
        projected = np.maximum(rows @ self._first.T, 0.0) @ self._second.T
        return projected[:-1], projected[-1]


def prompt(query: str, documents: Sequence[str]) -> str:
    """Write the prompt that the model was trained on; texts must be free of special tokens."""
    passages = "\n".join(
        f'<passage id="{number}">\n{document}{DOCUMENT_END}\n</passage>' for number, document in enumerate(documents)
    )
    return (
        f"<|im_start|>system\n{_SYSTEM}<|im_end|>\n<|im_start|>user\n"
        f"I will provide you with {len(documents)} passages, each indicated by a numerical identifier. "
        f"Rank the passages based on their relevance to query: {query}\n"
        f"{passages}\n<query>\n{query}{QUERY_END}\n</query>"
        "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )


def open_jina_v3(settings: JinaV3Settings, home: Path) -> TextReader:
    """Return the model, not yet loaded; one that is missing says so in every answer."""
    return TextReader(NAME, partial(_load, settings, home))


def _load(settings: JinaV3Settings, home: Path) -> JinaV3:
    return JinaV3(found(NAME, home, settings.folder, "rerank.jina_v3.folder"), settings)


def _projector(path: Path) -> tuple[FloatArray, FloatArray]:
    """Read both matrices, [inner, hidden] and [projected, inner]; numpy runs them: they are small, and exact in it."""
    mx = mlx_core()
    try:
        weights: dict[str, Any] = mx.load(str(path))
        first, second = (np.array(weights[name].astype(mx.float32)) for name in (FIRST, SECOND))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise Fault(Reason.NO_MODEL, f"{path} is no projector ({error}): fetch the model again") from error
    return first, second


def _cosines(rows: FloatArray, one: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(one)
    cosines: FloatArray = rows @ one / np.maximum(lengths, SMALLEST)
    return cosines


def _average(queries: Sequence[FloatArray], weights: Sequence[float]) -> FloatArray:
    """Weigh the blocks' query vectors; where every block's best document is the opposite, all count the same."""
    total = sum(weights)
    shares = np.array(weights, np.float32) / total if total > SMALLEST else np.full(len(weights), 1.0 / len(weights))
    average: FloatArray = (shares[:, None] * np.stack(queries)).sum(axis=0).astype(np.float32)
    return average

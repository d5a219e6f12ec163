"""Qwen3-Reranker on MLX: asks of each document alone whether it meets the query, and takes the logits of yes and no.

score = P(yes) = 1 / (1 + e^(no - yes)) over the two logits of the next token, in [0, 1]; the model was trained so that
this is a probability of being relevant, and it is offered as such.

Source: Y. Zhang et al., Qwen3 Embedding, arXiv 2506.05176, and the model's card.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from memvault.models.qwen3 import Qwen3
from memvault.models.shelf import found
from memvault.models.tokenizer import QwenTokenizer
from memvault_rerank.adapters.text_reader import TextReader
from memvault_rerank.domain.reading import Reading, Score
from memvault_rerank.settings import Qwen3RerankerSettings

NAME = "qwen3-reranker-0.6b"
TASK = "Given a web search query, retrieve relevant passages that answer the query"
BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
AFTER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


class Qwen3Reranker:
    """Loaded model and tokenizer; synchronous, belongs to the thread that made it."""

    def __init__(self, folder: Path, settings: Qwen3RerankerSettings) -> None:
        """Load everything. Raises Fault NO_MODEL when a part is missing or another model's."""
        self._settings = settings
        self._tokenizer = QwenTokenizer(folder)
        self._answers = (self._tokenizer.id_of("no"), self._tokenizer.id_of("yes"))
        self._before, self._after = self._tokenizer.ids(BEFORE), self._tokenizer.ids(AFTER)
        self._room = settings.longest - len(self._before) - len(self._after)
        self._model = Qwen3(folder, head=True)

    def __call__(self, reading: Reading) -> list[Score]:
        """Score every document, in their order."""
        prompts = [self._prompt(reading.query, document.text) for document in reading.documents]
        shares = np.zeros(len(prompts))
        for batch in _batches(prompts, self._settings.batch_tokens):
            logits = self._model.last_logits([prompts[place] for place in batch], self._answers)
            no, yes = logits.astype(np.float64).T
            shares[batch] = 1.0 / (1.0 + np.exp(no - yes))
        return [
            Score(document.id, float(share), relevance=float(share))
            for document, share in zip(reading.documents, shares, strict=True)
        ]

    def _prompt(self, query: str, document: str) -> list[int]:
        """Return the ids of one question; a document that is too long loses its end, as in the published code."""
        asked, shown = self._tokenizer.plain(query), self._tokenizer.plain(document)
        body = self._tokenizer.ids(f"<Instruct>: {TASK}\n<Query>: {asked}\n<Document>: {shown}")
        return [*self._before, *body[: self._room], *self._after]


def open_qwen3(settings: Qwen3RerankerSettings, home: Path) -> TextReader:
    """Return the model, not yet loaded; one that is missing says so in every answer."""
    return TextReader(NAME, partial(_load, settings, home))


def _load(settings: Qwen3RerankerSettings, home: Path) -> Qwen3Reranker:
    return Qwen3Reranker(found(NAME, home, settings.folder, "rerank.qwen3.folder"), settings)


def _batches(prompts: Sequence[Sequence[int]], most: int) -> Iterator[list[int]]:
    """Yield places of prompts of like length; padded together they cost at most `most` tokens, one alone any number."""
    batch: list[int] = []
    for place in sorted(range(len(prompts)), key=lambda one: len(prompts[one])):
        if batch and len(prompts[place]) * (len(batch) + 1) > most:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch

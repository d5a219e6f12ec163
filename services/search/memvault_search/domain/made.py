"""What an index was made with. Two makes never mix in one index; `memvault reindex` leads from one to the next."""

from __future__ import annotations

from dataclasses import dataclass

from memvault_search.domain.bm25 import Bm25Numbers

WORDS_VERSION = 1
"""Raised when the segmentation of texts or the formula of the weights changes."""


@dataclass(frozen=True, slots=True)
class Made:
    """The make of an index; `dimension` 0 and empty `words`: made before they were noted, and taken as they are now.

    Attributes:
        encoder_id: name and content of the encoder.
        prefix_version: of what it puts before queries and passages.
        dimension: of its vectors.
        words: version and numbers of the BM25 weights.
    """

    encoder_id: str
    prefix_version: str
    dimension: int = 0
    words: str = ""

    @property
    def encoder(self) -> tuple[str, str]:
        """The part that a question's vector has to share."""
        return self.encoder_id, self.prefix_version

    def completed(self, other: Made) -> Made:
        """The same with what was never noted taken from another make of the same encoder."""
        return Made(self.encoder_id, self.prefix_version, self.dimension or other.dimension, self.words or other.words)

    def __str__(self) -> str:
        return f"{self.encoder_id} (prefixes {self.prefix_version}, words {self.words})"


def words_made(of_self: Bm25Numbers, of_context: Bm25Numbers) -> str:
    """What the weights of an index rest on, as a short text that is equal when they are."""
    return f"{WORDS_VERSION}:{of_self.k1:g},{of_self.b:g};{of_context.k1:g},{of_context.b:g}"

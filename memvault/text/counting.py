"""Token counts with Qwen's byte-pair vocabulary, the unit of every token budget.

The vocabulary is Alibaba's (Apache-2.0, see NOTICE); it is stored as length-prefixed tokens in rank order under xz and
unpacked at the first call.
"""

from __future__ import annotations

import lzma
import re
import unicodedata
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import Protocol

import tiktoken

from memvault.text.folding import without_surrogates


class TokenCounter(Protocol):
    """What a text costs the model that will read it; another vocabulary is another counter."""

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, at least 0."""
        ...

    def clip(self, text: str, n: int) -> str:
        """Return the longest beginning of a text that costs at most `n` tokens; a character is never broken."""
        ...


_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
"""How Qwen cuts text before merging byte pairs, from its published tokenizer."""

_SEAM = re.compile(
    "[.!?;:,\n。！？；：，]"
    r"(?:(?<=[.!?;:,])(?= (?!\s))|(?<=\n)(?!\s)"
    r"|(?<=[^\W_][。！？；：，])()"
    r'|(?<=,)(?=")(?:(?<=[^\W_],)()|(?<=[^\W_]",)()))'
)
_BACK = (0, 1, 1, 2)
"""How many characters before the end of a match of `_SEAM` the text is cut, by its last group."""

_CHUNK_CHARS = 50_000
"""Characters encoded at a time: longer runs without a blank can exhaust the encoder's stack."""


def _ranks(packed: bytes) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    at = 0
    while at < len(packed):
        end = at + 1 + packed[at]
        ranks[packed[at + 1 : end]] = len(ranks)
        at = end
    return ranks


@lru_cache(maxsize=1)
def _encoding() -> tiktoken.Encoding:
    packed = resources.files("memvault.text").joinpath("data/qwen.bpe.xz").read_bytes()
    return tiktoken.Encoding(
        "qwen", pat_str=_PATTERN, mergeable_ranks=_ranks(lzma.decompress(packed)), special_tokens={}
    )


def _chunks(text: str) -> list[str]:
    return [text[at : at + _CHUNK_CHARS] for at in range(0, len(text), _CHUNK_CHARS)]


@lru_cache(maxsize=65_536)
def _count(piece: str) -> int:
    return sum(len(_encoding().encode_ordinary(chunk)) for chunk in _chunks(piece))


def count_tokens(text: str) -> int:
    """Return how many Qwen tokens `text` costs; names of special tokens count as ordinary text.

    Sentences are counted one by one and remembered: packing counts the same ones again in every summary it tries.
    """
    return sum(map(_count, _pieces(unicodedata.normalize("NFC", without_surrogates(text)))))


def _pieces(text: str) -> list[str]:
    """Cut a text at ends of sentences and lines that `_PATTERN` never reads across, so that counts of parts add up.

    These are: before one blank that follows a mark, after a line, and after a letter or digit before a Chinese mark or
    what stands between two fields of JSON.
    """
    cuts = [0, *(seam.end() - _BACK[seam.lastindex or 0] for seam in _SEAM.finditer(text)), len(text)]
    return [text[begin:end] for begin, end in pairwise(cuts)]


def clip_tokens(text: str, n: int) -> str:
    """Return the longest beginning of `text`, cut between tokens, that costs at most `n` tokens.

    A character is never broken.

    Raises ValueError if `n` is negative.
    """
    if n < 0:
        message = f"n must not be negative, not {n}"
        raise ValueError(message)
    if count_tokens(text) <= n:
        return text
    kept: list[int] = []
    for chunk in _chunks(without_surrogates(text)):
        kept.extend(_encoding().encode_ordinary(chunk))
        if len(kept) >= n:
            break
    for size in range(min(n, len(kept)), 0, -1):
        head = _encoding().decode_bytes(kept[:size]).decode("utf-8", "ignore")
        if count_tokens(head) <= n:  # cutting inside a character or a normalised pair may cost more than it saves
            return head
    return ""


class QwenTokens:
    """The packaged counter."""

    def count(self, text: str) -> int:
        """As `count_tokens`."""
        return count_tokens(text)

    def clip(self, text: str, n: int) -> str:
        """As `clip_tokens`."""
        return clip_tokens(text, n)


QWEN = QwenTokens()

"""Words of the BM25 floor: Latin words, and single characters and pairs of Chinese, Japanese and Korean ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

_RUN = re.compile(r"[a-z0-9]+|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_LATIN = re.compile(r"[a-z0-9]")
K1, B = 1.2, 0.75  # of Robertson and Zaragoza 2009, as in Lucene


def words(text: str) -> list[str]:
    """Return the words of a text; no stemming, no stop words."""
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        if _LATIN.match(run):
            found.append(run)
        else:
            found += [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
    return found


def saturated(texts: Sequence[Sequence[str]]) -> list[dict[str, float]]:
    """Return the words of each text with their saturated, length-normalised frequency: BM25 without the IDF."""
    counts = [Counter(text) for text in texts]
    lengths = [sum(one.values()) for one in counts]
    average = float(np.mean(lengths)) if lengths else 1.0
    return [
        {word: n * (K1 + 1) / (n + K1 * (1 - B + B * length / max(average, 1.0))) for word, n in one.items()}
        for one, length in zip(counts, lengths, strict=True)
    ]

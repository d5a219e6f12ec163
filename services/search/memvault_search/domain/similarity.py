"""Calibrated similarity: what every cosine threshold of the product means (R-10a).

Raw cosines of e5 lie in 0.70 to 0.95 whatever the texts say. Subtracting the encoder's mean
vector first spreads unrelated texts around 0, so that a threshold such as 0.85 means something.
"""

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from memvault_search.domain.embedding import FloatArray, TextKind, unit_rows


@dataclass(frozen=True, slots=True, eq=False)
class EncoderMeans:
    """Mean vectors of one encoder, half Chinese and half English.

    Attributes:
        encoder_id: the encoder these were computed with; another one needs its own.
        query: float32 [dimension], mean of query vectors.
        passage: float32 [dimension], mean of passage vectors.
        token: float32 [dimension], mean of token vectors (before any scaling).

    """

    encoder_id: str
    query: FloatArray
    passage: FloatArray
    token: FloatArray

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits: a version of the same encoder that rounds otherwise has other means."""
        content = np.concatenate([self.query, self.passage, self.token]).astype("<f4").tobytes()
        return blake2b(content, digest_size=4).hexdigest()

    def of(self, kind: TextKind) -> FloatArray:
        """Return the mean that belongs to texts embedded as `kind`."""
        return self.query if kind == "query" else self.passage


def centred(vectors: FloatArray, mean: FloatArray) -> FloatArray:
    """Subtract the mean [d] from vectors [n, d] or [d] and scale to length 1 again."""
    return unit_rows((vectors - mean).astype(np.float32))


def scale_of_centred(means: EncoderMeans) -> float:
    """Raw cosines spread by so much where centred ones spread by 1: what is left of both sides without their means."""
    left = (1.0 - float(one @ one) for one in (means.query, means.passage))
    return float(np.sqrt(np.prod([max(0.0, one) for one in left])))


def calibrated_similarity(
    left: FloatArray,
    right: FloatArray,
    *,
    left_mean: FloatArray,
    right_mean: FloatArray,
) -> FloatArray:
    """Return the calibrated similarity of every left with every right text, in [0, 1].

    Args:
        left: float32 [n, d] or [d], raw encoder output.
        right: float32 [m, d] or [d], raw encoder output.
        left_mean: the encoder's mean for the kind of the left texts, [d].
        right_mean: the encoder's mean for the kind of the right texts, [d].

    Returns:
        float32 [n, m]; a side given as [d] loses its axis.

    """
    cosine = centred(left, left_mean) @ centred(right, right_mean).T
    clipped: FloatArray = np.clip(cosine, 0.0, 1.0).astype(np.float32)
    return clipped

"""What an encoder returns: one vector per text and, on request, one per token."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
Int8Array = npt.NDArray[np.int8]

TextKind = Literal["query", "passage"]
KINDS: tuple[TextKind, ...] = ("query", "passage")


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """Vectors of one text's own tokens, without prefix and special tokens.

    Attributes:
        values: int8 [tokens, dimension], mean-centred, every row scaled so that its
            largest component is +-127. Only the direction of a row carries meaning.

    """

    values: Int8Array

    def __len__(self) -> int:
        """Return the number of tokens kept."""
        return int(self.values.shape[0])

    def unit(self) -> FloatArray:
        """Return float32 [tokens, dimension] with rows of length 1 (a zero row stays zero)."""
        return unit_rows(self.values.astype(np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedTexts:
    """Result of one embedding call, in the order of the texts.

    Attributes:
        vectors: float32 [texts, dimension], rows of length 1, raw (not centred).
        tokens: one entry per text; None when token vectors were not asked for.

    """

    vectors: FloatArray
    tokens: tuple[TokenVectors | None, ...]


def content_key(text: str, kind: TextKind) -> bytes:
    """Return 16 bytes under which vectors of a text are kept; the same words as query and passage are two texts."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, person=kind.encode()).digest()


def unit_rows(matrix: FloatArray) -> FloatArray:
    """Scale the rows of float32 [n, d] to length 1; a zero row stays zero."""
    norms = np.linalg.norm(matrix, axis=-1, keepdims=True)
    unit: FloatArray = np.divide(matrix, norms, out=np.zeros_like(matrix), where=norms > 0).astype(np.float32)
    return unit


def quantised_rows(matrix: FloatArray) -> Int8Array:
    """Turn float32 [n, d] into int8 by each row's own largest component; directions are kept."""
    peak = np.abs(matrix).max(axis=-1, keepdims=True, initial=0.0)
    scale = np.divide(127.0, peak, out=np.zeros_like(peak), where=peak > 0)
    quantised: Int8Array = np.rint(matrix * scale).astype(np.int8)
    return quantised

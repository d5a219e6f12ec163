"""The query's vectors, as they travel from the router to search untouched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memvault.slow_thinker.v1.prefetch_pb2 import TokenVectors


@dataclass(frozen=True)
class QueryVectors:
    """Little-endian float32 vectors of the query, its tokens, a hypothetical answer, and the query as asked."""

    query: bytes
    tokens: TokenVectors
    hyde: bytes
    raw_query: bytes
    encoder_id: str

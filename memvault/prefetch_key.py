"""Where prepared answers lie: the keys that writer and readers of the prefetch cache share.

The slow thinker writes entries and the index, the router reads them, the gateway counts hits. An entry is a
`memvault.slow_thinker.v1.PrefetchEntry`; the index is a hash from query hash to expiry and vector.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from hashlib import sha256

from memvault.text.normal_form import query_hash

PREFIX = "memvault:prefetch"
SCHEMA = 1
_EXPIRY = struct.Struct("<d")


def prefetch_key(user_id: str, query: str) -> str:
    """Return the key of the answer prepared for this user's query: `memvault:prefetch:{user_id}:{query_hash}`."""
    return entry_key(user_id, query_hash(query))


def entry_key(user_id: str, hashed_query: str) -> str:
    """Return the key of the answer prepared for the query with this hash."""
    return f"{PREFIX}:{user_id}:{hashed_query}"


def index_key(user_id: str) -> str:
    """Return the key of the user's live entries: a hash, query hash -> `pack_index_value`."""
    return f"{PREFIX}_index:{user_id}"


def figures_key(user_id: str) -> str:
    """Return the key of the user's figures: a hash of counters, an empty user id being all users together.

    The gateway adds to `hits.exact`, `hits.near` and `saved_ms` when it answers from an entry, and to `used` when that
    entry had never been used before (`used_key`).
    """
    return f"{PREFIX}_figures:{user_id}"


def used_key(user_id: str, hashed_query: str) -> str:
    """Return the key that is set, with the entry's remaining time to live, once the entry has been used."""
    return f"{PREFIX}_used:{user_id}:{hashed_query}"


def pack_index_value(expires_at: float, vector: Sequence[float]) -> bytes:
    """Return expiry (seconds since the epoch, float64) and vector (float32), little-endian."""
    return _EXPIRY.pack(expires_at) + struct.pack(f"<{len(vector)}f", *vector)


def unpack_index_value(value: bytes) -> tuple[float, list[float]]:
    """Return expiry and vector. Raises ValueError when `value` was not made by `pack_index_value`."""
    size = len(value) - _EXPIRY.size
    if size < 0 or size % array("f").itemsize:
        raise ValueError(f"an index value has 8 + 4 n bytes, not {len(value)}")
    (expires_at,) = _EXPIRY.unpack_from(value)
    return expires_at, list(struct.unpack_from(f"<{size // 4}f", value, _EXPIRY.size))


def conditions_fingerprint(filters: bytes = b"", as_of: str = "", profile: str = "", time_zone: str = "") -> str:
    """Return 16 hex digits for the conditions that an answer was made under (R-54).

    Args:
        filters: The `Filters` message, serialised deterministically; empty when none was given.
        as_of: RFC 3339, empty for now.
        profile: As asked for, empty for the setting.
        time_zone: IANA name, empty for the gateway's setting: it decides what "yesterday" means.
    """
    parts = (filters, as_of.encode(), profile.encode(), time_zone.encode())
    return sha256(b"".join(struct.pack("<I", len(part)) + part for part in parts)).hexdigest()[:16]

"""Where a prepared answer lies: the one key function that writer and reader of the prefetch cache share."""

from __future__ import annotations

from memvault.text.normal_form import query_hash

PREFIX = "memvault:prefetch"


def prefetch_key(user_id: str, query: str) -> str:
    """Return the key of the answer prepared for this user's query: `memvault:prefetch:{user_id}:{query_hash}`."""
    return f"{PREFIX}:{user_id}:{query_hash(query)}"

"""The normal form of a query: what two spellings of one question have in common."""

from __future__ import annotations

import hashlib

from memvault.text.folding import fold

HASH_DIGITS = 32
"""Hexadecimal digits of SHA-256 kept (128 bits): no collision to be expected within a user."""


def normal_form(query: str) -> str:
    """Return the query NFKC, case- and script-folded, each run of white space one blank, none at the ends."""
    return " ".join(fold(query).split())


def query_hash(query: str) -> str:
    """Return the first 32 hexadecimal digits of SHA-256 over the UTF-8 of the query's normal form."""
    return hashlib.sha256(normal_form(query).encode()).hexdigest()[:HASH_DIGITS]

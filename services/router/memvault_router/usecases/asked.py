"""What comes into a classification and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from memvault_router.domain.prefetch import Match
from memvault_router.domain.state import NO_OVERRIDES, Overrides, Question, Said
from memvault_router.ports import Encoded


@dataclass(frozen=True)
class Asked:
    """A question with its circumstances, parsed and valid."""

    user_id: str
    query: str
    zone: tzinfo
    said: tuple[Said, ...] = ()
    now: datetime | None = None
    origin: str = "user"
    overrides: Overrides = NO_OVERRIDES
    off: frozenset[str] = frozenset()
    profile: str = "tuned"
    conditions: str = ""
    recall_id: str = ""


@dataclass(frozen=True)
class Answered:
    """Everything the router found out. `encoded` holds the completed query, then the query as asked if it differs."""

    state: Question
    encoded: Encoded | None
    match: Match | None
    passage: str
    passage_vector: Encoded | None
    times: tuple[tuple[str, float], ...]

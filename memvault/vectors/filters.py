"""Conditions on payload fields and ids, translated by each adapter into its engine's own tokens.

A condition is built by code from checked values, never parsed from a caller's text, so that no value can
change the meaning of a query (tenant isolation is the duty of the caller of this package).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Eq:
    """The field equals the value; for a list field, one of its members does."""

    field: str
    value: str | int | bool


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The field, or a member of a list field, is one of the values; no value matches nothing."""

    field: str
    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """The number lies between the bounds; a bound of None is open."""

    field: str
    gte: float | None = None
    gt: float | None = None
    lte: float | None = None
    lt: float | None = None


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The RFC 3339 time lies in [start, end): the start belongs to it, the end does not; None is open."""

    field: str
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ids:
    """The point's id is one of these; no id matches nothing."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The condition does not hold; a missing field counts as not holding it."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class And:
    """All conditions hold; of none, every point does."""

    conditions: tuple[Condition, ...]


Condition = Eq | AnyOf | Range | TimeRange | Ids | Not | And

"""Conditions in the embedded engine's tokens."""

from __future__ import annotations

from typing import Any, cast

import qdrant_edge as engine

from memvault.vectors.filters import And, AnyOf, Condition, Eq, Ids, Not, Range, TimeRange


def to_filter(condition: Condition | None) -> engine.Filter | None:
    """Translate a condition; None stays None, which means every point."""
    if condition is None:
        return None
    return engine.Filter(must=[_token(condition)])


def _token(condition: Condition) -> Any:  # noqa: ANN401 - the engine's union has no name; one return per kind
    match condition:
        case Eq(field, value):
            return engine.FieldCondition(field, match=engine.MatchValue(value))
        case AnyOf(field, values):
            if not values:
                return _nothing()
            return engine.FieldCondition(field, match=engine.MatchAny(cast("Any", list(values))))
        case Range(field, gte, gt, lte, lt):
            limits = engine.RangeFloat(gte=gte, gt=gt, lte=lte, lt=lt)
            return engine.FieldCondition(field, range=limits)
        case TimeRange(field, start, end):
            times = engine.RangeDateTime(
                gte=None if start is None else start.isoformat(),
                lt=None if end is None else end.isoformat(),
            )
            return engine.FieldCondition(field, range=times)
        case Ids(ids):
            return engine.HasIdCondition(cast("Any", set(ids)))
        case Not(inner):
            return engine.Filter(must_not=[_token(inner)])
        case And(conditions):
            return engine.Filter(must=[_token(inner) for inner in conditions])


def _nothing() -> engine.HasIdCondition:
    return engine.HasIdCondition(set())

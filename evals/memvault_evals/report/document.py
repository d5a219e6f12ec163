"""The JSON document of an evaluation: `results[set][level][metric] = {value, low, high, n}`, and what belongs to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from memvault_evals.report.about import About, about
from memvault_evals.results import SetReport, as_json, paired

__all__ = ["About", "Document", "Found", "about", "document"]

Document = Mapping[str, Any]
Found = Mapping[str, Mapping[str, SetReport]]  # by variant, then by set


def document(found: Found, about: About) -> dict[str, Any]:
    """Return everything that was found, as JSON; `results` and `by_type` are the first variant's.

    Raises:
        ValueError: When there is no variant.
    """
    if not found:
        raise ValueError("no variant was measured: nothing to report")
    first = next(iter(found))
    variants = {label: _variant(by_set, {} if label == first else found[first]) for label, by_set in found.items()}
    return {
        **asdict(about),
        "first": first,
        "results": variants[first]["results"],
        "by_type": variants[first]["by_type"],
        "variants": variants,
    }


def _variant(by_set: Mapping[str, SetReport], base: Mapping[str, SetReport]) -> dict[str, Any]:
    return {
        "results": {name: as_json(report.figures) for name, report in by_set.items()},
        "by_type": {
            name: {kind: as_json(figures) for kind, figures in report.by_type.items()}
            for name, report in by_set.items()
        },
        "against_first": {
            name: as_json(paired(report, base[name]))
            for name, report in by_set.items()
            if name in base and report is not base[name]  # a suite that knows no difference hands out one report
        },
        "facts": {name: dict(report.facts) for name, report in by_set.items()},
    }

"""How costs grow from one size of a vault to the next one with the same sort of stored vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

COMPARED = ("prefetch hit", "fast", "deep", "raw query, both views", "raw graph query", "PageRank")


def growth(stages: Sequence[Mapping[str, Any]], modes: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each pair of neighbouring sizes `name` (such as `10k* -> 100k*`) and `times`: factors by what grew."""
    found = []
    for synthetic in (False, True):
        alike = [stage for stage in stages if stage["synthetic"] == synthetic]
        found += [
            {"name": f"{small['name']} -> {large['name']}", "times": _times(small, large, modes)}
            for small, large in pairwise(alike)
        ]
    return found


def _times(small: Mapping[str, Any], large: Mapping[str, Any], modes: Sequence[str]) -> dict[str, float]:
    times = {"blocks": large["size"] / small["size"]}
    for mode in modes:
        one, other = small["modes"].get(mode), large["modes"].get(mode)
        if one is None or other is None:
            continue
        times |= {
            f"{name}, {mode}": other["rows"][name]["p50"] / one["rows"][name]["p50"]
            for name in COMPARED
            if name in one["rows"] and name in other["rows"]
        }
        times[f"memory, {mode}"] = sum(other["memory_mb"].values()) / sum(one["memory_mb"].values())
    times["disk"] = sum(large["disk"].values()) / sum(small["disk"].values())
    times["processor time to write a block"] = large["filled"]["cpu_ms"] / small["filled"]["cpu_ms"]
    return times

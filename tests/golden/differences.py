"""What changed between two recorded answers, in sentences: what moved, and by which stage, ranker or rerank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.golden.frame import FAR, SHOWN, TIE, TOLERANCE

_NUMBERS = ("base", "scoring", "rerank")
_APART = ("order", "reasons")


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Sentences on every difference of a question; empty when nothing changed."""
    return [*_words(before, now), *_places(before, now), *_reasons(before, now)]


def _words(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in {**before, **now}:
        was, is_now = before.get(name), now.get(name)
        if name in _APART or was == is_now:
            continue
        if isinstance(was, list) and isinstance(is_now, list):
            gone = [one for one in was if one not in is_now]
            new = [one for one in is_now if one not in was]
            moves = [*(f"- {one}" for one in gone), *(f"+ {one}" for one in new)] or ["reordered"]
            yield f"{name}: " + "; ".join(moves)
        else:
            yield f"{name}: {was} -> {is_now}"


def _places(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    was, is_now = before.get("order", []), now.get("order", [])
    places_before = {block: place for place, (block, _) in enumerate(was)}
    places_now = {block: place for place, (block, _) in enumerate(is_now)}
    scores_before, scores_now = dict(was), dict(is_now)
    causes = {one["id"]: one for one in before.get("reasons", [])}
    causes_now = {one["id"]: one for one in now.get("reasons", [])}
    for block in dict.fromkeys([*places_now, *places_before]):
        old, new = places_before.get(block), places_now.get(block)
        if old is not None and new is not None and old == new:
            if abs(scores_before[block] - scores_now[block]) > TOLERANCE:
                yield f"{block}: score {scores_before[block]} -> {scores_now[block]}"
            continue
        if _is_tie(old, new, scores_before.get(block, scores_now.get(block, 0.0)), was, is_now):
            continue
        cause = "; ".join(_causes(causes.get(block), causes_now.get(block)))
        yield f"{block}: place {_place(old)} -> {_place(new)}" + (f" ({cause})" if cause else "")


def _is_tie(old: int | None, new: int | None, score: float, was: Sequence[Any], is_now: Sequence[Any]) -> bool:
    """Whether an id only changed places with others whose scores are as good as its own."""
    if len(was) != len(is_now) or (len(was) < SHOWN and None in {old, new}):
        return False
    first, last = sorted((len(was) if old is None else old, len(was) if new is None else new))
    return all(abs(other - score) <= TIE for _, other in was[first : last + 1])


def _place(place: int | None) -> str:
    return "out" if place is None else str(place + 1)


def _reasons(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    known = {one["id"]: one for one in before.get("reasons", [])}
    for one in now.get("reasons", []):
        for cause in _causes(known.get(one["id"]), one):
            yield f"{one['id']}: {cause}"


def _causes(was: Mapping[str, Any] | None, is_now: Mapping[str, Any] | None) -> Iterator[str]:
    if was is None or is_now is None:
        return
    for name in _NUMBERS:
        if _moved(was[name], is_now[name]):
            yield f"{name} {was[name]} -> {is_now[name]}"
    for stage in dict.fromkeys([*was["stages"], *is_now["stages"]]):
        old, new = was["stages"].get(stage, 1.0), is_now["stages"].get(stage, 1.0)
        if abs(old - new) > TOLERANCE:
            yield f"{stage} {old} -> {new}"
    for ranker in dict.fromkeys([*was["ranks"], *is_now["ranks"]]):
        old, new = was["ranks"].get(ranker, FAR + 1), is_now["ranks"].get(ranker, FAR + 1)
        # a processor that rounds otherwise may swap neighbours, and more of them further down
        if abs(old - new) > 1 + min(old, new) // 5:
            yield f"{ranker} rank {_rank(old)} -> {_rank(new)}"
    if was["marks"] != is_now["marks"]:
        yield f"marks {was['marks']} -> {is_now['marks']}"


def _moved(old: float | None, new: float | None) -> bool:
    if old is None or new is None:
        return old is not new
    return abs(old - new) > TOLERANCE


def _rank(rank: int) -> str:
    return f"beyond {FAR}" if rank > FAR else str(rank)

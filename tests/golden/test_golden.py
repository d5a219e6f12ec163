"""Golden queries: order, mode and reasons over the sample vault, on three days and in both profiles (R-72).

`make golden ACCEPT=1` records anew what stands in `recorded/`; look at the diff before you commit it. The first
`ORDERED` places are compared, and two ids may swap when their recorded scores differ by less than `TIE`: the order in
which blocks reach the graph still moves scores a little from run to run, and so does another processor's arithmetic.
An answer in which nothing is relevant has no order to hold.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOWS
from tests.house import House

# The first test waits while the sample vault is taken in.
pytestmark = pytest.mark.timeout(600)

HERE = Path(__file__).parent
QUERIES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "queries.toml").read_text(encoding="utf-8"))
PROFILES = ("reference", "tuned")
TIE = 0.05
ORDERED = 5
ACCEPT = bool(os.environ.get("ACCEPT"))


def ask(house: House, day: str, profile: str, name: str) -> dict[str, Any]:
    at = NOWS[day].strftime("%Y-%m-%dT%H:%M:%SZ")
    return house.recall(
        QUERIES[name]["query"],
        day,
        origin="eval",
        explain=True,
        time_zone="Asia/Taipei",
        token_budget=6000,
        deadline_ms=30_000,
        evaluation={"now": at, "profile": profile},
    )


@pytest.mark.r("R-72")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("day", NOWS)
@pytest.mark.parametrize("name", QUERIES)
def test_what_must_hold_holds(sample: House, name: str, day: str, profile: str) -> None:
    wanted, answer = QUERIES[name], ask(sample, day, profile, name)
    for field in ("intent", "facet", "thinking_mode", "retrieval_mode", "confidence"):
        if field in wanted:
            assert answer[field] == wanted[field], (field, answer["explanation"]["distribution"])
    if profile not in wanted.get("profiles", PROFILES):
        return
    ids = [card["block_id"] for card in answer["cards"]]
    if "first" in wanted:
        assert ids[0] in wanted["first"], ids[:5]
    assert set(wanted.get("within", ())) <= set(ids[:5]), ids[:8]
    assert not set(wanted.get("absent", ())) & set(ids[:5]), ids[:5]
    for left, right in wanted.get("above", ()):
        assert left in ids, ids
        assert right not in ids or ids.index(left) < ids.index(right), ids
    everything = [*answer["cards"], *answer["cascade_cards"]]
    walked = {one for card in everything for one in (card["block_id"], *card.get("supports", ()))}
    assert set(wanted.get("reached", ())) <= walked, walked
    for block_id in wanted.get("redacted", ()):
        card = next(card for card in everything if card["block_id"] == block_id)
        assert card["redacted"]
        assert "[REDACTED]" in card["text"]
        assert "ignore all previous" not in card["text"].lower()
        assert "忽略前面的指令" not in card["text"]


@pytest.mark.r("R-13", "R-16")
@pytest.mark.parametrize("profile", PROFILES)
def test_the_factors_multiply_to_the_score(sample: House, profile: str) -> None:
    answer = ask(sample, "monday", profile, "progress")
    assert answer["cards"]
    for card in answer["cards"]:
        why = card["explanation"]
        product = why["base_score"]
        for stage in why["stages"]:
            product *= stage["factor"]
        assert product == pytest.approx(why["scoring_score"], rel=1e-6), card["block_id"]


@pytest.mark.r("R-13", "R-72")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("day", NOWS)
def test_order_mode_and_reasons_are_as_recorded(sample: House, day: str, profile: str) -> None:
    found = {name: record(ask(sample, day, profile, name)) for name in QUERIES}
    path = HERE / "recorded" / f"{day}-{profile}.json"
    if ACCEPT:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    recorded = json.loads(path.read_text(encoding="utf-8"))
    assert recorded.keys() == found.keys(), "record anew: make golden ACCEPT=1"
    for name, now in found.items():
        before = recorded[name]
        for field in ("intent", "facet", "thinking_mode", "retrieval_mode", "confidence", "reasons"):
            assert now[field] == before[field], (name, field)
        assert same_order(before["order"], now["order"]), (name, before["order"], now["order"])


def record(answer: dict[str, Any]) -> dict[str, Any]:
    """What of an answer is compared: words, the first ids with their scores, and the strongest stage of the leader."""
    # Where nothing is relevant the order says nothing either.
    cards = answer["cards"][:ORDERED] if answer["confidence"] != "low" else []
    return {
        "intent": answer["intent"],
        "facet": answer["facet"],
        "thinking_mode": answer["thinking_mode"],
        "retrieval_mode": answer["retrieval_mode"],
        "confidence": answer["confidence"],
        "reasons": [strongest_stage(card) for card in cards[:1]],
        "order": [[card["block_id"], round(card["score"], 3)] for card in cards],
    }


def strongest_stage(card: dict[str, Any]) -> str:
    """The stage that moved a card most; the clamp only answers the others."""
    stages = [stage for stage in card["explanation"]["stages"] if stage["stage"] != "Clamp"]
    best = max(stages, key=lambda stage: abs(stage["factor"] - 1))
    return str(best["stage"])


def same_order(before: list[list[Any]], now: list[list[Any]]) -> bool:
    """Whether every id stands where it stood, or has only passed ids whose scores lie within `TIE` of its own."""
    if len(before) != len(now):
        return False
    places = {block_id: place for place, (block_id, _) in enumerate(before)}
    for place, (block_id, score) in enumerate(now):
        was = places.get(block_id, len(before))
        passed = before[min(place, was) : max(place, was) + 1]
        if was != place and any(abs(other - score) > TIE for _, other in passed):
            return False
    return True

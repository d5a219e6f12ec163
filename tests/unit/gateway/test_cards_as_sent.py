"""The token budget holds for what HTTP really sends."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from memvault.text import count_tokens
from memvault_gateway.domain.model import Card, PathStep, Reached, Understanding, Walked


@pytest.mark.r("R-42")
@pytest.mark.parametrize("budget", [60, 200, 2000])
async def test_the_cards_are_sent_letter_for_letter_as_they_were_counted(
    http: httpx.AsyncClient, world: Any, budget: int
) -> None:
    for number in range(6):
        world.blocks.put("ann", f"b{number}", f"OCR 做到 {number} 成。" * (1 + 9 * number), title="OCR", summary="OCR")
        world.blocks.blocks["ann", f"b{number}"].source.uri = f"file://{number}.md"
    world.blocks.put("ann", "b9", "別的事")
    world.router.known["OCR"] = Understanding(query="OCR", thinking_mode="slow", retrieval_mode="HYBRID")
    at = datetime(2026, 2, 25, 9, 0, 0, 120_000, tzinfo=UTC)
    way = (PathStep("OCR", "屬於", "報表"),)
    fact = Card("t1", "triple", "OCR 屬於 報表", path=way, supports=("b1",), event_time=at, recorded_at=at)
    world.graph.walked = Walked(triples=(fact,), blocks=(Reached("b9", 0.5, way),))
    answer = (
        await http.post("/v1/recall", json={"query": "OCR", "context": {"user_id": "ann", "token_budget": budget}})
    ).json()
    sent = {name: answer[name] for name in ("cards", "cascade_cards") if answer[name]}
    told = json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
    assert sent or budget == 60
    assert count_tokens(told) == answer["packing"]["tokens_used"] <= budget

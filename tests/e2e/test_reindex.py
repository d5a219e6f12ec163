"""A running memvault whose settings ask for another encoder: it answers as before, until `memvault reindex` is done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.house import House

NOTES = {
    "cello": "Ann plays the cello and practises the second suite on Sundays.",
    "printer": "三樓印表機的 IP 是 10.0.0.5，卡紙時找總務。",
    "roof": "The roof of the boat house has to be mended before the winter.",
}
ANOTHER = "synthetic:7"
"""Invented vectors of passages: an encoder of its own to the index, and one that needs no further model."""


def house(folder: Path, passages: str) -> House:
    return House(folder, in_process=True, extra={"MEMVAULT__SEARCH__EMBEDDER__PASSAGES": passages})


def search_details(running: House) -> dict[str, str]:
    parts = {one["part"]: one for one in running.call("GET", "/v1/status").body["parts"]}
    details: dict[str, str] = parts["search"]["details"]
    return details


def found(running: House) -> list[str]:
    asked = ("what does Ann play?", "印表機的 IP 是多少？", "what is to be mended before the winter?")
    answers = [running.recall(one, "ann") for one in asked]
    assert not any(answer.get("degraded") for answer in answers), answers
    return [answer["cards"][0]["block_id"] for answer in answers]


@pytest.mark.r("R-10a")
def test_the_house_answers_before_during_and_after_a_reindex_and_after_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    first = house(folder, "encoded")
    first.start()
    try:
        first.write("ann", [{"id": name, "text": text} for name, text in NOTES.items()])
        assert found(first) == list(NOTES)
    finally:
        first.stop()
    second = house(folder, ANOTHER)
    second.start()
    try:
        before = search_details(second)
        assert (before["reindex"], ANOTHER in before["encoder_id"]) == ("needed", False)
        assert found(second) == list(NOTES)
        second.write("ann", [{"id": "late", "text": "A zeppelin was seen above the harbour."}])
        done = second.command("reindex", "--json")
        assert done.returncode == 0, done.stderr + second.logs()
        assert json.loads(done.stdout)["built"] == len(NOTES) + 1
        after = search_details(second)
        assert (after["reindex"], ANOTHER in after["encoder_id"]) == ("none", True)
        assert found(second) == list(NOTES)
        second.write("ann", [{"id": "later", "text": "The kayak lies behind the boat house."}])
    finally:
        second.stop()
    third = house(folder, ANOTHER)
    third.start()
    try:
        assert search_details(third)["reindex"] == "none"
        assert found(third) == list(NOTES)
        assert {card["block_id"] for card in third.recall("zeppelin or kayak", "ann")["cards"]} >= {"late", "later"}
    finally:
        third.stop()

"""The loop of a runner, the floor's words, and the address at which an encoder is served."""

from __future__ import annotations

import io
import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.peers.runners.endpoint import endpoint
from memvault_evals.peers.runners.floor_words import saturated, words
from memvault_evals.peers.runners.run_bm25 import Bm25
from memvault_evals.peers.runners.serving import answer_lines


class Parrot:
    """Answers every block it was given, twice, or fails."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._fails, self._ids = settings.get("fails"), [""]

    def fill(self, _: Path, blocks: Sequence[Mapping[str, str]]) -> None:
        self._ids = [block["id"] for block in blocks]

    def ask(self, _: str, __: int) -> list[str]:
        if self._fails:
            raise LookupError("index lost")
        return self._ids * 2


def talk(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    answers = io.StringIO()
    answer_lines(io.StringIO("".join(json.dumps(one) + "\n" for one in requests)), answers, Parrot)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


FILL = {"op": "fill", "folder": "f", "blocks": [{"id": "a", "text": ""}, {"id": "b", "text": ""}]}


def test_a_runner_answers_each_line_and_names_an_id_once() -> None:
    begun, filled, asked = talk({"op": "start", "settings": {}}, FILL, {"op": "ask", "question": "?", "depth": 5})
    assert begun == {"ok": True}
    assert filled["seconds"] >= 0
    assert asked["ids"] == ["a", "b"]


def test_a_runner_gives_no_more_than_it_is_asked_for() -> None:
    assert talk({"op": "start", "settings": {}}, FILL, {"op": "ask", "question": "?", "depth": 1})[2]["ids"] == ["a"]


def test_a_runner_reports_an_error_and_goes_on() -> None:
    ask = {"op": "ask", "question": "?", "depth": 5}
    answers = talk(ask, {"op": "start", "settings": {"fails": True}}, FILL, ask, {"op": "start", "settings": {}})
    assert answers[0]["error"] == "RuntimeError: start comes first"
    assert answers[3]["error"] == "LookupError: index lost"
    assert answers[4] == {"ok": True}


def test_words_are_latin_words_and_chinese_characters_and_pairs() -> None:
    assert words("Q3-報表好 OCR!") == ["q3", "報", "表", "好", "報表", "表好", "ocr"]


def test_a_frequency_saturates_and_a_long_text_counts_less() -> None:
    short, long = saturated([["kite"], ["kite", "kite", "bread", "rain", "day"]])
    assert short["kite"] == pytest.approx(2.2 / (1 + 1.2 * (0.25 + 0.75 / 3)))
    assert long["kite"] == pytest.approx(2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 5 / 3)))


def test_bm25_prefers_the_rare_word_and_counts_a_word_of_the_question_once() -> None:
    store = Bm25({})
    texts = ["the cat", "the dog", "the kite"]
    store.fill(Path(), [{"id": str(number), "text": text} for number, text in enumerate(texts)])
    assert store.ask("the the the the kite", 2) == ["2", "0"]
    assert store.ask("nothing shared", 5) == []


def test_bm25_over_the_words_of_the_product_finds_another_form_of_a_word() -> None:
    store = Bm25({"words": "memvault"})
    store.fill(Path(), [{"id": "0", "text": "we were walking"}, {"id": "1", "text": "the kite"}])
    assert store.ask("a walk", 5) == ["0"]


def post(address: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(f"{address}/embeddings", json.dumps(body).encode())  # noqa: S310 - our own
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - our own
        found: dict[str, Any] = json.load(answer)
    return found


def test_the_address_answers_as_openai_does() -> None:
    with endpoint(lambda texts: [[float(len(text))] for text in texts]) as address:
        many = post(address, {"model": "m", "input": ["a", "bcd"]})
        assert [(row["index"], row["embedding"]) for row in many["data"]] == [(0, [1.0]), (1, [3.0])]
        assert post(address, {"model": "m", "input": "ab"})["data"][0]["embedding"] == [2.0]


def test_a_dead_encoder_is_an_error_and_no_vector() -> None:
    def dead(_: Sequence[str]) -> list[list[float]]:
        raise RuntimeError("gone")

    with endpoint(dead) as address, pytest.raises(urllib.error.HTTPError, match="500"):
        post(address, {"model": "m", "input": ["a"]})

"""A peer that fails is named with its reason; it never gets a low score for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.datasets import Query, Scope
from memvault_evals.peers.asking_peers import Answers, OurEncoder, Shelf, put, texts_of
from memvault_evals.peers.catalogue import PEERS, Peer
from memvault_evals.peers.environments import PeerError, environ, requirements, staged
from memvault_evals.peers.protocol import Runner, checked

BM25 = next(one for one in PEERS if one.name == "bm25")
ECHO = """
import json, sys
for line in sys.stdin:
    told = json.loads(line)
    answer = {answers}.get(told["op"], {{"ok": True}})
    print(json.dumps(answer), flush=True)
"""


class Silent(OurEncoder):
    def __init__(self) -> None:
        self.asking, self.address = False, ""


def scope(user: str = "u", speakers: tuple[str, ...] = ("Ann", "Ben")) -> Scope:
    blocks = tuple(
        {"id": f"{user}/{number}", "text": text, "speaker": speakers[number % len(speakers)]}
        for number, text in enumerate(("the red kite flew", "we baked bread", "rain all day"))
    )
    queries = (Query("q1", "who saw the kite", frozenset({f"{user}/0"}), ""),)
    return Scope(user, blocks, queries, datetime(2026, 1, 1, tzinfo=UTC), {})


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], Runner]:
    def make(program: str) -> Runner:
        return Runner([sys.executable, "-c", program], os.environ, tmp_path / "log")

    return make


def answering(ask: dict[str, Any]) -> str:
    return ECHO.format(answers=repr({"fill": {"seconds": 0.5}, "ask": ask}))


def test_answers_are_kept_by_question_with_their_times(fake: Callable[[str], Runner], tmp_path: Path) -> None:
    counted: list[int] = []
    with fake(answering({"ids": ["u/2", "u/0"], "ms": 7.0})) as runner:
        found = put(runner, BM25, [scope()], tmp_path, Silent(), counted.append, kept=True)
    assert found.ranked == {"q1": ["u/2", "u/0"]}
    assert found.ms == {"q1": 7.0}
    assert (found.blocks, found.fill_s, found.kept_vectors) == (3, 0.5, False)
    assert counted == [1]


def test_a_runner_that_dies_is_named_with_what_it_last_said(fake: Callable[[str], Runner]) -> None:
    program = "import sys; sys.stdin.readline(); sys.exit('no such model')"
    with (
        pytest.raises(PeerError, match=r"ended with code 1 before it answered 'fill': no such model"),
        fake(program) as runner,
    ):
        runner.call("fill", 30)


def test_a_runner_that_hangs_is_ended_after_the_limit(fake: Callable[[str], Runner]) -> None:
    runner = fake("import time; time.sleep(600)")
    with pytest.raises(PeerError, match=r"no answer to 'ask' within 0.2 s"), runner:
        runner.call("ask", 0.2)
    assert runner._process is not None
    assert runner._process.poll() is not None


def test_an_error_that_a_runner_reports_is_repeated(fake: Callable[[str], Runner]) -> None:
    with (
        pytest.raises(PeerError, match="'ask' failed: ValueError: no index"),
        fake(answering({"error": "ValueError: no index"})) as runner,
    ):
        runner.call("ask", 30)


def test_an_answer_that_is_no_json_is_refused(fake: Callable[[str], Runner]) -> None:
    with pytest.raises(PeerError, match="no JSON"), fake("input(); print('hello', flush=True)") as runner:
        runner.call("start", 30)


def test_an_id_that_was_never_given_is_refused(fake: Callable[[str], Runner], tmp_path: Path) -> None:
    with (
        pytest.raises(PeerError, match=r"1 ids that it was not given, such as 'v/9'"),
        fake(answering({"ids": ["u/0", "v/9"], "ms": 1.0})) as runner,
    ):
        put(runner, BM25, [scope()], tmp_path, Silent(), lambda _: None, kept=False)


def test_a_peer_that_finds_nothing_at_all_failed_instead_of_scoring_nought(
    fake: Callable[[str], Runner], tmp_path: Path
) -> None:
    with (
        pytest.raises(PeerError, match="answered nothing to 1 of 1 questions"),
        fake(answering({"ids": [], "ms": 1.0})) as runner,
    ):
        put(runner, BM25, [scope()], tmp_path, Silent(), lambda _: None, kept=False)


@pytest.mark.parametrize("answer", [{"ids": "u/0", "ms": 1}, {"ids": ["u/0"]}, {"ids": ["u/0", "u/0"], "ms": 1}])
def test_an_answer_of_another_shape_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(PeerError):
        checked(answer, {"u/0"})


def test_a_real_runner_answers_from_the_copied_code_alone(tmp_path: Path) -> None:
    code = staged(tmp_path / "code")
    command = [sys.executable, "-m", "memvault_evals.peers.runners.run_bm25"]
    with Runner(command, environ(tmp_path, code), tmp_path / "log") as runner:
        assert runner.call("start", 60, settings={}) == {"ok": True}
        found = put(runner, BM25, [scope("a"), scope("b")], tmp_path, Silent(), lambda _: None, kept=False)
    assert found.ranked["q1"] == ["b/0"]


def test_the_speaker_is_told_only_where_several_speak() -> None:
    assert texts_of(scope(), spoken=True)[1] == {"id": "u/1", "text": "Ben: we baked bread"}
    assert texts_of(scope(), spoken=False)[1]["text"] == "we baked bread"
    assert texts_of(scope(speakers=("Ann",)), spoken=True)[1]["text"] == "we baked bread"


def test_kept_answers_are_found_only_for_the_same_peer_and_the_same_blocks(tmp_path: Path) -> None:
    shelf, answers = (
        Shelf(tmp_path),
        Answers({"q1": ["u/0"]}, {"q1": 1.0}, 3, 0.5, kept_vectors=False, at="then", load="0 0 0"),
    )
    shelf.put(BM25, "some", [scope()], answers)
    assert shelf.get(BM25, "some", [scope()]) == answers
    assert shelf.get(BM25, "some", [scope("v")]) is None
    assert shelf.get(PEERS[1], "some", [scope()]) is None


def test_every_peer_has_its_runner_and_pinned_requirements() -> None:
    for one in PEERS:
        assert (requirements(one).parent.parent / "runners" / f"{one.runner}.py").exists()
        if one.needs:
            rows = [row for row in requirements(one).read_text().splitlines() if not row.startswith("#")]
            assert rows
            assert all("==" in row and "://" not in row for row in rows)


def test_peers_have_names_of_their_own() -> None:
    names: list[str] = [one.name for one in PEERS]
    assert len(set(names)) == len(names)
    assert all(isinstance(one, Peer) for one in PEERS)

"""Reading normalised sets."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.datasets import SETS, SUITES, read_set
from memvault_evals.house import EvalError


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def _turn(number: int, scope: str, **other: Any) -> dict[str, Any]:
    row = {"id": f"{scope}#{number}", "scope": scope, "text": f"說{number}\u2028了", "who": "Ann", "session": "s1"}
    return row | {"time": f"2023-05-0{number + 1}T08:00:00Z", "position": number} | other


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    turns = [_turn(0, "a/1"), _turn(1, "a/1"), _turn(0, "b")]
    _write(tmp_path / "restricted" / "locomo.corpus.jsonl.gz", turns)
    questions = [
        {"id": "a/q", "scope": "a/1", "q": "When?", "gold": ["a/1#1"], "also": ["a/1#0"], "type": "temporal"},
        {"id": "b/q", "scope": "b", "q": "Who?", "gold": ["b#0"], "also": [], "type": "single_hop"},
    ]
    _write(tmp_path / "restricted" / "locomo.queries.jsonl", questions)
    return tmp_path


def test_a_scope_becomes_a_user_whose_id_the_gateway_accepts(folder: Path) -> None:
    assert [scope.user_id for scope in read_set(folder, "locomo")] == ["locomo.a_1", "locomo.b"]


def test_turns_keep_speaker_session_position_and_time(folder: Path) -> None:
    block = read_set(folder, "locomo")[0].blocks[1]
    assert block == {
        "id": "a/1#1",
        "text": "說1\u2028了",
        "service": "eval",
        "source": {"kind": "conversation"},
        "event_time": "2023-05-02T08:00:00Z",
        "speaker": "Ann",
        "conversation_id": "a/1",
        "session_id": "s1",
        "position": 1,
    }


def test_questions_are_asked_one_day_after_the_last_memory_of_their_scope(folder: Path) -> None:
    assert read_set(folder, "locomo")[0].now == datetime(2023, 5, 3, 8, tzinfo=UTC)


def test_what_is_merely_acceptable_is_not_gold(folder: Path) -> None:
    assert read_set(folder, "locomo")[0].queries[0].gold == {"a/1#1"}


def test_notes_have_no_neighbours_and_no_time_where_there_is_none(tmp_path: Path) -> None:
    _write(tmp_path / "ikat_ptkb.corpus.jsonl", [_turn(0, "u", time=None)])
    _write(tmp_path / "ikat_ptkb.queries.jsonl", [{"id": "q", "scope": "u", "q": "?", "gold": ["u#0"], "type": "t"}])
    scope = read_set(tmp_path, "ikat_ptkb")[0]
    assert scope.now is None
    assert not {"conversation_id", "session_id", "position", "event_time"} & set(scope.blocks[0])


def test_scopes_narrow_a_set_and_an_unknown_one_is_named(folder: Path) -> None:
    assert [one.user_id for one in read_set(folder, "locomo", frozenset({"b"}))] == ["locomo.b"]
    with pytest.raises(EvalError, match="conv-9"):
        read_set(folder, "locomo", frozenset({"conv-9"}))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match=r"madial_zh\.corpus\.jsonl"):
        read_set(tmp_path, "madial_zh")


def test_every_set_of_a_suite_is_described() -> None:
    assert {name for names in SUITES.values() for name in names} == set(SETS)

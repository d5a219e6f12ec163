"""Reading normalised sets."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.datasets import SETS, Data, read_set
from memvault_evals.house import EvalError
from memvault_evals.suites.retrieval import CHINESE, MULTIHOP, RECALL


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def _turn(number: int, scope: str, **other: Any) -> dict[str, Any]:
    row = {"id": f"{scope}#{number}", "scope": scope, "text": f"說{number}\u2028了", "who": "Ann", "session": "s1"}
    return row | {"time": f"2023-05-0{number + 1}T08:00:00Z", "position": number} | other


@pytest.fixture
def data(tmp_path: Path) -> Data:
    turns = [_turn(0, "a/1"), _turn(1, "a/1"), _turn(0, "b")]
    _write(tmp_path / "restricted" / "locomo.corpus.jsonl.gz", turns)
    questions = [
        {"id": "a/q", "scope": "a/1", "q": "When?", "gold": ["a/1#1"], "also": ["a/1#0"], "type": "temporal"},
        {"id": "b/q", "scope": "b", "q": "Who?", "gold": ["b#0"], "also": [], "type": "single_hop"},
    ]
    _write(tmp_path / "restricted" / "locomo.queries.jsonl", questions)
    return Data(tmp_path, tmp_path / "corpora")


def test_a_scope_becomes_a_user_whose_id_the_gateway_accepts(data: Data) -> None:
    assert [scope.user_id for scope in read_set(data, "locomo")] == ["locomo.a_1", "locomo.b"]


def test_turns_keep_speaker_session_position_and_time(data: Data) -> None:
    block = read_set(data, "locomo")[0].blocks[1]
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


def test_questions_are_asked_one_day_after_the_last_memory_of_their_scope(data: Data) -> None:
    assert read_set(data, "locomo")[0].now == datetime(2023, 5, 3, 8, tzinfo=UTC)


def test_what_is_merely_acceptable_is_not_gold(data: Data) -> None:
    assert read_set(data, "locomo")[0].queries[0].gold == {"a/1#1"}


def test_notes_have_no_neighbours_and_no_time_where_there_is_none(tmp_path: Path) -> None:
    _write(tmp_path / "ikat_ptkb.corpus.jsonl", [_turn(0, "u", time=None)])
    _write(tmp_path / "ikat_ptkb.queries.jsonl", [{"id": "q", "scope": "u", "q": "?", "gold": ["u#0"], "type": "t"}])
    scope = read_set(Data(tmp_path, tmp_path), "ikat_ptkb")[0]
    assert scope.now is None
    assert not {"conversation_id", "session_id", "position", "event_time"} & set(scope.blocks[0])


def test_scopes_narrow_a_set_and_an_unknown_one_is_named(data: Data) -> None:
    assert [one.user_id for one in read_set(data, "locomo", frozenset({"b"}))] == ["locomo.b"]
    with pytest.raises(EvalError, match=r"^--scopes: locomo has none of conv-9"):
        read_set(data, "locomo", frozenset({"conv-9"}))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match=r"madial_zh\.corpus\.jsonl"):
        read_set(Data(tmp_path, tmp_path), "madial_zh")


def test_multi_hop_passages_come_from_the_corpora_with_a_title_and_perhaps_with_triples(tmp_path: Path) -> None:
    data = Data(tmp_path / "dev", tmp_path / "corpora")
    passage = {
        "id": "m0",
        "scope": "musique",
        "text": "Ada\nAda lived in London.",
        "t": "",
        "who": "doc",
        "session": "",
    }
    _write(data.corpora / "musique.corpus.jsonl", [passage])
    _write(data.corpora / "musique.openie.jsonl", [{"id": "m0", "triples": [["Ada", "lived in", "London"]]}])
    question = {"id": "q", "scope": "musique", "q": "Where?", "gold": ["m0"], "type": "2hop"}
    _write(data.folder / "musique.queries.jsonl", [question])
    plain, stated = (read_set(data, name)[0].blocks[0] for name in ("musique", "musique_openie"))
    assert (plain["title"], plain["text"]) == ("Ada", "Ada lived in London.")
    assert "triples" not in plain
    assert stated["triples"] == [{"subject": "Ada", "predicate": "lived in", "object": "London"}]


def test_a_line_that_is_no_json_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "madial_zh.corpus.jsonl").write_text('{"id": 1\n', encoding="utf-8")
    with pytest.raises(EvalError, match=r"madial_zh\.corpus\.jsonl.*no JSON"):
        read_set(Data(tmp_path, tmp_path), "madial_zh")


def test_a_line_that_lacks_a_field_is_named_with_the_field(data: Data) -> None:
    _write(data.folder / "restricted" / "locomo.queries.jsonl", [{"id": "q", "scope": "b", "q": "Who?"}])
    with pytest.raises(EvalError, match=r"locomo\.queries\.jsonl, line 1, lacks gold"):
        read_set(data, "locomo")


@pytest.mark.parametrize(("gold", "told"), [(["a/1#0"], "wants a/1#0, which its scope"), ([], "wants nothing")])
def test_a_question_that_nothing_in_its_scope_can_answer_is_named(gold: list[str], told: str, data: Data) -> None:
    question = {"id": "b/q", "scope": "b", "q": "Who?", "gold": gold}
    _write(data.folder / "restricted" / "locomo.queries.jsonl", [question])
    with pytest.raises(EvalError, match=f"question b/q of locomo {told}"):
        read_set(data, "locomo")


def test_every_set_of_the_retrieval_suites_is_described() -> None:
    assert {name for suite in (RECALL, CHINESE, MULTIHOP) for name in suite.sets} == set(SETS)

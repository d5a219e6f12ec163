"""Answers that an interrupted run left."""

from contextlib import closing
from pathlib import Path

from memvault_evals.answers import Answer, AnswerLog


class Asked:
    """Counts how often somebody was really asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Answer:
        self.times += 1
        return {"ranked": [f"塊{self.times}"]}


def test_the_same_key_is_asked_once(tmp_path: Path) -> None:
    ask = Asked()
    with closing(AnswerLog(tmp_path / "answers.jsonl")) as log:
        first = log.once("locomo|tuned|q1", ask)
        assert log.once("locomo|tuned|q1", ask) == first
        log.once("locomo|tuned|q2", ask)
    assert (ask.times, log.reused) == (2, 1)


def test_a_run_that_starts_again_asks_only_what_is_missing(tmp_path: Path) -> None:
    path, ask = tmp_path / "new folder" / "answers.jsonl", Asked()
    with closing(AnswerLog(path)) as log:
        kept = log.once("q1", ask)
    with closing(AnswerLog(path)) as again:
        assert again.once("q1", ask) == kept
        again.once("q2", ask)
        assert (ask.times, again.reused) == (2, 1)
    assert AnswerLog(path).get("q2") == {"ranked": ["塊2"]}


def test_an_answer_is_on_the_disk_before_the_run_ends(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with closing(AnswerLog(path)) as log:
        log.keep("q1", {"ranked": []})
        assert AnswerLog(path).get("q1") == {"ranked": []}


def test_a_torn_last_line_is_forgotten_and_asked_again(tmp_path: Path) -> None:
    path, ask = tmp_path / "answers.jsonl", Asked()
    with closing(AnswerLog(path)) as log:
        log.once("q1", ask)
        log.once("q2", ask)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-9], encoding="utf-8")
    with closing(AnswerLog(path)) as again:
        assert again.get("q2") is None
        again.once("q1", ask)
        again.once("q2", ask)
    assert (ask.times, again.reused) == (3, 1)


def test_what_is_written_after_a_torn_line_is_read_by_the_run_after_that(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with closing(AnswerLog(path)) as log:
        log.keep("q1", {"ranked": ["a"]})
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    with closing(AnswerLog(path)) as again:
        again.keep("q1", {"ranked": ["b"]})
        again.keep("q2", {"ranked": ["c"]})
    last = AnswerLog(path)
    assert (last.get("q1"), last.get("q2")) == ({"ranked": ["b"]}, {"ranked": ["c"]})


def test_a_line_torn_inside_a_letter_does_not_hide_the_others(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with closing(AnswerLog(path)) as log:
        log.keep("q1", {"ranked": ["甲"]})
        log.keep("q2", {"ranked": ["乙"]})
    torn = path.read_bytes().removesuffix('乙"]}}\n'.encode()) + "乙".encode()[:2]
    path.write_bytes(torn)
    assert (AnswerLog(path).get("q1"), AnswerLog(path).get("q2")) == ({"ranked": ["甲"]}, None)


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    with closing(AnswerLog(path)) as log:
        log.keep("q1", {"left": "one\u2028two\u0085three"})
    assert AnswerLog(path).get("q1") == {"left": "one\u2028two\u0085three"}


def test_nothing_is_written_when_nothing_is_asked(tmp_path: Path) -> None:
    with closing(AnswerLog(tmp_path / "answers.jsonl")) as log:
        assert log.get("q1") is None
    assert list(tmp_path.iterdir()) == []


def test_a_failure_while_asking_leaves_nothing_under_the_key(tmp_path: Path) -> None:
    def fail() -> Answer:
        raise ConnectionError("gone")

    ask = Asked()
    with closing(AnswerLog(tmp_path / "answers.jsonl")) as log:
        try:
            log.once("q1", fail)
        except ConnectionError:
            assert log.get("q1") is None
        log.once("q1", ask)
    assert ask.times == 1

"""Reading conversations, playing them, and counting what lay ready."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memvault.bus import envelope
from memvault.bus.subjects import PREFETCH_STORED
from memvault.events.v1.events_pb2 import PrefetchStored, UtteranceAppended
from memvault.prefetch_key import entry_key, index_key
from memvault.recall.v1.recall_pb2 import Candidate, RecallResponse
from memvault.recall.v1.types_pb2 import Card, Degradation
from memvault.slow_thinker.v1.prefetch_pb2 import PrefetchEntry
from memvault.text import query_hash
from memvault_evals.datasets import Data
from memvault_evals.house import EvalError
from memvault_evals.suites import playing
from memvault_evals.suites.conversations import KDCONV, MTRAG, Conversation, Point, drawn, read_conversations
from memvault_evals.suites.playing import GAP_S, Stage, documents, play, seed
from memvault_evals.suites.prefetch import ready, report


def written(folder: Path, name: str, *rows: dict[str, Any]) -> Data:
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Data(folder, folder / "corpora")


def test_a_turn_that_needs_something_is_a_point_and_cold_is_what_no_turn_before_needed(tmp_path: Path) -> None:
    needs: list[list[str]] = [["a"], [], ["a", "b"], ["a"], []]
    turns = [{"u": f"t{number}", "need": need} for number, need in enumerate(needs)]
    data = written(tmp_path, "prefetch_kdconv.conversations", {"id": "c", "scope": "film", "turns": turns})
    (conversation,) = read_conversations(data, KDCONV)
    assert [(one.id, one.after, one.following) for one in conversation.points] == [("c:2", 1, "t2"), ("c:3", 2, "t3")]
    assert [one.cold for one in conversation.points] == [{"b"}, frozenset()]
    assert conversation.turns == (("user", "t0"), ("assistant", "t1"), ("user", "t2"))
    assert conversation.user_id == "prefetch_kdconv.film"


def point_row(number: int, history: list[str], gold: list[str]) -> dict[str, Any]:
    said = [{"who": ("user", "agent")[place % 2], "text": text} for place, text in enumerate(history)]
    row = {"id": f"c<::>{number}", "scope": "mtrag", "history": said, "next": f"n{number}", "gold": gold}
    return row | {"turn_type": "Follow-up"}


def test_points_of_one_conversation_are_played_once_with_the_longest_history(tmp_path: Path) -> None:
    data = written(
        tmp_path,
        "prefetch_mtrag.points",
        point_row(3, ["q1", "a1", "q2", "a2"], ["x", "y"]),
        point_row(2, ["q1", "a1"], ["x"]),
    )
    (conversation,) = read_conversations(data, MTRAG)
    assert [text for _, text in conversation.turns] == ["q1", "a1", "q2", "a2"]
    assert [(one.after, one.following, *one.cold) for one in conversation.points] == [(1, "n2", "x"), (3, "n3", "y")]


def test_histories_that_do_not_agree_are_refused(tmp_path: Path) -> None:
    rows = point_row(2, ["q1", "a1"], ["x"]), point_row(3, ["q1", "other", "q2"], ["y"])
    with pytest.raises(EvalError, match="not the beginning of one conversation"):
        read_conversations(written(tmp_path, "prefetch_mtrag.points", *rows), MTRAG)


def stored(query: str, confidence: float, *found: str) -> dict[str, Any]:
    made = {"query": query, "confidence": confidence, "documents": list(found), "fuel": "free"}
    return made | {"ttl_s": 300.0, "took_ms": 200.0}


def turn(*answers: dict[str, Any], refused: str = "") -> dict[str, Any]:
    return {"stored": list(answers), "refused_by": [refused] if refused else []}


def test_answers_of_one_turn_take_turns_and_the_surest_begins() -> None:
    turns = [turn(stored("less", 0.5, "a", "b", "c"), stored("more", 0.7, "x", "b"))]
    assert ready(turns, 0) == ["x", "a", "b", "c"]


def test_the_newest_answers_come_first_and_what_has_expired_by_the_next_turn_does_not_come() -> None:
    turns = [turn(stored("old", 0.9, "o")), *[turn(refused="repeated")] * 6, turn(stored("new", 0.4, "n"))]
    assert 7 * GAP_S < 300 <= 8 * GAP_S
    assert ready(turns, 6) == ["o"]
    assert ready(turns, 7) == ["n"]


def test_what_is_prepared_after_the_point_does_not_count() -> None:
    assert ready([turn(refused="few_turns"), turn(stored("later", 0.9, "x"))], 0) == []


def point(name: str, after: int, need: str, cold: str = "") -> Point:
    return Point(name, "film", after, "next", frozenset(need), frozenset(cold))


def served(source: str = "search", found: str = "", **more: Any) -> dict[str, Any]:
    return {"from": source, "documents": list(found), "why_not": "far" if source == "search" else ""} | more


def test_hits_are_counted_for_all_points_for_cold_ones_and_for_those_with_something_ready() -> None:
    talk = Conversation("c", "u", (("user", "t"),) * 3, (point("p0", 0, "x", "x"), point("p2", 2, "ab", "b")))
    turns = [turn(refused="few_turns"), turn(refused="few_turns"), turn(stored("q", 0.6, "a", *"cdefg", "b"))]
    found = report([talk], {"c": {"turns": turns, "served": {"p0": served(), "p2": served()}}})
    values = {level: {name: one.value for name, one in metrics.items()} for level, metrics in found.figures.items()}
    assert values["all"] == {"hit@5": 50.0, "hit@10": 50.0, "hit@20": 50.0}
    assert values["cold"] == {"hit@5": 0.0, "hit@10": 50.0, "hit@20": 50.0}
    assert values["ready"]["hit@5"] == 100.0
    assert found.facts["refused by"] == {"few_turns": 2}
    assert found.facts["why not served"] == {"far": 2}


def test_a_served_answer_without_what_a_full_search_finds_is_a_false_hit() -> None:
    points = tuple(point(f"p{number}", number, "x") for number in range(3))
    talk = Conversation("c", "u", (("user", "t"),) * 3, points)
    answers = {
        "p0": served("prefetch_near", "x", searched=["x"]),
        "p1": served("prefetch_exact", "y", searched=["x"]),
        "p2": served("prefetch_near", "y", searched=["z"]),
    }
    turns = [turn(stored(f"q{number}", 0.6, "x")) for number in range(3)]
    found = report([talk], {"c": {"turns": turns, "served": answers}}).figures["served"]
    assert found["false hit"].value == pytest.approx(100 / 3)
    assert found["held what is needed"].value == pytest.approx(100 / 3)
    assert found["prefetch_exact"].value == pytest.approx(100 / 3)
    assert found["search"].value == 0.0


class Product:
    """A bus that answers each utterance with what it was told, and a store."""

    def __init__(self, *answers: list[PrefetchStored]) -> None:
        self.answers = list(answers)
        self.kept: dict[str, bytes] = {}
        self.index: dict[str, dict[bytes, bytes]] = {}
        self.said: list[UtteranceAppended] = []
        self.stage = Stage(self, self)  # type: ignore[arg-type] # has what a stage uses of both

    async def publish(self, subject: str, body: bytes, headers: dict[str, str]) -> None:
        event = envelope.parse(headers, body, UtteranceAppended, subject=subject, stored_at=datetime.now(UTC))
        self.said.append(event.message)
        for message in self.answers.pop(0) if self.answers else []:
            message.utterance_event_id = event.id
            raw: Any = SimpleNamespace(headers={}, data=envelope.body(message), subject=PREFETCH_STORED)
            await self.stage.hear(raw)

    async def get(self, key: str) -> bytes | None:
        return self.kept.get(key)

    async def hkeys(self, key: str) -> list[bytes]:
        return list(self.index.get(key, {}))

    async def hdel(self, key: str, *fields: str) -> None:
        for one in fields:
            self.index.get(key, {}).pop(one.encode(), None)

    async def delete(self, *keys: str) -> None:
        for one in keys:
            self.kept.pop(one, None)

    def keep(self, user_id: str, query: str, answer: RecallResponse, *candidates: str) -> PrefetchStored:
        hashed = query_hash(query)
        entry = PrefetchEntry(query=query, query_hash=hashed, confidence=0.6, fuel="free", answer=answer)
        entry.candidates.extend(Candidate(block_id=one) for one in candidates)
        entry.expires_at.FromSeconds(300)
        self.kept[entry_key(user_id, hashed)] = entry.SerializeToString()
        self.index.setdefault(index_key(user_id), {})[hashed.encode()] = b""
        return PrefetchStored(query_hash=hashed, questions=1)


def refused(rule: str, **more: Any) -> list[PrefetchStored]:
    return [PrefetchStored(refused_by=rule, **more)]


async def test_all_questions_of_an_utterance_are_waited_for() -> None:
    two = [PrefetchStored(query_hash=name, questions=2, refused_by="nothing_found") for name in ("a", "b")]
    product = Product(two)
    told = await product.stage.say("u", "c", "user", "hi", 60.0)
    assert [one.query_hash for one, _ in told] == ["a", "b"]
    assert product.said[0].event_time.ToSeconds() == 60


async def test_an_utterance_of_which_nothing_comes_is_a_failed_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "TURN_LIMIT_S", 0.01)
    with pytest.raises(EvalError, match="is the slow thinker running"):
        await Product([]).stage.say("u", "c", "user", "hi", 0.0)
    one_of_two = [PrefetchStored(query_hash="a", questions=2)]
    with pytest.raises(EvalError, match="not all"):
        await Product(one_of_two).stage.say("u", "c", "user", "hi", 0.0)


@pytest.mark.parametrize(
    "told",
    [
        refused("no_encoder"),
        refused("few_conversations"),
        refused("fetch_failed", query_hash="q", questions=1),
        refused("", left_out=["cascade"]),
    ],
)
async def test_a_part_that_did_not_work_is_a_failed_run(told: list[PrefetchStored]) -> None:
    with pytest.raises(EvalError, match="did not work"):
        await Product(told).stage.say("u", "c", "user", "hi", 0.0)


async def test_a_degraded_answer_in_the_store_is_a_failed_run() -> None:
    product = Product()
    told = product.keep("u", "q", RecallResponse(degraded=[Degradation(part="rerank", reason="TIMEOUT")]))
    with pytest.raises(EvalError, match="degraded: rerank TIMEOUT"):
        await product.stage.read("u", told, 0.0, 0.1)


async def test_an_answer_told_to_be_stored_that_is_not_there_is_a_failed_run() -> None:
    told = PrefetchStored(query_hash="0" * 32, questions=1)
    with pytest.raises(EvalError, match="is not"):
        await Product().stage.read("u", told, 0.0, 0.1)


def test_documents_are_the_cards_then_those_from_the_graph_then_candidates_each_once() -> None:
    answer = RecallResponse(
        cards=[Card(block_id="a", kind="block"), Card(block_id="b", kind="block")],
        cascade_cards=[Card(block_id="t", kind="triple"), Card(block_id="g", kind="block")],
    )
    entry = PrefetchEntry(answer=answer, candidates=[Candidate(block_id=one) for one in "bcg"])
    assert documents(entry) == ("a", "b", "g", "c")


async def test_ten_conversations_were_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "SEEDED", 2)
    product = Product(refused("few_conversations"), refused("few_turns"))
    await seed(product.stage, "u", 0.0)
    assert len({one.conversation_id for one in product.said}) == 2


async def test_what_expires_on_the_clock_of_the_conversation_leaves_the_store() -> None:
    product = Product()
    leftover = product.keep("u", "left over", RecallResponse())
    turns = 9
    product.answers = [[], *[refused("repeated") for _ in range(turns - 1)]]
    asked: list[tuple[int, int]] = []

    async def ask(conversation: Conversation, number: int, conversation_id: str, at: float) -> dict[str, Any]:
        assert at == (number + 1) * GAP_S
        asked.append((number, len(product.kept)))
        return {}

    answer = product.keep("u", "first", RecallResponse(cards=[Card(block_id="a", kind="block")]))
    # the play begins with an empty store: the first turn brings its answer back
    product.answers[0] = [answer]
    kept = product.kept[entry_key("u", answer.query_hash)]
    publish = product.publish

    async def publish_and_keep(subject: str, body: bytes, headers: dict[str, str]) -> None:
        if not product.said:
            product.kept[entry_key("u", answer.query_hash)] = kept
        await publish(subject, body, headers)

    product.publish = publish_and_keep  # type: ignore[method-assign]
    points = tuple(Point(str(number), "k", number, "n", frozenset("a"), frozenset()) for number in range(turns))
    talk = Conversation("c", "u", (("user", "hi"),) * turns, points)
    played = await play(product.stage, talk, 0.0, ask, lambda: None)
    assert entry_key("u", leftover.query_hash) not in product.kept
    assert asked == [*[(number, 1) for number in range(7)], (7, 0), (8, 0)]
    assert played["turns"][0]["stored"][0]["documents"] == ["a"]
    assert [ready(played["turns"], number) for number in (6, 7)] == [["a"], []]


def test_conversations_are_drawn_until_enough_points_are_in() -> None:
    point = Point("p", "k", 0, "next", frozenset({"d"}), frozenset())
    talks = [Conversation(f"c{number}", "u", (("user", "hi"),), (point,) * 3) for number in range(20)]
    few, more = drawn(talks, 7), drawn(talks, 30)
    assert (len(few), len(more)) == (3, 10)
    assert [one for one in more if one in few] == few
    assert [one.id for one in few] != ["c0", "c1", "c2"]
    assert drawn(talks, 0) == drawn(talks, 1000) == talks

"""The pure parts of indexing: passages, views, neighbours, word statistics, supersession."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_search.domain.block import Source, Triple
from memvault_search.domain.moment import Moment
from memvault_search.domain.neighbours import Neighbours, Sessions
from memvault_search.domain.passages import PassageLimits, cut, point_id, width
from memvault_search.domain.selection import Selection
from memvault_search.domain.statistics import WordStatistics
from memvault_search.domain.supersession import Statements
from memvault_search.domain.views import Stretch, context_text, header, unspoken_names
from tests.unit.search.conftest import NOW, note, turn

LIMITS = PassageLimits(whole=200, target=120)


@pytest.mark.r("R-12")
@given(st.text(alphabet="ab 。.，!\n中文字", max_size=900))
@settings(max_examples=200, deadline=None)
def test_passages_cover_the_text_without_gaps_and_stay_short(text: str) -> None:
    passages = cut("ann", "a", text, LIMITS)
    assert "".join(text[one.start : one.end] for one in passages) == text
    assert [one.number for one in passages] == list(range(len(passages)))
    if len(passages) > 1:
        assert width(text) > LIMITS.whole
        assert all(width(text[one.start : one.end]) <= 2 * LIMITS.target for one in passages)
        assert all(one.end > one.start for one in passages)


@pytest.mark.r("R-12")
def test_a_short_text_is_one_passage_and_a_long_one_is_cut_between_sentences() -> None:
    assert len(cut("ann", "a", "Short.", LIMITS)) == 1
    text = "The first sentence has some words in it. " * 8
    for passage in cut("ann", "a", text, LIMITS)[:-1]:
        assert text[passage.start : passage.end].rstrip().endswith(".")


def test_ids_of_points_depend_on_user_block_and_passage_only() -> None:
    ids = {point_id(user, block, number) for user in ("a", "b") for block in ("x", "y") for number in (0, 1)}
    assert len(ids) == 8
    assert point_id("a", "x", 0) == point_id("a", "x", 0)


@pytest.mark.r("R-11b")
def test_the_header_names_speaker_day_title_and_headings() -> None:
    block = note("a", "x", speaker="Mei", event_time=NOW, title="Trip", heading_path=("Plans", "Food"))
    assert header(block, dated=True) == "Mei · 2026-03-18 · Trip · Plans · Food"
    assert header(block, dated=False) == "Mei · Trip · Plans · Food"


@pytest.mark.r("R-11b")
@given(st.integers(40, 800), *(st.none() | st.integers(1, 900) for _ in range(2)), st.integers(1, 900))
@settings(max_examples=200, deadline=None)
def test_a_context_never_exceeds_its_length_and_always_holds_the_passage_itself(
    most: int, before: int | None, after: int | None, own: int
) -> None:
    text = context_text(
        None if before is None else Stretch("B", "b" * before),
        Stretch("O", "o" * own),
        None if after is None else Stretch("A", "a" * after),
        most,
    )
    if before is None and after is None:
        assert text == ""
        return
    assert len(text) <= most
    assert text.count("o") >= min(own, most // 2 - 10)


@pytest.mark.r("R-11b")
def test_the_end_of_the_text_before_and_the_begin_of_the_text_after_are_kept() -> None:
    text = context_text(Stretch("", "x" * 500 + "END"), Stretch("", "own"), Stretch("", "BEGIN" + "y" * 500), 200)
    assert "END\nown\nBEGIN" in text


@pytest.mark.r("R-11b")
def test_neighbours_follow_positions_whatever_the_order_of_writing() -> None:
    sessions = Sessions()
    for number in (5, 1, 9, 3):
        sessions.add(turn(number, "x"))
    sessions.add(note("lone", "x"))
    assert sessions.around(turn(5, "x")) == Neighbours("turn-3", "turn-9")
    assert sessions.around(turn(1, "x")) == Neighbours(None, "turn-3")
    assert sessions.around(note("lone", "x")) == Neighbours()
    ahead = sessions.preview([turn(3, "x")], [turn(4, "x")])
    assert ahead.around(turn(5, "x")) == Neighbours("turn-4", "turn-9")
    assert sessions.around(turn(5, "x")) == Neighbours("turn-3", "turn-9")


@pytest.mark.r("R-11b")
def test_sessions_of_one_conversation_and_documents_are_kept_apart() -> None:
    morning, evening = (note(name, "x", conversation_id="c", session_id=name) for name in ("am", "pm"))
    page = note("p", "x", source=Source("document", "file.md"))
    assert len({morning.session, evening.session, page.session}) == 3
    assert note("n", "x", source=Source("web", "http://x")).session is None


Documents = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["self", "context"]), st.sets(st.integers(0, 9), max_size=5)),
    max_size=30,
)


@pytest.mark.r("R-11")
@given(Documents, Documents)
@settings(max_examples=100, deadline=None)
def test_statistics_are_exact_after_any_additions_and_removals(kept: list, gone: list) -> None:  # type: ignore[type-arg]
    def arrays(documents: list) -> list:  # type: ignore[type-arg]
        return [
            (service, view, np.array(sorted(terms), np.uint32), len(terms) + 3) for service, view, terms in documents
        ]

    changed, fresh = WordStatistics(), WordStatistics()
    for document in arrays(gone + kept):
        changed.add(*document)
    for document in arrays(gone):
        changed.remove(*document)
    for document in arrays(kept):
        fresh.add(*document)
    assert changed.as_mapping() == fresh.as_mapping()


@pytest.mark.r("R-11")
def test_lengths_are_averaged_per_service_and_frequencies_over_all_services() -> None:
    words = WordStatistics()
    words.add("chat", "self", np.array([1, 2], np.uint32), 4)
    words.add("chat", "self", np.array([2], np.uint32), 8)
    words.add("mail", "self", np.array([2, 3], np.uint32), 100)
    assert words.average_length("chat", "self") == 6
    assert words.average_length("mail", "self") == 100
    assert words.average_length("none", "self") == 0
    assert words.documents("self") == 3
    assert words.document_frequencies("self", [1, 2, 3, 4]).tolist() == [1, 3, 1, 0]


@pytest.mark.r("R-17a")
def test_topics_match_across_case_width_and_script() -> None:
    old = note("old", "x", event_time=NOW - timedelta(days=1), triples=(Triple("陳美", "住在", "臺北"),))
    new = note("new", "x", event_time=NOW, triples=(Triple("陈美", "住在", "台南"),))
    statements = Statements()
    statements.add(old)
    statements.add(new)
    single = frozenset({"住在"})
    assert statements.sharing(new, single) == {"old", "new"}
    assert statements.succession(old, single).superseded_by == "new"
    assert statements.succession(new, single).superseded_by == ""
    statements.remove(new)
    assert statements.succession(old, single).superseded_by == ""


def test_an_event_is_late_only_by_sequence_and_time_together() -> None:
    now = Moment(5, NOW)
    assert Moment(4, NOW).is_before(now)
    assert not Moment(1, NOW + timedelta(seconds=1)).is_before(now)  # a new stream counts from 1 again
    assert not Moment(6, NOW - timedelta(days=9)).is_before(now)  # an outsider's clock


def test_a_selection_holds_what_the_store_would_find() -> None:
    block = note("a", "x", service="chat", tags=("t",), event_time=NOW)
    assert Selection().holds(block)
    assert Selection(tags=("t", "u"), event_start=NOW).holds(block)
    assert not Selection(event_end=NOW).holds(block)
    assert not Selection(known_until=NOW - timedelta(seconds=1)).holds(block)
    assert not Selection(event_start=NOW).holds(note("b", "x"))
    undated = note("b", "x", recorded_at=NOW)
    assert Selection(event_start=NOW).holds(undated)
    assert not Selection(event_end=NOW).holds(undated)
    told = note("c", "x", event_time=NOW - timedelta(days=9), recorded_at=NOW)
    assert not Selection(event_start=NOW).holds(told)


@pytest.mark.r("R-10", "R-11b")
def test_a_block_is_indexed_under_the_names_that_only_its_facts_state() -> None:
    facts = (Triple("MLX", "是", "Apple Silicon 推理框架"), Triple("BlueMagpie", "採用", "MLX"))
    block = note("a", "Apple Silicon 推理框架決定採用自家的陣列函式庫。", title="BlueMagpie", triples=facts)
    assert unspoken_names(block) == ("MLX",)

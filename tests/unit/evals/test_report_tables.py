"""Tables in the terminal."""

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from memvault_evals.metrics import Figure
from memvault_evals.report.document import document
from memvault_evals.report.tables import show
from memvault_evals.results import SetReport
from tests.unit.evals.invented_run import ABOUT, classified, many_kinds, prefetch, run_of


def shown(run: dict[str, Any], width: int) -> str:
    out = StringIO()
    show(Console(file=out, width=width), run)
    return out.getvalue()


@pytest.mark.parametrize("width", [140, 100, 80])
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_cut(width: int) -> None:
    text = shown(run_of({"tuned": 0.75, "tuned -stage:PairwiseDedup -gate": 0.5}, others=True), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "75.0" in text
    assert "-25.0*" in text
    assert "..." not in text


def test_a_wide_terminal_shows_all_metrics_and_a_narrow_one_names_what_it_left_out() -> None:
    run = run_of({"tuned": 0.75, "tuned -rerank": 0.5})
    wide = shown(run, 140)
    assert all(one in wide for one in ("recall@5", "recall@10", "hit@5", "all@5", "all@10", "MRR", "nDCG@10"))
    assert "no room" not in wide
    narrow = shown(run, 80)
    assert "no room here for" in narrow
    assert "nDCG@10" in narrow.split("no room here for")[0] or "nDCG@10" in narrow.split("no room here for")[1]


def test_each_level_comes_with_its_types_and_their_counts() -> None:
    lines = shown(run_of({"tuned": 0.75}), 140).splitlines()
    assert sum("multi_hop" in line for line in lines) == 2
    whole = next(line for line in lines if line.strip().startswith("tuned"))
    assert whole.split()[:3] == ["tuned", "turn", "40"]


def test_with_many_variants_only_the_first_one_shows_its_types() -> None:
    text = shown(run_of({"tuned": 0.75, "tuned -a": 0.7, "tuned -b": 0.5}), 140)
    assert text.count("multi_hop") == 2
    assert "types and findings of tuned only" in text


def test_a_difference_that_may_be_chance_has_no_star() -> None:
    text = shown(run_of({"tuned": 0.75, "tuned -a": 0.775}), 140)
    assert "+2.5" in text
    assert "+2.5*" not in text


def test_suites_that_count_other_things_show_their_own_columns() -> None:
    text = shown(run_of({"tuned": 0.75}, others=True), 140)
    assert all(one in text for one in ("accuracy", "macro-F1", "ECE", "TPR", "FPR", "hit@20"))
    assert "12/8" in text


def only(set_name: str, report: SetReport) -> dict[str, Any]:
    return document({"tuned": {set_name: report}}, ABOUT)


def test_of_many_types_those_of_few_items_are_pooled_and_the_report_has_the_rest() -> None:
    text = shown(only("injection", many_kinds()), 140)
    assert "kind41" not in text
    rows = {line.split("  ")[0].strip(): line.split() for line in text.splitlines()}
    assert rows["lang:en"][1:] == ["40/30", "50.0", "50.0"]
    assert rows["override"][1:] == ["40", "50.0"]
    assert rows["30 more, n < 30"][-2:] == ["30", "50.0"]
    assert "every type with its interval: results.json and report.html" in text
    assert len(text.splitlines()) < 30


def test_of_a_classifier_its_classes_are_shown_instead_of_every_source() -> None:
    text = shown(only("intent", classified()), 100)
    assert "src:" not in text
    assert "class, level all" in text
    assert ["factual", "20", "97.6", "82.0", "89.1"] in [line.split() for line in text.splitlines()]


def test_intervals_over_few_items_are_marked_and_the_mark_is_explained() -> None:
    said = "~ fewer than 30 items: the interval is indicative only"
    text = shown(run_of({"tuned": 0.75}), 140)  # forty questions, twenty of each type
    whole, of_type = (text.splitlines()[place] for place in (5, 7))
    assert "…" in whole
    assert "~" not in whole
    assert "~" in of_type
    assert text.count(said) == 1
    assert said not in shown(only("injection", many_kinds()), 140)


def test_no_column_is_narrower_than_its_heading() -> None:
    report = prefetch()
    long = {"served": {"prefetch_exact": report.figures["all"]["hit@5"], "held what is needed": Figure(1, 0, 2, 9)}}
    text = shown(only("prefetch_kdconv", replace(report, figures={**report.figures, **long})), 60)
    assert max(len(line) for line in text.splitlines()) <= 60
    assert "prefetch_exact" in text


def test_facts_and_origin_close_the_tables() -> None:
    text = shown(run_of({"tuned": 0.75}), 140)
    told = " ".join(text.split())
    assert "answers that were reranked: 30 (75%)" in told
    assert "not reranked, by reason: one memory far ahead 8" in told
    assert 'docs/quality.md, "Words and columns"' in told
    assert text.splitlines()[-1].startswith("2026-11-29T12:00:00Z, commit 0123456789, memvault 0.1.0")


def test_names_that_look_like_markup_are_printed_as_they_are() -> None:
    assert "tuned [x] -a" in shown(run_of({"tuned": 0.75, "tuned [x] -a": 0.5}), 140)


def test_with_very_many_variants_the_others_show_what_they_change_at_the_first_level() -> None:
    text = shown(run_of({"tuned": 0.75} | {f"tuned -{letter}": 0.5 for letter in "abcdefg"}), 140)
    figures, differences = text.split("locomo: minus tuned")
    assert "figures and findings of tuned only" in figures
    assert "tuned -a" not in figures
    assert differences.count("-25.0*") == 7 * 7
    assert "session" not in differences

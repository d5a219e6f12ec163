"""Tables in the terminal."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from memvault_evals.report.tables import show
from tests.unit.evals.invented_run import run_of


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


def test_facts_and_origin_close_the_tables() -> None:
    text = shown(run_of({"tuned": 0.75}), 140)
    assert "reranked 30 (75%)" in text
    assert "gate skips dominant 8, tight cluster 2" in text.replace("\n", " ")
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

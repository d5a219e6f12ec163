"""Averages and paired differences of rows."""

import pytest

from memvault_evals.results import Row, SetReport, as_json, averaged, paired


def row(number: int, kind: str, **levels: dict[str, float]) -> Row:
    return Row(f"q{number}", kind, levels)


def test_a_mean_counts_only_rows_that_have_the_level_and_the_metric() -> None:
    rows = [row(1, "", turn={"hit@5": 1.0}), row(2, "", turn={"hit@5": 0.0}, cold={"hit@5": 1.0}), row(3, "")]
    report = averaged(rows)
    assert (report.figures["turn"]["hit@5"].value, report.figures["turn"]["hit@5"].n) == (50.0, 2)
    assert (report.figures["cold"]["hit@5"].value, report.figures["cold"]["hit@5"].n) == (100.0, 1)


def test_types_are_averaged_apart_and_a_single_type_is_not_repeated() -> None:
    two = averaged([row(1, "a", turn={"MRR": 1.0}), row(2, "b", turn={"MRR": 0.0})])
    assert {kind: figures["turn"]["MRR"].value for kind, figures in two.by_type.items()} == {"a": 100.0, "b": 0.0}
    assert averaged([row(1, "a", turn={"MRR": 1.0})]).by_type == {}


def test_differences_pair_rows_by_their_id_and_not_by_their_place() -> None:
    mine = averaged([row(1, "", turn={"MRR": 1.0}), row(2, "", turn={"MRR": 0.0})])
    base = averaged([row(2, "", turn={"MRR": 0.0}), row(1, "", turn={"MRR": 1.0})])
    one = paired(mine, base)["turn"]["MRR"]
    assert (one.value, one.low, one.high, one.n) == (0.0, 0.0, 0.0, 2)


def test_a_row_that_only_one_of_the_two_has_is_left_out_of_the_difference() -> None:
    mine = averaged([row(1, "", turn={"MRR": 0.5}), row(2, "", turn={"MRR": 1.0})])
    base = averaged([row(1, "", turn={"MRR": 0.0}), row(3, "", turn={"MRR": 1.0})])
    one = paired(mine, base)["turn"]["MRR"]
    assert (one.value, one.n) == (50.0, 1)


def test_what_is_no_mean_over_rows_and_what_the_base_lacks_has_no_difference() -> None:
    mine = averaged([row(1, "", turn={"MRR": 0.5, "hit@5": 1.0}, cold={"MRR": 1.0})])
    with_other = SetReport({"turn": {**mine.figures["turn"], "ECE": mine.figures["turn"]["MRR"]}}, {}, mine.rows)
    found = paired(with_other, averaged([row(1, "", turn={"MRR": 0.5})]))
    assert {level: list(metrics) for level, metrics in found.items()} == {"turn": ["MRR"]}


def test_no_common_row_is_no_difference_at_all() -> None:
    assert paired(averaged([row(1, "", turn={"MRR": 1.0})]), averaged([row(2, "", turn={"MRR": 1.0})])) == {}


def test_figures_become_json_with_value_bounds_and_count() -> None:
    told = as_json(averaged([row(1, "", turn={"MRR": 0.25})]).figures)
    assert told == {"turn": {"MRR": {"value": 25.0, "low": 25.0, "high": 25.0, "n": 1}}}


def test_levels_and_metrics_stand_in_the_order_in_which_they_first_appear() -> None:
    report = averaged([row(1, "", turn={"b": 1.0}), row(2, "", session={"c": 1.0}, turn={"a": 1.0})])
    assert {level: list(metrics) for level, metrics in report.figures.items()} == {"turn": ["b", "a"], "session": ["c"]}


def test_nothing_measured_is_an_empty_report() -> None:
    report = averaged([], {"asked": 0})
    assert (report.figures, report.by_type, report.facts) == ({}, {}, {"asked": 0})


def test_a_missing_row_is_not_counted_as_zero() -> None:
    rows = [row(1, "", turn={"MRR": 1.0}), row(2, "")]
    assert averaged(rows).figures["turn"]["MRR"].value == pytest.approx(100.0)

"""The page of trade-offs, written from runs (R-71)."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.report.evidence import comparisons, latencies, origin
from memvault_evals.tradeoffs import main, page, tradeoffs
from tests.unit.evals.invented_run import ABOUT, run_of, written

SHARES = {
    "tuned": 0.75,
    "reference": 0.6,
    "tuned -rerank": 0.5,
    "tuned -gate": 0.8,
    "tuned thinking=fast": 0.7,
    "tuned thinking=slow": 0.9,
    "tuned intent=exploratory": 0.4,
}
ROWS = {
    "fast": {"p50": 50.0, "p95": 80.0, "n": 30},
    "fast, rerank off": {"p50": 40.0, "p95": 70.0, "n": 30},
    "deep": {"p50": 100.0, "p95": 170.0, "n": 20},
    "prefetch hit": {"p50": 10.0, "p95": 12.0, "n": 30},
}
BENCH = {
    "at": "2026-11-30T09:00:00Z",
    "command": "python -m memvault_evals.bench --out /tmp/bench",
    "stages": [{"name": "100k*", "synthetic": True, "modes": {"six": {"rows": ROWS}}}],
}


def cells(name: str, runs: list[dict[str, Any]], benches: list[dict[str, Any]]) -> str:
    return next(
        line for line in page(tradeoffs(runs, benches)).splitlines() if line.lower().startswith(f"| {name.lower()}")
    )


def test_every_figure_comes_with_its_count_and_its_run() -> None:
    line = cells("Rerank", [run_of(SHARES)], [BENCH])
    assert "locomo -25.0* [" in line
    assert "(n 40)" in line
    assert "`memvault eval --data folder --suite all`, 2026-11-29, commit 0123456789" in line
    assert "1.25 (100k blocks with invented vectors, six processes, n 30) times" in line
    assert "`python -m memvault_evals.bench --out bench`, 2026-11-30" in line


def test_the_deep_path_is_compared_both_ways_and_in_time() -> None:
    line = cells("Latency", [run_of(SHARES)], [BENCH])
    assert "tuned thinking=fast: locomo -5.0" in line
    assert "tuned thinking=slow: locomo +15.0*" in line
    assert "2.00 (100k blocks with invented vectors, six processes, n 20) times" in line


def test_counts_of_the_answers_are_added_up_over_the_sets() -> None:
    runs = [run_of(SHARES, others=True)]
    assert "of 40, by reason: dominant 8, tight cluster 2" in cells("Attention gate", runs, [])
    assert "4 were tried again, and 1 of those (25%)" in cells("The second try", runs, [])
    assert "always fast: of 40 answers 10 (25%)" in cells("Hallucination", runs, [])
    assert "8 answers prepared, 6 (75%) not used" in cells("Wasted prefetch", runs, [])
    assert "TPR 75.0" in cells("Screening", runs, [])
    assert "exploratory on locomo: -35.0*" in cells("A wrong intent", runs, [])


def test_a_missing_figure_is_said_with_the_command_that_brings_it() -> None:
    text = page(tradeoffs([], []))
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 10
    assert all("Not in the given runs" in line or "Not measured" in line for line in rows)
    assert "%" not in "".join(rows)
    assert "`memvault eval --ablate rerank`" in cells("Rerank", [], [])
    assert "needs `make bench`" in cells("Latency", [run_of(SHARES)], [])


def test_the_newest_run_that_has_a_figure_counts() -> None:
    old = run_of({"tuned": 0.75, "tuned -rerank": 0.5, "tuned -gate": 0.5})
    new = run_of({"tuned": 0.75, "tuned -rerank": 0.7}, about=replace(ABOUT, at="2026-12-01T00:00:00Z"))
    for runs in ([old, new], [new, old]):
        found = {one.label: one for one in comparisons(runs, ("-rerank", "-gate"), ("recall@5",))}
        assert round(found["tuned -rerank"].difference["value"]) == -5
        assert found["tuned -gate"].run["at"] == old["at"]


def test_variants_of_another_first_one_are_not_mixed_up() -> None:
    run = run_of({"reference": 0.6, "tuned": 0.75, "tuned -rerank": 0.5})
    assert comparisons([run], ("-rerank",), ("recall@5",)) == []
    assert "tuned instead of reference: recall@5 locomo +15.0*" in cells("Reference against tuned", [run], [])


def test_operations_are_compared_only_where_both_were_measured() -> None:
    modes = {"six": {"rows": {"deep": ROWS["deep"]}}, "one": {"rows": {"fast": ROWS["fast"]}}}
    assert latencies(BENCH | {"stages": [{"name": "1k", "synthetic": False, "modes": modes}]}, "deep", "fast") == []
    assert [one.ratio for one in latencies(BENCH, "deep", "fast")] == [2.0]


def test_changes_that_were_not_committed_are_named() -> None:
    assert origin(run_of({"tuned": 1}, about=replace(ABOUT, dirty=True))).endswith("commit 0123456789 with changes")


def test_the_same_files_give_the_same_page_and_other_figures_another_one(tmp_path: Path) -> None:
    run = written(tmp_path, "results.json", json.dumps(run_of(SHARES, others=True)))
    bench = written(tmp_path, "bench.json", json.dumps(BENCH))
    pages = []
    for name in ("one.md", "other.md"):
        assert main([str(run), "--bench", str(bench), "--out", str(tmp_path / name)]) == 0
        pages.append((tmp_path / name).read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
    assert "## A wrong intent" in pages[0]
    changed = written(tmp_path, "changed.json", json.dumps(run_of(SHARES | {"tuned -rerank": 0.7}, others=True)))
    assert main([str(changed), "--bench", str(bench), "--out", str(tmp_path / "third.md")]) == 0
    assert (tmp_path / "third.md").read_text(encoding="utf-8") != pages[0]


def test_a_file_that_is_no_run_ends_in_one_line(tmp_path: Path) -> None:
    out = tmp_path / "page.md"
    assert main([str(written(tmp_path, "broken.json", "{")), "--out", str(out)]) == 1
    assert main([str(tmp_path / "none.json"), "--out", str(out)]) == 1
    assert not out.exists()


def test_without_any_run_nothing_is_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "tradeoffs.md"
    out.write_text("figures", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["--out", str(out)])
    assert out.read_text(encoding="utf-8") == "figures"

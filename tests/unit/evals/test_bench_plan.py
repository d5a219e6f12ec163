"""What a bench measures, how it tells sizes apart, and how it compares them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from memvault_evals.bench.__main__ import main
from memvault_evals.bench.chart import draw
from memvault_evals.bench.classifying import ABOUT
from memvault_evals.bench.filling import VaultFolder, disk_bytes
from memvault_evals.bench.growth import growth
from memvault_evals.bench.measure import FLOORS, ratios
from memvault_evals.bench.plan import Vectors, stages
from memvault_evals.bench.show import show, write_markdown
from memvault_evals.house import EvalError


def test_sizes_above_the_bound_are_invented_and_marked_and_the_last_encoded_size_comes_twice() -> None:
    found = stages("100k,1k,10k", encoded_up_to=10_000, seed=7)
    assert [stage.marked for stage in found] == ["1k", "10k", "10k*", "100k*"]
    assert found[-1].vectors.settings() == {"MEMVAULT__SEARCH__EMBEDDER__PASSAGES": "synthetic:7"}
    assert found[0].vectors.settings() == {"MEMVAULT__SEARCH__EMBEDDER__PASSAGES": "encoded"}


def test_without_a_large_size_nothing_is_invented() -> None:
    assert [stage.marked for stage in stages("1k,1500", encoded_up_to=10_000, seed=7)] == ["1k", "1500"]


@pytest.mark.parametrize("words", ["0", "k", "1k,,2k", "many", "-3"])
def test_what_is_no_size_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match="is no size"):
        stages(words, encoded_up_to=10, seed=7)


@pytest.mark.parametrize("words", [["--sizes", "x"], ["--modes", "seven"], ["--clients", "0"], ["--shares", "0"]])
def test_a_wrong_option_ends_the_command_before_anything_starts(words: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_a_vault_filled_otherwise_is_not_measured_under_another_name(tmp_path: Path) -> None:
    vault = VaultFolder(tmp_path, Vectors("synthetic:1"), seed=1)
    vault.keep(
        vault.state()
        | {"count": 40, "filled": {"40": {"blocks": 40, "searchable_s": 2.0, "in_graph_s": 3.0, "cpu_ms": 9.0}}}
    )
    done = vault.filled(40)
    assert done is not None
    assert (done.blocks, done.in_graph_s) == (40, 3.0)
    assert vault.filled(80) is None
    for other in (VaultFolder(tmp_path, Vectors(), seed=1), VaultFolder(tmp_path, Vectors("synthetic:1"), seed=2)):
        with pytest.raises(EvalError, match="filled otherwise"):
            other.state()


def test_bytes_on_the_disk_leave_out_logs_and_holes(tmp_path: Path) -> None:
    for name in ("data/search/points", "logs/search.log"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"x" * 8192)
    with (tmp_path / "data" / "search" / "sparse").open("wb") as hollow:
        hollow.truncate(10_000_000)
    taken = disk_bytes(tmp_path)
    assert set(taken) == {"data/search"}
    assert 8192 <= taken["data/search"] < 1_000_000


def test_a_ratio_is_the_cost_over_the_sum_of_what_it_cannot_do_without() -> None:
    found = ratios({"fast": 30.0, "embedding": 8.0, "raw query": 2.0, "deep": 50.0})
    assert found == {"fast": 3.0}
    assert all(part not in FLOORS for parts in FLOORS.values() for part in parts)


def report() -> dict[str, Any]:
    """Two sizes with plausible figures: twice the time at ten times the size."""

    def stage(name: str, size: int, factor: float) -> dict[str, Any]:
        names = {*FLOORS, *(part for parts in FLOORS.values() for part in parts), "raw query, both views"}
        latency = {"p50": 12.0 * factor, "p95": 2000.0 * factor, "p99": 3100.0 * factor, "n": 100}
        rows = dict.fromkeys(sorted(names), latency)
        loaded = {"clients": 8, "offered": 20.0, "done": 19.0, "latency": latency}
        mode = {
            "load": "1.0 1.0 1.0 on 2 cores",
            "rows": rows,
            "ratios": ratios({one: row["p50"] for one, row in rows.items()}),
            "processor_ratios": {"fast": 2.5, "deep": 3.5},
            "classification": {name: {**latency, "ratio": 0.12} for name in ABOUT},
            "hops": {"fast": {"search": latency}, "deep": {"search": latency, "cascade": latency}},
            "closed": [{**loaded, "reranker": {"readings": 30, "batches": 12}}],
            "open": [{"share": 0.5, **loaded}],
            "memory_mb": {"search": 400.0 * factor},
            "reranked_share": 0.6,
            "cards": 14.2,
            "stored_s": 0.8,
        }
        filled = {"blocks": size, "searchable_s": 10.0, "in_graph_s": 12.0, "cpu_ms": 30.0 * factor}
        return {
            "name": name,
            "size": size,
            "synthetic": True,
            "filled": filled,
            "disk": {"data/search": size * 40_000},
            "graph": (size, 3 * size),
            "modes": {"six": mode, "one": mode},
        }

    plan = {"modes": ["six", "one"]}
    return {"plan": plan, "stages": [stage("10k*", 10_000, 1.0), stage("100k*", 100_000, 2.0)]}


def test_growth_compares_neighbouring_sizes_with_the_same_sort_of_vectors() -> None:
    made = report()
    encoded = {**made["stages"][0], "synthetic": False, "name": "10k"}
    (found,) = growth([encoded, *made["stages"]], ["six"])
    assert found["name"] == "10k* -> 100k*"
    assert found["times"]["blocks"] == 10.0
    assert found["times"]["fast, six"] == 2.0
    assert found["times"]["disk"] == 10.0


def test_every_table_fits_120_columns_and_a_missed_aim_is_said() -> None:
    console, made = Console(width=120), report()
    encoded = [{**one, "synthetic": False, "name": one["name"].rstrip("*")} for one in made["stages"]]
    with console.capture() as caught:
        show(console, made | {"stages": [*encoded, *made["stages"]]})
    text = caught.get()
    assert max(len(line) for line in text.splitlines()) <= 120
    assert "aim 1 ms: missed" in text
    assert "invented by a seeded encoder" in text
    assert "12.0 (2000, 3100)" in text
    assert "2.50, 12 batches" in text
    assert "…" not in text


def test_the_same_tables_are_written_as_markdown(tmp_path: Path) -> None:
    made = report() | {"command": "make bench", "at": "2026-01-01T00:00:00Z", "load": "1.0"}
    write_markdown(tmp_path / "bench.md", made)
    text = (tmp_path / "bench.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert any(line.startswith("| fast ") and line.count("|") == 4 for line in rows)
    assert "**growth of medians" in text
    assert "`make bench`, 2026-01-01" in text
    assert "…" not in text


def test_the_chart_is_a_picture_and_the_report_is_json(tmp_path: Path) -> None:
    made = report()
    draw(tmp_path / "bench.png", made["stages"], ["six", "one"])
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")
    draw(tmp_path / "one.png", made["stages"][:1], ["six", "one"])
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads(json.dumps(made))["stages"][0]["name"] == "10k*"

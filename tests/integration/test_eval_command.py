"""`memvault eval` over a tiny set, through the real product: figures when it is whole, a failed run when it is not."""

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memvault_evals.house import MODELS_VARIABLE
from tests.house import MODELS

LIMIT_S = 300
SIDES = ("sparse", "dense")
OTHERS = {"hyde": 1, "follow_up": 1, "recent": 1}  # weights of the rankers that are left alone
SUBJECTS = ("violin", "harbour", "invoice", "glacier", "garden fence", "tax form", "canoe", "lemon tree")
NOTES = [f"The {subject} was discussed at length on day {number}." for number, subject in enumerate(SUBJECTS, 3)]
NOTES += ["小提琴課改到星期四晚上，地點在河邊的老教室。", "花園的圍籬昨天修好了，費用比預期的低很多。"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a set, and room for what an evaluation keeps."""
    folder = tmp_path_factory.mktemp("eval")
    corpus = [
        {"id": f"n{n}", "scope": "u", "text": text, "time": f"2024-03-{n + 1:02}T08:00:00Z"}
        for n, text in enumerate(NOTES)
    ]
    questions = [
        {"id": "q1", "scope": "u", "q": "What happened to the canoe?", "gold": ["n6"], "type": "en"},
        {"id": "q2", "scope": "u", "q": "圍籬修好了嗎？", "gold": ["n9"], "type": "zh"},
    ]
    (folder / "data").mkdir()
    for name, rows in (("corpus", corpus), ("queries", questions)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / "data" / f"madial_zh.{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


Done = subprocess.CompletedProcess[str]


def evaluate(place: Path, *more: str, kept: str = "kept") -> Done:
    words = ["--data", str(place / "data"), "--suite", "chinese", "--sets", "madial_zh", "--json"]
    words += ["--folder", str(place / kept), "--out", str(place / "out"), *more]
    program = str(Path(sys.executable).with_name("memvault"))
    return subprocess.run(
        [program, "eval", *words],
        env={"PATH": "", MODELS_VARIABLE: str(MODELS), "HOME": str(place)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.fixture(scope="module")
def whole(place: Path) -> dict[str, Any]:
    """Results of a whole product."""
    done = evaluate(place, "--ablate", "rerank")
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def test_results_are_json_with_intervals_by_set_level_metric_and_type(whole: dict[str, Any], place: Path) -> None:
    found = whole["results"]["madial_zh"]["turn"]["hit@5"]
    assert (found["value"], found["n"]) == (100.0, 2)
    assert whole["by_type"]["madial_zh"]["zh"]["turn"]["MRR"]["value"] == 100.0
    assert set(whole["variants"]) == {"tuned", "tuned -rerank"}
    assert (place / "out" / "report.html").exists()
    assert json.loads((place / "out" / "results.json").read_text(encoding="utf-8")) == whole


def without(side: str, place: Path) -> Done:
    """Evaluate on a copy of what the first run kept, with one side of the search dead."""
    kept = f"kept-without-{side}"
    shutil.copytree(place / "kept", place / kept, ignore=shutil.ignore_patterns("run"))
    weights = {f"{name}_{view}": int(name != side) for name in ("dense", "sparse") for view in ("self", "context")}
    told = ", ".join(f"{name} = {weight}" for name, weight in (weights | OTHERS).items())
    config = place / kept / "vault" / "home" / "config.toml"
    config.write_text(f"[search.finding]\nweights = {{ {told} }}\n", encoding="utf-8")
    return evaluate(place, kept=kept)


@pytest.fixture(scope="module")
def later(whole: dict[str, Any], place: Path) -> dict[str, Done]:
    """Runs after the first one, side by side, because each spends most of its time on starting: by name."""
    assert whole
    with ThreadPoolExecutor() as pool:
        started = {side: pool.submit(without, side, place) for side in SIDES}
        # another folder for the report, which the first test compares with what was printed
        started["again"] = pool.submit(evaluate, place, "--ablate", "rerank", "--out", str(place / "again"))
        return {name: one.result() for name, one in started.items()}


def test_a_second_run_writes_nothing_and_finds_the_same(whole: dict[str, Any], later: dict[str, Done]) -> None:
    done = later["again"]
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["variants"] == whole["variants"]


@pytest.mark.parametrize("side", SIDES)
def test_a_dead_side_is_a_failed_run_and_no_figure(side: str, later: dict[str, Done]) -> None:
    done = later[side]
    assert done.returncode == 1
    assert f"the {side} side is dead" in done.stderr
    assert done.stdout == ""

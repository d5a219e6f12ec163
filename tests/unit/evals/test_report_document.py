"""The JSON document of a run, and where it says it is from."""

import json
from pathlib import Path

import pytest

from memvault_evals.report import about as about_module
from memvault_evals.report.document import about, document
from memvault_evals.report.reading import (
    change,
    columns,
    counts,
    headline,
    interval,
    labels_of,
    mark,
    number,
    short,
    signed,
)
from memvault_evals.report.words import told
from tests.unit.evals.invented_run import ABOUT, found_of, run_of, written


def test_results_are_the_first_variants_by_set_level_and_metric() -> None:
    run = run_of({"tuned": 0.75, "tuned -rerank": 0.5})
    assert run["first"] == "tuned"
    assert run["results"] == run["variants"]["tuned"]["results"]
    assert run["by_type"] == run["variants"]["tuned"]["by_type"]
    one = run["results"]["locomo"]["session"]["nDCG@10"]
    assert set(one) == {"value", "low", "high", "n"}
    assert (one["value"], one["n"]) == (75.0, 40)
    assert set(run["by_type"]["locomo"]) == {"multi_hop", "single_hop"}
    json.dumps(run)


def test_other_variants_are_compared_with_the_first_one_row_by_row() -> None:
    run = run_of({"tuned": 0.75, "tuned -rerank": 0.5})
    one = run["variants"]["tuned -rerank"]["against_first"]["locomo"]["turn"]["recall@5"]
    assert one["value"] == pytest.approx(-25.0)
    assert one["high"] < 0
    assert run["variants"]["tuned"]["against_first"] == {}


def test_a_report_that_two_variants_share_is_no_difference() -> None:
    run = run_of({"tuned": 0.75, "tuned -rerank": 0.5}, others=True)
    assert set(run["variants"]["tuned -rerank"]["against_first"]) == {"locomo"}
    assert labels_of(run, "injection") == ["tuned"]
    assert labels_of(run, "locomo") == ["tuned", "tuned -rerank"]


def test_a_run_without_variants_is_refused() -> None:
    with pytest.raises(ValueError, match="no variant"):
        document({}, ABOUT)


def test_a_variant_that_lacks_a_set_of_the_first_one_says_nothing_about_it() -> None:
    run = document({"tuned": {"locomo": found_of(1)}, "reference": {}}, ABOUT)
    assert run["variants"]["reference"] == {"results": {}, "by_type": {}, "against_first": {}, "facts": {}}


def test_the_origin_names_code_data_settings_and_machine_but_no_folder_above(tmp_path: Path) -> None:
    data = tmp_path / "data" / "dev"
    (data / "restricted").mkdir(parents=True)
    written(data, "a.queries.jsonl", "{}\n")
    written(data / "restricted", "b.queries.jsonl", "{}\n\n")
    written(data, "sealed.enc", "secret")
    found = about(["eval", "--data", str(data), "--out=" + str(tmp_path), "--suite", "recall"], data, ["tuned"])
    assert found.command == f"memvault eval --data dev --out={tmp_path.name} --suite recall"
    assert found.data["folder"] == "dev"
    assert list(found.data["files"]) == ["a.queries.jsonl", "b.queries.jsonl"]
    assert len(set(found.data["files"].values())) == 2
    assert found.settings["tuned"]["search"]["fusion"]["k"] != found.settings["tuned"]["search"]["fusion"]["ceiling"]
    assert found.packages["numpy"]
    assert found.cores >= 1
    assert str(tmp_path) not in json.dumps(run_of({"tuned": 1}, about=found))


def test_two_profiles_bring_the_numbers_of_both(tmp_path: Path) -> None:
    settings = about([], tmp_path, ["tuned", "reference", "tuned"]).settings
    assert list(settings) == ["tuned", "reference"]
    assert settings["tuned"] != settings["reference"]


def test_what_lay_over_the_settings_is_told_without_folders(tmp_path: Path) -> None:
    told_ = about([], tmp_path, [], overrides={"MEMVAULT__A": str(tmp_path / "kept"), "MEMVAULT__B": "2"}).overrides
    assert told_ == {"MEMVAULT__A": "kept", "MEMVAULT__B": "2"}


def test_outside_a_repository_and_without_git_there_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert about_module.code_of(written(tmp_path, "file.py", "")) == ("", False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert about_module.code_of(Path(about_module.__file__)) == ("", False)


def test_columns_are_those_of_the_suite_and_of_the_set() -> None:
    ranked = ["MRR", "recall@3", "recall@5", "hit@1", "nDCG@10", "hit@5"]
    assert columns("locomo", ranked) == ["recall@5", "hit@5", "MRR", "nDCG@10"]
    assert columns("ikat_ptkb", ranked)[:2] == ["recall@3", "MRR"]
    assert columns("drcd_zh", ranked)[0] == "hit@1"
    assert columns("injection", ["FPR", "TPR"]) == ["TPR", "FPR"]
    assert columns("prefetch_mtrag", ["false hit", "hit@20", "hit@5"]) == ["hit@5", "hit@20", "false hit"]


def test_the_headline_is_the_first_telling_metric_of_the_first_level() -> None:
    run = run_of({"tuned": 1}, others=True)
    chosen = {name: headline(name, levels) for name, levels in run["results"].items()}
    assert chosen == {
        "locomo": ("turn", "recall@5"),
        "intent": ("en", "accuracy"),
        "injection": ("ingress", "TPR"),
        "prefetch_kdconv": ("all", "hit@10"),
    }
    assert headline("empty", {}) is None


def test_numbers_are_written_with_one_decimal_and_a_sign_where_they_are_differences() -> None:
    assert [number(one) for one in (64.56, 100.0, 0.0, -0.02)] == ["64.6", "100", "0", "0"]
    assert [signed(one) for one in (1.25, -3.0, 0.01)] == ["+1.2", "-3.0", "0"]
    assert interval({"value": 64.56, "low": 59.9, "high": 100}) == "64.6 [59.9, 100]"
    assert counts({"TPR": {"n": 446}, "FPR": {"n": 198}}, ["TPR", "FPR"]) == "446/198"


def test_facts_become_phrases_with_shares_of_those_asked() -> None:
    facts = {"asked": 40, "reranked": 30, "intents": {"cross_domain": 40}, "list": [1], "nested": {"a": {"b": 1}}}
    assert list(told(facts | {"some_ms": 1.5})) == [
        "questions: 40",
        "answers that were reranked: 30 (75%)",
        "questions taken for: cross_domain 40",
        "some ms: 1.5",
    ]


def test_facts_of_a_kind_of_their_own_are_told_in_words() -> None:
    facts = {
        "asked": 40,
        "tokens": {"first 5": 210, "first 10": 447},
        "unsupported": {"asked": 40, "no_gold": 10, "no_gold_confident": 6},
        "second_try": {"tried": 0, "saved": 0},
        "pulse": {"probes": 8, "dense": 8, "sparse": 7},
        "funnel": {"fused": {"rows": 9, "accuracy": 66.7}},
        "differing": ["a"],
        "useful": {"0.7": {"answers": 80, "held": 71.25}},
        "wasted": 75.0,
        "why not served": {"no_entry": 3, "uncovered_name": 1},
    }
    assert list(told(facts))[1:] == [
        "tokens returned, mean: 210 in the first 5 cards, 447 in the first 10 cards",
        "nothing wanted among the first ten: 10 (25%), of which 6 do not call themselves low in confidence",
        "second tries after the self-check: 0",
        "of 8 memories asked for by their own words each side alone put first: dense 8, sparse 7",
        "decided by: fused 9 (67% right)",
        "texts judged otherwise on the way out than on the way in: 1",
        "prepared right before a point and holding what it needs, by stated confidence: from 0.7 on 71% of 80",
        "prepared answers that served no question: 75%",
        "real questions not served, by reason: nothing was predicted 3, uncovered name 1",
    ]


def test_an_interval_over_few_items_carries_a_mark() -> None:
    few, enough = ({"value": 50.0, "low": 20.0, "high": 80.0, "n": n} for n in (29, 30))
    assert (mark(few), mark(enough)) == ("~", "")
    assert interval(few, mark(few)) == "50.0 ~[20.0, 80.0]"
    assert change(few, mark(few)) == "+50.0* ~[+20.0, +80.0]"
    assert interval(enough, mark(enough)) == "50.0 [20.0, 80.0]"


def test_many_parts_of_a_kind_are_counted_in_a_label_and_two_are_named() -> None:
    every = " ".join(f"-stage:{number}" for number in range(11))
    assert short(f"tuned {every} -rerank") == "tuned -stage:(11) -rerank"
    assert short("tuned -ranker:a -ranker:b") == "tuned -ranker:a -ranker:b"
    assert short("tuned thinking=slow") == "tuned thinking=slow"

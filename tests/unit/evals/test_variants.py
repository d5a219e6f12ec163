"""Which variants a run measures."""

from typing import Any

import pytest

from memvault_evals.house import EvalError
from memvault_evals.variants import ABLATIONS, PARTS, variants_of


def test_the_plain_profiles_come_first_and_only_the_first_is_changed() -> None:
    labels = [one.label for one in variants_of(["tuned", "reference"], ablate=["rerank", "gate"], thinking=["slow"])]
    assert labels == ["tuned", "reference", "tuned -rerank", "tuned -gate", "tuned thinking=slow"]


def test_stages_are_switched_off_one_by_one_and_all_together() -> None:
    found = variants_of(["tuned"], ablate=["stage"])
    assert [len(one.off) for one in found] == [0, *[1] * 11, 11]
    assert found[1].off == ("stage:RecencyBoost",)


def test_rankers_are_switched_off_one_by_one_and_side_by_side() -> None:
    labels = [one.label for one in variants_of(["tuned"], ablate=["ranker"])]
    assert "tuned -ranker:dense_self -ranker:dense_context" in labels
    assert len(labels) == 7


def test_all_intents_can_be_forced_at_once() -> None:
    assert len(variants_of(["tuned"], intents=["all"])) == 7


def test_the_same_variant_is_measured_once() -> None:
    assert len(variants_of(["tuned"], ablate=["rerank"], off=[["rerank"]])) == 2


@pytest.mark.parametrize(
    ("bad", "option"),
    [
        ({"ablate": ["cards"]}, "--ablate"),
        ({"off": [["rerank", "stage:Recency"]]}, "--off"),
        ({"thinking": ["deep"]}, "--thinking"),
        ({"intents": ["why"]}, "--intent"),
    ],
)
def test_an_unknown_name_is_refused_with_its_option_and_those_that_exist(bad: dict[str, Any], option: str) -> None:
    with pytest.raises(EvalError, match=f"^{option}: unknown .*; there are "):
        variants_of(["tuned"], **bad)
    with pytest.raises(EvalError, match=r"^--profile: unknown best; there are tuned, reference"):
        variants_of(["best"])
    with pytest.raises(EvalError, match=r"^--profile: "):
        variants_of([])


def test_every_part_that_an_ablation_switches_off_can_be_named() -> None:
    assert {part for groups in ABLATIONS.values() for parts in groups for part in parts} <= set(PARTS)

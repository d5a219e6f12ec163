"""Which variants a run measures."""

import pytest

from memvault_evals.house import EvalError
from memvault_evals.variants import variants_of


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


@pytest.mark.parametrize("bad", [{"ablate": ["cards"]}, {"thinking": ["deep"]}, {"intents": ["why"]}])
def test_an_unknown_name_is_refused_with_those_that_exist(bad: dict[str, list[str]]) -> None:
    with pytest.raises(EvalError, match="there are"):
        variants_of(["tuned"], **bad)
    with pytest.raises(EvalError, match="tuned, reference"):
        variants_of(["best"])

"""R-02 and R-03: the embedding funnel and the fusion of both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memvault.runtime.settings import load
from memvault_router.adapters.data_files import load_language
from memvault_router.domain.labels import FACETS, INTENTS, softmax, top, uniform
from memvault_router.domain.operators.embedding import (
    Archetype,
    ArchetypeIndex,
    centred,
    nearest_means,
    nearest_weights,
    parse_archetypes,
)
from memvault_router.domain.operators.fusion import FusionNumbers, fuse, left_open
from memvault_router.settings import RouterSettings

NUMBERS = FusionNumbers(embedding_temperature=0.05, keyword_temperature=0.8, keyword_cap=3.0)


def similar(**values):
    return {**dict.fromkeys(INTENTS, 0.2), **values}


@pytest.mark.r("R-03")
def test_without_a_keyword_the_embedding_decides_alone():
    close = similar(factual=0.5)
    alone = fuse({}, close, INTENTS, NUMBERS)
    assert alone == pytest.approx(softmax({name: value / 0.05 for name, value in close.items()}))


@pytest.mark.r("R-03")
def test_agreement_of_both_funnels_raises_the_confidence():
    close = similar(factual=0.26)
    words = {"factual": 1.0}
    both = fuse(words, close, INTENTS, NUMBERS)["factual"]
    assert both > fuse({}, close, INTENTS, NUMBERS)["factual"]
    assert both > fuse(words, None, INTENTS, NUMBERS)["factual"]


@pytest.mark.r("R-03")
def test_disagreement_lowers_the_confidence():
    close = similar(factual=0.4)
    assert fuse({"conceptual": 2.0}, close, INTENTS, NUMBERS)["factual"] < fuse({}, close, INTENTS, NUMBERS)["factual"]


@pytest.mark.r("R-03")
def test_the_result_is_a_distribution_whatever_comes_in():
    for words in ({}, {"factual": 1e9}, {"unknown": 1e-9}):
        for close in (None, similar(factual=-1.0), similar(unknown=1.0)):
            result = fuse(words, close, INTENTS, NUMBERS)
            assert set(result) == set(INTENTS)
            assert sum(result.values()) == pytest.approx(1.0)
            assert all(0 <= p <= 1 for p in result.values())


def test_votes_count_up_to_the_cap():
    assert fuse({"factual": 3.0}, None, INTENTS, NUMBERS) == fuse({"factual": 30.0}, None, INTENTS, NUMBERS)


def test_knowing_nothing_is_uniform_and_falls_to_the_label_that_promises_least():
    nothing = fuse({}, None, INTENTS, NUMBERS)
    assert nothing == pytest.approx(uniform(INTENTS))
    assert top(nothing)[0] == "unknown"
    assert top(uniform(FACETS))[0] == "none"


def test_an_open_question_is_even_between_its_labels():
    opened = left_open(("progress", "recollection"), FACETS, 0.06)
    assert opened["progress"] == opened["recollection"] == pytest.approx(0.47)
    assert sum(opened.values()) == pytest.approx(1.0)


@pytest.mark.r("R-02")
def test_a_label_is_as_near_as_its_nearest_few_archetypes():
    kinds = [("intent", label) for label in INTENTS] + [("facet", label) for label in FACETS]
    archetypes = tuple(Archetype(kind, label, "en", f"{label} {place}") for kind, label in kinds for place in range(3))
    vectors = np.zeros((len(archetypes), 2), np.float32)
    vectors[3:6] = [[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]]  # factual
    index = ArchetypeIndex("e", archetypes, vectors)
    found = index.similarities(np.array([1.0, 0.0], np.float32), share=2 / 3)
    assert found.intents["factual"] == pytest.approx(0.8)
    assert found.intents["conceptual"] == 0.0
    assert set(found.facets) == set(FACETS)


def nearest_mean(cosines, share, beside=0):
    """The mean of one row, in a table whose other row is longer by `beside`."""
    row, empty = np.array(cosines, np.float32), np.full(beside, -2.0, np.float32)
    rows = np.stack([np.concatenate([row, empty]), np.zeros(len(row) + beside, np.float32)])
    return nearest_means(rows, nearest_weights((len(row), len(row) + beside), share))[0]


@pytest.mark.r("R-02")
@pytest.mark.parametrize(("share", "mean"), [(0.2, 0.9), (0.3, 0.8), (0.4, 0.75), (0.01, 0.9), (1.0, 0.42)])
def test_a_share_ends_within_an_archetype_where_it_must(share, mean):
    # 0.3 of five is one and a half: (0.9 + 0.6 / 2) / 1.5
    assert nearest_mean([0.1, 0.6, 0.9, 0.3, 0.2], share) == pytest.approx(mean)
    assert nearest_mean([0.1, 0.6, 0.9, 0.3, 0.2], share, beside=7) == pytest.approx(mean)


@pytest.mark.r("R-02")
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30), st.integers(2, 4), st.floats(0.01, 1))
def test_how_often_the_same_archetypes_stand_there_does_not_matter(cosines, times, share):
    once = nearest_mean(cosines, share)
    assert nearest_mean(cosines * times, share) == pytest.approx(once, abs=1e-5)


@pytest.mark.r("R-02")
@pytest.mark.parametrize("label", INTENTS)
def test_a_label_with_all_its_archetypes_twice_draws_no_question_to_it(label):
    random = np.random.default_rng(5)
    kept = load_language().archetypes
    rows = random.normal(size=(len(kept), 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    again = [place for place, one in enumerate(kept) if (one.kind, one.label) == ("intent", label)]
    few = ArchetypeIndex("e", kept, rows)
    many = ArchetypeIndex("e", kept + tuple(kept[place] for place in again), np.vstack([rows, rows[again]]))
    share = load("router", RouterSettings, profile="tuned", environ={}).nearest_share
    for question in random.normal(size=(50, 8)).astype(np.float32):
        before, after = few.similarities(question, share), many.similarities(question, share)
        assert after.intents == pytest.approx(before.intents, abs=1e-5)
        assert after.facets == pytest.approx(before.facets)


@pytest.mark.r("R-10a")
def test_centring_takes_the_mean_away_and_renormalises():
    rows = centred(np.array([[1.0, 0.0], [0.6, 0.8]], np.float32), np.array([0.5, 0.0], np.float32))
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 1.0])
    assert rows[0] == pytest.approx([1.0, 0.0])
    same = np.array([0.5, 0.5], np.float32)
    assert centred(same, same) == pytest.approx([0.0, 0.0])


@pytest.mark.r("R-02")
def test_every_label_has_twelve_archetypes_in_each_language():
    archetypes = load_language().archetypes
    for kind, labels in (("intent", INTENTS), ("facet", FACETS)):
        for label in labels:
            for language in ("zh", "en"):
                own = {a.text for a in archetypes if (a.kind, a.label, a.language) == (kind, label, language)}
                assert len(own) >= 12, (kind, label, language)


def test_too_few_archetypes_or_a_missing_label_are_refused():
    labels = {label: [f"{label} {n}" for n in range(12)] for label in INTENTS}
    assert len(parse_archetypes("intent", {"language": "en", "labels": labels})) == 72
    with pytest.raises(ValueError, match="12 different"):
        parse_archetypes("intent", {"language": "en", "labels": {**labels, "factual": ["a"] * 12}})
    with pytest.raises(ValueError, match="exactly"):
        parse_archetypes("intent", {"language": "en", "labels": {"factual": ["a"]}})

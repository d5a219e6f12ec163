"""Late interaction (R-20)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault_rerank.domain.maxsim import late_interaction
from memvault_rerank.domain.reading import Document

X, Y, Z = np.eye(3, dtype=np.int8) * 127


def tokens(*rows: np.ndarray) -> np.ndarray:
    return np.stack(rows).astype(np.int8)


def by_hand(query: np.ndarray, documents: list[np.ndarray]) -> list[float]:
    unit = lambda m: m / np.linalg.norm(m, axis=1, keepdims=True)  # noqa: E731
    share = len(query) / (len(query) + np.median([len(d) for d in documents]))
    cosines = [unit(d.astype(float)) @ unit(query.astype(float)).T for d in documents]
    return [float(share * c.max(1).mean() + (1 - share) * c.max(0).mean()) for c in cosines]


@pytest.mark.r("R-20")
def test_the_document_that_holds_the_query_scores_one_and_an_unrelated_one_nothing() -> None:
    scores = late_interaction(
        tokens(X, Y), [Document("a", "", tokens=(tokens(X, Y),)), Document("b", "", tokens=(tokens(Z),))]
    )
    assert [score.score for score in scores] == pytest.approx([1.0, 0.0], abs=1e-6)


@pytest.mark.r("R-20")
def test_a_document_that_answers_all_of_the_query_beats_one_that_answers_half() -> None:
    whole, half = Document("whole", "", tokens=(tokens(X, Y, Z),)), Document("half", "", tokens=(tokens(X, Z, Z),))
    first, second = late_interaction(tokens(X, Y), [whole, half])
    assert first.score > second.score


@pytest.mark.r("R-20")
def test_documents_without_token_vectors_are_left_out_instead_of_guessed() -> None:
    empty = np.zeros((0, 3), np.int8)
    documents = [Document("a", "x y"), Document("b", "", tokens=(tokens(X),)), Document("c", "", tokens=(empty,))]
    assert [score.id for score in late_interaction(tokens(X), documents)] == ["b"]


@pytest.mark.r("R-20")
def test_a_document_with_two_views_gets_their_mean() -> None:
    (both,) = late_interaction(tokens(X), [Document("a", "", tokens=(tokens(X), tokens(Y)))])
    assert both.score == pytest.approx(0.5)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(data=st.data(), count=st.integers(1, 6), query_length=st.integers(1, 5))
def test_it_agrees_with_the_formula_written_out(data: st.DataObject, count: int, query_length: int) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    make = lambda length: random.integers(-127, 127, (length, 8)).astype(np.int8)  # noqa: E731
    query, documents = make(query_length), [make(int(random.integers(1, 9))) for _ in range(count)]
    scores = late_interaction(query, [Document(str(n), "", tokens=(d,)) for n, d in enumerate(documents)])
    assert [score.score for score in scores] == pytest.approx(by_hand(query, documents), abs=1e-5)

"""The stored values are those of the reference, and the reference has the properties of the architecture."""

import numpy as np
import pytest

from tests.parity.cases import DIMENSIONS, DOCUMENTS, FOLDER, LISTS, LONGEST, QUERIES
from tests.parity.reference import Tiny, embedding, last_layer, listwise, yes_share


@pytest.fixture(scope="module")
def tiny() -> Tiny:
    return Tiny.read(FOLDER)


def test_the_stored_values_are_what_the_reference_computes(tiny: Tiny, expected: dict[str, np.ndarray]) -> None:
    for dimension in DIMENSIONS:
        again = [embedding(text, "passage", tiny, dimension=dimension, longest=LONGEST) for text in DOCUMENTS[:-1]]
        assert np.allclose(expected[f"embedding_passage_{dimension}"][:-1], again, atol=1e-9)
    again = [[yes_share(query, text, tiny, longest=LONGEST) for text in DOCUMENTS[:-1]] for query in QUERIES]
    assert np.allclose(expected["yes"][:, :-1], again, atol=1e-9)
    assert np.allclose(expected["listwise_one"], listwise(QUERIES[1], [LISTS["one"]], tiny), atol=1e-9)


def test_no_token_sees_what_comes_after_it(tiny: Tiny) -> None:
    ids = tiny.ids("The spare key is under the blue flower pot.")
    assert np.allclose(last_layer(ids, tiny)[:5], last_layer(ids[:5], tiny), atol=1e-12)


def test_the_cases_tell_models_apart(expected: dict[str, np.ndarray]) -> None:
    """Were all scores alike, an adapter that ignores its input would pass."""
    assert expected["yes"].std() > 0.01
    for name in ("block", "two_hundred"):
        assert expected[f"listwise_{name}"].std() > 0.01
    rows = expected["embedding_passage_32"]
    assert (rows @ rows.T - np.eye(len(rows))).max() < 0.999

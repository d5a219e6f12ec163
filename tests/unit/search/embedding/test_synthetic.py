"""Invented passage vectors: repeatable, shaped like encoded ones, and never mistaken for them."""

from collections.abc import Sequence

import numpy as np
import pytest
from pydantic import ValidationError

from memvault.runtime.settings import load
from memvault_search.adapters.embedder_synthetic import SyntheticPassages
from memvault_search.domain.embedding import EmbeddedTexts, TextKind, unit_rows
from memvault_search.domain.similarity import EncoderMeans, centred
from memvault_search.settings import EmbedderSettings

DIMENSION = 384
TEXTS = [f"note {number} about the garden fence" for number in range(3000)]


class Counting:
    """An encoder that says what it was asked."""

    id, dimension, prefix_version = "real", DIMENSION, "v1"

    def __init__(self) -> None:
        mean = 0.9 * unit_rows(np.ones((1, DIMENSION), np.float32))[0]
        self.means = EncoderMeans("real", mean, mean, mean)
        self.asked: list[tuple[TextKind, tuple[str, ...]]] = []

    async def start(self) -> None:
        return

    async def stop(self) -> None:
        return

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        self.asked.append((kind, tuple(texts)))
        return EmbeddedTexts(np.ones((len(texts), DIMENSION), np.float32), (None,) * len(texts))


def synthetic(seed: int = 20, *, token_limit: int = 128) -> SyntheticPassages:
    return SyntheticPassages(Counting(), seed=seed, token_limit=token_limit)


async def test_the_same_text_and_seed_make_the_same_vector_and_another_seed_another_one() -> None:
    one, again, other = [(await synthetic(seed).embed(TEXTS[:5], "passage")).vectors for seed in (1, 1, 2)]
    assert np.array_equal(one, again)
    assert np.abs(centred(one, Counting().means.passage) @ centred(other, Counting().means.passage).T).max() < 0.4


async def test_passages_lie_around_the_encoders_mean_in_clusters_and_none_is_a_near_copy() -> None:
    encoder = synthetic()
    made = (await encoder.embed(TEXTS, "passage")).vectors
    assert np.allclose(np.linalg.norm(made, axis=1), 1.0, atol=1e-5)
    assert float(made.mean(axis=0) @ unit_rows(encoder.means.passage[None, :])[0]) == pytest.approx(0.9, abs=0.02)
    own = centred(made, encoder.means.passage)
    cosines = (own @ own.T)[np.triu_indices(len(own), 1)]
    assert abs(float(np.median(cosines))) < 0.05
    assert 0.25 < float(np.quantile(cosines, 0.9995)) < 0.5
    assert float(cosines.max()) < 0.85


async def test_token_vectors_are_as_many_as_a_text_of_this_length_has_and_at_most_the_limit() -> None:
    made = await synthetic(token_limit=50).embed(["short", "x" * 110, "y" * 4000], "passage", token_vectors=True)
    assert [len(tokens) for tokens in made.tokens if tokens] == [1, 40, 50]
    assert (await synthetic().embed(["short"], "passage")).tokens == (None,)


async def test_queries_are_encoded_for_real_and_passages_never() -> None:
    inner = Counting()
    encoder = SyntheticPassages(inner, seed=1, token_limit=128)
    await encoder.embed(["a note"], "passage")
    await encoder.embed(["a question"], "query")
    assert inner.asked == [("query", ("a question",))]


def test_the_index_can_tell_it_from_the_encoder_behind_and_from_another_seed() -> None:
    assert len({Counting.id, synthetic(1).id, synthetic(2).id}) == 3


def test_the_product_encodes_and_a_setting_that_means_nothing_is_refused() -> None:
    settings = load("search.embedder", EmbedderSettings, environ={})
    assert settings.passages == "encoded"
    with pytest.raises(ValidationError, match="passages"):
        EmbedderSettings.model_validate(settings.model_dump() | {"passages": "synthetic"})

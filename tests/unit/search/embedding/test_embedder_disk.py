"""The file of vectors in front of an encoder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memvault.faults import Fault, Reason
from memvault_search.adapters.embedder_disk import DiskCachedEmbedder
from memvault_search.domain.embedding import EmbeddedTexts, TextKind, TokenVectors
from memvault_search.domain.similarity import EncoderMeans

MEAN = np.zeros(4, np.float32)


class Counting:
    """An encoder that counts what reaches it."""

    id, dimension, prefix_version = "counting", 4, "1"
    means = EncoderMeans("counting", MEAN, MEAN, MEAN)

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, bool]] = []

    async def start(self) -> None:
        """Nothing to load."""

    async def stop(self) -> None:
        """Nothing to let go of."""

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        self.seen += [(text, kind, token_vectors) for text in texts]
        vectors = np.array([[len(text), ord(text[0]), kind == "query", 1] for text in texts], np.float32) / 3
        tokens = [
            TokenVectors(np.full((len(text), 4), len(text), np.int8)) if token_vectors else None for text in texts
        ]
        return EmbeddedTexts(vectors, tuple(tokens))


async def opened(folder: Path) -> tuple[DiskCachedEmbedder, Counting]:
    inner = Counting()
    embedder = DiskCachedEmbedder(inner, folder, token_limit=128)
    await embedder.start()
    return embedder, inner


async def test_a_text_is_embedded_once_even_by_a_later_process_and_comes_back_exactly(tmp_path: Path) -> None:
    first, _ = await opened(tmp_path / "cache")
    before = await first.embed(["ab", "c", "ab"], "passage", token_vectors=True)
    await first.stop()
    second, inner = await opened(tmp_path / "cache")
    after = await second.embed(["c", "ab", "new"], "passage", token_vectors=True)
    await second.stop()
    assert inner.seen == [("new", "passage", True)]
    assert np.array_equal(after.vectors[:2], before.vectors[[1, 0]])
    assert after.tokens[1] is not None
    assert np.array_equal(after.tokens[1].values, np.full((2, 4), 2, np.int8))


async def test_the_same_words_as_query_and_as_passage_are_two_texts(tmp_path: Path) -> None:
    embedder, inner = await opened(tmp_path)
    vectors = [(await embedder.embed(["ab"], kind)).vectors for kind in ("query", "passage", "query")]
    await embedder.stop()
    assert [kind for _, kind, _ in inner.seen] == ["query", "passage"]
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.array_equal(vectors[0], vectors[1])


async def test_token_vectors_that_are_missing_are_made_and_never_lost_again(tmp_path: Path) -> None:
    embedder, inner = await opened(tmp_path)
    assert (await embedder.embed(["ab"], "passage")).tokens == (None,)
    for wanted in (True, False, True):
        tokens = (await embedder.embed(["ab"], "passage", token_vectors=wanted)).tokens[0]
        assert (tokens is not None) == wanted
    await embedder.stop()
    assert len(inner.seen) == 2


async def test_many_texts_are_looked_up_together(tmp_path: Path) -> None:
    embedder, inner = await opened(tmp_path)
    texts = [f"text {number}" for number in range(1000)]
    await embedder.embed(texts, "passage")
    assert (await embedder.embed(texts, "passage")).vectors.shape == (1000, 4)
    assert (await embedder.embed([], "passage")).vectors.size == 0
    await embedder.stop()
    assert len(inner.seen) == 1000


async def test_a_file_that_is_no_cache_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / f"counting-{Counting.means.digest}-1-128.sqlite").write_bytes(b"something else" * 100)
    with pytest.raises(Fault, match=r"counting-[0-9a-f]+-1-128\.sqlite") as refused:
        await opened(tmp_path)
    assert refused.value.reason is Reason.NO_MODEL


async def test_a_version_of_the_encoder_that_rounds_otherwise_embeds_anew(tmp_path: Path) -> None:
    first, _ = await opened(tmp_path / "cache")
    await first.embed(["ab"], "passage")
    await first.stop()
    inner = Counting()
    inner.means = EncoderMeans("counting", MEAN + 1, MEAN, MEAN)
    second = DiskCachedEmbedder(inner, tmp_path / "cache", token_limit=128)
    await second.start()
    await second.embed(["ab"], "passage")
    await second.stop()
    assert inner.seen == [("ab", "passage", False)]

"""The port `Embedder` as search uses it: the packaged encoder, its cache, its calibration, its service."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from memvault.embed.v1 import embed_pb2 as pb
from memvault.embed.v1.embed_pb2_grpc import EmbedServiceStub, add_EmbedServiceServicer_to_server
from memvault.faults import Fault, Reason
from memvault.rpc.client import call
from memvault.rpc.deadline import limit
from memvault.rpc.local import LocalChannel
from memvault.runtime.settings import load
from memvault_search.adapters.embedder_cache import CachedEmbedder
from memvault_search.adapters.embedder_e5 import E5Embedder, open_e5
from memvault_search.adapters.embedder_means import generic_texts
from memvault_search.domain.embedding import EmbeddedTexts, TextKind
from memvault_search.domain.similarity import EncoderMeans, calibrated_similarity, centred
from memvault_search.handlers.embed import EmbedHandlers, unpacked_tokens
from memvault_search.settings import EmbedderSettings

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENGLISH = (
    "The violin was tuned a quarter tone too low.", "Rents near the station went up again this spring.",
    "He keeps his receipts in a shoe box.", "The glacier has lost a third of its length.",
    "Add the flag to the deploy script before Friday.", "Grandpa fixed radios during the war.",
    "Our flight was moved to the late evening.", "The patch closes a hole in the login page.",
    "She bought a second-hand canoe.", "Lemons ripen in winter here.", "The court adjourned until October.",
    "My left shoe squeaks on wet tiles.", "Two of the sensors report the wrong unit.", "We voted for the smaller logo.",
)  # fmt: skip
CHINESE = (
    "小提琴的音調得太低了。", "車站附近的房租今年春天又漲了。", "他把收據都放在鞋盒裡。", "這條冰河已經短了三分之一。",
    "星期五以前要把參數加進部署腳本。", "爺爺年輕的時候修過收音機。", "我們的班機改到深夜。",
    "這個修補程式堵住登入頁的漏洞。",
    "她買了一艘二手的獨木舟。", "這裡的檸檬冬天才熟。", "法院休庭到十月。", "我左腳的鞋子踩到濕磁磚會叫。",
    "有兩個感測器的單位是錯的。", "我們投票選了比較小的標誌。",
)  # fmt: skip


def numbers(models: Path) -> EmbedderSettings:
    settings = load("search.embedder", EmbedderSettings, home=models, environ={})
    return settings.model_copy(update={"models": str(models), "cache_bytes": 1 << 20, "patience_s": 60.0})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedder(models_folder: Path) -> AsyncIterator[E5Embedder]:
    made = await asyncio.to_thread(open_e5, numbers(models_folder), models_folder)
    await made.start()
    yield made
    await made.stop()


async def test_vectors_have_length_one_and_come_in_the_order_of_the_texts(embedder: E5Embedder) -> None:
    texts = ["a much longer sentence about the weather in the north of the country", "short", "中文"]
    together = await embedder.embed(texts, "passage")
    assert together.vectors.shape == (3, embedder.dimension)
    assert together.vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(together.vectors, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(texts, together.vectors, strict=True):
        alone = (await embedder.embed([text], "passage")).vectors[0]
        assert float(alone @ vector) > 0.985
    assert together.tokens == (None, None, None)
    assert (await embedder.embed([], "query")).vectors.shape == (0, embedder.dimension)


async def test_queries_and_passages_are_embedded_differently(embedder: E5Embedder) -> None:
    query, passage = [(await embedder.embed(["the river"], kind)).vectors[0] for kind in ("query", "passage")]
    assert float(query @ passage) < 0.99


async def test_token_vectors_come_in_the_same_pass_one_per_own_piece_and_at_most_128(embedder: E5Embedder) -> None:
    made = await embedder.embed(["the river", "字" * 600], "passage", token_vectors=True)
    assert [len(tokens) for tokens in made.tokens] == [2, 128]
    assert np.allclose(np.linalg.norm(made.tokens[0].unit(), axis=1), 1.0, atol=1e-5)
    assert np.abs(made.tokens[0].values).max(axis=1).tolist() == [127, 127]


async def test_a_chinese_question_finds_its_english_answer(embedder: E5Embedder) -> None:
    question = (await embedder.embed(["誰以前修理收音機？"], "query")).vectors[0]
    answers = (await embedder.embed(list(ENGLISH), "passage")).vectors
    similarity = calibrated_similarity(
        question, answers, left_mean=embedder.means.query, right_mean=embedder.means.passage
    )
    assert ENGLISH[int(similarity.argmax())] == "Grandpa fixed radios during the war."


@pytest.mark.r("R-10a")
async def test_raw_cosines_of_unrelated_texts_pass_the_threshold_and_calibrated_ones_never_do(
    embedder: E5Embedder,
) -> None:
    mean = embedder.means.passage
    for texts in (ENGLISH, CHINESE):
        vectors = (await embedder.embed(list(texts), "passage")).vectors
        pairs = np.triu_indices(len(texts), 1)
        raw = (vectors @ vectors.T)[pairs]
        calibrated = calibrated_similarity(vectors, vectors, left_mean=mean, right_mean=mean)[pairs]
        assert raw.min() > 0.65
        assert calibrated.max() < 0.85
        assert calibrated.mean() < 0.5
        assert calibrated.min() >= 0.0


@pytest.mark.r("R-10a")
async def test_a_near_copy_stays_similar_after_calibration(embedder: E5Embedder) -> None:
    pair = (await embedder.embed(["The printer is at 10.0.0.5", "The printer is at 10.0.0.8"], "passage")).vectors
    mean = embedder.means.passage
    similarity = calibrated_similarity(pair[0], pair[1], left_mean=mean, right_mean=mean)
    assert float(similarity) > 0.85


@pytest.mark.r("R-10a")
async def test_the_shipped_means_belong_to_the_shipped_encoder_and_the_means_of_their_own_texts_vanish(
    embedder: E5Embedder,
) -> None:
    assert embedder.means.encoder_id == embedder.id
    both = [
        centred((await embedder.embed(lines, "passage")).vectors, embedder.means.passage).mean(axis=0)
        for lines in (generic_texts("passage", language) for language in ("en", "zh"))
    ]
    assert np.linalg.norm(np.mean(both, axis=0)) < 0.1


async def test_a_query_overtakes_passages_that_wait(embedder: E5Embedder) -> None:
    bulk = asyncio.create_task(embedder.embed([f"{text} {n}" for n in range(5) for text in ENGLISH], "passage"))
    await asyncio.sleep(0.05)
    await embedder.embed(["urgent"], "query")
    assert not bulk.done()
    await bulk


@pytest.mark.r("R-22")
async def test_an_embedding_that_cannot_be_in_time_is_refused(embedder: E5Embedder) -> None:
    bulk = asyncio.create_task(embedder.embed([text * 3 for text in ENGLISH], "passage"))
    await asyncio.sleep(0.02)
    with pytest.raises(Fault) as late:
        async with limit(0.001):
            await embedder.embed(["too late"], "passage")
    assert late.value.reason is Reason.DEADLINE_EXCEEDED
    await bulk


class CountingEmbedder:
    id, dimension, prefix_version = "counting", 2, "1"
    means = EncoderMeans("counting", *(np.zeros(2, np.float32),) * 3)

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def embed(
        self, texts: Sequence[str], kind: TextKind, *, token_vectors: bool = False, soon: bool = False
    ) -> EmbeddedTexts:
        self.seen += texts
        vectors = np.array([[len(text), kind == "query"] for text in texts], np.float32)
        return EmbeddedTexts(vectors, (None,) * len(texts))


async def test_remembered_texts_are_not_embedded_again_and_kinds_are_kept_apart() -> None:
    inner = CountingEmbedder()
    cache = CachedEmbedder(inner, max_bytes=10_000)
    await cache.embed(["a", "bb", "a"], "query")
    again = await cache.embed(["bb", "ccc", "a"], "query")
    assert inner.seen == ["a", "bb", "ccc"]
    assert again.vectors[:, 0].tolist() == [2, 3, 1]
    await cache.embed(["a"], "passage")
    assert inner.seen[-1] == "a"


async def test_a_query_embedded_for_its_vector_has_its_token_vectors_ready_for_the_reranker(
    embedder: E5Embedder,
) -> None:
    cache = CachedEmbedder(embedder, max_bytes=1_000_000)
    first = await cache.embed(["where is the key"], "query")
    assert first.tokens == (None,)
    with_tokens = await asyncio.wait_for(cache.embed(["where is the key"], "query", token_vectors=True), 5.0)
    assert np.array_equal(with_tokens.vectors, first.vectors)
    assert len(with_tokens.tokens[0]) == 4
    assert cache.hits == 1


async def test_the_text_used_longest_ago_is_forgotten_first() -> None:
    inner = CountingEmbedder()
    cache = CachedEmbedder(inner, max_bytes=700)  # room for two
    for text in ("a", "b", "a", "c", "a", "b"):
        await cache.embed([text], "query")
    assert inner.seen == ["a", "b", "c", "b"]


async def test_the_service_gives_the_embedder_vectors_as_bytes(embedder: E5Embedder) -> None:
    channel = LocalChannel([(add_EmbedServiceServicer_to_server, EmbedHandlers(embedder))], "search")
    stub = EmbedServiceStub(channel)
    response = await call(
        stub.Embed, pb.EmbedRequest(texts=["the river"], kind="query", token_vectors=True), timeout_s=10.0
    )
    (embedding,) = response.embeddings
    own = await embedder.embed(["the river"], "query", token_vectors=True)
    assert np.allclose(np.frombuffer(embedding.vector, "<f4"), own.vectors[0], atol=1e-4)
    assert unpacked_tokens(embedding.tokens).values.shape == (2, embedder.dimension)
    described = await call(stub.Describe, pb.DescribeRequest(), timeout_s=1.0)
    assert described.encoder_id == response.encoder_id == embedder.id
    assert np.allclose(np.frombuffer(described.query_mean, "<f4"), embedder.means.query)


async def test_passages_that_are_wanted_soon_do_not_wait_for_an_import(embedder: E5Embedder) -> None:
    cached = CachedEmbedder(embedder, max_bytes=1_000_000)
    channel = LocalChannel([(add_EmbedServiceServicer_to_server, EmbedHandlers(cached))], "search")
    stub = EmbedServiceStub(channel)
    imported = [f"note {number} of an import that takes its time" for number in range(300)]
    importing = asyncio.create_task(
        call(stub.Embed, pb.EmbedRequest(texts=imported, kind="passage"), timeout_s=60.0), name="import"
    )
    await asyncio.sleep(0.05)
    await call(stub.Embed, pb.EmbedRequest(texts=["just said"], kind="passage", soon=True), timeout_s=10.0)
    assert not importing.done()
    importing.cancel()
    await asyncio.gather(importing, return_exceptions=True)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.EmbedRequest(kind="query"), Reason.TEXT_REQUIRED),
        (pb.EmbedRequest(texts=["a"], kind="Query"), Reason.FIELD_INVALID),
        (pb.EmbedRequest(texts=["a"] * 513, kind="query"), Reason.PAYLOAD_TOO_LARGE),
        (pb.EmbedRequest(texts=["a" * 70_000], kind="query"), Reason.TEXT_TOO_LONG),
    ],
    ids=["no text", "unknown kind", "too many", "too long"],
)
async def test_the_service_refuses_what_it_cannot_embed(request_: pb.EmbedRequest, reason: Reason) -> None:
    stub = EmbedServiceStub(
        LocalChannel([(add_EmbedServiceServicer_to_server, EmbedHandlers(CountingEmbedder()))], "search")
    )
    with pytest.raises(Fault) as refused:
        await call(stub.Embed, request_, timeout_s=1.0)
    assert refused.value.reason is reason

"""Golden questions to the search service with its packaged encoder, over its contract."""

from __future__ import annotations

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memvault.faults import Fault, Reason
from memvault.recall.v1 import types_pb2
from memvault.rpc.client import call, stream
from memvault.search.v1 import search_pb2 as pb
from tests.integration.search.conftest import RealSearch

pytestmark = pytest.mark.asyncio(loop_scope="session")


def block(user: str, name: str, text: str, **more: object) -> types_pb2.Block:
    return types_pb2.Block(id=name, user_id=user, text=text, **more)  # type: ignore[arg-type]


def said(day: int) -> Timestamp:
    return Timestamp(seconds=1_770_000_000 + day * 86_400)


async def ask(search: RealSearch, user: str, query: str, **more: object) -> pb.SearchResponse:
    conditions = {name: more.pop(name) for name in list(more) if name in pb.SearchConditions.DESCRIPTOR.fields_by_name}
    request = pb.SearchRequest(
        understanding=pb.Understanding(user_id=user, query=query, **more),  # type: ignore[arg-type]
        conditions=pb.SearchConditions(explain=True, **conditions),  # type: ignore[arg-type]
    )
    return await call(search.stub.Search, request, timeout_s=10)  # type: ignore[arg-type]


def names(response: pb.SearchResponse) -> list[str]:
    return [hit.block.id for hit in response.hits]


@pytest.mark.r("R-11a")
@pytest.mark.parametrize("profile", ["reference", "tuned"])
async def test_of_200_notes_that_differ_in_one_code_the_one_asked_for_is_first(
    real_search: RealSearch, profile: str
) -> None:
    text = "The invoice of ticket PRJ-{} was approved by the finance team after the review."
    await real_search.write([block("codes", f"n{code}", text.format(code)) for code in range(1000, 1200)])
    for code in (1000, 1078, 1154, 1199):
        response = await ask(real_search, "codes", f"PRJ-{code} 的發票核准了嗎？", profile=profile)
        assert names(response)[0] == f"n{code}"


@pytest.mark.r("R-72", "R-10")
async def test_a_word_finds_what_shares_no_word_with_it(real_search: RealSearch) -> None:
    await real_search.write(
        [
            block("words", "mlx", "Apple Silicon 推理框架，在 M4 上跑大型語言模型很快。"),
            block("words", "rice", "晚餐煮了滷肉飯，加了兩顆蛋。"),
            block("words", "bus", "公車路線 307 改道，要提早十分鐘出門。"),
            block("words", "dentist", "預約了下週三的牙醫。"),
        ]
    )
    assert names(await ask(real_search, "words", "MLX"))[0] == "mlx"
    assert names(await ask(real_search, "words", "What did I cook for dinner?"))[0] == "rice"
    assert names(await ask(real_search, "words", "when is my tooth appointment"))[0] == "dentist"


@pytest.mark.r("R-11b", "R-20")
async def test_an_answer_that_says_nothing_alone_is_found_by_its_question(real_search: RealSearch) -> None:
    turns = [
        ("Mei", "Where did you two go on your honeymoon?"),
        ("Bob", "Kyoto, for ten days in late autumn."),
        ("Mei", "我也想去，那邊冷嗎？"),
        ("Bob", "早上大概五度，記得帶外套。"),
    ]
    await real_search.write(
        [
            block("talk", f"t{n}", text, speaker=who, conversation_id="c", position=n, event_time=said(1))
            for n, (who, text) in enumerate(turns)
        ]
    )
    response = await ask(real_search, "talk", "honeymoon destination of Bob")
    assert "t1" in names(response)[:2]
    assert "t3" in names(await ask(real_search, "talk", "京都早上幾度"))[:2]
    assert {place.ranker for place in response.hits[0].explanation.places} >= {"dense_context", "dense_self"}


@pytest.mark.r("R-16", "R-20", "R-14")
async def test_the_reranker_is_asked_and_late_blocks_keep_their_scores(real_search: RealSearch) -> None:
    subjects = ["cats", "trains", "bread", "rain", "chess", "tax", "opera", "bees", "glass", "ships", "salt", "maps"]
    await real_search.write(
        [block("many", one, f"My notes about {one} and what I read on it this year.") for one in subjects]
    )
    first = await ask(real_search, "many", "what did I read about bees?", off=["gate"])
    assert first.reranked == len(subjects)
    assert not first.degraded
    assert names(first)[0] == "bees"
    assert first.hits[0].explanation.HasField("rerank_score")
    assert first.confidence == "high"
    request = pb.ScoreRequest(
        understanding=pb.Understanding(user_id="many", query="what did I read about bees?"),
        conditions=pb.SearchConditions(off=["gate"]),
        block_ids=["bees", "salt", "nothing"],
        reference=first.reference,
        limit=100,
    )
    late: pb.ScoreResponse = await call(real_search.stub.Score, request, timeout_s=10)  # type: ignore[arg-type]
    given = {hit.block.id: hit.score for hit in first.hits}
    assert {hit.block.id: hit.score for hit in late.hits} == {name: given[name] for name in ("bees", "salt")}
    del request.reference.scored[:]
    anew: pb.ScoreResponse = await call(real_search.stub.Score, request, timeout_s=10)  # type: ignore[arg-type]
    scores = {hit.block.id: hit.score for hit in anew.hits}
    assert 1.0 >= scores["bees"] > scores["salt"] >= 0.0


async def test_blocks_are_read_listed_counted_and_forgotten_over_the_contract(real_search: RealSearch) -> None:
    await real_search.write(
        [block("list", f"b{n}", f"text {n}", tags=["even"] if n % 2 == 0 else []) for n in range(5)]
    )
    stub = real_search.stub
    read = await call(stub.ReadBlocks, pb.ReadBlocksRequest(user_id="list", block_ids=["b3", "x", "b1"]), timeout_s=5)  # type: ignore[arg-type, var-annotated]
    assert [one.id for one in read.blocks] == ["b3", "b1"]
    assert read.blocks[0].trust == 1.0
    assert read.blocks[0].tier == "core"
    listed = [
        one.id
        async for page in stream(stub.ListBlocks, pb.ListBlocksRequest(user_id="list"), timeout_s=5)  # type: ignore[arg-type, var-annotated]
        for one in page.blocks
    ]
    assert listed == ["b0", "b1", "b2", "b3", "b4"]
    forget = pb.ForgetBlocksRequest(user_id="list", filters=types_pb2.Filters(tags=["even"]))
    assert (await call(stub.ForgetBlocks, forget, timeout_s=5)).block_ids == ["b0", "b2", "b4"]  # type: ignore[arg-type]
    counts = await call(stub.GetIndex, pb.GetIndexRequest(user_id="list"), timeout_s=5)  # type: ignore[arg-type, var-annotated]
    assert (counts.blocks, counts.passages, counts.store) == (2, 2, "edge")


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.SearchRequest(understanding=pb.Understanding(user_id="", query="x")), Reason.USER_REQUIRED),
        (pb.SearchRequest(understanding=pb.Understanding(user_id="a/b", query="x")), Reason.USER_INVALID),
        (pb.SearchRequest(understanding=pb.Understanding(user_id="a", query=" ")), Reason.QUERY_REQUIRED),
        (pb.SearchRequest(understanding=pb.Understanding(user_id="a", query="x"), limit=101), Reason.FIELD_INVALID),
        (pb.SearchRequest(understanding=pb.Understanding(user_id="a", query="x"), limit=-1), Reason.FIELD_INVALID),
        (
            pb.SearchRequest(understanding=pb.Understanding(user_id="a", query="x", query_vector=b"abc")),
            Reason.FIELD_INVALID,
        ),
        (
            pb.SearchRequest(understanding=pb.Understanding(user_id="a", query="x", query_vector=b"\xff" * 4 * 384)),
            Reason.FIELD_INVALID,
        ),
        (
            pb.SearchRequest(understanding=pb.Understanding(user_id="a", query="x", encoder_id="another")),
            Reason.EMBEDDER_CHANGED,
        ),
        (
            pb.SearchRequest(
                understanding=pb.Understanding(user_id="a", query="x"), conditions=pb.SearchConditions(profile="odd")
            ),
            Reason.FIELD_INVALID,
        ),
        (
            pb.SearchRequest(
                understanding=pb.Understanding(user_id="a", query="x"),
                conditions=pb.SearchConditions(now=Timestamp(seconds=10**15)),
            ),
            Reason.FIELD_INVALID,
        ),
    ],
)
async def test_bad_input_is_refused_with_its_reason(
    real_search: RealSearch, request_: pb.SearchRequest, reason: Reason
) -> None:
    with pytest.raises(Fault) as caught:
        await call(real_search.stub.Search, request_, timeout_s=5)  # type: ignore[arg-type]
    assert caught.value.reason == reason

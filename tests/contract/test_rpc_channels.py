"""One suite for both ways of calling a service: over gRPC, and inside the process."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import grpc
import pytest

from memvault.faults import Fault, Reason
from memvault.rerank.v1 import rerank_pb2, rerank_pb2_grpc
from memvault.rpc import deadline
from memvault.rpc.client import call, open_channel, stream
from memvault.rpc.local import LocalChannel
from memvault.rpc.server import build_server
from memvault.runtime import telemetry
from memvault.search.v1 import search_pb2, search_pb2_grpc


@dataclass
class Reranker(rerank_pb2_grpc.RerankServiceServicer):
    """Answers by the query's text, so that each test asks for what it wants to see."""

    seen_deadlines: list[float] = field(default_factory=list)
    answer: Callable[[], str] = lambda: "OK"

    async def Rerank(self, request, context):
        self.seen_deadlines.append(deadline.remaining_s(default=-1.0))
        match request.query:
            case "fault":
                raise Fault(Reason.USER_INVALID, "use only letters and digits, 日本", field="user_id")
            case "bug":
                raise ZeroDivisionError("secret detail")
            case "slow":
                await asyncio.sleep(5)
        with telemetry.span("rerank.model", documents=len(request.documents)):
            scores = [rerank_pb2.RerankScore(id=each.id, score=1.0) for each in request.documents]
        return rerank_pb2.RerankResponse(status=self.answer(), scores=scores, model="m" * len(request.query))


class Search(search_pb2_grpc.SearchServiceServicer):
    running = False

    async def ListBlocks(self, request, context):
        self.running = True
        try:
            for number in range(1_000_000 if request.user_id == "endless" else 3):
                yield search_pb2.ListBlocksResponse(blocks=[{"id": str(number), "user_id": request.user_id}])
                await asyncio.sleep(0.001)
            if request.user_id == "fault":
                raise Fault(Reason.STORE_UNAVAILABLE, "the store is down: try again")
        finally:
            self.running = False


@dataclass
class Wired:
    rerank: rerank_pb2_grpc.RerankServiceStub
    search: search_pb2_grpc.SearchServiceStub
    servicer: Reranker
    listing: Search


@pytest.fixture(params=["grpc", "local"])
async def wired(request: pytest.FixtureRequest) -> AsyncIterator[Wired]:
    servicer, listing = Reranker(), Search()
    servicers = [
        (rerank_pb2_grpc.add_RerankServiceServicer_to_server, servicer),
        (search_pb2_grpc.add_SearchServiceServicer_to_server, listing),
    ]
    if request.param == "local":
        channel: grpc.aio.Channel = LocalChannel(servicers, "rerank")
        yield Wired(
            rerank_pb2_grpc.RerankServiceStub(channel), search_pb2_grpc.SearchServiceStub(channel), servicer, listing
        )
        return
    server = await build_server(servicers, "127.0.0.1:0", "rerank", "instance-1")
    channel = open_channel(server.address)
    yield Wired(
        rerank_pb2_grpc.RerankServiceStub(channel), search_pb2_grpc.SearchServiceStub(channel), servicer, listing
    )
    await channel.close()
    await server.stop(0)


def ask(query: str, documents: int = 2) -> rerank_pb2.RerankRequest:
    named = [rerank_pb2.RerankDocument(id=str(number), text="文") for number in range(documents)]
    return rerank_pb2.RerankRequest(query=query, documents=named)


async def test_an_answer_comes_back(wired: Wired) -> None:
    answer = await call(wired.rerank.Rerank, ask("hello"), timeout_s=5)
    assert [score.id for score in answer.scores] == ["0", "1"]
    assert answer.model == "mmmmm"


async def test_a_fault_arrives_with_reason_message_and_metadata(wired: Wired) -> None:
    with pytest.raises(Fault) as caught:
        await call(wired.rerank.Rerank, ask("fault"), timeout_s=5)
    assert caught.value.reason is Reason.USER_INVALID
    assert caught.value.message == "use only letters and digits, 日本"
    assert caught.value.metadata == {"field": "user_id"}


async def test_what_nobody_foresaw_is_internal_and_keeps_its_secret(wired: Wired) -> None:
    with pytest.raises(Fault) as caught:
        await call(wired.rerank.Rerank, ask("bug"), timeout_s=5)
    assert caught.value.reason is Reason.INTERNAL
    assert "secret" not in caught.value.message
    assert len(caught.value.metadata["trace_id"]) == 32


async def test_a_late_answer_is_a_deadline_fault_in_time(wired: Wired) -> None:
    started = time.monotonic()
    with pytest.raises(Fault) as caught:
        await call(wired.rerank.Rerank, ask("slow"), timeout_s=0.1)
    assert caught.value.reason is Reason.DEADLINE_EXCEEDED
    assert time.monotonic() - started < 1


async def test_the_callee_sees_what_is_left_of_the_callers_deadline(wired: Wired) -> None:
    async with deadline.limit(0.8):
        await call(wired.rerank.Rerank, ask("hello"), timeout_s=5)
    (seen,) = wired.servicer.seen_deadlines
    assert 0 < seen <= 0.8


async def test_a_call_without_time_left_is_not_made(wired: Wired) -> None:
    with pytest.raises(Fault) as caught:
        async with deadline.limit(0.005):
            await asyncio.sleep(0)
            time.sleep(0.01)  # noqa: ASYNC251 - the time must pass without the loop noticing
            await call(wired.rerank.Rerank, ask("hello"), timeout_s=5)
    assert caught.value.reason is Reason.DEADLINE_EXCEEDED
    assert wired.servicer.seen_deadlines == []


async def test_a_method_that_is_not_served_says_so(wired: Wired) -> None:
    with pytest.raises(Fault) as caught:
        await call(wired.rerank.GetBreaker, rerank_pb2.GetBreakerRequest(), timeout_s=5)
    assert caught.value.reason is Reason.UNIMPLEMENTED


async def test_a_stream_comes_in_order(wired: Wired) -> None:
    request = search_pb2.ListBlocksRequest(user_id="u")
    answers = [answer async for answer in stream(wired.search.ListBlocks, request, timeout_s=5)]
    assert [answer.blocks[0].id for answer in answers] == ["0", "1", "2"]


async def test_a_stream_that_breaks_ends_with_its_fault(wired: Wired) -> None:
    seen = []
    with pytest.raises(Fault) as caught:
        async for answer in stream(wired.search.ListBlocks, search_pb2.ListBlocksRequest(user_id="fault"), timeout_s=5):
            seen.append(answer)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert len(seen) == 3


async def test_a_stream_may_be_read_on_in_another_task(wired: Wired) -> None:
    answers = stream(wired.search.ListBlocks, search_pb2.ListBlocksRequest(user_id="u"), timeout_s=5)
    seen = [(await asyncio.create_task(anext(answers))).blocks[0].id for _ in range(3)]
    assert seen == ["0", "1", "2"]
    with pytest.raises(StopAsyncIteration):
        await asyncio.create_task(anext(answers))


async def test_a_reader_that_stops_early_leaves_nothing_running(wired: Wired) -> None:
    before = asyncio.all_tasks()
    answers = stream(wired.search.ListBlocks, search_pb2.ListBlocksRequest(user_id="endless"), timeout_s=5)
    assert (await anext(answers)).blocks[0].id == "0"
    await answers.aclose()
    await asyncio.sleep(0.1)
    assert {task.get_name() for task in asyncio.all_tasks() - before if not task.done()} & {"relay"} == set()
    assert not wired.listing.running


async def test_a_stream_ends_at_its_deadline(wired: Wired) -> None:
    with pytest.raises(Fault) as caught:
        async for answer in stream(
            wired.search.ListBlocks, search_pb2.ListBlocksRequest(user_id="endless"), timeout_s=0.2
        ):
            assert answer.blocks
    assert caught.value.reason is Reason.DEADLINE_EXCEEDED


@pytest.mark.r("R-70")
async def test_the_spans_of_the_callee_join_the_callers_collection(wired: Wired) -> None:
    with telemetry.collect():
        with telemetry.span("recall") as root:
            await call(wired.rerank.Rerank, ask("hello"), timeout_s=5)
        spans = {span.name: span for span in telemetry.collected(root.trace_id)}
        everything = {span.span_id: span for span in telemetry.collected()}
    assert {"recall", "memvault.rerank.v1.RerankService/Rerank", "rerank.model"} <= set(spans)
    model = spans["rerank.model"]
    assert model.service == "rerank"
    assert model.attributes["documents"] == 2
    ancestors = []
    current = model
    while current.parent_id:
        current = everything[current.parent_id]
        ancestors.append(current.name)
    assert ancestors[-1] == "recall"


@pytest.mark.r("R-70")
async def test_a_failed_call_still_brings_its_spans(wired: Wired) -> None:
    with telemetry.collect() as spans:
        with pytest.raises(Fault):
            await call(wired.rerank.Rerank, ask("fault"), timeout_s=5)
    assert any(span.service == "rerank" and not span.ok for span in spans)


async def test_spans_stay_at_home_unless_asked_for(wired: Wired) -> None:
    await call(wired.rerank.Rerank, ask("hello"), timeout_s=5)
    assert telemetry.collected() == []


async def test_calls_at_the_same_time_do_not_mix_their_spans(wired: Wired) -> None:
    async def one(documents: int) -> set[object]:
        with telemetry.collect():
            await call(wired.rerank.Rerank, ask("hello", documents), timeout_s=5)
            return {span.attributes.get("documents") for span in telemetry.collected()} - {None}

    assert await asyncio.gather(*(one(number) for number in range(1, 9))) == [{number} for number in range(1, 9)]


@pytest.mark.r("R-70")
async def test_every_hop_is_measured_and_failures_are_counted(wired: Wired) -> None:
    def figures() -> dict[str, int]:
        totals: dict[str, int] = {}
        for figure in telemetry.snapshot():
            if figure.attributes.get("rpc.method", "").endswith("/Rerank"):
                amount = int(figure.value) if figure.name == "memvault.rpc.errors" else figure.count
                totals[figure.name] = totals.get(figure.name, 0) + amount
        return totals

    before = figures()
    await call(wired.rerank.Rerank, ask("hello"), timeout_s=5)
    with pytest.raises(Fault):
        await call(wired.rerank.Rerank, ask("fault"), timeout_s=5)
    after = figures()
    name = "rpc.server.call.duration"
    assert after[name] - before.get(name, 0) == 2
    assert after["memvault.rpc.errors"] > before.get("memvault.rpc.errors", 0)

"""The rerank service as its callers see it."""

import numpy as np
import pytest

from memvault.faults import Fault, Reason
from memvault.rerank.v1 import rerank_pb2 as pb
from memvault.rerank.v1.rerank_pb2_grpc import RerankServiceStub
from memvault.rpc.client import call
from memvault.rpc.local import LocalChannel
from memvault.runtime import telemetry
from memvault.runtime.settings import load
from memvault.slow_thinker.v1.prefetch_pb2 import TokenVectors
from memvault_rerank.adapters.memory import ScriptedModel
from memvault_rerank.app import App, build
from memvault_rerank.settings import RerankSettings


def packed(*rows: list[int]) -> TokenVectors:
    values = np.array(rows, np.int8)
    return TokenVectors(values=values.tobytes(), rows=values.shape[0], columns=values.shape[1])


def request() -> pb.RerankRequest:
    return pb.RerankRequest(
        query="east",
        query_tokens=packed([127, 0]),
        documents=[
            pb.RerankDocument(id="north", text="north", tokens=[packed([0, 127])]),
            pb.RerankDocument(id="east", text="east", tokens=[packed([127, 0])]),
            pb.RerankDocument(id="unknown", text="no vectors"),
        ],
    )


def stub_of(app: App) -> RerankServiceStub:
    return RerankServiceStub(LocalChannel(app.registrations, "rerank"))


@pytest.fixture
async def default_app():
    app = await build(load("rerank", RerankSettings))
    await app.start()
    yield app
    await app.stop()


@pytest.mark.r("R-20")
async def test_the_embedded_default_ranks_by_token_vectors_and_leaves_out_what_has_none(default_app: App) -> None:
    response = await call(stub_of(default_app).Rerank, request(), timeout_s=5.0)
    assert response.status == "OK"
    assert {score.id: round(score.score, 4) for score in response.scores} == {"north": 0.0, "east": 1.0}
    assert (response.model, response.breaker) == ("late-interaction", "closed")


@pytest.mark.r("R-20")
async def test_a_query_without_token_vectors_gives_no_model_and_says_what_is_missing(default_app: App) -> None:
    bare = request()
    bare.ClearField("query_tokens")
    response = await call(stub_of(default_app).Rerank, bare, timeout_s=5.0)
    assert response.status == "NO_MODEL"
    assert "query_tokens" in response.detail
    assert not response.scores


@pytest.mark.r("R-21")
async def test_the_breaker_can_be_looked_at_and_tells_when_the_next_probe_is_due() -> None:
    settings = load("rerank", RerankSettings)
    app = await build(settings, model=ScriptedModel([RuntimeError("broken")] * 3))
    stub = stub_of(app)
    before = await call(stub.GetBreaker, pb.GetBreakerRequest(), timeout_s=1.0)
    assert (before.state, before.HasField("retry_at"), before.model) == ("closed", False, "scripted")
    statuses = [(await call(stub.Rerank, request(), timeout_s=1.0)).status for _ in range(4)]
    assert statuses == ["FAILED"] * 3 + ["BYPASSED"]
    after = await call(stub.GetBreaker, pb.GetBreakerRequest(), timeout_s=1.0)
    assert (after.state, after.consecutive_failures, after.opened, after.bypassed) == ("open", 3, 1, 1)
    assert after.HasField("retry_at")


@pytest.mark.r("R-21")
async def test_a_change_of_the_breaker_shows_in_trace_and_metrics() -> None:
    app = await build(load("rerank", RerankSettings), model=ScriptedModel([RuntimeError("broken")] * 3))
    before = opened()
    with telemetry.collect() as spans:
        for _ in range(3):
            await call(stub_of(app).Rerank, request(), timeout_s=1.0)
    last = [span for span in spans if span.name == "rerank.model"][-1]
    assert last.attributes["memvault.rerank.breaker"] == "open"
    assert last.attributes["memvault.rerank.failures"] == 3
    assert last.attributes["memvault.rerank.retry_at"]
    assert opened() == before + 1


def opened() -> float:
    figures = [figure for figure in telemetry.snapshot() if figure.name == "memvault.rerank.breaker.changes"]
    return sum(figure.value for figure in figures if figure.attributes.get("memvault.rerank.breaker") == "open")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda r: r.ClearField("query"), Reason.QUERY_REQUIRED),
        (lambda r: r.ClearField("documents"), Reason.FIELD_INVALID),
        (lambda r: r.documents.extend(pb.RerankDocument(id=str(n)) for n in range(200)), Reason.FIELD_INVALID),
        (lambda r: r.documents.add(id="east"), Reason.FIELD_INVALID),
        (lambda r: r.documents.add(id=""), Reason.FIELD_INVALID),
        (lambda r: r.documents[0].signals.update({"bm25": float("nan")}), Reason.FIELD_INVALID),
        (lambda r: setattr(r.query_tokens, "rows", 5), Reason.FIELD_INVALID),
        (lambda r: r.documents.add(id="other", tokens=[packed([1, 2, 3])]), Reason.FIELD_INVALID),
    ],
    ids=["no query", "no documents", "too many", "same id twice", "empty id", "nan", "wrong shape", "two encoders"],
)
async def test_a_request_that_makes_no_sense_is_refused_and_never_counts_against_the_model(
    default_app: App, spoil: object, reason: Reason
) -> None:
    spoilt = request()
    spoil(spoilt)
    with pytest.raises(Fault) as refused:
        await call(stub_of(default_app).Rerank, spoilt, timeout_s=5.0)
    assert refused.value.reason is reason
    assert (await call(stub_of(default_app).GetBreaker, pb.GetBreakerRequest(), timeout_s=1.0)).state == "closed"

import asyncio

import pytest

from memvault.ops import run
from memvault.runtime import spans, telemetry
from memvault.runtime.telemetry import TelemetrySettings


@pytest.mark.r("R-70")
def test_spans_form_a_tree_with_services_and_attributes() -> None:
    with telemetry.collect() as collected, telemetry.serving("gateway"):
        with telemetry.span("recall", **{"memvault.caller": "cli"}) as root:
            with telemetry.serving("search"), telemetry.span("score") as child:
                child.set(candidates=100)
    score, recall = collected
    assert (recall.name, recall.service, recall.parent_id) == ("recall", "gateway", "")
    assert (score.service, score.parent_id, score.trace_id) == ("search", recall.span_id, root.trace_id)
    assert score.attributes == {"candidates": 100}
    assert 0 <= score.duration_ns <= recall.duration_ns


def test_an_exception_marks_the_span_and_passes() -> None:
    with telemetry.collect() as collected, pytest.raises(KeyError), telemetry.span("risky"):
        raise KeyError("x")
    assert not collected[0].ok
    assert collected[0].attributes["error.type"] == "KeyError"


async def test_tasks_started_inside_belong_to_the_collection() -> None:
    async def part(name: str) -> None:
        with telemetry.span(name):
            await asyncio.sleep(0)

    with telemetry.collect() as collected, telemetry.span("whole"):
        await asyncio.gather(part("left"), part("right"))
    assert {span.name for span in collected} == {"left", "right", "whole"}


def test_the_traceparent_of_an_event_continues_its_trace() -> None:
    headers: dict[str, str] = {}
    with telemetry.span("publish") as sent:
        telemetry.inject(headers)
    assert headers["traceparent"].split("-")[1] == sent.trace_id
    with telemetry.collect() as collected:
        with telemetry.extract(headers), telemetry.span("consume"):
            pass
        with telemetry.extract({"traceparent": "nonsense"}), telemetry.span("alone"):
            pass
    assert collected[0].trace_id == sent.trace_id
    assert collected[0].parent_id == sent.span_id
    assert collected[1].trace_id != sent.trace_id


def test_an_extract_without_a_header_begins_a_new_trace() -> None:
    with telemetry.span("outer") as outer, telemetry.extract({}), telemetry.span("inner") as inner:
        assert inner.trace_id != outer.trace_id


def test_the_observer_turns_pipeline_steps_into_spans() -> None:
    class Step:
        name = "fuse"

        def __call__(self, state: int, /) -> int:
            return state + 1

    with telemetry.collect() as collected:
        assert run((Step(),), 1, telemetry.OBSERVER) == 2
    assert [span.name for span in collected] == ["fuse"]


def test_spans_survive_the_wire_and_nonsense_is_refused() -> None:
    with telemetry.collect() as collected, telemetry.span("讀", **{"memvault.mode": "LOCAL"}):
        pass
    assert spans.decode(spans.encode(collected)) == collected
    for nonsense in (b"", b"abc", spans.zlib.compress(b'[{"name": 1}]')):
        with pytest.raises(ValueError, match="not a list of spans"):
            spans.decode(nonsense)


def test_a_hundred_spans_fit_into_metadata() -> None:
    with telemetry.collect() as collected:
        for number in range(100):
            with telemetry.span(f"step {number}", candidates=number):
                pass
    assert len(spans.encode(collected)) < 16_000


def test_counters_add_up_and_histograms_count() -> None:
    for seconds in (0.1, 0.3):
        telemetry.record("memvault.test.duration", seconds, step="a")
    telemetry.counter("memvault.test.skips", reason="tight")
    telemetry.counter("memvault.test.skips", 2, reason="tight")
    figures = {figure.name: figure for figure in telemetry.snapshot()}
    assert figures["memvault.test.duration"].count == 2
    assert figures["memvault.test.duration"].value == pytest.approx(0.4)
    assert figures["memvault.test.skips"].value == 3
    assert figures["memvault.test.skips"].attributes == {"reason": "tight"}


def test_setup_names_the_service_and_exports_nothing_without_an_address() -> None:
    before = list(telemetry._current)
    try:
        made = telemetry.setup("router", TelemetrySettings(export_interval_s=15))
        with telemetry.collect() as collected, telemetry.span("classify"):
            pass
        assert collected[0].service == "router"
        made.shutdown()
    finally:
        telemetry._current[:] = before

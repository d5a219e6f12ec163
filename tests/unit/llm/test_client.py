"""The client of a language model, against a local server that answers well, late, wrongly, or not at all."""

import json

import pytest
from pydantic import BaseModel, SecretStr

from memvault.faults import Fault, Reason
from memvault.llm.client import LlmClient, LlmSettings, RateLimit, open_llm
from memvault.runtime.settings import load
from tests.chat_server import Answer, late, numbers, plain, said, serving


class Verdict(BaseModel):
    intent: str
    confidence: float


async def refused(client: LlmClient, timeout_s: float = 5.0) -> Reason:
    with pytest.raises(Fault) as fault:
        await client.json("sort", "this", timeout_s=timeout_s)
    return fault.value.reason


async def test_a_good_answer_is_the_object_and_the_request_is_what_such_addresses_expect() -> None:
    async with serving(said('{"intent": "factual"}'), api_key="s3cret") as (client, requests):
        assert await client.json("sort", "this", timeout_s=5.0) == {"intent": "factual"}
    head, body = requests[0].split(b"\r\n\r\n", 1)
    assert head.startswith(b"POST /v1/chat/completions ")
    assert b"authorization: bearer s3cret" in head.lower()
    sent = json.loads(body)
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert (sent["model"], sent["max_tokens"]) == ("tiny", 64)


@pytest.mark.parametrize(
    "text",
    ['```json\n{"a": 1}\n```', '<think>hm, {"b": 2}?</think>\n{"a": 1}', '  {"a": 1}\n'],
    ids=["fence", "thought", "blanks"],
)
async def test_thoughts_and_code_fences_around_the_answer_are_taken_away(text: str) -> None:
    async with serving(said(text)) as (client, _):
        assert await client.json("s", "u", timeout_s=5.0) == {"a": 1}


async def test_a_shape_is_sent_as_schema_and_checked_on_the_way_back() -> None:
    async with serving(said('{"intent": "factual", "confidence": 0.7}')) as (client, requests):
        verdict = await client.structured("s", "u", Verdict, timeout_s=5.0)
        assert verdict == Verdict(intent="factual", confidence=0.7)
        assert b'"json_schema"' in requests[0]
    async with serving(said('{"intent": "factual", "confidence": "very"}')) as (client, _):
        with pytest.raises(Fault, match="no Verdict"):
            await client.structured("s", "u", Verdict, timeout_s=5.0)


@pytest.mark.r("R-04")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (late, Reason.DEADLINE_EXCEEDED),
        (said("I would say factual."), Reason.MODEL_FAILED),
        (said(""), Reason.MODEL_FAILED),
        (said(None), Reason.MODEL_FAILED),
        (said("[1, 2]"), Reason.MODEL_FAILED),
        (plain(200, b""), Reason.MODEL_FAILED),
        (plain(200, b'{"choices": []}'), Reason.MODEL_FAILED),
        (plain(200, b"\xff\xfe"), Reason.MODEL_FAILED),
        (plain(200, b"x" * (2 << 20)), Reason.MODEL_FAILED),
        (plain(401, b"no"), Reason.MODEL_FAILED),
        (plain(500, b"oops"), Reason.MODEL_FAILED),
        (plain(429, b"slow down"), Reason.RATE_LIMITED),
    ],
    ids=[
        "late",
        "prose",
        "empty text",
        "null",
        "array",
        "empty body",
        "no choice",
        "not utf-8",
        "huge",
        "401",
        "500",
        "429",
    ],
)
async def test_every_bad_answer_is_a_fault_of_the_contract(answer: Answer, reason: Reason) -> None:
    async with serving(answer) as (client, _):
        assert await refused(client, timeout_s=0.2 if answer is late else 5.0) is reason


async def test_nobody_at_the_address_is_said_with_what_to_check() -> None:
    client = LlmClient(numbers("http://127.0.0.1:1/v1"))
    with pytest.raises(Fault, match=r"check llm\.base_url") as fault:
        await client.json("s", "u", timeout_s=5.0)
    assert fault.value.reason is Reason.SERVICE_UNAVAILABLE
    await client.stop()


async def test_without_time_left_nothing_is_sent() -> None:
    async with serving(said("{}")) as (client, requests):
        assert await refused(client, timeout_s=0.0) is Reason.DEADLINE_EXCEEDED
        assert not requests


@pytest.mark.r("R-04")
async def test_calls_above_the_rate_are_refused_at_once() -> None:
    async with serving(said("{}"), calls_per_minute=1.0, burst=2) as (client, requests):
        for _ in range(2):
            await client.json("s", "u", timeout_s=5.0)
        assert await refused(client) is Reason.RATE_LIMITED
        assert len(requests) == 2


def test_the_bucket_fills_with_time_up_to_the_burst_and_survives_a_clock_that_jumps_back() -> None:
    now = [0.0]
    limit = RateLimit(per_minute=60.0, burst=2, clock=lambda: now[0])
    assert [limit.take() for _ in range(3)] == [True, True, False]
    now[0] = 1.0
    assert [limit.take(), limit.take()] == [True, False]
    now[0] = -100.0
    assert not limit.take()
    now[0] = 1000.0
    assert [limit.take() for _ in range(3)] == [True, True, False]


def test_no_language_model_is_the_packaged_default_and_the_key_never_shows() -> None:
    settings = load("llm", LlmSettings, environ={})
    assert open_llm(settings) is None
    assert "s3cret" not in repr(settings.model_copy(update={"api_key": SecretStr("s3cret")}))

"""Running memvaults for golden questions: filled in one order, tended in one night, so that every run asks the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import nats

from memvault_demo.vault import ZONE, blocks, marked_ids
from tests.conftest import dreamt
from tests.golden.frame import NOW, PROFILES, GoldenQuestion, Mechanism, rfc3339
from tests.house import House, eventually

ONE_BY_ONE = {
    # Averages of lengths are brought up to date in the night, however small the drift.
    "MEMVAULT__SEARCH__WRITING__AVERAGE_DRIFT": "0",
    # Communities last from night to night, so they remember in which order blocks came: here it is always the same.
    "MEMVAULT__BUS__FETCH_BATCH": "1",
    "MEMVAULT__CASCADE__GARDEN__QUIET_S": "3600",
    "MEMVAULT__CASCADE__GARDEN__LONGEST_S": "3600",
}
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "sample": {},
    # every call of the model takes longer than that, so each is a failure
    "slow_reranker": {"MEMVAULT__RERANK__TIMEOUT_S": "0.000001"},
    "no_reranker": {"MEMVAULT__RERANK__MODEL": "none"},
    # blocks are written the moment before the night: a second is a long time
    "freezing": {"MEMVAULT__SEARCH__FREEZING__IDLE_DAYS": "1e-9", "MEMVAULT__SEARCH__FREEZING__HALF_LIVES": "0"},
}
SETTLED_S = 600
TOLD_S = 60


def open_house(name: str, home: Path, files: Iterable[Mechanism]) -> House:
    """Start a house and write what the files that ask it need."""
    asking = [one for one in files if one.house == name]
    house = House(home, in_process=True, extra={**ONE_BY_ONE, **SETTINGS[name]})
    house.start()
    if any(not one.blocks for one in asking):
        marked = marked_ids()
        for block in blocks(NOW, user_id="sample"):
            write(house, "sample", block, "mark" if block["id"] in marked else "refuse")
    for mechanism in asking:
        for block in mechanism.blocks:
            text = {key: value for key, value in block.items() if key != "_on_unsafe"}
            write(house, mechanism.user_id, text, block["_on_unsafe"])
    settle(house)
    asyncio.run(dreamt(house))
    settle(house)
    return house


def write(house: House, user_id: str, block: Mapping[str, Any], on_unsafe: str) -> None:
    """Hand a block in without waiting for the index; one call each keeps the order."""
    body = {"user_id": user_id, "blocks": [block], "options": {"wait": "accepted", "on_unsafe": on_unsafe}}
    reply = house.call("POST", "/v1/blocks:batch", body, limit_s=TOLD_S)
    assert reply.status == 200, reply
    assert reply.body["outcomes"][0]["status"] == "accepted", reply


def settle(house: House) -> None:
    """Wait until every event was handled by all that listen."""

    async def waiting() -> int:
        client = await nats.connect(_nats(house))
        try:
            stream = client.jetstream()
            consumers = [
                one for known in await stream.streams_info() for one in await stream.consumers_info(known.config.name)
            ]
            return sum(one.num_pending + one.num_ack_pending for one in consumers)
        finally:
            await client.close()

    assert eventually(lambda: asyncio.run(waiting()) == 0, limit_s=SETTLED_S), house.logs()


def answers_of(house: House, mechanism: Mechanism) -> dict[str, dict[str, dict[str, Any]]]:
    """Ask all questions of a file in their order: answers by profile and question."""
    found: dict[str, dict[str, dict[str, Any]]] = {profile: {} for profile in PROFILES}
    for question in mechanism.questions:
        for step in question.before:
            take(house, mechanism.user_of(question), step)
        for profile in question.profiles:
            found[profile][question.name] = ask(house, mechanism.user_of(question), question, profile)
    return found


def ask(house: House, user_id: str, question: GoldenQuestion, profile: str) -> dict[str, Any]:
    """Ask as an evaluation at the golden moment; a live question as a user does, now."""
    context: dict[str, Any] = {"explain": True, "deadline_ms": 60_000}
    if question.live:
        context |= {"origin": "user", **({"evaluation": question.evaluation} if question.evaluation else {})}
    else:
        context["time_zone"] = ZONE
        at = {"now": rfc3339(question.now), "profile": profile}
        context |= {"origin": "eval", "token_budget": 6000, "evaluation": {**at, **question.evaluation}}
    return house.recall(question.query, user_id, **{**context, **question.context})


def take(house: House, user_id: str, step: Mapping[str, Any]) -> None:
    """Let something happen first: `deliver` a question's cards, `say` something, or `classified` questions."""
    if "deliver" in step:
        for _ in range(step["times"]):
            house.recall(step["deliver"], user_id, limit=1)
        settle(house)
    elif "say" in step:
        for speaker, text in step["say"]:
            said = {"user_id": user_id, "conversation_id": "golden", "speaker": speaker, "text": text}
            publish(house, "conversation.utterance.appended", [said])
        wanted = step["prepared"]
        path = f"/v1/prefetch?user_id={user_id}"
        ready = lambda: wanted in [one["query"] for one in house.call("GET", path).body.get("prepared", [])]  # noqa: E731
        assert eventually(ready, limit_s=TOLD_S), house.call("GET", path).body
    else:
        fact = {key: value for key, value in step["classified"].items() if key != "times"}
        asked = {**fact, "user_id": user_id, "asked_at": rfc3339(datetime.now(UTC)), "confidence": 0.9}
        publish(house, "query.intent.classified", [asked] * step["classified"]["times"])
        settle(house)


def publish(house: House, subject: str, bodies: Iterable[Mapping[str, Any]]) -> None:
    """Publish events as any client of the bus would."""

    async def send() -> None:
        client = await nats.connect(_nats(house))
        for body in bodies:
            event_id = uuid4().hex
            headers = {
                "Nats-Msg-Id": event_id,
                "ce-id": event_id,
                "ce-source": "tests/golden",
                "ce-type": subject,
                "ce-specversion": "1.0",
                "ce-time": rfc3339(datetime.now(UTC)),
            }
            payload = json.dumps(body, ensure_ascii=False).encode()
            await client.jetstream().publish(subject, payload, headers=headers)
        await client.close()

    asyncio.run(send())


def _nats(house: House) -> str:
    state: dict[str, str] = json.loads((house.home / "run" / "state.json").read_text(encoding="utf-8"))
    return state["nats"]

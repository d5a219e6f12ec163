"""Prefetch hits as a user meets them: a conversation goes over the bus, its next question is asked as predicted."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import nats
from nats.aio.client import Client as Bus
from nats.aio.subscription import Subscription

from memvault.bus.subjects import PREFETCH_STORED, UTTERANCE_APPENDED
from memvault.text import query_hash
from memvault_evals.bench.asking import recall
from memvault_evals.bench.filling import USER
from memvault_evals.house import Client, EvalError

TURN = timedelta(seconds=40)  # between two utterances
STORED_LIMIT_S = 60.0
FRESH_FOR_S = 200.0  # an answer is kept for 300 s
TRIES = 8
SPEAKERS = ("user", "assistant", "user")
EXACT = "prefetch_exact"


class Prepared:
    """Keeps one answer prepared, and asks for it. `lines`: what a user says who has something stored in mind."""

    def __init__(self, client: Client, nats_url: str, lines: Iterator[str]) -> None:
        self._client, self._nats_url, self._lines = client, nats_url, lines
        self._question, self._conversation, self._made_at = "", "", -FRESH_FOR_S
        self.stored_s: list[float] = []

    async def ready(self) -> None:
        """Have an answer prepared, unless the last one is still good."""
        if self._question and time.monotonic() - self._made_at < FRESH_FOR_S:
            return
        refusals: list[str] = []
        for _ in range(TRIES):
            refused = await self._prepare()
            if not refused:
                return
            refusals.append(refused)
        raise EvalError(f"no answer was prepared for any of {TRIES} conversations; refused by: {', '.join(refusals)}")

    async def hit(self, *, origin: str = "user") -> None:
        """Ask the predicted question in its own words.

        Raises:
            EvalError: When the answer was not the prepared one.
        """
        answer = recall(self._client, self._question, origin=origin, conversation_id=self._conversation)
        if answer["answered_from"] != EXACT:
            why = [one for one in answer.get("skipped", []) if one.get("part") == "prefetch"]
            raise EvalError(
                f"{self._question!r} was answered from {answer['answered_from']}, not from the answer prepared "
                f"{time.monotonic() - self._made_at:.0f} s ago: {why or 'see `memvault prefetch`'}"
            )

    async def _prepare(self) -> str:
        """Hold a conversation and wait for what comes of it; returns the rule that refused, or an empty string."""
        self._conversation = f"bench-{uuid4().hex[:8]}"
        bus = await nats.connect(self._nats_url)
        try:
            stored = await bus.subscribe(PREFETCH_STORED)
            await bus.flush()
            line = next(self._lines)
            begun = time.monotonic()
            for turn, speaker in enumerate(SPEAKERS):
                last = await self._say(bus, line, turn - len(SPEAKERS) + 1, speaker)
            hashed, refused = await _outcome(stored, last)
            self._made_at = time.monotonic()
            if not refused:
                self.stored_s.append(self._made_at - begun)
                self._question = self._words(hashed)
            return refused
        finally:
            await bus.close()

    def _words(self, hashed: str) -> str:
        prepared = self._client.call("GET", f"/v1/prefetch?user_id={USER}").get("prepared", [])
        words = {query_hash(one["query"]): str(one["query"]) for one in prepared}
        if hashed not in words:
            raise EvalError(f"the answer {hashed} was told to be stored and does not lie ready")
        return words[hashed]

    async def _say(self, bus: Bus, text: str, turn: int, speaker: str) -> str:
        event_id, now = uuid4().hex, datetime.now(UTC)
        body = {
            "user_id": USER,
            "conversation_id": self._conversation,
            "speaker": speaker,
            "text": text,
            "event_time": (now + turn * TURN).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        headers = {
            "Nats-Msg-Id": event_id,
            "ce-id": event_id,
            "ce-source": "memvault/bench",
            "ce-type": UTTERANCE_APPENDED,
            "ce-specversion": "1.0",
            "ce-time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        payload = json.dumps(body, ensure_ascii=False).encode()
        await bus.jetstream().publish(UTTERANCE_APPENDED, payload, headers=headers)
        return event_id


async def _outcome(stored: Subscription, utterance: str) -> tuple[str, str]:
    """Wait for what comes of this utterance: the hash of the question that was stored, or the rule that refused."""
    try:
        async with asyncio.timeout(STORED_LIMIT_S):
            async for message in stored.messages:
                told = json.loads(message.data)
                if told.get("utterance_event_id") == utterance:
                    return told.get("query_hash", ""), told.get("refused_by", "")
    except TimeoutError as error:
        raise EvalError(f"no {PREFETCH_STORED} followed an utterance within {STORED_LIMIT_S:g} s") from error
    raise EvalError(f"the subscription to {PREFETCH_STORED} ended")

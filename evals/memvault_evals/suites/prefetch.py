"""Suite prefetch: does what the next turn needs lie ready before it is said (R-50 to R-54)?

Conversations are played through the product. Before turn i + 1 is said the documents of what lies ready are taken: the
answers prepared after the last turn in turn by rank, then those of the turn before, as long as they live. Then turn
i + 1 is really asked, and it is counted where its answer came from. The Slow Thinker works under the settings of the
installation, so there is one variant: the plain one of that profile.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from memvault_evals.asking import Variant
from memvault_evals.house import Client, EvalError
from memvault_evals.results import Row, SetReport, averaged
from memvault_evals.suites.conversations import (
    KDCONV,
    MTRAG,
    Conversation,
    Point,
    drawn,
    read_blocks,
    read_conversations,
)
from memvault_evals.suites.playing import DAY_S, GAP_S, Stage, first_moment, play, seed, stage
from memvault_evals.suites.suite import Run

HIT_AT = (5, 10, 20)
ALL, COLD, READY, SERVED = "all", "cold", "ready", "served"
EXACT, NEAR, SEARCH = "prefetch_exact", "prefetch_near", "search"
FROM_PREFETCH = (EXACT, NEAR)
NONE = "no_entry"
ANOTHER_TIME = "evaluation"  # what the router tells when nothing lies ready for the time of the question
HOUR_S = DAY_S / 24
DEADLINE_MS = 120_000


class PrefetchSuite:
    """Plays the conversations of each user one after the other, and the users side by side, those of all sets."""

    name = "prefetch"
    sets: tuple[str, ...] = (KDCONV, MTRAG)

    def fill(self, set_name: str, run: Run) -> None:
        """Write what the users remember."""
        blocks = read_blocks(run.data, set_name)
        users = {one.user_id for one in read_conversations(run.data, set_name, run.scopes)}
        run.progress.begin(f"{set_name}: writing", sum(len(blocks[user]) for user in users))
        for user_id in sorted(users):
            for count in run.vault.fill(run.gateway.client, user_id, blocks[user_id]):
                run.progress.step(count)

    def measure(self, set_name: str, run: Run) -> Mapping[str, SetReport]:
        """Play what was not played yet, of every set of the run at once, and count."""
        together = run.sets.intersection(self.sets) | {set_name}
        drawn_of = {one: drawn(read_conversations(run.data, one, run.scopes), run.points) for one in sorted(together)}
        conversations = drawn_of[set_name]
        variant = _plain(run, conversations[0].user_id)
        every = [one for some in drawn_of.values() for one in some]
        run.progress.begin(f"{', '.join(drawn_of)}: playing", sum(len(one.turns) for one in every))
        asyncio.run(_play_all(run, every))
        played = {one.id: run.log.get(_key(one)) or {} for one in conversations}
        return {variant.label: report(conversations, played)}


def _plain(run: Run, user_id: str) -> Variant:
    """Return the variant that the installation's own settings are."""
    context = {"user_id": user_id, "origin": "eval", "explain": True, "deadline_ms": DEADLINE_MS}
    answer = run.gateway.client.recall("hello", context)
    profile = answer["explanation"]["profile"]
    found = next((one for one in run.variants if one == Variant(profile)), None)
    if found is None:
        raise EvalError(
            f"answers are prepared under the installation's profile, which is {profile}: measure that one, "
            "or start it with another"
        )
    return found


def _key(conversation: Conversation) -> str:
    return f"prefetch|{conversation.user_id}|{conversation.id}"


async def _play_all(run: Run, conversations: Sequence[Conversation]) -> None:
    by_user: dict[str, list[Conversation]] = {}
    for one in conversations:
        if run.log.get(_key(one)) is None:
            by_user.setdefault(one.user_id, []).append(one)
        else:
            run.progress.step(len(one.turns))
    async with stage(run.gateway) as product:
        await asyncio.gather(*(_play_user(run, product, some) for some in by_user.values()))


async def _play_user(run: Run, product: Stage, conversations: Sequence[Conversation]) -> None:
    begin = first_moment(time.time())
    with closing(Client(run.gateway.client.address)) as client:
        await seed(product, conversations[0].user_id, begin)
        for number, one in enumerate(conversations, 1):
            moment = begin + number * HOUR_S
            played = await play(product, one, moment, partial(_ask, client), run.progress.step)
            run.log.keep(_key(one), played)


async def _ask(
    client: Client, conversation: Conversation, number: int, conversation_id: str, at: float
) -> dict[str, Any]:
    """Ask at `at` what is really said next, as it is; when a prepared answer served, ask once more without it."""
    point = next(one for one in conversation.points if one.after == number)
    context: dict[str, Any] = {
        "user_id": conversation.user_id,
        "conversation_id": conversation_id,
        "origin": "eval",
        "explain": True,
        "deadline_ms": DEADLINE_MS,
        "evaluation": {"now": datetime.fromtimestamp(at, UTC).isoformat()},
    }
    answer = await _recalled(client, point, context)
    skipped = [one["reason"] for one in answer["explanation"]["skipped"] if one["step"] == "prefetch"]
    told = {
        "from": answer["answered_from"],
        "documents": _blocks(answer),
        "why_not": next((reason for reason in skipped if reason != ANOTHER_TIME), NONE),
    }
    if told["from"] in FROM_PREFETCH:
        context["evaluation"]["off"] = ["prefetch"]
        told["searched"] = _blocks(await _recalled(client, point, context))
    return told


async def _recalled(client: Client, point: Point, context: Mapping[str, Any]) -> dict[str, Any]:
    answer = await asyncio.to_thread(client.recall, point.following, context)
    if answer.get("degraded"):
        raise EvalError(f"{point.id} was answered degraded: {answer['degraded']}")
    return answer


def _blocks(answer: Mapping[str, Any]) -> list[str]:
    cards = [*answer.get("cards", []), *answer.get("cascade_cards", [])]
    return list(dict.fromkeys(card["block_id"] for card in cards if card["kind"] == "block"))


def ready(turns: Sequence[Mapping[str, Any]], after: int) -> list[str]:
    """Return the documents that lie ready after a turn, those of the newest answers first.

    The answers of one turn take turns, the surest first: its first document, the other's first, its second, ...
    """
    found: list[str] = []
    for number in range(after, -1, -1):
        live = [one for one in turns[number]["stored"] if (after + 1 - number) * GAP_S < one["ttl_s"]]
        live.sort(key=lambda one: (-one["confidence"], one["query"]))
        ranks = zip_longest(*(one["documents"] for one in live))
        found += [document for document in chain.from_iterable(ranks) if document is not None]
    return list(dict.fromkeys(found))[: max(HIT_AT)]


def report(conversations: Sequence[Conversation], played: Mapping[str, Mapping[str, Any]]) -> SetReport:
    """Return hits before the turn, where its answer came from, and what the Slow Thinker did."""
    rows = [
        _row(point, ready(played[one.id]["turns"], point.after), played[one.id]["served"][point.id])
        for one in conversations
        for point in one.points
    ]
    return averaged(rows, facts(conversations, played, rows))


def _row(point: Point, documents: Sequence[str], served: Mapping[str, Any]) -> Row:
    levels = {ALL: _hits(documents, point.need)}
    if point.cold:
        levels[COLD] = _hits(documents, point.cold)
    if documents:
        levels[READY] = _hits(documents, point.need)
    levels[SERVED] = {name: float(served["from"] == name) for name in (EXACT, NEAR, SEARCH)}
    if served["from"] in FROM_PREFETCH:
        held, searched = (bool(point.need & set(served[name])) for name in ("documents", "searched"))
        # what a full search would not have found either is not the prepared answer's fault
        levels[SERVED] |= {"held what is needed": float(held), "false hit": float(searched and not held)}
    return Row(point.id, point.kind, levels, {"ready": list(documents), **served})


def _hits(documents: Sequence[str], wanted: frozenset[str]) -> dict[str, float]:
    return {f"hit@{most}": float(not wanted.isdisjoint(documents[:most])) for most in HIT_AT}


def facts(
    conversations: Sequence[Conversation], played: Mapping[str, Mapping[str, Any]], rows: Sequence[Row]
) -> dict[str, Any]:
    """Return admissions and refusals by rule, what was stored and how soon, what served and why not, and the waste.

    `hits`: questions that a prepared answer served; `wasted`: answers in percent that served none; `useful`: of those
    stored right before a point, the share in percent that holds something needed.
    """
    turns = [turn for one in conversations for turn in played[one.id]["turns"]]
    stored = [one for turn in turns for one in turn["stored"]]
    refused = Counter(rule for turn in turns for rule in turn["refused_by"])
    hits = sum(row.told["from"] in FROM_PREFETCH for row in rows)
    took = [one["took_ms"] for one in stored]
    return {
        "points": len(rows),
        "turns": len(turns),
        "turns with an answer": sum(bool(turn["stored"]) for turn in turns),
        "refused by": dict(refused.most_common()),
        "stored": len(stored),
        "fuel": dict(Counter(one["fuel"] for one in stored)),
        "useful": useful(conversations, played),
        "hits": hits,
        "wasted": 100 * (1 - hits / len(stored)) if stored else 0.0,
        "ms from utterance to stored": percentiles(took),
        "why not served": dict(Counter(row.told["why_not"] for row in rows if row.told["from"] == SEARCH)),
    }


def percentiles(values: Sequence[float]) -> dict[str, int]:
    """Return median and 95th percentile, rounded; nothing of nothing."""
    return {f"p{share}": round(float(np.percentile(values, share))) for share in (50, 95)} if values else {}


def useful(
    conversations: Sequence[Conversation], played: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, float]]:
    """Return by confidence in tenths: how many answers right before a point, and the share that holds a needed one."""
    found: dict[str, list[bool]] = {}
    for one in conversations:
        for point in one.points:
            for answer in played[one.id]["turns"][point.after]["stored"]:
                tenth = f"{int(answer['confidence'] * 10) / 10:.1f}"
                found.setdefault(tenth, []).append(not point.need.isdisjoint(answer["documents"]))
    return {name: {"answers": len(some), "held": 100 * sum(some) / len(some)} for name, some in sorted(found.items())}


PREFETCH = PrefetchSuite()

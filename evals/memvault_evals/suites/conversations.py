"""Conversations of the prefetch sets, and the points at which it is counted what lay ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from memvault_evals.datasets import MEMORY, Data, nothing_in, user_of
from memvault_evals.house import EvalError

KDCONV, MTRAG = "prefetch_kdconv", "prefetch_mtrag"
SPEAKERS = ("user", "assistant")
_AGENT = "agent"


@dataclass(frozen=True)
class Point:
    """What is needed next.

    Attributes:
        after: Number of the last turn that was seen, from 0.
        following: What is said next.
        need: Documents that it needs, at least one.
        cold: Those of them that nothing before has needed; may be empty.
    """

    id: str
    kind: str
    after: int
    following: str
    need: frozenset[str]
    cold: frozenset[str]


@dataclass(frozen=True)
class Conversation:
    """Turns as speaker and text, up to the last one that a point comes after."""

    id: str
    user_id: str
    turns: tuple[tuple[str, str], ...]
    points: tuple[Point, ...]


def read_blocks(data: Data, set_name: str) -> dict[str, list[dict[str, Any]]]:
    """Return what each user of a set remembers: documents without a time, in the order of the file."""
    blocks: dict[str, list[dict[str, Any]]] = {}
    for row in data.rows(f"{set_name}.corpus", *MEMORY):
        block = {"id": row["id"], "text": row["text"], "service": "eval", "source": {"kind": "document"}}
        blocks.setdefault(user_of(set_name, row["scope"]), []).append(block)
    return blocks


def read_conversations(data: Data, set_name: str, scopes: frozenset[str] = frozenset()) -> list[Conversation]:
    """Return the conversations of a set that have points; `scopes` narrows them by name.

    Raises:
        EvalError: When nothing is left.
    """
    read = _kdconv if set_name == KDCONV else _mtrag
    found = [one for one in read(data, scopes) if one.points]
    if not found:
        raise EvalError(nothing_in(set_name, scopes))
    return found


def drawn(conversations: Sequence[Conversation], points: int) -> list[Conversation]:
    """Return conversations drawn until they hold `points` points, in their order; 0: all.

    The draw goes by a hash of the id, so that it is the same on every machine, and a larger one holds a smaller one.
    """
    by_chance = sorted(conversations, key=lambda one: blake2b(one.id.encode(), digest_size=8).digest())
    before = accumulate((len(one.points) for one in by_chance), initial=0)
    chosen = {one.id for one, held in zip(by_chance, before, strict=False) if not points or held < points}
    return [one for one in conversations if one.id in chosen]


def _kdconv(data: Data, scopes: frozenset[str]) -> Iterator[Conversation]:
    """Two people talk in turn; a turn tells which documents it needs."""
    for row in data.rows(f"{KDCONV}.conversations", "id", "scope", "turns"):
        if scopes and row["scope"] not in scopes:
            continue
        needs = [frozenset(turn["need"]) for turn in row["turns"]]
        points = tuple(
            Point(
                id=f"{row['id']}:{number}",
                kind=row["scope"],
                after=number - 1,
                following=row["turns"][number]["u"],
                need=needs[number],
                cold=needs[number].difference(*needs[:number]),
            )
            for number in range(1, len(needs))
            if needs[number]
        )
        turns = [(SPEAKERS[number % 2], turn["u"]) for number, turn in enumerate(row["turns"])]
        yield _conversation(row["id"], user_of(KDCONV, row["scope"]), turns, points)


def _mtrag(data: Data, scopes: frozenset[str]) -> Iterator[Conversation]:
    """Questions of one conversation share their history, so that it is played once, with all of its points.

    Cold is what no earlier point of the set has needed: other turns do not tell what they need.
    """
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for row in data.rows(f"{MTRAG}.points", "id", "scope", "history", "next", "gold", "turn_type"):
        if not scopes or row["scope"] in scopes:
            by_id.setdefault(row["id"].partition("<::>")[0], []).append(row)
    for name, rows in by_id.items():
        rows.sort(key=lambda row: len(row["history"]))
        longest = rows[-1]["history"]
        if any(row["history"] != longest[: len(row["history"])] for row in rows):
            raise EvalError(f"the histories of {name} in {MTRAG} are not the beginning of one conversation")
        seen: set[str] = set()
        points = []
        for row in rows:
            need = frozenset(row["gold"])
            after = len(row["history"]) - 1
            points.append(Point(row["id"], row["turn_type"], after, row["next"], need, need - seen))
            seen |= need
        turns = [(SPEAKERS[one["who"] == _AGENT], one["text"]) for one in longest]
        yield _conversation(name, user_of(MTRAG, rows[0]["scope"]), turns, points)


def _conversation(name: str, user_id: str, turns: Sequence[tuple[str, str]], points: Sequence[Point]) -> Conversation:
    played = max((one.after for one in points), default=-1) + 1
    return Conversation(name, user_id, tuple(turns[:played]), tuple(points))

"""Reads normalised public sets from a folder: `X.corpus.jsonl[.gz]` and `X.queries.jsonl[.gz]`.

One line of a corpus is a memory: `id, scope, text, who, session, time, position`. One line of queries is a question
inside one scope: `id, scope, q, gold, type`. Sets that may not be redistributed lie in `restricted/` below the folder.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from memvault_evals.house import EvalError

Shape = Literal["conversation", "note", "document"]
_SUFFIXES = (".jsonl", ".jsonl.gz")
_FOREIGN = re.compile(r"[^A-Za-z0-9._@-]")
_SETTLED = timedelta(days=1)


@dataclass(frozen=True)
class SetSpec:
    """A set: what its memories are, and whether sessions are many enough to be ranked."""

    shape: Shape
    sessions: bool = False


SETS: Mapping[str, SetSpec] = {
    "locomo": SetSpec("conversation", sessions=True),
    "lme_s_partial": SetSpec("conversation", sessions=True),
    "beam100k": SetSpec("conversation"),
    "ikat_ptkb": SetSpec("note"),
    "memorybank_zh": SetSpec("conversation", sessions=True),
    "madial_zh": SetSpec("note"),
    "memdaily_zh": SetSpec("note"),
    "drcd_zh": SetSpec("document"),
    "xquad_zh2en": SetSpec("document"),
}
SUITES: Mapping[str, tuple[str, ...]] = {
    "recall": ("locomo", "lme_s_partial", "beam100k", "ikat_ptkb"),
    "chinese": ("memorybank_zh", "madial_zh", "memdaily_zh", "drcd_zh", "xquad_zh2en"),
}


@dataclass(frozen=True)
class Query:
    """A question and the ids of the memories that answer it; `also` may be found but need not be."""

    id: str
    text: str
    gold: frozenset[str]
    kind: str
    also: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Scope:
    """One vault: its blocks, its questions, and the moment at which they are asked (None: now).

    `session_of` maps block ids to sessions.
    """

    user_id: str
    blocks: tuple[Mapping[str, Any], ...]
    queries: tuple[Query, ...]
    now: datetime | None
    session_of: Mapping[str, str]


def read_set(folder: Path, name: str, scopes: frozenset[str] = frozenset()) -> list[Scope]:
    """Return the scopes of a set that have questions; `scopes` narrows them by name.

    Raises:
        EvalError: When a file is missing or nothing is left to ask.
    """
    spec = SETS[name]
    corpus, queries = (_rows(folder, f"{name}.{part}") for part in ("corpus", "queries"))
    wanted = {row["scope"] for row in queries}
    wanted = wanted & scopes if scopes else wanted
    if not wanted:
        raise EvalError(f"{name} has no scope among {sorted(scopes)}: see the `scope` fields of its queries")
    return [
        _scope(
            name,
            scope,
            spec,
            [row for row in corpus if row["scope"] == scope],
            [row for row in queries if row["scope"] == scope],
        )
        for scope in sorted(wanted)
    ]


def _scope(name: str, scope: str, spec: SetSpec, corpus: Sequence[Any], queries: Sequence[Any]) -> Scope:
    times = [datetime.fromisoformat(row["time"]).astimezone(UTC) for row in corpus if row["time"]]
    return Scope(
        user_id=f"{name}.{_FOREIGN.sub('_', scope)}",
        blocks=tuple(_block(row, spec) for row in corpus),
        queries=tuple(_query(row) for row in queries),
        now=max(times) + _SETTLED if times else None,
        session_of={row["id"]: row["session"] for row in corpus} if spec.sessions else {},
    )


def _query(row: Mapping[str, Any]) -> Query:
    gold = frozenset(row["gold"])
    return Query(row["id"], row["q"], gold, row.get("type") or "", frozenset(row.get("also") or ()) - gold)


def _block(row: Mapping[str, Any], spec: SetSpec) -> dict[str, Any]:
    block: dict[str, Any] = {
        "id": row["id"],
        "text": row["text"],
        "service": "eval",
        "source": {"kind": "document" if spec.shape == "document" else "conversation"},
    }
    if row["time"]:
        block["event_time"] = row["time"]
    if spec.shape == "conversation":
        block |= {"speaker": row["who"], "conversation_id": row["scope"]}
        block |= {"session_id": row["session"], "position": row["position"]}
    return block


def _rows(folder: Path, stem: str) -> list[Any]:
    for path in (parent / (stem + suffix) for parent in (folder, folder / "restricted") for suffix in _SUFFIXES):
        if path.exists():
            data = path.read_bytes()
            text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
            return [json.loads(line) for line in text.split("\n") if line.strip()]
    raise EvalError(f"{folder} holds no {stem}.jsonl[.gz], nor does its folder restricted: see --data")

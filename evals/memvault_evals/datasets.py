"""Reads normalised public sets from a folder: `X.corpus.jsonl[.gz]` and `X.queries.jsonl[.gz]`.

One line of a corpus is a memory: `id, scope, text, who, session, time, position`. One line of queries is a question
inside one scope: `id, scope, q, gold, type`. Sets that may not be redistributed lie in `restricted/` below the folder;
what multi-hop questions search lies in a second folder of corpora.
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
# fields that a line has to have
MEMORY = ("id", "scope", "text")
TURN = ("who", "session", "position")
QUESTION = ("id", "scope", "q", "gold")


@dataclass(frozen=True)
class SetSpec:
    """A set of questions: what its memories are, and whether sessions are many enough to be ranked.

    Attributes:
        files: Stem of its files; empty: its own name.
        titled: The first line of a text is its title.
        triples: Blocks bring the triples of `X.openie.jsonl[.gz]` along, so that the graph stands on published
            open information extraction instead of the product's own.
    """

    shape: Shape
    sessions: bool = False
    files: str = ""
    titled: bool = False
    triples: bool = False


_PASSAGES = SetSpec("document", titled=True)
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
    "musique": _PASSAGES,
    "hotpot": _PASSAGES,
    "twowiki": _PASSAGES,
    "musique_openie": SetSpec("document", files="musique", titled=True, triples=True),
}


@dataclass(frozen=True)
class Data:
    """Folders of normalised sets: `folder` (with `restricted` below it), and `corpora` with what multi-hop searches."""

    folder: Path
    corpora: Path

    def path(self, stem: str) -> Path | None:
        """Return the file of a stem, such as `locomo.corpus`, if there is one."""
        folders = (self.folder, self.folder / "restricted", self.corpora)
        return next((path for one in folders for suffix in _SUFFIXES if (path := one / (stem + suffix)).exists()), None)

    def rows(self, stem: str, *fields: str) -> list[Any]:
        """Return the rows of a file, each of which has to have `fields`.

        Raises:
            EvalError: When it is missing, or a line of it is no JSON or lacks a field.
        """
        path = self.path(stem)
        if path is None:
            folders = f"{self.folder} (--data), its folder restricted, or {self.corpora} (--corpora)"
            raise EvalError(f"no {stem}.jsonl[.gz] in {folders}: docs/data.md says what belongs into it")
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        lines = enumerate(text.split("\n"), 1)
        return [_row(line, f"{path}, line {number}", fields) for number, line in lines if line.strip()]


def _row(line: str, where: str, fields: Sequence[str]) -> Any:  # noqa: ANN401 - JSON
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise EvalError(f"{where}, is no JSON: {error}") from error
    missing = [name for name in fields if name not in row]
    if missing:
        raise EvalError(f"{where}, lacks {', '.join(missing)}: see docs/data.md")
    return row


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


def read_set(data: Data, name: str, scopes: frozenset[str] = frozenset()) -> list[Scope]:
    """Return the scopes of a set that have questions; `scopes` narrows them by name.

    Raises:
        EvalError: When a file is missing or nothing is left to ask.
    """
    spec = SETS[name]
    stem = spec.files or name
    corpus = data.rows(f"{stem}.corpus", *MEMORY, *(TURN if spec.shape == "conversation" else ()))
    queries = data.rows(f"{stem}.queries", *QUESTION)
    openie = data.rows(f"{stem}.openie", "id", "triples") if spec.triples else []
    stated = {row["id"]: row["triples"] for row in openie}
    wanted = {row["scope"] for row in queries}
    wanted = wanted & scopes if scopes else wanted
    if not wanted:
        raise EvalError(nothing_in(name, scopes))
    return [
        _scope(
            name,
            scope,
            spec,
            [row | {"triples": stated.get(row["id"], ())} for row in corpus if row["scope"] == scope],
            [row for row in queries if row["scope"] == scope],
        )
        for scope in sorted(wanted)
    ]


def nothing_in(name: str, scopes: frozenset[str]) -> str:
    """What is said when a set has nothing to ask, in those `scopes` if there are any."""
    if not scopes:
        return f"{name} holds nothing to ask: see docs/data.md"
    return f"--scopes: {name} has none of {', '.join(sorted(scopes))}; see the `scope` fields of its file"


def user_of(name: str, scope: str) -> str:
    """The user as whom a scope of a set is written."""
    return f"{name}.{_FOREIGN.sub('_', scope)}"


def _scope(name: str, scope: str, spec: SetSpec, corpus: Sequence[Any], queries: Sequence[Any]) -> Scope:
    times = [datetime.fromisoformat(row["time"]).astimezone(UTC) for row in corpus if row.get("time")]
    known = {row["id"] for row in corpus}
    for row in queries:
        lost = [one for one in row["gold"] if one not in known]
        if lost or not row["gold"]:
            told = f"wants {', '.join(lost)}, which its scope does not hold" if lost else "wants nothing"
            raise EvalError(f"question {row['id']} of {name} {told}: see `gold` in docs/data.md")
    return Scope(
        user_id=user_of(name, scope),
        blocks=tuple(_block(row, spec) for row in corpus),
        queries=tuple(_query(row) for row in queries),
        now=max(times) + _SETTLED if times else None,
        session_of={row["id"]: row["session"] for row in corpus} if spec.sessions else {},
    )


def _query(row: Mapping[str, Any]) -> Query:
    gold = frozenset(row["gold"])
    return Query(row["id"], row["q"], gold, row.get("type") or "", frozenset(row.get("also") or ()) - gold)


def _block(row: Mapping[str, Any], spec: SetSpec) -> dict[str, Any]:
    title, _, body = row["text"].partition("\n") if spec.titled else ("", "", row["text"])
    block: dict[str, Any] = {
        "id": row["id"],
        "text": body or row["text"],
        "service": "eval",
        "source": {"kind": "document" if spec.shape == "document" else "conversation"},
    }
    if title and body:
        block["title"] = title
    if row.get("time"):
        block["event_time"] = row["time"]
    if row["triples"]:
        block["triples"] = [dict(zip(("subject", "predicate", "object"), one, strict=True)) for one in row["triples"]]
    if spec.shape == "conversation":
        block |= {"speaker": row["who"], "conversation_id": row["scope"]}
        block |= {"session_id": row["session"], "position": row["position"]}
    return block

"""Golden questions: one file per mechanism, what a person expects of each, and what was recorded beside it (R-72).

`R-NN_name.toml` is written by hand: the questions, why they are asked, and what must hold whatever the numbers are.
`recorded/R-NN_name.json` is written by `make golden ACCEPT=1`: ids in order, scores, the factor of every stage that
moved one of the first cards, the rankers that found it, and which step was left out for what reason.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROFILES = ("reference", "tuned")
NOW = datetime.fromisoformat("2020-11-30T01:30:00+00:00")
"""A Monday morning in Taipei. Long past, because the graph weighs facts by the machine's own clock: a fact that has not
begun by then would count less today than in a year."""

_NUMBERED = ("id", "text", "conversation_id")
DETAILED = 5
SHOWN = 10
TIE = 0.005
TOLERANCE = 0.01
_ALWAYS = ("llm:not_configured", "personalise:few_samples", "prefetch:evaluation")
"""Steps that hardly any golden question takes."""
FAR = 30
"""Ranks beyond this are recorded as not found: they hardly vote."""


@dataclass(frozen=True)
class GoldenQuestion:
    """One question. `expect` by key (see `expectations`); `before`: what happens first; the rest is sent along."""

    name: str
    query: str
    why: str
    profiles: tuple[str, ...]
    expect: Mapping[str, Any]
    expect_of: Mapping[str, Mapping[str, Any]]
    context: Mapping[str, Any]
    evaluation: Mapping[str, Any]
    before: tuple[Mapping[str, Any], ...]
    now: datetime
    live: bool
    is_recorded: bool
    user: str

    def expected(self, profile: str) -> dict[str, Any]:
        """What must hold in a profile."""
        return {**self.expect, **self.expect_of.get(profile, {})}


@dataclass(frozen=True)
class Mechanism:
    """A file: the mechanism, its questions, and blocks of its own if the sample vault does not hold what it needs."""

    name: str
    title: str
    house: str
    questions: tuple[GoldenQuestion, ...]
    blocks: tuple[Mapping[str, Any], ...] = field(repr=False)

    @property
    def id(self) -> str:
        """Such as `R-13`."""
        return self.name.partition("_")[0]

    @property
    def user_id(self) -> str:
        """Whose vault is asked, unless a question names somebody else."""
        return self.id if self.blocks else "sample"

    def user_of(self, question: GoldenQuestion) -> str:
        """Whose vault a question is asked of."""
        return f"{self.id}-{question.user}" if question.user else self.user_id

    @property
    def path(self) -> Path:
        """Where the recorded answers are."""
        return HERE / "recorded" / f"{self.name}.json"

    def recorded(self) -> dict[str, Any]:
        """What was recorded; empty before the first time."""
        if not self.path.exists():
            return {}
        known: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return known

    def record(self, found: Mapping[str, Any]) -> None:
        """Write the recorded answers, one card a line, so that a change is a short diff."""
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(_dump(found, 0) + "\n", encoding="utf-8")


def mechanisms() -> tuple[Mechanism, ...]:
    """All files, by name."""
    return tuple(_mechanism(path) for path in sorted(HERE.glob("R-*.toml")))


def _mechanism(path: Path) -> Mechanism:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Mechanism(
        name=path.stem,
        title=data["title"],
        house=data.get("house", "sample"),
        questions=tuple(_question(one) for one in data["question"]),
        blocks=tuple(_blocks(data.get("block", ()))),
    )


def _question(data: Mapping[str, Any]) -> GoldenQuestion:
    expect = dict(data["expect"])
    return GoldenQuestion(
        name=data["name"],
        query=data["query"],
        why=data["why"],
        profiles=tuple(data.get("profiles", ["tuned"] if data.get("live") else PROFILES)),
        expect_of={name: expect.pop(name) for name in PROFILES if name in expect},
        expect=expect,
        context=data.get("context", {}),
        evaluation=data.get("evaluation", {}),
        before=tuple(data.get("before", ())),
        now=NOW + timedelta(days=data.get("later_days", 0)),
        live=bool(data.get("live")),
        # what a user asked before was read, and how often changes scores: so it is with a live question, too
        is_recorded=bool(data.get("recorded", not data.get("live"))),
        user=data.get("user", ""),
    )


def _blocks(rows: Any) -> Iterator[dict[str, Any]]:
    """Blocks with real times; `numbers` = [first, last] makes one of each number, which stands for # in id and text.

    `days_ago` dates event and recording, `recorded_days_ago` the recording alone.
    """
    for row in rows:
        block = {
            key: value
            for key, value in row.items()
            if key not in {"days_ago", "recorded_days_ago", "numbers", "on_unsafe"}
        }
        if "days_ago" in row:
            block["event_time"] = block["recorded_at"] = rfc3339(NOW - timedelta(days=row["days_ago"]))
        if "recorded_days_ago" in row:
            block["recorded_at"] = rfc3339(NOW - timedelta(days=row["recorded_days_ago"]))
        first, last = row.get("numbers", (0, 0))
        for number in range(first, last + 1):
            named = {key: block[key].replace("#", str(number)) for key in _NUMBERED if key in block}
            yield {**block, **(named if last else {}), "_on_unsafe": row.get("on_unsafe", "refuse")}


def rfc3339(moment: datetime) -> str:
    """As the contract writes times."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def record_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What of an answer is recorded and compared."""
    why = answer["explanation"]
    # Where nothing is relevant the order says nothing either.
    cards = answer["cards"][:SHOWN] if answer["confidence"] != "low" else []
    return {
        "intent": answer["intent"],
        "sure": round(answer["intent_confidence"], 2),
        "facet": answer["facet"],
        "thinking": answer["thinking_mode"],
        "mode": answer["retrieval_mode"],
        "funnel": why.get("funnel", ""),
        "strengths": why.get("scoring_profile", ""),
        "understood": why.get("completed_query", ""),
        "time": why.get("time_expression", ""),
        "confidence": answer["confidence"],
        "self_check": [answer["self_check"], *why.get("self_check_steps", [])],
        "skipped": [one for one in steps(why.get("skipped", [])) if one not in _ALWAYS],
        "degraded": [f"{one['part']}:{one['reason']}" for one in answer.get("degraded", [])],
        "reranked": why.get("reranked", 0),
        "order": [[card["block_id"], round(card["score"], 3)] for card in cards],
        "reasons": [reasons(card) for card in cards[:DETAILED]],
        "graph": [graph_line(card) for card in answer.get("cascade_cards", [])[:SHOWN]],
    }


def steps(skipped: Any) -> list[str]:
    """Steps not taken, with the reason."""
    return sorted({f"{one['step']}:{one['reason']}" for one in skipped})


def reasons(card: Mapping[str, Any]) -> dict[str, Any]:
    """Why a card stands where it stands: rankers and ranks, stages that moved it, scoring, rerank, marks."""
    why = card["explanation"]
    ranks = {place["ranker"]: place["rank"] for place in why["places"] if place["rank"] <= FAR}
    stages = {one["stage"]: round(one["factor"], 3) for one in why["stages"] if abs(one["factor"] - 1) > TOLERANCE / 2}
    marks = [name for name in ("redacted", "summarised", "superseded_by", "frozen") if card.get(name)]
    return {
        "id": card["block_id"],
        "base": round(why["base_score"], 3),
        "scoring": round(why["scoring_score"], 3),
        "rerank": round(why["rerank_score"], 3) if "rerank_score" in why else None,
        "ranks": ranks,
        "stages": stages,
        "marks": marks,
    }


def graph_line(card: Mapping[str, Any]) -> str:
    """A cascade card in one line: kind, id or what a summary stands on, and the path."""
    path = " ; ".join(f"{step['subject']} > {step['predicate']} > {step['object']}" for step in card.get("path", []))
    name = card["block_id"] if card["kind"] == "block" else card.get("title") or card["text"]
    return f"{card['kind']} {name}" + (f" via {path}" if path else "")


def _dump(value: Any, depth: int) -> str:
    """JSON with a line for each part down to the cards, which are one line each."""
    pad, end = " " * (depth + 1), " " * depth
    if isinstance(value, Mapping) and value and depth < _DEEPEST:
        rows = [f"{pad}{json.dumps(key, ensure_ascii=False)}: {_dump(part, depth + 1)}" for key, part in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{end}}}"
    if isinstance(value, list) and value and isinstance(value[0], (list, Mapping)):
        return "[\n" + ",\n".join(pad + json.dumps(part, ensure_ascii=False) for part in value) + f"\n{end}]"
    if isinstance(value, list) and depth == _DEEPEST and len(value) > 1:
        return "[\n" + ",\n".join(pad + json.dumps(part, ensure_ascii=False) for part in value) + f"\n{end}]"
    return json.dumps(value, ensure_ascii=False)


_DEEPEST = 3
"""Question, profile, field: below that a value is one line."""

"""`--explain`: why each card stands where it stands; `--trace`: the spans of a recall as a tree."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from memvault.cli.cards import bar, one_line

Json = dict[str, Any]
_NEUTRAL = 0.0005
_NAME_CELLS = 44


def explained(response: Json) -> RenderableType:
    """The decision on the question, then every card's ranks and multipliers, then the time of each hop."""
    explanation: Json = response.get("explanation") or {}
    parts: list[RenderableType] = [Rule("understood as", style="cyan", align="left"), _question(explanation)]
    cards = [card for card in response.get("cards", []) if card.get("explanation")]
    if cards:
        parts.append(Rule("each card: ranks, multipliers, score", style="cyan", align="left"))
        parts.extend(_card(card, number) for number, card in enumerate(cards, 1))
    if explanation.get("skipped"):
        parts.append(Rule("skipped", style="cyan", align="left"))
        parts.append(_pairs((skip.get("step", ""), skip.get("reason", "")) for skip in explanation["skipped"]))
    if explanation.get("times"):
        parts.append(Rule("where the time went", style="cyan", align="left"))
        parts.append(_times(explanation["times"]))
    return Group(*parts)


def traced(response: Json) -> RenderableType:
    """The spans as a tree with their share of the whole."""
    spans: list[Json] = response.get("trace", [])
    known = {span["span_id"] for span in spans}
    below: dict[str, list[Json]] = defaultdict(list)
    for span in sorted(spans, key=lambda item: int(item.get("start_ns") or 0)):
        parent = span.get("parent_id", "")
        below[parent if parent in known else ""].append(span)
    whole = max((float(span.get("took_ms", 0)) for span in below[""]), default=0.0)
    tree = Tree(Text(f"trace {response.get('trace_id', '')}", style="bold"), guide_style="bright_black")
    pending = [(tree, span) for span in below[""]]
    while pending:
        node, span = pending.pop(0)
        branch = node.add(_span(span, whole))
        pending = [(branch, child) for child in below[span["span_id"]]] + pending
    return tree if spans else Text("the gateway sent no spans", style="yellow")


def _span(span: Json, whole_ms: float) -> RenderableType:
    took = float(span.get("took_ms", 0))
    text = Text()
    text.append(str(span.get("service", "")), style="cyan")
    text.append(f" {one_line(str(span.get('name', '')))}", style="red bold" if span.get("status") == "error" else "")
    text.append(f"  {took:.2f} ms ", style="bold")
    text.append(bar(took / whole_ms if whole_ms else 0.0), style="dim")
    shown = {k: v for k, v in (span.get("attributes") or {}).items() if k.startswith("memvault.") or k == "error.type"}
    shown.pop("memvault.service", None)
    if shown:
        told = " ".join(f"{k.removeprefix('memvault.')}={one_line(str(v))}" for k, v in sorted(shown.items()))
        text.append(f"  {told}", style="dim")
    return text


def _question(explanation: Json) -> RenderableType:
    rows: list[tuple[str, str]] = [
        ("decided by", explanation.get("funnel", "")),
        ("distribution", _distribution(explanation.get("distribution", []))),
        ("before the profile", _distribution(explanation.get("raw_distribution", []))),
        ("the profile's part", _factors(explanation.get("prior", []))),
        ("words", ", ".join(explanation.get("keyword_matches", []))),
        ("completed to", explanation.get("completed_query", "")),
        ("asked as", " | ".join(explanation.get("parts", []))),
        ("time", _range(explanation)),
        ("layers", ", ".join(explanation.get("layers", []))),
        ("strengths", f"{explanation.get('scoring_profile', '')} ({explanation.get('profile', '')})"),
        ("found", f"{explanation.get('candidates_found', 0)} candidates, {explanation.get('reranked', 0)} reranked"),
        ("relevance", f"{float(explanation.get('relevance', 0)):.2f}"),
        ("entities", ", ".join(explanation.get("entities", []))),
        ("self-check", "; ".join(explanation.get("self_check_steps", []))),
        ("notes", "; ".join(explanation.get("notes", []))),
    ]
    return _pairs((name, value) for name, value in rows if value)


def _card(card: Json, number: int) -> RenderableType:
    told: Json = card["explanation"]
    title = Text(f" {number} ", style="reverse bold")
    title.append(f" {one_line(card.get('title') or str(card.get('text', '')))[:_NAME_CELLS]}", style="bold")
    title.append(f"  {card.get('block_id')}", style="dim")
    places = Text()
    for place in told.get("places", []):
        places.append(f"{place.get('ranker')} ", style="dim")
        places.append(f"#{place.get('rank')}", style="bold")
        places.append(f" ({float(place.get('score', 0)):.3f})  ", style="dim")
    chain = Text(f"{float(told.get('base_score', 0)):.3f}", style="bold")
    for stage in told.get("stages", []):
        chain.append_text(_stage(stage))
    chain.append(f" = {float(told.get('scoring_score', 0)):.3f}", style="bold")
    chain.append(f"  (rank {told.get('scoring_rank', '?')})", style="dim")
    end = Text()
    if told.get("rerank_score") is not None:
        end.append(f"rerank {float(told['rerank_score']):.3f}  ")
    end.append(f"final {float(told.get('final_score', 0)):.3f}", style="bold")
    end.append(f"  similarity {float(told.get('similarity', 0)):.3f}", style="dim")
    body = _pairs((("ranks", places), ("score", chain), ("end", end)))
    return Group(title, Padding(body, (0, 0, 0, 4)))


def _stage(stage: Json) -> Text:
    factor = float(stage.get("factor", 1))
    text = Text()
    if not stage.get("kept", True):
        text.append(f" {stage.get('stage')} dropped it", style="red")
    else:
        style = "dim" if abs(factor - 1) < _NEUTRAL else "green" if factor > 1 else "yellow"
        text.append(f" × {factor:.3f} {stage.get('stage')}", style=style)
    if stage.get("note"):
        text.append(f" [{one_line(stage['note'])}]", style="dim")
    return text


def _times(times: list[Json]) -> RenderableType:
    longest = max((float(hop.get("took_ms", 0)) for hop in times), default=0.0)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim")
    for hop in times:
        took = float(hop.get("took_ms", 0))
        table.add_row(str(hop.get("hop", "")), f"{took:.2f} ms", bar(took / longest if longest else 0.0))
    return Padding(table, (0, 0, 0, 2))


def _pairs(rows: Any) -> RenderableType:  # noqa: ANN401 - any pairs of name and renderable
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1)
    for name, value in rows:
        table.add_row(name, Text(one_line(value)) if isinstance(value, str) else value)
    return Padding(table, (0, 0, 0, 2))


def _distribution(items: list[Json]) -> str:
    ordered = sorted(items, key=lambda item: -float(item.get("probability", 0)))
    return "  ".join(f"{item.get('intent')} {float(item.get('probability', 0)):.2f}" for item in ordered)


def _factors(items: list[Json]) -> str:
    return "  ".join(f"{item.get('intent')} × {float(item.get('factor', 1)):.2f}" for item in items)


def _range(explanation: Json) -> str:
    expression = explanation.get("time_expression", "")
    if not expression:
        return ""
    span = explanation.get("time_range") or {}
    effect = "filters" if explanation.get("time_filtered") else "moves scores"
    return f"{expression}: {span.get('start', '…')} to {span.get('end', '…')} ({effect})"

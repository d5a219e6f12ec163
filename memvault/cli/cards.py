"""Memories as cards in a terminal. rich measures cells, not characters, so Chinese text keeps its frames straight."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json = dict[str, Any]
_DAY_S = 86_400
_HOUR_S = 3_600
_MINUTE_S = 60
_DAYS_TOLD = 60
_BAR_CELLS = 8
_TEXT_LINES = 12
_TIMES = frozenset({"event_time", "recorded_at", "last_accessed_at", "valid_from", "valid_to"})
_BLOCKS = " ▏▎▍▌▋▊▉█"
_INTENT_STYLE = {
    "entity_lookup": "cyan",
    "factual": "green",
    "conceptual": "magenta",
    "exploratory": "yellow",
    "cross_domain": "blue",
    "unknown": "white",
}
_CONFIDENCE_STYLE = {"high": "green", "medium": "yellow", "low": "red"}
_KIND_MARK = {"block": "▪", "triple": "→", "community": "◎", "summary": "≡"}
_FROM = {"prefetch_exact": "⚡ prepared answer", "prefetch_near": "⚡ prepared candidates", "search": "search"}


def answer(response: Json, now: datetime) -> RenderableType:
    """A whole answer: head, cards, cascade cards, what was left out, where the time went."""
    parts: list[RenderableType] = [head(response)]
    cards, cascade = response.get("cards", []), response.get("cascade_cards", [])
    parts.extend(card_panel(card, number, now) for number, card in enumerate(cards, 1))
    if cascade:
        parts.append(Padding(Rule("from the graph", style="dim", align="left"), (0, 0, 0, 0)))
        parts.extend(cascade_line(card, now) for card in cascade)
    if not cards and not cascade:
        told = "Nothing can be shown." if response.get("withheld") else "Nothing relevant is stored."
        parts.append(Padding(Text(told, style="yellow"), (0, 2)))
    parts.append(foot(response))
    return Group(*parts)


def head(response: Json) -> RenderableType:
    """How the question was understood."""
    intent = str(response.get("intent", "unknown"))
    words = Text()
    words.append(intent, style=f"bold {_INTENT_STYLE.get(intent, 'white')}")
    words.append(f" {float(response.get('intent_confidence', 0)):.2f}", style="dim")
    facet = response.get("facet", "none")
    if facet not in {"", "none"}:
        words.append(f" + {facet}", style="bold")
    words.append("  ·  ", style="dim")
    words.append(f"{response.get('thinking_mode', '')} {response.get('retrieval_mode', '')}")
    words.append("  ·  ", style="dim")
    confidence = str(response.get("confidence", ""))
    words.append(f"{confidence} confidence", style=_CONFIDENCE_STYLE.get(confidence, ""))
    origin = str(response.get("answered_from", ""))
    if origin.startswith("prefetch"):
        words.append("  ·  ", style="dim")
        words.append(_FROM.get(origin, origin), style="bold yellow")
    check = response.get("self_check", "")
    if check not in {"", "skipped"}:
        words.append("  ·  ", style="dim")
        words.append(f"self-check: {check}", style="red" if check == "insufficient" else "")
    if response.get("grouping") == "conversation" and response.get("cards"):
        words.append("  ·  ", style="dim")
        words.append("by conversation, newest first")
    words.append("  ·  ", style="dim")
    words.append(f"{float(response.get('took_ms', 0)):.0f} ms", style="bold")
    return words


def card_panel(card: Json, number: int, now: datetime) -> RenderableType:
    """One block as a framed card: text, then source and reason."""
    title = Text()
    title.append(f" {number} ", style="reverse bold")
    title.append(" ")
    title.append(one_line(card.get("title") or card.get("service") or "memory"), style="bold")
    when = _when(card, now)
    body: list[RenderableType] = [quoted(card)]
    notes = Text(style="dim")
    notes.append(" · ".join(part for part in (*_origin(card), *_marks(card)) if part))
    body.append(notes)
    reason = (card.get("explanation") or {}).get("reason")
    if reason:
        body.append(Text(f"↳ {one_line(reason)}", style="italic cyan"))
    score = card.get("score")
    subtitle = None if score is None else f"{bar(float(score))} {float(score):.2f}"
    return Panel(
        Group(*body),
        title=title,
        title_align="left",
        subtitle=" · ".join(part for part in (when, subtitle) if part) or None,
        subtitle_align="right",
        border_style="yellow" if card.get("superseded_by") else "bright_black",
        padding=(0, 1),
    )


def cascade_line(card: Json, now: datetime) -> RenderableType:
    """One thing that the walk reached: its kind, its text, the path to it."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=11, style="blue")
    grid.add_column(ratio=1)
    kind = str(card.get("kind", "block"))
    body = Text()
    if card.get("title"):
        body.append(f"{one_line(card['title'])}  ", style="bold")
    body.append(clipped(str(card.get("text", "")), 3))
    when = _when(card, now)
    if when:
        body.append(f"  {when}", style="dim")
    path = walk(card.get("path", []))
    if path:
        body.append(f"\n{path}", style="dim cyan")
    supports = card.get("supports", [])
    if supports and kind != "block":
        body.append(f"\nstands on {len(supports)} block(s)", style="dim")
    grid.add_row(f"{_KIND_MARK.get(kind, '▪')} {kind}", body)
    return grid


def foot(response: Json) -> RenderableType:
    """What was held back, left out, skipped and why, and where the time went."""
    lines = Text()
    for one in response.get("withheld", []):
        lines.append(f"! held back: {_withheld(one)}\n", style="yellow")
    for part in response.get("degraded", []):
        told = part.get("detail") or part.get("reason", "")
        lines.append(f"! without {part.get('part')}: {told}\n", style="yellow")
    explanation = response.get("explanation") or {}
    skipped = [f"{skip.get('step')} ({skip.get('reason')})" for skip in explanation.get("skipped", [])]
    if skipped:
        lines.append(f"skipped: {', '.join(skipped)}\n", style="dim")
    times = [f"{hop.get('hop')} {float(hop.get('took_ms', 0)):.1f}" for hop in explanation.get("times", [])]
    if times:
        lines.append(f"ms: {' · '.join(times)}\n", style="dim")
    packing = response.get("packing") or {}
    if packing.get("left_out") or packing.get("folded"):
        lines.append(
            f"{packing.get('tokens_used', 0)} of {packing.get('token_budget', 0)} tokens; "
            f"left out {packing.get('left_out', 0)}, folded {packing.get('folded', 0)}\n",
            style="dim",
        )
    lines.rstrip()
    return lines


def block_panel(block: Json, now: datetime, *, redacted: bool) -> RenderableType:
    """One block whole, with every field that is set; times in the zone of `now`."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(ratio=1)
    for name, value in block.items():
        if name not in {"text", "id", "title"} and value not in ("", None, [], {}, 0, False):
            table.add_row(name, escape(clock_time(value, now) if name in _TIMES else _told(value)))
    title = Text(f" {one_line(str(block.get('id', '')))} ", style="reverse bold")
    if block.get("title"):
        title.append(f" {one_line(block['title'])}", style="bold")
    note: list[RenderableType] = [
        Text("a part of the text was cut out because it looks like an instruction", style="yellow")
    ]
    body: list[RenderableType] = [
        Text(printable(str(block.get("text", "")))),
        *(note if redacted else []),
        Text(),
        table,
    ]
    return Panel(Group(*body), title=title, title_align="left", border_style="bright_black", padding=(0, 1))


def quoted(card: Json) -> Text:
    """The card's text, with the passage that matched best set off."""
    text = clipped(str(card.get("text", "")), _TEXT_LINES)
    shown = Text(text)
    highlight = printable(str(card.get("highlight", "")))
    if highlight and highlight != text:
        begin = text.find(highlight)
        if begin >= 0:
            shown.stylize("bold", begin, begin + len(highlight))
    cut = "[REDACTED]"
    position = text.find(cut)
    while position >= 0:
        shown.stylize("bold red", position, position + len(cut))
        position = text.find(cut, position + len(cut))
    return shown


def walk(path: Sequence[Mapping[str, str]]) -> str:
    """`A —knows→ B —owns→ C` for a path."""
    if not path:
        return ""
    told = one_line(path[0].get("subject", ""))
    for step in path:
        told += f" —{one_line(step.get('predicate', ''))}→ {one_line(step.get('object', ''))}"
    return told


def bar(share: float) -> str:
    """A share in [0, 1] as a bar of eight cells."""
    eighths = round(max(0.0, min(1.0, share)) * _BAR_CELLS * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BLOCKS[rest] if rest else "")).ljust(_BAR_CELLS, "·")


def moment(stamp: str | None, now: datetime) -> str:
    """A time as its date in the zone of `now` and how long ago it was; empty when unknown."""
    if not stamp:
        return ""
    try:
        when = datetime.fromisoformat(stamp)
        date = when.astimezone(now.tzinfo).date().isoformat()
    except (ValueError, OverflowError):  # no time, or the calendar's last day, which another zone does not have
        return stamp
    ago = (now - when).total_seconds()
    return f"{date} ({_ago(ago)})"


def clock_time(stamp: str | None, now: datetime) -> str:
    """A time as day and clock in the zone of `now`, such as `2026-03-01 08:05:00`; empty when unknown."""
    try:
        return f"{datetime.fromisoformat(stamp).astimezone(now.tzinfo):%Y-%m-%d %H:%M:%S}" if stamp else ""
    except (ValueError, OverflowError):  # as in `moment`
        return str(stamp)


def one_line(text: str) -> str:
    """The text with every run of white space as one blank, without characters that move a terminal."""
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """Without control and format characters: a stored memory must not steer the terminal. Line ends and tabs stay."""
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf"})


def clipped(text: str, lines: int) -> str:
    """At most so many lines."""
    kept = printable(text).strip().splitlines()
    return "\n".join(kept[:lines]) + ("\n…" if len(kept) > lines else "")


def _origin(card: Json) -> tuple[str, ...]:
    source = card.get("source") or {}
    conversation = card.get("conversation_id")
    return (
        str(card.get("service", "")),
        one_line(str(card.get("speaker", ""))),
        str(source.get("kind", "")),
        one_line(str(source.get("uri", ""))),
        f"trust {float(card['trust']):.1f}" if card.get("trust") else "",
        f"in {one_line(conversation)}" if conversation else "",
        f"id {one_line(str(card.get('block_id', '')))}",
    )


def _marks(card: Json) -> tuple[str, ...]:
    return (
        "summary, whole text with `memvault get`" if card.get("summarised") else "",
        "a part was cut out" if card.get("redacted") else "",
        "frozen: only the summary is left" if card.get("frozen") else "",
        f"replaced by {card['superseded_by']}" if card.get("superseded_by") else "",
    )


def _withheld(one: Json) -> str:
    if one.get("reason") == "source_cap":
        return f"{one.get('count')} of sources that fill their share of the cards already"
    return f"{one.get('count')} that read like instructions to an agent (rules: {', '.join(one.get('rules', []))})"


def _when(card: Json, now: datetime) -> str:
    """When it happened, or, where nobody said, when it was recorded; empty when neither is known."""
    recorded = moment(card.get("recorded_at"), now)
    return moment(card.get("event_time"), now) or (f"recorded {recorded}" if recorded else "")


def _ago(seconds: float) -> str:
    if seconds < 0:
        return "in the future" if seconds < -_MINUTE_S else "now"
    if seconds < _HOUR_S:
        return f"{int(seconds // _MINUTE_S)} min ago"
    if seconds < _DAY_S:
        return f"{int(seconds // _HOUR_S)} h ago"
    days = int(seconds // _DAY_S)
    return f"{days} d ago" if days < _DAYS_TOLD else f"{days // 30} months ago"


def _told(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_told(item) for item in value)
    if isinstance(value, dict):
        return " ".join(f"{name}={_told(item)}" for name, item in value.items() if item not in ("", None, []))
    return printable(str(value))

"""`memvault recall`: one question, answered as cards for people or as the gateway's JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from memvault.cli import output, said, times, where
from memvault.cli.client import send
from memvault.cli.options import Json, Timeout, Url, User

if TYPE_CHECKING:
    from datetime import tzinfo


def recall(
    query: Annotated[str, typer.Argument(help="The question.")],
    conversation: Annotated[str | None, typer.Option(help="The conversation it is asked in.")] = None,
    said_before: Annotated[
        list[str] | None,
        typer.Option(
            "--said",
            metavar="TEXT",
            help="What was said before, which completes a follow-up; may be repeated, oldest first, the last "
            f"{said.UTTERANCES_READ} count. `SPEAKER: text` names who spoke in one word of at most "
            f"{said.SPEAKER_CHARS} characters, else `user` did.",
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Cards at most, 1 to 100.")] = None,
    budget: Annotated[int | None, typer.Option(help="Tokens the answer may cost.")] = None,
    service: Annotated[list[str] | None, typer.Option(help="Only this application; may be repeated.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this label; may be repeated.")] = None,
    source_kind: Annotated[list[str] | None, typer.Option(help="Only this kind of source; may be repeated.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Only from this day or time on, such as 2026-03-01 or 2026-03-01T09:30:00Z.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Only before this time; a day alone is still in.")] = None,
    as_of: Annotated[
        str | None, typer.Option(help="As things stood at this time; of a day alone, at its begin.")
    ] = None,
    time_zone: Annotated[
        str | None,
        typer.Option(
            help="Your time zone, such as Asia/Taipei. Days and times that name none are of it, else of this machine's."
        ),
    ] = None,
    profile: Annotated[str | None, typer.Option(help="reference or tuned numbers.")] = None,
    deadline_ms: Annotated[int | None, typer.Option(help="Milliseconds the answer may take.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show ranks, multipliers, what was skipped and why.")
    ] = False,
    trace: Annotated[bool, typer.Option("--trace", help="Show the spans of this recall as a tree.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Print the plain text that an agent would get.")] = False,
    user: User = None,
    url: Url = None,
    timeout: Timeout = 15.0,
    json: Json = False,
) -> None:
    """Ask your memories a question."""
    of = times.zone(time_zone)
    since, until = times.moment("--since", since, of), times.moment("--until", until, of, end=True)
    context: dict[str, Any] = {
        "user_id": where.user_id(user),
        "caller": "cli",
        "format": "text" if text else "json",
        # For people the reasons belong to a card; a program says whether it wants them.
        "explain": explain or not (json or text),
        "trace": trace,
    }
    optional = {
        "conversation_id": conversation,
        "recent_utterances": said.utterances(said_before),
        "limit": limit,
        "token_budget": budget,
        "as_of": times.moment("--as-of", as_of, of),
        "time_zone": time_zone,
        "deadline_ms": deadline_ms,
        "filters": _filters(service, tag, source_kind, since, until),
        "evaluation": {"profile": profile} if profile else None,
    }
    context |= {name: value for name, value in optional.items() if value is not None}
    response = send(url, timeout, "/v1/recall", {"query": query, "context": context})
    if json:
        output.print_json(response)
    elif text:
        typer.echo(response.get("text", ""))
    else:
        _show(response, of, explain=explain, trace=trace)


def _show(response: dict[str, Any], of: tzinfo | None, *, explain: bool, trace: bool) -> None:
    # imported here: --json and --text paint nothing
    from memvault.cli import cards  # noqa: PLC0415
    from memvault.cli import explain as reasons  # noqa: PLC0415

    console = output.console()
    console.print(cards.answer(response, times.now().astimezone(of)))
    if explain:
        console.print(reasons.explained(response))
    if trace:
        console.print(reasons.traced(response))


def _filters(
    services: list[str] | None,
    tags: list[str] | None,
    kinds: list[str] | None,
    since: str | None,
    until: str | None,
) -> dict[str, Any] | None:
    span = {name: value for name, value in (("start", since), ("end", until)) if value}
    given = {"services": services, "tags": tags, "source_kinds": kinds, "time_range": span}
    chosen = {name: value for name, value in given.items() if value}
    return chosen or None

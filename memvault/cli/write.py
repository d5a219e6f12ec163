"""Commands that store something: add, say, feedback, forget; and get, which reads one block back."""

from __future__ import annotations

import sys
from typing import Annotated, Any
from uuid import uuid4

import typer

from memvault.cli import output, times, where
from memvault.cli.client import fetch, segment, send
from memvault.cli.failure import CommandError
from memvault.cli.options import Json, OnUnsafe, Timeout, Url, User, Wait
from memvault.runtime.exits import Exit

_TOLD = {"indexed": "stored", "accepted": "accepted", "unchanged": "already there", "refused": "refused"}


def add(
    text: Annotated[str | None, typer.Argument(help="The memory. Left out or `-`: read from stdin.")] = None,
    block_id: Annotated[str | None, typer.Option("--id", help="Your id for it; the same id again replaces it.")] = None,
    service: Annotated[str, typer.Option(help="The application it comes from.")] = "notes",
    title: Annotated[str | None, typer.Option(help="A title.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said or wrote it.")] = None,
    conversation: Annotated[str | None, typer.Option(help="The conversation it belongs to.")] = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="When it happened: a day such as 2026-03-01, or 2026-03-01T09:30:00+08:00. Default: now; with --id "
            "none, so that the same again changes nothing."
        ),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A label; may be repeated.")] = None,
    source: Annotated[str, typer.Option(help="hand_written, document, conversation, agent or web.")] = "hand_written",
    uri: Annotated[str | None, typer.Option(help="Address of the original.")] = None,
    confidence: Annotated[float | None, typer.Option(min=0, max=1, help="How sure you are, 0 to 1.")] = None,
    on_unsafe: OnUnsafe = "refuse",
    wait: Wait = "indexed",
    user: User = None,
    url: Url = None,
    timeout: Timeout = 30.0,
    json: Json = False,
) -> None:
    """Store one memory."""
    event_time = times.moment("--time", time) or (None if block_id else times.stamp(times.now()))
    content = sys.stdin.read() if text in {None, "-"} else text
    block = {
        "id": block_id or f"note-{uuid4().hex}",
        "user_id": where.user_id(user),
        "text": content,
        "service": service,
        "title": title,
        "speaker": speaker,
        "conversation_id": conversation,
        "event_time": event_time,
        "tags": tag,
        "confidence": confidence,
        "source": {"kind": source, "uri": uri} if uri else {"kind": source},
    }
    body = {
        "block": {name: value for name, value in block.items() if value is not None},
        "options": {"wait": wait, "on_unsafe": on_unsafe, "wait_ms": _wait_ms(timeout)},
    }
    answer = send(url, timeout + 1, "/v1/blocks", body)
    outcome: dict[str, Any] = answer.get("outcome", {})
    if json:
        output.print_json(answer)
    if outcome.get("status") == "refused":
        detail = outcome.get("detail") or outcome.get("reason")
        hint = "; store it with --on-unsafe redact or mark" if outcome.get("reason") == "UNSAFE_CONTENT" else ""
        raise CommandError(Exit.REFUSED, f"the memory was refused: {detail}{hint}", outcome)
    if not json:
        told = _TOLD.get(str(outcome.get("status")), str(outcome.get("status")))
        output.console().print(f"[green]✓[/] {told} as [bold]{outcome.get('block_id')}[/]")


def say(
    text: Annotated[str | None, typer.Argument(help="What was said. Left out or `-`: read from stdin.")] = None,
    speaker: Annotated[str, typer.Option(help="`user`, `assistant` or a name.")] = "user",
    conversation: Annotated[str, typer.Option(help="The conversation.")] = "cli",
    user: User = None,
    url: Url = None,
    timeout: Timeout = 10.0,
    json: Json = False,
) -> None:
    """Add an utterance to a conversation; the Slow Thinker listens and prepares what may be asked next."""
    body = {
        "user_id": where.user_id(user),
        "conversation_id": conversation,
        "utterance": {"speaker": speaker, "text": sys.stdin.read() if text in {None, "-"} else text},
        "event_id": uuid4().hex,
    }
    answer = send(url, timeout, "/v1/utterances", body)
    if json:
        output.print_json(answer)
    else:
        output.console().print(f"[green]✓[/] heard in conversation [bold]{conversation}[/]")


def feedback(
    block_id: Annotated[str, typer.Argument(help="The block.")],
    verdict: Annotated[str, typer.Argument(help="up, down, or rejected: it is wrong, never show it again.")],
    recall_id: Annotated[str, typer.Option(help="The recall that showed it.")] = "",
    user: User = None,
    url: Url = None,
    timeout: Timeout = 10.0,
    json: Json = False,
) -> None:
    """Say that a memory was useful, not useful, or wrong."""
    body = {"user_id": where.user_id(user), "block_id": block_id, "verdict": verdict, "recall_id": recall_id}
    answer = send(url, timeout, "/v1/feedback", body, repeatable=False)
    if json:
        output.print_json(answer)
    else:
        output.console().print(f"[green]✓[/] noted: {verdict}")


def get(
    block_id: Annotated[str, typer.Argument(help="The block; a card's `expand` is one.")],
    user: User = None,
    url: Url = None,
    timeout: Timeout = 10.0,
    json: Json = False,
) -> None:
    """Show one memory whole."""
    answer = fetch(url, timeout, f"/v1/blocks/{segment(block_id)}", user_id=where.user_id(user))
    if json:
        output.print_json(answer)
        return
    from memvault.cli.cards import block_panel  # noqa: PLC0415 - only for people

    output.console().print(
        block_panel(answer.get("block", {}), times.now().astimezone(), redacted=bool(answer.get("redacted")))
    )


def forget(
    block_ids: Annotated[list[str] | None, typer.Argument(help="Blocks to forget.")] = None,
    service: Annotated[list[str] | None, typer.Option(help="All blocks of this application; may be repeated.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="All blocks with this label; may be repeated.")] = None,
    conversation: Annotated[list[str] | None, typer.Option(help="All blocks of this conversation.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Everything of the user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    user: User = None,
    url: Url = None,
    timeout: Timeout = 60.0,
    json: Json = False,
) -> None:
    """Remove memories from every store, cache and stream. This cannot be undone.

    Exit code 4 when there was no such memory, 9 when some of those named were not there; the others are forgotten.
    """
    filters = {"services": service, "tags": tag, "conversation_ids": conversation}
    filters = {name: values for name, values in filters.items() if values}
    if sum((bool(block_ids), bool(filters), everything)) != 1:
        raise CommandError(Exit.USAGE, "name blocks, or a filter such as --tag, or --everything: exactly one of them")
    body: dict[str, Any] = {"user_id": where.user_id(user)}
    if block_ids:
        body["block_ids"] = block_ids
    elif filters:
        body["filters"] = filters
    else:
        body["whole_user"] = True
    what = "everything" if everything else f"{len(block_ids)} block(s)" if block_ids else f"all blocks with {filters}"
    if not yes and not block_ids:
        if not sys.stdin.isatty():
            raise CommandError(Exit.USAGE, f"this forgets {what} of {body['user_id']}: add --yes to confirm")
        typer.confirm(f"Forget {what} of {body['user_id']}? This cannot be undone.", abort=True, err=True)
    answer = send(url, timeout, "/v1/forget", body)
    count = int(answer.get("blocks", 0))
    gone = frozenset(answer.get("block_ids", []))
    missing = [block_id for block_id in dict.fromkeys(block_ids or []) if block_id not in gone]
    if json:
        output.print_json(answer)
    else:
        _tell_forgotten(answer, body["user_id"], count, missing, everything=everything)
    if not count and not everything:
        if json:
            raise typer.Exit(Exit.NOT_FOUND)
        named = ", ".join(repr(block_id) for block_id in missing) or f"with {_as_options(filters)}"
        raise CommandError(Exit.NOT_FOUND, f"{body['user_id']} has no block {named}: nothing was forgotten")
    if missing:
        raise typer.Exit(Exit.PARTIAL)


def _as_options(filters: dict[str, list[str] | None]) -> str:
    options = {"services": "--service", "tags": "--tag", "conversation_ids": "--conversation"}
    return " ".join(f"{options[name]} {value}" for name, values in filters.items() for value in values or ())


def _tell_forgotten(answer: dict[str, Any], user_id: str, count: int, missing: list[str], *, everything: bool) -> None:
    from rich.markup import escape  # noqa: PLC0415 - only for people

    said = output.messages()
    if count or everything:
        output.console().print(f"[green]✓[/] forgot {count} block(s)")
        for block_id in missing:
            said.print(f"[yellow]![/] there was no block {escape(repr(block_id))}")
    if everything and not count:
        said.print(f"[yellow]![/] there was no block of {user_id}: is it the right user? See --user")
    for part in answer.get("degraded", []):
        said.print(f"[yellow]![/] {part.get('part')} follows from the bus: {part.get('reason')}")


def _wait_ms(timeout_s: float) -> int:
    return max(1, min(600_000, int(timeout_s * 1000)))

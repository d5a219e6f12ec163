"""Commands that look behind the scenes: status, prefetch, dead-letter."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memvault.cli import output, times, where
from memvault.cli.client import fetch, send
from memvault.cli.failure import CommandError
from memvault.cli.options import Json, Timeout, Url, User
from memvault.runtime.exits import Exit

_STATE_STYLE = {"ready": "green", "starting": "yellow", "restarting": "yellow", "down": "red", "stopped": "dim"}
_BODY_CHARS = 200

dead_letter = typer.Typer(
    help="Events that could not be handled: look at them, publish them again.", no_args_is_help=True
)


def status(url: Url = None, timeout: Timeout = 5.0, json: Json = False) -> None:
    """Show what runs here and the state of every part. Exit code 5 when a part is not ready."""
    local = where.state() if where.is_local(url) else {}
    parts: list[dict[str, Any]] = []
    told: dict[str, Any] = {}
    failure: CommandError | None = None
    try:
        told = fetch(url, timeout, "/v1/status")
        parts = told.get("parts", [])
    except CommandError as error:
        failure = error
    if json:
        document = {"running": where.running(), "processes": local.get("processes", {}), **told}
        output.print_json(document if failure is None else {**document, "problem": failure.problem})
    else:
        _show_status(local, parts, str(told.get("version", "")))
    if failure is not None:
        raise CommandError(failure.code, failure.message) if not json else typer.Exit(failure.code)
    if any(part.get("state") != "ready" for part in parts):
        raise typer.Exit(Exit.UNAVAILABLE)


def prefetch(
    everybody: Annotated[bool, typer.Option("--all", help="Figures over all users.")] = False,
    user: User = None,
    url: Url = None,
    timeout: Timeout = 10.0,
    json: Json = False,
) -> None:
    """Show what the Slow Thinker has prepared, and how often it was right."""
    answer = fetch(url, timeout, "/v1/prefetch", user_id="" if everybody else where.user_id(user))
    if json:
        output.print_json(answer)
        return
    from rich.markup import escape  # noqa: PLC0415 - only for people
    from rich.table import Table  # noqa: PLC0415

    from memvault.cli.cards import bar, clock_time, one_line  # noqa: PLC0415

    console = output.console()
    now = times.now().astimezone()
    for prepared in answer.get("prepared", []):
        confidence = float(prepared.get("confidence", 0))
        console.print(
            f"[yellow]⚡[/] [bold]{escape(one_line(prepared.get('query', '')))}[/]  {bar(confidence)} {confidence:.2f} "
            f" {prepared.get('cards', 0)} cards, until {escape(clock_time(prepared.get('expires_at'), now))}"
        )
    if not answer.get("prepared"):
        console.print("nothing is prepared at the moment", style="dim")
    table = Table.grid(padding=(0, 2))
    for name, count in sorted(answer.get("counts", {}).items()):
        table.add_row(name, str(count))
    table.add_row("saved", f"{float(answer.get('saved_ms', 0)):.0f} ms")
    console.print(table)


@dead_letter.command("list")
def list_dead_letters(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 100,
    url: Url = None,
    timeout: Timeout = 10.0,
    json: Json = False,
) -> None:
    """List events that could not be handled, with the reason."""
    answer = fetch(url, timeout, "/v1/dead-letters", limit=limit)
    if json:
        output.print_json(answer)
        return
    from rich.text import Text  # noqa: PLC0415 - only for people

    from memvault.cli.cards import clock_time, one_line  # noqa: PLC0415

    console, now = output.console(), times.now().astimezone()
    letters = answer.get("dead_letters", [])
    for letter in letters:
        line = Text(f"{letter.get('id'):>6} ", style="bold")
        line.append(f"{letter.get('subject')} ", style="cyan")
        line.append(f"{letter.get('consumer')}  {clock_time(letter.get('time'), now)}\n", style="dim")
        line.append(f"       {one_line(str(letter.get('reason', '')))}\n", style="yellow")
        line.append(f"       {one_line(str(letter.get('body', '')))[:_BODY_CHARS]}", style="dim")
        console.print(line)
    console.print(f"{len(letters)} dead letter(s)" if letters else "no dead letters", style="dim")


@dead_letter.command("replay")
def replay_dead_letter(
    letter_id: Annotated[str, typer.Argument(help="Its id from the list, or `all`.")],
    url: Url = None,
    timeout: Timeout = 60.0,
    json: Json = False,
) -> None:
    """Publish an event again for the consumer that gave up."""
    answer = send(url, timeout, "/v1/dead-letters:replay", {"id": letter_id}, repeatable=False)
    if json:
        output.print_json(answer)
    else:
        output.console().print(f"[green]✓[/] published again: {answer.get('replayed', 0)}")


def _show_status(local: dict[str, Any], parts: list[dict[str, Any]], version: str) -> None:
    from rich.table import Table  # noqa: PLC0415 - only for people

    console = output.console()
    if local and where.running():
        console.print(f"memvault {version} in {where.home()}, HTTP {local.get('http')}, gRPC {local.get('grpc')}")
    processes: dict[str, Any] = local.get("processes", {}) if where.running() else {}
    table = Table(box=None, padding=(0, 2), header_style="dim")
    for column in ("part", "state", "process", "restarts", "details"):
        table.add_column(column)
    known = {str(part.get("part")): part for part in parts}
    for name in dict.fromkeys((*processes, *known)):
        process, part = processes.get(name, {}), known.get(name, {})
        state = str(part.get("state") or process.get("state") or "")
        details = " ".join(f"{key}={value}" for key, value in sorted((part.get("details") or {}).items()))
        style = _STATE_STYLE.get(state, "")
        pid, restarts = (str(process.get(key, "")) for key in ("pid", "restarts"))
        table.add_row(name, f"[{style}]{state}[/]" if style else state, pid, restarts, details)
    if table.row_count:
        console.print(table)

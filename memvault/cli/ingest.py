"""`memvault import`: an export, plain JSONL, notes, chats, transcripts; streamed in batches, with progress."""

from __future__ import annotations

from typing import Annotated

import typer

from memvault.cli.options import Json, Timeout, Url, User, Wait
from memvault.cli.sources import FORMATS


def import_(
    file: Annotated[str, typer.Argument(help="A file or a folder; `-` reads stdin.")],
    from_: Annotated[str, typer.Option("--from", help=f"What it is: {', '.join(FORMATS)}. Default: looked for.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read all of it, count, and store nothing.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Import the good lines of an export that has bad ones.")
    ] = False,
    time_zone: Annotated[
        str, typer.Option(help="Of times that name none, such as Asia/Taipei. Default: this machine's.")
    ] = "",
    name: Annotated[str, typer.Option(help="Of a folder of notes, for their ids. Default: what it is called.")] = "",
    owner: Annotated[str, typer.Option(help="Of mem0 memories of several people: only this one's.")] = "",
    batch: Annotated[int, typer.Option(min=1, max=1000, help="Blocks in one request.")] = 64,
    parallel: Annotated[int, typer.Option(min=1, max=16, help="Requests under way at once.")] = 3,
    on_unsafe: Annotated[
        str,
        typer.Option(
            help="What to do with text that looks like an injection: refuse, redact or mark. "
            "Default: refuse; for an export, whose blocks were stored before, mark."
        ),
    ] = "",
    wait: Wait = "indexed",
    user: User = None,
    url: Url = None,
    timeout: Timeout = 300.0,
    json: Json = False,
) -> None:
    """Store many memories: an export of memvault, JSONL, Markdown notes, ChatGPT, Claude, agent transcripts, mem0.

    Importing again changes nothing and makes no doubles; what was edited replaces what was there; after an
    interruption the same command goes on. What is refused is told with its place and the reason, all else is stored,
    and the exit code is then 9. An export is read whole before anything is stored: if a line of it is bad, nothing is.
    """
    # imported here: no other command reads sources, and every command loads this module
    from memvault.cli.taking_in import Wanted, take_in  # noqa: PLC0415

    take_in(
        Wanted(
            file=file,
            format=from_,
            user=user,
            dry_run=dry_run,
            skip_bad=skip_bad,
            time_zone=time_zone,
            name=name,
            owner=owner,
            on_unsafe=on_unsafe,
            wait=wait,
            batch=batch,
            parallel=parallel,
        ),
        url,
        timeout,
        json=json,
    )

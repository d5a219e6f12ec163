"""Options that many commands share."""

from __future__ import annotations

from typing import Annotated

import typer

User = Annotated[
    str | None,
    typer.Option("--user", "-u", help="User id. Default: MEMVAULT_USER, else your login name.", show_default=False),
]
Url = Annotated[
    str | None,
    typer.Option("--url", help="Gateway. Default: MEMVAULT_URL, else the one that runs here.", show_default=False),
]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds until it gives up, with all its tries.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document to stdout.")]
OnUnsafe = Annotated[
    str, typer.Option("--on-unsafe", help="What to do with text that looks like an injection: refuse, redact or mark.")
]
Wait = Annotated[str, typer.Option("--wait", help="Return once the write is `accepted`, or `indexed` and findable.")]

"""`memvault profile`: what the router has learned of a user's questions, to be read, taken along and erased (R-06)."""

from __future__ import annotations

import sys
from typing import Annotated
from urllib.parse import urlencode

import typer

from memvault.cli import output, where
from memvault.cli.client import Gateway, fetch
from memvault.cli.failure import CommandError
from memvault.cli.options import Json, Timeout, Url, User
from memvault.runtime.exits import Exit

_PATH = "/v1/profile"
_PARTS = (("intents", "what is asked"), ("facets", "in which way"), ("interests", "about what"))
_SHOWN = 12


def profile(
    erase: Annotated[bool, typer.Option("--erase", help="Remove it; what is remembered stays.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    user: User = None,
    url: Url = None,
    timeout: Timeout = 10.0,
    json: Json = False,
) -> None:
    """Show what the router has learned of a user's questions; --json takes it along, --erase removes it."""
    user_id = where.user_id(user)
    if erase:
        _erase(user_id, url, timeout, yes=yes, json=json)
        return
    found = fetch(url, timeout, _PATH, user_id=user_id)
    if json:
        output.print_json(found)
        return
    from rich.markup import escape  # noqa: PLC0415 - only for people

    from memvault.cli.cards import bar  # noqa: PLC0415

    console = output.console()
    count = found.get("sample_count", 0)
    console.print(f"{count} questions of {escape(user_id)} counted within 90 days" if count else "nothing is known yet")
    for name, title in _PARTS:
        known = found.get(name, [])[:_SHOWN]
        if known:
            console.print(f"[dim]{title}[/]")
        largest = max((float(one.get("weight", 0)) for one in known), default=0.0)
        for one in known:
            weight = float(one.get("weight", 0))
            console.print(
                f"  {bar(weight / largest if largest else 0.0)} {weight:.2f}  {escape(str(one.get('name', '')))}"
            )


def _erase(user_id: str, url: str | None, timeout: float, *, yes: bool, json: bool) -> None:
    if not yes:
        if not sys.stdin.isatty():
            raise CommandError(Exit.USAGE, f"this erases the profile of {user_id}: add --yes to confirm")
        typer.confirm(f"Erase the profile of {user_id}? This cannot be undone.", abort=True, err=True)
    gateway = Gateway(url, timeout)
    try:
        answer = gateway.request("DELETE", f"{_PATH}?{urlencode({'user_id': user_id})}", None)
    finally:
        gateway.close()
    if json:
        output.print_json(answer)
        return
    output.console().print("[green]✓[/] the profile is erased")

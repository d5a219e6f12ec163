"""`memvault reindex`: makes the index anew with what the settings ask for, while recalls and writes go on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import typer

from memvault.cli import output
from memvault.cli.client import send
from memvault.cli.failure import CommandError
from memvault.cli.options import Json, Timeout, Url
from memvault.runtime.exits import Exit

_LOOK_S = 0.5


Everything = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Even if the settings ask for nothing else: after search_tokens.sqlite was lost, "
        "or to store vectors of a former version as this one does.",
    ),
]


def reindex(url: Url = None, timeout: Timeout = 10.0, everything: Everything = False, json: Json = False) -> None:
    """Make the index anew with the encoder and the weights that the settings ask for.

    The present index answers until the next one is whole. Ctrl-C stops; the same command goes on where it stopped.
    """

    def ask(action: str) -> dict[str, Any]:
        return send(url, timeout, "/v1/reindex", {"action": action})

    told = ask("anew" if everything else "start")
    try:
        told = _watched(told, ask)
    except KeyboardInterrupt:
        ask("stop")
        _say("stopped; `memvault reindex` goes on here\n")
        raise
    if json:
        output.print_json(told)
    if told.get("state") != "none":
        message = f"the index could not be made anew: {told.get('detail') or told.get('state')}; nothing was lost"
        if not json:
            raise CommandError(Exit.FAILED, message)
        raise typer.Exit(Exit.FAILED)
    if not json:
        output.console().print(f"[green]✓[/] the index is made with {told.get('made')}")


def _watched(told: dict[str, Any], ask: Callable[[str], dict[str, Any]]) -> dict[str, Any]:
    """Show on stderr how far it is, until it no longer runs."""
    while told.get("state") == "running":
        _say(f"\r{told.get('done', 0)} of {told.get('total', 0)} blocks, {told.get('built', 0)} passages built ")
        time.sleep(_LOOK_S)
        told = ask("")
    if told.get("built"):
        _say(f"\r{told.get('built')} passages built{' ' * 30}\n")
    return told


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()

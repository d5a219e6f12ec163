"""`python -m memvault_demo`: starts everything, fills a vault of its own, asks it questions, and stops cleanly.

Every step is the command line that a user would type; nothing is asked behind its back.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from memvault.runtime.exits import Exit
from memvault_demo.questions import CONVERSATION, NEXT_QUESTION, PREDICTED, QUESTIONS
from memvault_demo.vault import USER_ID, ZONE, blocks, marked_ids

START_LIMIT_S = 300  # `up` gives up by itself after 180 s, stops what it started and says what it waited for
COMMAND_LIMIT_S = 120
PREPARED_LIMIT_S = 20
CARDS = "4"


class DemoError(Exception):
    """A step of the demo failed; the message is one line for the user, `code` what the demo ends with.

    No message: the step itself has printed that line.
    """

    def __init__(self, message: str, code: int = Exit.FAILED) -> None:
        super().__init__(message)
        self.code = code


def main() -> int:
    """Run the demo; returns the exit code."""
    console = Console()
    home = Path(os.environ.get("MEMVAULT_HOME") or Path.cwd() / ".demo")
    try:
        home.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="vault-", dir=home))
    except OSError as error:
        console.print(
            f"demo: cannot write to {home} ({error.strerror}): set MEMVAULT_HOME to a folder you may write to",
            style="red",
        )
        return Exit.FOLDER
    began = time.monotonic()
    runner = Runner(console, folder, models=home / "models")
    try:
        _run(console, runner)
    except DemoError as failure:
        if str(failure):
            console.print(f"demo: {failure}", style="red", highlight=False)
        return failure.code
    except KeyboardInterrupt:
        console.print("\ndemo: interrupted, stopping what was started", style="yellow")
        return Exit.INTERRUPTED
    finally:
        _stop(console, runner)
        shutil.rmtree(folder, ignore_errors=True)
    console.print(Rule(style="dim"))
    console.print(f"Everything is stopped and the demo's vault is removed. That took {time.monotonic() - began:.0f} s.")
    console.print(
        "Your own vault: [bold].venv/bin/memvault up[/], then "
        '[bold].venv/bin/memvault add "…"[/], [bold]… recall "…"[/].'
    )
    return 0


def _stop(console: Console, runner: "Runner") -> None:
    try:
        runner.quiet("down")
    except DemoError as failure:
        console.print(f"demo: {failure}", style="red", highlight=False)


class Runner:
    """Runs `memvault` commands against the demo's own folder."""

    def __init__(self, console: Console, folder: Path, models: Path) -> None:
        self._console = console
        self._folder = folder
        self._environ = os.environ | {
            "MEMVAULT_HOME": str(folder),
            "MEMVAULT_USER": USER_ID,
            "MEMVAULT__SEARCH__EMBEDDER__MODELS": str(models),
            "MEMVAULT__GATEWAY__TIME_ZONE": ZONE,
        }
        self._program = str(Path(sys.executable).with_name("memvault"))

    def show(self, *arguments: str) -> None:
        """Print the command and let it print its own output.

        Raises:
            DemoError: When it exits with another code than 0, of which it has said why, or not in time.
        """
        shown = " ".join(f'"{word}"' if " " in word or not word.isascii() else word for word in arguments)
        self._console.print(Text(f"$ memvault {shown}", style="bold green"))
        done = self._run(*arguments, quiet=False)
        if done.returncode < 0:
            raise DemoError(f"'memvault {arguments[0]}' was ended by signal {-done.returncode}")
        if done.returncode:
            raise DemoError("", done.returncode)

    def read(self, *arguments: str) -> dict[str, object]:
        """Run a command with `--json` and return what it printed."""
        done = self.quiet(*arguments, "--json")
        if done.returncode:
            raise DemoError(f"'memvault {arguments[0]}' failed: {done.stderr.strip()}")
        parsed: dict[str, object] = json.loads(done.stdout)
        return parsed

    def quiet(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command and keep its output.

        Raises:
            DemoError: When it does not end in time.
        """
        return self._run(*arguments, quiet=True)

    def _run(self, *arguments: str, quiet: bool) -> subprocess.CompletedProcess[str]:
        limit_s = START_LIMIT_S if arguments[0] == "up" else COMMAND_LIMIT_S
        try:
            return subprocess.run(  # noqa: S603 - our own program
                [self._program, *arguments],
                env=self._environ,
                capture_output=quiet,
                text=True,
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DemoError(f"'memvault {arguments[0]}' did not end within {limit_s} s and was stopped") from None


def _run(console: Console, runner: Runner) -> None:
    _heading(console, "Start: NATS, Valkey, Qdrant's engine and six services")
    runner.show("up")
    _heading(console, "Remember: a bilingual work diary and an excerpt of MemoryBank")
    with tempfile.TemporaryDirectory() as scratch:
        ordinary, marked = Path(scratch) / "diary.jsonl", Path(scratch) / "old-clips.jsonl"
        laid_out = blocks(datetime.now(UTC))
        _write(ordinary, [block for block in laid_out if block["id"] not in marked_ids()])
        _write(marked, [block for block in laid_out if block["id"] in marked_ids()])
        runner.show("import", str(ordinary))
        runner.show("import", str(marked), "--on-unsafe", "mark")
    _heading(console, "Recall: one question per intent and facet")
    for question in QUESTIONS:
        console.print(Text(f"\n# {question.shows}", style="dim"))
        runner.show("recall", question.text, "--limit", CARDS)
    _prefetch(console, runner)


def _prefetch(console: Console, runner: Runner) -> None:
    _heading(
        console,
        "Prepare: the Slow Thinker listens and predicts; a question like the predicted one finds its answer ready",
    )
    for speaker, text in CONVERSATION:
        runner.show("say", text, "--speaker", speaker, "--conversation", "demo")
    give_up = time.monotonic() + PREPARED_LIMIT_S
    while PREDICTED not in _prepared(runner):
        if time.monotonic() > give_up:
            raise DemoError("no answer was prepared; 'memvault prefetch' shows which rule refused")
        time.sleep(0.2)
    console.print(
        Text("\n# nobody has asked these: predicted from the subjects of the talk, and answered", style="dim")
    )
    runner.show("prefetch")
    console.print(Text("\n# asked in slightly other words than predicted", style="dim"))
    runner.show("recall", NEXT_QUESTION, "--conversation", "demo", "--limit", CARDS)


def _prepared(runner: Runner) -> list[str]:
    prepared = runner.read("prefetch").get("prepared", [])
    return [one["query"] for one in prepared] if isinstance(prepared, list) else []


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def _heading(console: Console, title: str) -> None:
    console.print()
    console.print(Rule(title, style="cyan", align="left"))


if __name__ == "__main__":
    sys.exit(main())

"""`python -m memvault_evals.bench`: what a recall costs, against what it cannot do without, in one run.

Operations are interleaved and medians compared, because a shared machine is noisy: the ratios travel, the milliseconds
do not. Every question is new, so that no cache answers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from memvault_evals.bench.chart import draw
from memvault_evals.bench.filling import USER, VaultFolder, disk_bytes
from memvault_evals.bench.measure import measured
from memvault_evals.bench.plan import Plan, Stage, stages
from memvault_evals.bench.show import show, write_markdown
from memvault_evals.floors import Floor
from memvault_evals.house import MODELS_VARIABLE, EvalError, House, Mode, load_average, stamp, temporary_folder
from memvault_evals.progress import Bars
from memvault_evals.report.about import code_of
from memvault_evals.synthetic import blocks, questions

SEED = 20
ENCODED_UP_TO = 10_000
SIZES = "1k,10k"
MODES: tuple[Mode, ...] = ("six", "one")
ENCODED_TEXTS = 60  # whose encoding alone is timed


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure everything asked for and print the tables; returns the exit code."""
    options = _options(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120)
    notes = Console(stderr=True, width=None if sys.stderr.isatty() else 120)
    plan = Plan(
        stages(options.sizes, encoded_up_to=options.encoded_up_to, seed=options.seed),
        tuple(options.modes.split(",")),
        options.rounds,
        options.arrivals,
        tuple(options.shares),
        tuple(options.clients),
        options.seed,
    )
    try:
        with _folder(options.folder) as folder:
            report = _run(folder, plan, sys.argv[1:] if arguments is None else arguments, options.out, notes)
    except EvalError as error:
        notes.print(f"bench: {error}", style="red", highlight=False, markup=False)
        return 1
    show(console, report)
    if options.json:
        _kept(options.json, report)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m memvault_evals.bench", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--sizes", default=SIZES, help="of the vault, in blocks (default %(default)s; 100k takes an hour or more)")
    add("--encoded-up-to", type=int, default=ENCODED_UP_TO, metavar="N", help="larger vaults get invented vectors")
    add("--modes", default="six,one", help="six: a process per service; one: all in one process")
    add("--rounds", type=int, default=100, help="measurements of each operation (default %(default)s)")
    add("--clients", type=int, nargs="+", default=[1, 8, 32], help="that ask at once in the closed loop")
    add("--shares", type=float, nargs="+", default=[0.3, 0.6, 0.9], help="open loop: rates, of what the closed one did")
    add("--arrivals", type=int, default=150, help="of each rate of the open loop (default %(default)s)")
    add("--seed", type=int, default=SEED)
    add("--folder", type=Path, help="keep the filled vaults there; a later run goes on from them")
    add("--out", type=Path, metavar="FOLDER", help="write bench.json, .md and .png there as it goes on")
    add("--json", type=Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args(arguments)
    try:
        stages(options.sizes, encoded_up_to=options.encoded_up_to, seed=options.seed)
    except ValueError as error:
        parser.error(f"--sizes: {error}")
    if not set(options.modes.split(",")) <= set(MODES) or min(options.rounds, options.arrivals) < 1:
        parser.error("--modes takes six and one; --rounds and --arrivals are at least 1")
    if min(options.clients) < 1 or min(options.shares) <= 0:
        parser.error("--clients and --shares are above 0")
    return options


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is None:
        with temporary_folder() as folder:
            yield folder
        return
    kept.mkdir(parents=True, exist_ok=True)
    yield kept.resolve()


def _run(folder: Path, plan: Plan, words: Sequence[str], out: Path | None, notes: Console) -> dict[str, Any]:
    commit, dirty = code_of(Path(__file__))
    report: dict[str, Any] = {
        "at": stamp(),
        "command": _command(words),
        "commit": commit,
        "dirty": dirty,
        "load": load_average(),
        "plan": asdict(plan),
        "stages": [],
    }
    notes.print(f"{report['at']}, load {report['load']}, {plan.rounds} rounds", highlight=False)
    former: VaultFolder | None = None
    for stage in plan.stages:
        vault = VaultFolder(folder / f"{stage.vectors.name}-{stage.size}", stage.vectors, plan.seed)
        if former is not None and former.vectors == vault.vectors and not vault.folder.exists():
            shutil.copytree(former.folder, vault.folder)
        vault.folder.mkdir(exist_ok=True)
        former = vault
        figures = _stage(vault, stage, notes)
        report["stages"].append(figures)
        for mode in plan.modes:
            figures["modes"][mode] = asyncio.run(_mode(vault, mode, figures, plan, notes))
            report["modes"] = report["stages"][0]["modes"]
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                _kept(out / "bench.json", report)
                write_markdown(out / "bench.md", report)
                draw(out / "bench.png", report["stages"], plan.modes)
    return report


def _command(words: Sequence[str]) -> str:
    """The command as it was typed; of a path only the last part."""
    told = " ".join(Path(word).name if "/" in word else word for word in words)
    return f"make bench ARGS={shlex.quote(told)}" if told else "make bench"


def _stage(vault: VaultFolder, stage: Stage, notes: Console) -> dict[str, Any]:
    """Fill one size, unless a former run did, and say what that took."""
    filled = vault.filled(stage.size)
    if filled is None:
        with House(vault.home, "six", settings=stage.vectors.settings()) as house, Bars(notes) as bars:
            bars.begin(f"writing {stage.marked}", max(1, stage.size - vault.state()["count"]))
            filled = vault.grow(house, stage.size, bars.step)
    return {
        "name": stage.marked,
        "size": stage.size,
        "synthetic": stage.vectors.synthetic,
        "filled": asdict(filled),
        "disk": disk_bytes(vault.home),
        "graph": (0, 0),
        "modes": {},
    }


async def _mode(vault: VaultFolder, mode: Mode, figures: dict[str, Any], plan: Plan, notes: Console) -> dict[str, Any]:
    """Measure one mode; the floor reads a copy of the stores, made while nobody has them open."""
    settings = vault.vectors.settings()
    with TemporaryDirectory(prefix="memvault-floor-", dir=vault.folder) as scratch:
        models = Path(House(vault.home, mode).environ[MODELS_VARIABLE])
        floor = await Floor.open(vault.home, Path(scratch), models, USER)
        try:
            figures["graph"] = floor.graph_size
            if not vault.vectors.synthetic:
                figures["encoding_ms"] = await _encoding_ms(floor, plan.seed)
            with House(vault.home, mode, settings=settings) as house:
                fresh = questions(seed=plan.seed + 1)

                def say(what: str) -> None:
                    clock = time.strftime("%H:%M:%S")
                    notes.print(f"{clock} {figures['name']}, {mode}: {what}", style="dim", highlight=False)

                return await measured(house, floor, fresh, plan, say)
        finally:
            await floor.stop()


async def _encoding_ms(floor: Floor, seed: int) -> float:
    """Processor milliseconds to encode one block's text, once; a block of a conversation has two views."""
    texts = [str(block["text"]) for block in blocks(ENCODED_TEXTS, seed=seed)]
    begun = time.process_time()
    for text in texts:
        await floor.embed_passage(text)
    return (time.process_time() - begun) * 1000 / len(texts)


def _kept(path: Path, report: dict[str, Any]) -> None:
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

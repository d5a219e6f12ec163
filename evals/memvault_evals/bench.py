"""`python -m memvault_evals.bench`: what a recall costs, against what it cannot do without, in one run.

Operations are interleaved and medians compared, because a shared machine is noisy: the ratios travel, the
milliseconds do not. Every question is new, so that no cache answers; one row asks each question again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import redis
from grpc_health.v1 import health_pb2, health_pb2_grpc
from rich.console import Console
from rich.table import Table

from memvault.embed.v1 import embed_pb2, embed_pb2_grpc
from memvault_evals.floors import FloatArray, Floor
from memvault_evals.house import MODELS_VARIABLE, Client, EvalError, House, Mode, load_average, stamp, temporary_folder
from memvault_evals.processor import of_processes, of_this_process
from memvault_evals.synthetic import blocks, questions
from memvault_evals.timing import Operation, Spread, interleaved, spread

USER = "bench"
SEED = 20
WARM_UP = 8
DEADLINE_MS = 30_000
AIMS: Mapping[Mode, float] = {"six": 3.0, "one": 2.0}
FAST = {"thinking_mode": "fast"}
NO_RERANK = FAST | {"off": ["rerank"]}
RATIO_ROWS = ("recall", "recall, rerank off", "recall, asked again")


class Asking:
    """Recalls over one connection; keeps what the answers told, and refuses to measure a degraded one."""

    def __init__(self, client: Client, fresh: Iterator[str]) -> None:
        self._client, self._fresh = client, fresh
        self._last = ""
        self.times: dict[str, list[float]] = {}
        self.reranked: list[bool] = []

    async def fresh(self, evaluation: Mapping[str, Any], *, explain: bool = False, origin: str = "user") -> None:
        """Ask a new question."""
        self._last = next(self._fresh)
        answer = self._ask(evaluation, explain=explain, origin=origin)
        if explain:
            for one in answer["explanation"].get("times", []):
                self.times.setdefault(one["hop"], []).append(one.get("took_ms", 0.0))
            self.reranked.append(bool(answer["explanation"].get("reranked")))

    async def again(self) -> None:
        """Ask the last question again."""
        if self._last:
            self._ask(FAST)

    async def alive(self) -> None:
        """Ask the HTTP face whether it lives: what HTTP itself costs."""
        self._client.call("GET", "/healthz")

    def _ask(self, evaluation: Mapping[str, Any], *, explain: bool = False, origin: str = "user") -> dict[str, Any]:
        context = {
            "user_id": USER,
            "origin": origin,
            "evaluation": evaluation,
            "explain": explain,
            "deadline_ms": DEADLINE_MS,
        }
        answer = self._client.recall(self._last, context)
        if answer.get("degraded"):
            raise EvalError(f"a recall was degraded, so its time says nothing: {answer['degraded']}")
        return answer


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both modes and print the table; returns the exit code."""
    options = _options(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120)
    try:
        with temporary_folder() as folder:
            report = asyncio.run(_measure(folder, options, console))
    except EvalError as error:
        console.print(f"bench: {error}", style="red", highlight=False, markup=False)
        return 1
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m memvault_evals.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=1000, help="size of the invented vault (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=100, help="measurements of each operation (default %(default)s)")
    parser.add_argument("--modes", default="six,one", help="six: a process per service; one: all in one process")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args(arguments)
    options.modes = options.modes.split(",")
    if options.blocks < 1 or options.rounds < 1 or not set(options.modes) <= set(AIMS):
        parser.error("--blocks and --rounds must be at least 1, --modes of: six, one")
    return options


async def _measure(folder: Path, options: argparse.Namespace, console: Console) -> dict[str, Any]:
    vault = blocks(options.blocks, seed=options.seed)
    fresh = questions(seed=options.seed + 1)
    report: dict[str, Any] = {"at": stamp(), "load": load_average(), "blocks": len(vault), "modes": {}}
    console.print(f"{report['at']}, load {report['load']}, {len(vault)} blocks, {options.rounds} rounds")
    floor: Floor | None = None
    try:
        for mode in options.modes:
            with House(folder, mode) as house, closing(Client(house.http)) as client:
                if floor is None:
                    for done in client.write(USER, vault):
                        console.print(f"written {done} of {len(vault)}", style="dim", highlight=False)
                    models = Path(house.environ[MODELS_VARIABLE])
                    floor = await Floor.build(folder / "floor", models, vault)
                figures = await _one_mode(house, client, floor, fresh, options)
            report["modes"][mode] = figures
            _show(console, mode, figures)
    finally:
        if floor is not None:
            await floor.stop()
    return report


async def _one_mode(
    house: House, client: Client, floor: Floor, fresh: Iterator[str], options: argparse.Namespace
) -> dict[str, Any]:
    asking = Asking(client, fresh)
    state = house.state()
    with closing(redis.Redis.from_url(state["redis"])) as store, grpc.insecure_channel(state["grpc"]) as gateway:
        operations = {**_recalls(asking), **_floors(floor, fresh), **_hops(store, gateway)}
        search = state["processes"].get("search", {}).get("address")
        with grpc.insecure_channel(search or state["grpc"]) as channel:
            if search:  # in one process nobody listens there
                operations["embedding over gRPC"] = _embedding_over_grpc(channel, fresh)
            taken = await interleaved(operations, rounds=options.rounds, warm_up=WARM_UP, seed=options.seed)
        processor = await _processor(state, operations, asking, options.rounds)
    rows = {name: spread(samples) for name, samples in taken.items()}
    base = rows["embedding"].p50 + rows["raw hybrid query"].p50
    return {
        "load": load_average(),
        "rows": {name: asdict(row) for name, row in rows.items()},
        "ratios": {name: rows[name].p50 / base for name in RATIO_ROWS},
        "hops": {name: asdict(spread(samples[WARM_UP:] or samples)) for name, samples in asking.times.items()},
        "processor_ms": processor,
        "reranked_share": float(np.mean(asking.reranked)),
    }


async def _processor(
    state: Mapping[str, Any], operations: Mapping[str, Operation], asking: Asking, times: int
) -> dict[str, float]:
    pids = [one["pid"] for one in state["processes"].values()]
    return {
        "recall": await of_processes(pids, operations["recall"], times),
        "recall that tells nobody": await of_processes(pids, lambda: asking.fresh(FAST, origin="eval"), times),
        "embedding": await of_this_process(operations["embedding"], times),
        "raw hybrid query": await of_this_process(operations["raw hybrid query"], times),
    }


def _recalls(asking: Asking) -> dict[str, Operation]:
    return {
        "recall": lambda: asking.fresh(FAST),
        "recall, rerank off": lambda: asking.fresh(NO_RERANK),
        "recall, explained": lambda: asking.fresh(FAST, explain=True),
        "recall, asked again": asking.again,
        "HTTP alone": asking.alive,
    }


def _floors(floor: Floor, fresh: Iterator[str]) -> dict[str, Operation]:
    known: list[tuple[str, FloatArray]] = []  # so that a query can be timed without the encoding before it

    async def embed() -> None:
        question = next(fresh)
        known.append((question, await floor.embed(question)))

    def query(views: Sequence[str]) -> Operation:
        async def ask() -> None:
            if not known:
                await embed()
            question, vector = known[-1]
            await floor.query(question, vector, views)

        return ask

    return {
        "embedding": embed,
        "raw hybrid query": query(("self",)),
        "raw hybrid query, both views": query(("self", "context")),
    }


def _hops(store: redis.Redis, gateway: grpc.Channel) -> dict[str, Operation]:
    health = health_pb2_grpc.HealthStub(gateway)
    store.set("bench", b"x" * 1000)
    return {
        "empty gRPC hop": _plain(lambda: health.Check(health_pb2.HealthCheckRequest())),
        "Redis GET": _plain(lambda: store.get("bench")),
    }


def _embedding_over_grpc(channel: grpc.Channel, fresh: Iterator[str]) -> Operation:
    stub = embed_pb2_grpc.EmbedServiceStub(channel)
    return _plain(lambda: stub.Embed(embed_pb2.EmbedRequest(texts=[next(fresh)], kind="query")))


def _plain(work: Callable[[], object]) -> Callable[[], Awaitable[None]]:
    async def done() -> None:
        work()

    return done


def _show(console: Console, mode: Mode, figures: Mapping[str, Any]) -> None:
    where = "six processes" if mode == "six" else "one process"
    table = Table(title=f"{where}, load {figures['load']}", title_justify="left")
    for heading in ("operation", "p50 ms", "p95 ms", "n", "/ (embedding + raw query)"):
        table.add_column(heading, justify="left" if heading == "operation" else "right")
    for name, row in figures["rows"].items():
        ratio = figures["ratios"].get(name)
        table.add_row(name, *_cells(Spread(**row)), f"{ratio:.2f}" if ratio else "")
    console.print(table)
    hops = Table(title=f"where the time of an explained recall goes, {where}", title_justify="left")
    for heading in ("hop", "p50 ms", "p95 ms", "n"):
        hops.add_column(heading, justify="left" if heading == "hop" else "right")
    for name, row in figures["hops"].items():
        hops.add_row(name, *_cells(Spread(**row)))
    console.print(hops)
    _show_processor(console, figures["processor_ms"], where)
    ratio, aim = figures["ratios"]["recall"], AIMS[mode]
    verdict = "reached" if ratio <= aim else "missed"
    console.print(
        f"{where}: a recall costs {ratio:.2f} x (embedding + raw query); the aim of {aim:.0f} is {verdict}. "
        f"{figures['reranked_share']:.0%} of the explained recalls were reranked.",
        highlight=False,
    )


def _show_processor(console: Console, spent: Mapping[str, float], where: str) -> None:
    floor = spent["embedding"] + spent["raw hybrid query"]
    told = ", ".join(f"{name} {value:.1f}" for name, value in spent.items())
    console.print(
        f"{where}, processor ms of all processes together: {told}; recall {spent['recall'] / floor:.2f} x, "
        f"without what it tells others {spent['recall that tells nobody'] / floor:.2f} x (embedding + raw query).",
        highlight=False,
    )


def _cells(row: Spread) -> tuple[str, str, str]:
    return f"{row.p50:.2f}", f"{row.p95:.2f}", str(row.n)


if __name__ == "__main__":
    sys.exit(main())

"""One mode of a vault: recalls and floors in turn, prefetch hits, many clients, processor time, memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from itertools import islice
from typing import Any

import grpc
import numpy as np
import redis
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memvault.embed.v1 import embed_pb2, embed_pb2_grpc
from memvault_evals.bench.asking import (
    DEEP,
    FAST,
    NO_CASCADE,
    NO_RERANK,
    Asking,
    DegradedError,
    recall,
    reranked,
    warm_up,
)
from memvault_evals.bench.filling import idle, memory_mb, pids
from memvault_evals.bench.load import closed, open_loop
from memvault_evals.bench.plan import Plan
from memvault_evals.bench.prefetch import Prepared
from memvault_evals.floors import FloatArray, Floor
from memvault_evals.house import Client, House, load_average
from memvault_evals.processor import of_processes, of_this_process
from memvault_evals.synthetic import memories
from memvault_evals.timing import Again, Operation, interleaved, spread

WARM_UP = 5
CPU_ROUNDS = 20
AGAIN_SHARE = 10  # one measurement in so many rounds may be taken again
LOAD_QUESTIONS = 96  # of each number of clients
Say = Callable[[str], None]
# What an operation cannot do without, by the names of other operations
FLOORS: Mapping[str, tuple[str, ...]] = {
    "prefetch hit": ("empty gRPC hop", "Redis GET"),
    "prefetch hit, nobody told": ("empty gRPC hop", "Redis GET"),
    "fast": ("embedding", "raw query"),
    "fast, nobody told": ("embedding", "raw query"),
    "fast, rerank off": ("embedding", "raw query"),
    "deep": ("embedding", "raw query", "raw graph query", "PageRank"),
    "deep, rerank off": ("embedding", "raw query", "raw graph query", "PageRank"),
    "deep, cascade off": ("embedding", "raw query"),
}


async def measured(house: House, floor: Floor, fresh: Iterator[str], plan: Plan, say: Say) -> dict[str, Any]:
    """Measure everything in a house that is running.

    Raises:
        EvalError: When too many recalls are degraded, or a prefetch hit is none.
    """
    state = house.state()
    with (
        closing(Client(house.http)) as client,
        closing(redis.Redis.from_url(state["redis"])) as store,
        grpc.insecure_channel(state["grpc"]) as gateway,
    ):
        asking = Asking(client, fresh)
        again = Again(DegradedError, max(1, plan.rounds // AGAIN_SHARE))
        say("warming up")
        warm_up(client, fresh)
        await idle(house)
        say("recalls and floors in turn")
        operations = {**_recalls(asking), **_floors(floor, fresh), **_hops(asking, store, gateway)}
        search = state["processes"].get("search", {}).get("address")
        with grpc.insecure_channel(search or state["grpc"]) as channel:
            if search:  # in one process nobody listens there
                operations["embedding over gRPC"] = _embedding_over_grpc(channel, fresh)
            taken = await interleaved(operations, rounds=plan.rounds, warm_up=WARM_UP, seed=plan.seed, again=again)
        say("prefetch hits")
        prepared = Prepared(client, state["nats"], memories(seed=plan.seed))
        taken |= await _hits(prepared, _hops(asking, store, gateway), plan, again)
        say("processor time")
        processor = await _processor(house, operations, prepared)
    found = {
        "load": load_average(),
        "taken_again": again.taken,
        "rows": {name: asdict(spread(samples)) for name, samples in taken.items()},
        "hops": {mode: _spreads(hops) for mode, hops in asking.times.items()},
        "reranked_share": float(np.mean(asking.reranked)),
        "cards": float(np.mean(asking.cards)),
        "stored_s": float(np.median(prepared.stored_s)),
        "processor_ms": processor,
        **_many(house, fresh, plan, say),
        "memory_mb": memory_mb(house),
    }
    return found | {
        "ratios": ratios({name: row["p50"] for name, row in found["rows"].items()}),
        "processor_ratios": ratios(processor),
        "classification": _classification(asking.classified, found["rows"]["embedding"]["p50"]),
    }


def ratios(cost: Mapping[str, float]) -> dict[str, float]:
    """The cost of each operation over the sum of what its floor costs; those whose floor is not known are left out."""
    return {
        name: cost[name] / sum(cost[part] for part in parts)
        for name, parts in FLOORS.items()
        if name in cost and all(part in cost for part in parts)
    }


async def _hits(prepared: Prepared, hops: Mapping[str, Operation], plan: Plan, again: Again) -> dict[str, list[float]]:
    """Hits in turn with their own floor, in stretches that end before the prepared answer grows old."""
    taken: dict[str, list[float]] = {}
    left = plan.rounds
    while left:
        await prepared.ready()
        rounds = min(left, 50)
        operations = {
            "prefetch hit": prepared.hit,
            "prefetch hit, nobody told": lambda: prepared.hit(origin="eval"),
            **{f"{name} beside hits": hop for name, hop in hops.items()},
        }
        part = await interleaved(operations, rounds=rounds, warm_up=2, seed=plan.seed + left, again=again)
        for name, samples in part.items():
            taken.setdefault(name, []).extend(samples)
        left -= rounds
    return taken


def _many(house: House, fresh: Iterator[str], plan: Plan, say: Say) -> dict[str, Any]:
    def ask(client: Client, question: str) -> None:
        recall(client, question, FAST)

    together: list[dict[str, Any]] = []
    for clients in plan.clients:
        say(f"{clients} clients at once")
        before = reranked(house.http)
        loaded = closed(house.http, ask, list(islice(fresh, LOAD_QUESTIONS)), clients)
        read = {name: count - before[name] for name, count in reranked(house.http).items()}
        together.append({**asdict(loaded), "reranker": read})
    capacity = max(one["done"] for one in together)
    apart = []
    for share in plan.shares:
        rate = share * capacity
        say(f"Poisson arrivals, {rate:.1f} a second")
        questions = list(islice(fresh, plan.arrivals))
        apart.append({"share": share, **asdict(open_loop(house.http, ask, questions, rate, seed=plan.seed))})
    return {"closed": together, "open": apart}


async def _processor(house: House, operations: Mapping[str, Operation], prepared: Prepared) -> dict[str, float]:
    """Processor milliseconds of one operation, all processes together: what no other work on the machine stretches."""
    running = list(pids(house).values())
    await prepared.ready()
    recalls = {name: operations[name] for name in ("fast", "fast, nobody told", "fast, rerank off", "deep")}
    spent = {name: await of_processes(running, one, CPU_ROUNDS) for name, one in recalls.items()}
    spent["prefetch hit, nobody told"] = await of_processes(running, lambda: prepared.hit(origin="eval"), CPU_ROUNDS)
    parts = ("embedding", "raw query", "raw query, both views", "raw graph query", "PageRank")
    return spent | {name: await of_this_process(operations[name], CPU_ROUNDS) for name in parts}


def _recalls(asking: Asking) -> dict[str, Operation]:
    return {
        "fast": lambda: asking.fresh(FAST),
        "fast, nobody told": lambda: asking.fresh(FAST, origin="eval"),
        "fast, rerank off": lambda: asking.fresh({**FAST, **NO_RERANK}),
        "fast, explained": lambda: asking.explained(FAST),
        "plain, explained": asking.plain,
        "deep": lambda: asking.fresh(DEEP),
        "deep, rerank off": lambda: asking.fresh({**DEEP, **NO_RERANK}),
        "deep, cascade off": lambda: asking.fresh({**DEEP, **NO_CASCADE}),
        "deep, explained": lambda: asking.explained(DEEP),
    }


def _floors(floor: Floor, fresh: Iterator[str]) -> dict[str, Operation]:
    known: list[tuple[str, FloatArray]] = []  # so that a query can be timed without the encoding before it

    async def embed() -> None:
        question = next(fresh)
        known.append((question, await floor.embed(question)))

    async def last() -> tuple[str, FloatArray]:
        if not known:
            await embed()
        return known[-1]

    def query(views: Sequence[str]) -> Operation:
        async def ask() -> None:
            await floor.query(*(await last()), views)

        return ask

    async def graph() -> None:
        _, vector = await last()
        await floor.query_graph(vector)

    return {
        "embedding": embed,
        "raw query": query(("self",)),
        "raw query, both views": query(("self", "context")),
        "raw graph query": graph,
        "PageRank": _plain(floor.walk),
    }


def _hops(asking: Asking, store: redis.Redis, gateway: grpc.Channel) -> dict[str, Operation]:
    health = health_pb2_grpc.HealthStub(gateway)
    store.set("bench", b"x" * 1000)
    return {
        "HTTP alone": asking.alive,
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


def _spreads(hops: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    return {name: asdict(spread(samples[WARM_UP:] or samples)) for name, samples in hops.items()}


def _classification(parts: Mapping[str, Sequence[float]], embedding: float) -> dict[str, dict[str, float]]:
    """Spread of each part of plain recalls' classification, and its p50 as a ratio to the embedding's."""
    found = {name: spread(samples[WARM_UP:] or samples) for name, samples in parts.items()}
    return {name: {**asdict(one), "ratio": one.p50 / embedding} for name, one in found.items()}

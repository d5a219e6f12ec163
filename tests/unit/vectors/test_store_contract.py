"""One suite for both engines: what one can do, the other can, with the same result."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy

from memvault.vectors import (
    And,
    AnyOf,
    CollectionSpec,
    Condition,
    DenseSpec,
    Eq,
    FieldKind,
    Ids,
    Not,
    Point,
    Range,
    RankerQuery,
    SparseVector,
    SpecMismatchError,
    StoreLockedError,
    TimeRange,
    VectorStore,
)
from memvault.vectors.edge import EdgeStore
from memvault.vectors.server import ServerStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

SPEC = CollectionSpec(
    name="things",
    dense={"meaning": DenseSpec(4)},
    sparse=("words",),
    fields={
        "owner": FieldKind.KEYWORD,
        "labels": FieldKind.KEYWORD,
        "weight": FieldKind.FLOAT,
        "at": FieldKind.TIME,
        "version": FieldKind.INTEGER,
    },
)


def uuid_of(number: int) -> str:
    return str(UUID(int=number))


def dense(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def sparse(**weights: float) -> SparseVector:
    indices = np.asarray([int(key[1:]) for key in weights], np.uint32)
    return SparseVector(indices, np.asarray(list(weights.values()), np.float32))


def point(number: int, owner: str, **payload: object) -> Point:
    angle = number / 10
    return Point(
        uuid_of(number),
        {"owner": owner, "n": number, **payload},
        {"meaning": dense(np.cos(angle), np.sin(angle), 0, 0)},
        {"words": sparse(**{f"t{number}": 1.0, "t4000000000": 0.5})},
    )


@pytest.fixture
def qdrant_server() -> Iterator[str]:
    """The addresses, REST and gRPC port, of a real and empty Qdrant server in a container."""
    if (
        shutil.which("docker") is None
        or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no container runtime answers on this machine")
    server = DockerContainer("qdrant/qdrant:v1.20.0").with_exposed_ports(6333, 6334)
    with server.waiting_for(LogMessageWaitStrategy("Qdrant gRPC listening")) as container:
        host = container.get_container_host_ip()
        yield f"http://{host}:{container.get_exposed_port(6333)},{container.get_exposed_port(6334)}"


def opened_store(kind: str, request: pytest.FixtureRequest, folder: Path) -> VectorStore:
    if kind == "edge":
        return EdgeStore(folder, flush_every_s=60)
    if kind == "server":
        return ServerStore(AsyncQdrantClient(":memory:"))
    url, _, grpc_port = request.getfixturevalue("qdrant_server").partition(",")
    return ServerStore(AsyncQdrantClient(url=url, grpc_port=int(grpc_port), prefer_grpc=True, timeout=30))


@pytest.fixture(params=["edge", "server", pytest.param("container", marks=pytest.mark.docker)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    opened = opened_store(request.param, request, tmp_path)
    await opened.ensure(SPEC)
    yield opened
    await opened.close()


async def found(store: VectorStore, condition: Condition | None) -> list[int]:
    records, _ = await store.scroll("things", condition, limit=100)
    return sorted(record.payload["n"] for record in records)


async def test_a_batch_answers_each_ranker_best_first(store: VectorStore) -> None:
    await store.upsert("things", [point(n, "ann") for n in range(1, 6)])
    answer = await store.query_batch(
        "things",
        [
            RankerQuery("m", "meaning", dense(1, 0, 0, 0), limit=3),
            RankerQuery("w", "words", sparse(t4=2.0), limit=10),
            RankerQuery("none", "words", sparse(), limit=10),
        ],
    )
    assert [hit.id for hit in answer["m"]] == [uuid_of(1), uuid_of(2), uuid_of(3)]
    assert answer["m"][0].score == pytest.approx(np.cos(0.1), abs=1e-5)
    assert [(hit.id, hit.score) for hit in answer["w"]] == [(uuid_of(4), 2.0)]
    assert answer["none"] == []
    assert answer["m"][0].payload == {}


async def test_ties_come_in_the_order_of_ids(store: VectorStore) -> None:
    await store.upsert("things", [point(n, "ann") for n in (5, 2, 9, 1)])
    query = RankerQuery("w", "words", sparse(t4000000000=1.0), limit=10, with_payload=True)
    hits = (await store.query_batch("things", [query]))["w"]
    assert [hit.payload["n"] for hit in hits] == [1, 2, 5, 9]


async def test_each_filter_means_the_same_on_both_engines(store: VectorStore) -> None:
    day = [datetime(2026, 3, n, tzinfo=UTC) for n in range(1, 5)]
    await store.upsert(
        "things",
        [
            point(1, "ann", labels=["a", "b"], weight=0.5, at=day[0].isoformat()),
            point(2, "ann", labels=["b"], weight=1.5, at=day[1].isoformat()),
            point(3, "bob", labels=[], weight=2.5, at=day[2].isoformat()),
        ],
    )
    assert await found(store, None) == [1, 2, 3]
    assert await found(store, Eq("owner", "ann")) == [1, 2]
    assert await found(store, Eq("labels", "b")) == [1, 2]
    assert await found(store, AnyOf("labels", ("a", "z"))) == [1]
    assert await found(store, AnyOf("labels", ())) == []
    assert await found(store, Range("weight", gt=0.5, lte=2.5)) == [2, 3]
    assert await found(store, TimeRange("at", day[0], day[2])) == [1, 2]
    assert await found(store, Ids((uuid_of(3), uuid_of(7)))) == [3]
    assert await found(store, Ids(())) == []
    assert await found(store, Not(Eq("owner", "ann"))) == [3]
    assert await found(store, And((Eq("owner", "ann"), Not(Eq("labels", "a"))))) == [2]


async def test_a_ranker_sees_only_what_its_filter_lets_through(store: VectorStore) -> None:
    await store.upsert("things", [point(1, "ann"), point(2, "bob")])
    query = RankerQuery("m", "meaning", dense(1, 0, 0, 0), limit=9, filter=Eq("owner", "bob"))
    assert [hit.id for hit in (await store.query_batch("things", [query]))["m"]] == [uuid_of(2)]


async def test_vectors_come_back_when_asked_for(store: VectorStore) -> None:
    await store.upsert("things", [point(1, "ann")])
    bare, full = [
        (await store.retrieve("things", [uuid_of(1), uuid_of(8)], with_vectors=asked))[0] for asked in (False, True)
    ]
    assert not bare.dense
    # a store may keep them rounded, which shows most where there are few dimensions
    assert full.dense["meaning"] == pytest.approx([np.cos(0.1), np.sin(0.1), 0, 0], abs=1e-4)
    weights = dict(zip(full.sparse["words"].indices, full.sparse["words"].values, strict=True))
    assert weights == {1: 1.0, 4000000000: 0.5}


async def test_a_conditional_change_touches_only_points_that_fulfil_it(store: VectorStore) -> None:
    await store.upsert("things", [point(1, "ann", version=1), point(2, "ann", version=2)])
    both = [uuid_of(1), uuid_of(2)]
    await store.set_payload("things", both, {"version": 9, "new": True}, only_if=Eq("version", 1))
    records = await store.retrieve("things", both)
    assert [record.payload["version"] for record in records] == [9, 2]
    assert records[0].payload["owner"] == "ann"


async def test_changing_a_point_that_is_not_there_changes_nothing(store: VectorStore) -> None:
    await store.set_payload("things", [uuid_of(1)], {"version": 9})
    assert await store.count("things") == 0


async def test_pages_cover_every_point_once(store: VectorStore) -> None:
    await store.upsert("things", [point(n, "ann") for n in range(1, 8)])
    seen: list[int] = []
    offset: str | None = None
    while True:
        records, offset = await store.scroll("things", None, limit=3, offset=offset)
        seen += [record.payload["n"] for record in records]
        if offset is None:
            break
    assert seen == list(range(1, 8))


async def test_the_commonest_values_of_a_field_come_with_their_numbers_of_points(store: VectorStore) -> None:
    assert await store.commonest("things", "owner", 9) == []
    await store.upsert("things", [point(n, "ann" if n < 4 else "bob" if n < 9 else "cem") for n in range(1, 10)])
    await store.delete("things", [uuid_of(1)])
    assert await store.commonest("things", "owner", 9) == [("bob", 5), ("ann", 2), ("cem", 1)]
    assert await store.commonest("things", "owner", 1) == [("bob", 5)]


async def test_points_are_removed_by_id_and_by_condition(store: VectorStore) -> None:
    await store.upsert("things", [point(n, "ann" if n < 4 else "bob") for n in range(1, 6)])
    await store.delete("things", [uuid_of(1), uuid_of(77)])
    await store.delete("things", Eq("owner", "bob"))
    assert await found(store, None) == [2, 3]
    assert await store.count("things", Eq("owner", "ann")) == 2


async def test_a_collection_without_vectors_holds_payloads(store: VectorStore) -> None:
    await store.ensure(CollectionSpec("plain"))
    await store.upsert("plain", [Point(uuid_of(1), {"n": 1})])
    assert (await store.retrieve("plain", [uuid_of(1)]))[0].payload == {"n": 1}


async def test_a_dropped_collection_is_gone_and_can_be_made_anew_with_other_vectors(store: VectorStore) -> None:
    await store.ensure(CollectionSpec("kept"))
    await store.upsert("kept", [Point(uuid_of(1), {"n": 1})])
    await store.upsert("things", [point(1, "ann")])
    await store.drop("things")
    await store.drop("things")
    await store.drop("never there")
    other = replace(SPEC, dense={"meaning": DenseSpec(8)})
    await store.ensure(other)
    assert await store.count("things") == 0
    await store.upsert("things", [Point(uuid_of(2), {"n": 2}, {"meaning": dense(*range(1, 9))})])
    assert await found(store, None) == [2]
    assert await store.count("kept") == 1


async def test_a_collection_that_is_not_open_is_dropped_but_not_under_another_process(tmp_path: Path) -> None:
    first, second = (EdgeStore(tmp_path, flush_every_s=60) for _ in range(2))
    await first.ensure(SPEC)
    with pytest.raises(StoreLockedError):
        await second.drop("things")
    await first.upsert("things", [point(1, "ann")])
    await first.close()
    await second.drop("things")
    await second.ensure(SPEC)
    assert await second.count("things") == 0
    await second.close()


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    for number in (1, 2):
        store = EdgeStore(tmp_path, flush_every_s=60)
        await store.ensure(SPEC)
        await store.upsert("things", [point(number, "ann")])
        await store.close()
        await store.close()
    store = EdgeStore(tmp_path, flush_every_s=60)
    await store.ensure(SPEC)
    assert await found(store, None) == [1, 2]
    await store.close()


async def test_a_second_opener_is_refused_and_the_first_lives_on(tmp_path: Path) -> None:
    first = EdgeStore(tmp_path, flush_every_s=60)
    await first.ensure(SPEC)
    second = EdgeStore(tmp_path, flush_every_s=60)
    with pytest.raises(StoreLockedError, match="in use by another process"):
        await second.ensure(SPEC)
    await first.upsert("things", [point(1, "ann")])
    assert await first.count("things") == 1
    await first.close()


async def test_another_encoder_size_is_refused_with_what_to_do(tmp_path: Path) -> None:
    store = EdgeStore(tmp_path, flush_every_s=60)
    await store.ensure(SPEC)
    await store.close()
    other = CollectionSpec("things", {"meaning": DenseSpec(8)}, ("words",))
    again = EdgeStore(tmp_path, flush_every_s=60)
    with pytest.raises(SpecMismatchError, match="set the former encoder again"):
        await again.ensure(other)
    await again.close()

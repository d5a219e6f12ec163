"""One suite for every place of token vectors: what one can do, the others can, with the same result."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from memvault.faults import Fault, Reason
from memvault.vectors import VectorStore
from memvault.vectors.edge import EdgeStore
from memvault.vectors.server import ServerStore
from memvault_search.adapters.token_file import TokenFile
from memvault_search.adapters.token_former import FormerTokens
from memvault_search.adapters.token_opening import tokens_beside
from memvault_search.adapters.token_points import TokenPoints
from memvault_search.adapters.token_store import TokenStore
from memvault_search.domain.embedding import TokenVectors

TABLE = "tokens"
KEPT = 2


def tokens(seed: int, rows: int = 3) -> TokenVectors:
    return TokenVectors(np.random.default_rng(seed).integers(-127, 128, (rows, 8), np.int8))


@pytest.fixture(params=["file", "server", "former"])
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TokenStore]:
    """`former`: a vault of points, in which what the tests write goes to the file."""
    store: VectorStore = EdgeStore(tmp_path, flush_every_s=60)
    if request.param == "server":
        store = ServerStore(AsyncQdrantClient(":memory:"))
    if request.param == "former":
        await TokenPoints(store, cached=KEPT).ensure(TABLE)
    held = tokens_beside(store, cached=KEPT)
    await held.ensure(TABLE)
    yield held
    await held.close()
    await store.close()


async def read(held: TokenStore, *points: str, user_id: str = "ann") -> dict[str, list[list[list[int]]]]:
    found = await held.read(TABLE, user_id, points)
    return {point: [view.values.tolist() for view in views] for point, views in found.items()}


async def test_what_is_written_is_read_by_its_owner_only_views_in_order(opened: TokenStore) -> None:
    one, two, other = (str(uuid4()) for _ in range(3))
    await opened.write(TABLE, "ann", {one: {"context": tokens(1), "self": tokens(2)}, two: {"self": tokens(3, 0)}})
    await opened.write(TABLE, "bob", {other: {"self": tokens(4)}})
    found = await read(opened, two, other, one, str(uuid4()))
    assert found == {one: [tokens(2).values.tolist(), tokens(1).values.tolist()], two: [[]]}
    assert await read(opened, other, user_id="bob") == {other: [tokens(4).values.tolist()]}
    assert await read(opened) == {}


async def test_writing_again_replaces_all_views_and_amending_only_those_named(opened: TokenStore) -> None:
    point, never = str(uuid4()), str(uuid4())
    await opened.write(TABLE, "ann", {point: {"self": tokens(1), "context": tokens(2)}})
    await opened.amend(TABLE, "ann", {point: {"context": tokens(3, 5)}, never: {"context": tokens(4)}})
    assert await read(opened, point, never) == {point: [tokens(1).values.tolist(), tokens(3, 5).values.tolist()]}
    await opened.amend(TABLE, "bob", {point: {"self": tokens(9)}})
    await opened.write(TABLE, "ann", {point: {"self": tokens(5)}})
    assert await read(opened, point) == {point: [tokens(5).values.tolist()]}
    await opened.write(TABLE, "ann", {point: {}})
    assert await read(opened, point) == {}


async def test_points_are_removed_by_id_and_by_user(opened: TokenStore) -> None:
    points = [str(uuid4()) for _ in range(4)]
    await opened.write(TABLE, "ann", {point: {"self": tokens(1)} for point in points[:3]})
    await opened.write(TABLE, "bob", {points[3]: {"self": tokens(1)}})
    await read(opened, *points)
    await opened.delete(TABLE, [points[0], str(uuid4())])
    await opened.delete(TABLE, [])
    assert set(await read(opened, *points)) == set(points[1:3])
    await opened.delete_user(TABLE, "ann")
    assert await read(opened, *points) == {}
    assert set(await read(opened, *points, user_id="bob")) == {points[3]}


async def test_a_dropped_table_can_be_made_anew_and_is_empty(opened: TokenStore) -> None:
    point = str(uuid4())
    await opened.write(TABLE, "ann", {point: {"self": tokens(1)}})
    await opened.drop(TABLE)
    await opened.drop("never made")
    await opened.ensure(TABLE)
    assert await read(opened, point) == {}


@pytest.mark.r("R-20")
async def test_who_asks_at_once_gets_all_of_it_however_little_is_kept_in_memory(opened: TokenStore) -> None:
    points = [str(uuid4()) for _ in range(900)]
    await opened.write(TABLE, "ann", {point: {"self": tokens(n)} for n, point in enumerate(points)})
    await read(opened, *points[:KEPT])
    first, second, every = await asyncio.gather(
        read(opened, points[0], points[2]), read(opened, *points[3:]), read(opened, *points)
    )
    assert set(first) == {points[0], points[2]}
    assert set(second) == set(points[3:])
    assert every == {point: [tokens(n).values.tolist()] for n, point in enumerate(points)}


async def test_points_of_a_former_vault_are_read_and_amended_where_they_are_and_written_to_the_file(
    tmp_path: Path,
) -> None:
    store = EdgeStore(tmp_path, flush_every_s=60)
    former, file = TokenPoints(store, cached=KEPT), TokenFile(tmp_path)
    await former.ensure(TABLE)
    old, again, new = (str(uuid4()) for _ in range(3))
    await former.write(TABLE, "ann", {old: {"self": tokens(1)}, again: {"self": tokens(2)}})
    both = FormerTokens(file, former, tmp_path)
    await both.ensure(TABLE)
    await both.write(TABLE, "ann", {again: {"self": tokens(3)}, new: {"self": tokens(4)}})
    await both.amend(TABLE, "ann", {old: {"context": tokens(5)}, new: {"context": tokens(6)}})
    assert await read(both, old, again, new) == {
        old: [tokens(1).values.tolist(), tokens(5).values.tolist()],
        again: [tokens(3).values.tolist()],
        new: [tokens(4).values.tolist(), tokens(6).values.tolist()],
    }
    assert set(await read(former, old, again, new)) == {old}
    assert set(await read(file, old, again, new)) == {again, new}
    await both.delete(TABLE, [old])
    assert set(await read(both, old, again, new)) == {again, new}
    await both.drop(TABLE)
    left = {one.name for one in tmp_path.iterdir()}  # noqa: ASYNC240 - a test
    assert left <= {f"{TABLE}.lock"}
    await both.close()
    await store.close()


@pytest.mark.r("R-62")
async def test_what_was_removed_is_not_in_the_file_any_more(tmp_path: Path) -> None:
    file = TokenFile(tmp_path)
    await file.ensure(TABLE)
    kept, gone = str(uuid4()), str(uuid4())
    await file.write(TABLE, "ann", {kept: {"self": tokens(1, 40)}})
    await file.write(TABLE, "bob-the-forgotten", {gone: {"self": tokens(2, 40)}})
    await file.flush()
    assert tokens(2, 40).values.tobytes() in (tmp_path / f"{TABLE}.sqlite").read_bytes()
    await file.delete_user(TABLE, "bob-the-forgotten")
    await file.flush()
    left = b"".join(one.read_bytes() for one in tmp_path.iterdir())  # noqa: ASYNC240 - a test
    assert tokens(2, 40).values.tobytes()[:64] not in left
    assert b"bob-the-forgotten" not in left
    assert set(await read(file, kept)) == {kept}
    await file.close()
    await file.close()


async def test_a_file_that_is_none_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / f"{TABLE}.sqlite").write_bytes(b"something else" * 2000)
    with pytest.raises(Fault, match=rf"{TABLE}\.sqlite cannot be used") as refused:
        await TokenFile(tmp_path).ensure(TABLE)
    assert refused.value.reason is Reason.STORE_UNAVAILABLE
    assert isinstance(refused.value.__cause__, sqlite3.Error)


async def test_a_log_that_cannot_be_emptied_is_told_and_does_not_keep_the_file_from_closing(tmp_path: Path) -> None:
    file = TokenFile(tmp_path)
    await file.ensure(TABLE)
    await file.write(TABLE, "ann", {str(uuid4()): {"self": tokens(1)}})
    reader = sqlite3.connect(tmp_path / f"{TABLE}.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM tokens").fetchall()
    await file.write(TABLE, "ann", {str(uuid4()): {"self": tokens(2)}})
    file._open[TABLE].execute("PRAGMA busy_timeout = 10")
    with pytest.raises(Fault, match="another program reads it"):
        await file.flush()
    await file.close()
    reader.close()


async def test_a_table_that_was_dropped_meanwhile_is_a_fault(tmp_path: Path) -> None:
    file = TokenFile(tmp_path)
    await file.ensure(TABLE)
    await file.drop(TABLE)
    with pytest.raises(Fault, match="dropped") as refused:
        await file.read(TABLE, "ann", [str(uuid4())])
    assert refused.value.reason is Reason.STORE_UNAVAILABLE
    await file.close()

"""Token vectors in memory: whoever asks gets all that is stored, however many ask at once, however little is kept."""

import asyncio
import base64
from pathlib import Path
from uuid import uuid4

import pytest

from memvault.vectors import Point
from memvault.vectors.opening import open_store
from memvault_search.adapters.collections import TOKENS
from memvault_search.adapters.generations import Generations
from memvault_search.adapters.index import StoredIndex
from memvault_search.domain.made import Made

KEPT = 2


def stored(point_id: str, user_id: str = "ann") -> Point:
    values = base64.b64encode(bytes(range(8))).decode()
    return Point(point_id, {"user_id": user_id, "self": {"rows": 2, "columns": 4, "values": values}})


@pytest.mark.r("R-20")
async def test_what_another_question_crowds_out_of_memory_is_still_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMVAULT_HOME", str(tmp_path))
    store = open_store("search", "embedded", flush_every_s=60.0, timeout_s=5)
    index = StoredIndex(store, dimension=8, page=10, token_cache=KEPT)
    points = [str(uuid4()) for _ in range(6)]
    try:
        await Generations(store).open(index, Made("e", "v1", 8, "1"), {})
        await store.upsert(TOKENS, [*map(stored, points[:5]), stored(points[5], "bob")])
        await index.token_vectors("ann", points[:KEPT])
        first, second = await asyncio.gather(
            index.token_vectors("ann", [points[0], points[2]]), index.token_vectors("ann", points[3:])
        )
        every = await index.token_vectors("ann", points)
    finally:
        await store.close()
    assert set(first) == {points[0], points[2]}
    assert set(second) == {points[3], points[4]}  # the last one is another user's
    assert set(every) == set(points[:5])
    assert every[points[4]][0].values.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]

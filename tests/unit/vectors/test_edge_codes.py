"""The embedded engine reads short codes first: what it finds and how it scores stays that of the vectors."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from memvault.vectors import CollectionSpec, DenseSpec, Eq, FieldKind, Point, RankerQuery, edge
from memvault.vectors.edge import EdgeStore

MANY, WIDTH, ASKED, WANTED = 4000, 384, 40, 50
SPEC = CollectionSpec("things", {"meaning": DenseSpec(WIDTH)}, fields={"owner": FieldKind.KEYWORD})


def unit(rows: np.ndarray) -> np.ndarray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    """Rows in clusters around a common mean, as an encoder's are, so that many are nearly as near as the nearest."""
    draw = np.random.default_rng(3)
    centres = draw.normal(size=(64, WIDTH)) + 2.0
    return unit(centres[draw.integers(0, 64, MANY + ASKED)] + 0.6 * draw.normal(size=(MANY + ASKED, WIDTH)))


async def filled(folder: Path, vectors: np.ndarray) -> EdgeStore:
    store = EdgeStore(folder, flush_every_s=60)
    await store.ensure(SPEC)
    for begin in range(0, MANY, 500):
        rows = range(begin, begin + 500)
        await store.upsert(
            SPEC.name,
            [Point(str(UUID(int=row)), {"owner": "ab"[row % 2]}, {"meaning": vectors[row]}) for row in rows],
        )
    return store


async def compared(store: EdgeStore, vectors: np.ndarray, owner: str) -> tuple[float, float]:
    """Share of the truly nearest that is found, and the largest error of a score."""
    rows = np.arange(MANY)[np.arange(MANY) % 2 == "ab".index(owner)]
    shares, errors = [], []
    for query in vectors[MANY:]:
        exact = vectors[rows] @ query
        nearest = set(rows[np.argsort(-exact)[:WANTED]].tolist())
        ranker = RankerQuery("one", "meaning", query, WANTED, Eq("owner", owner))
        hits = (await store.query_batch(SPEC.name, [ranker]))["one"]
        found = [UUID(hit.id).int for hit in hits]
        shares.append(len(nearest & set(found)) / WANTED)
        errors.append(max(abs(hit.score - float(vectors[row] @ query)) for hit, row in zip(hits, found, strict=True)))
    return float(np.mean(shares)), max(errors)


@pytest.mark.r("R-10")
async def test_the_nearest_are_found_and_scored_as_by_comparing_with_every_vector(
    tmp_path: Path, vectors: np.ndarray
) -> None:
    store = await filled(tmp_path, vectors)
    fresh = await compared(store, vectors, "a")
    gone = [str(UUID(int=row)) for row in range(0, MANY, 2)]
    await store.close()
    store = EdgeStore(tmp_path, flush_every_s=60)
    await store.ensure(SPEC)
    reopened = await compared(store, vectors, "b")
    await store.delete(SPEC.name, gone)
    left = await compared(store, vectors, "b")
    await store.close()
    for share, error in (fresh, reopened, left):
        assert share > 0.999
        assert error < 1e-4
    assert (tmp_path / SPEC.name / "edge_config.json").read_text().count("turbo") >= 1


async def test_a_folder_from_before_the_codes_answers_as_it_did(
    tmp_path: Path, vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(edge, "_COARSE", None)
        await (await filled(tmp_path, vectors)).close()
    store = EdgeStore(tmp_path, flush_every_s=60)
    await store.ensure(SPEC)
    share, error = await compared(store, vectors, "a")
    await store.close()
    assert share == 1.0
    assert error < 1e-4
    assert not json.loads((tmp_path / SPEC.name / "edge_config.json").read_text()).get("quantization_config")

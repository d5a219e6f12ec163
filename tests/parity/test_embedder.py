"""Qwen3-Embedding on MLX against the reference: values, batches, the port it stands behind (R-10)."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from memvault.faults import Fault, Reason
from memvault.rpc.deadline import limit
from memvault_search.adapters.embedder_cache import CachedEmbedder
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.adapters.embedder_qwen3 import Qwen3Embedder, Qwen3Encoder, Qwen3Pieces, open_qwen3
from memvault_search.domain.embedding import FloatArray
from memvault_search.settings import Qwen3Settings
from tests.parity.cases import DOCUMENTS, FOLDER, LONGEST, QUERIES, numbers

pytestmark = pytest.mark.r("R-10")

TOLERANCE = 1e-5


def encoded(settings: Qwen3Settings, batch: list[list[int]], folder: Path = FOLDER) -> FloatArray:
    return Qwen3Encoder(folder, settings).encode(batch)


@pytest.fixture
async def embedder(home: Path) -> AsyncIterator[Qwen3Embedder]:
    made = await asyncio.to_thread(open_qwen3, numbers(home), home)
    await made.start()
    yield made
    await made.stop()


async def test_vectors_are_those_of_the_reference(embedder: Qwen3Embedder, expected: dict[str, np.ndarray]) -> None:
    queries = (await embedder.embed(QUERIES, "query")).vectors
    passages = (await embedder.embed(DOCUMENTS, "passage")).vectors
    assert np.abs(queries - expected["embedding_query_32"]).max() < TOLERANCE
    assert np.abs(passages - expected["embedding_passage_32"]).max() < TOLERANCE
    assert passages.dtype == np.float32


async def test_fewer_dimensions_are_the_first_ones_at_length_one(home: Path, expected: dict[str, np.ndarray]) -> None:
    made = await asyncio.to_thread(open_embedder, numbers(home, dimension=8), home)
    await made.start()
    passages = (await made.embed(DOCUMENTS, "passage")).vectors
    await made.stop()
    assert np.abs(passages - expected["embedding_passage_8"]).max() < TOLERANCE
    assert np.allclose(np.linalg.norm(passages, axis=1), 1.0, atol=1e-6)


def test_neither_padding_nor_neighbours_nor_their_order_change_a_vector(home: Path) -> None:
    settings, pieces = numbers(home).qwen3, Qwen3Pieces(FOLDER, longest=LONGEST)
    batch = [pieces(text, "passage") for text in DOCUMENTS]
    alone = np.concatenate([encoded(settings, [ids]) for ids in batch])
    for order in (range(len(batch)), range(len(batch) - 1, -1, -1), (5, 0), (2, 2, 1)):
        together = encoded(settings, [batch[place] for place in order])
        assert np.abs(together - alone[list(order)]).max() < TOLERANCE


def test_a_query_carries_its_instruction_a_passage_nothing_and_both_the_end_token() -> None:
    pieces = Qwen3Pieces(FOLDER, longest=LONGEST)
    own = pieces("spare key", "passage")
    asked = pieces("spare key", "query")
    assert own[-1] == asked[-1]
    assert asked[-len(own) :] == own
    assert len(asked) > len(own)
    assert pieces("", "passage") == [own[-1]]
    assert len(pieces(DOCUMENTS[-1], "passage")) == LONGEST
    assert pieces(DOCUMENTS[-1], "passage")[-1] == own[-1]


def test_what_somebody_wrote_never_becomes_a_control_token() -> None:
    pieces = Qwen3Pieces(FOLDER, longest=LONGEST)
    end = pieces("", "passage")[0]
    for text in ("a<|endoftext|>b", "a<|endof<|endoftext|>text|>b", "<|im_start|>system\n<|im_end|>", "\ud800 lone"):
        assert pieces(text, "passage").count(end) == 1
    assert pieces("a<|endoftext|>b", "passage") == pieces("ab", "passage")


async def test_token_vectors_are_empty_so_that_late_interaction_says_what_it_misses(embedder: Qwen3Embedder) -> None:
    cached = CachedEmbedder(embedder, max_bytes=1 << 20)
    for _ in range(2):
        asked = await cached.embed(["where is it?"], "query", token_vectors=True)
        assert [len(tokens) for tokens in asked.tokens if tokens is not None] == [0]
    assert cached.hits == 1, "an answer without token vectors counts as one"
    assert (await embedder.embed(["where is it?"], "query")).tokens == (None,)
    assert (await embedder.embed([], "query")).vectors.shape == (0, 32)


@pytest.mark.r("R-10a")
async def test_means_are_computed_once_for_each_content_and_dimension(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(home / "models" / "means")
    first = await asyncio.to_thread(open_qwen3, numbers(home), home)
    (kept,) = (home / "models" / "means").iterdir()
    assert json.loads(kept.read_text("utf-8")).keys() == {"query", "passage"}
    monkeypatch.setattr(Qwen3Encoder, "encode", lambda *_: pytest.fail("computed again"))
    again = await asyncio.to_thread(open_qwen3, numbers(home), home)
    assert again.id == first.id == first.means.encoder_id
    assert np.array_equal(again.means.passage, first.means.passage)
    assert not np.array_equal(first.means.passage, first.means.query)


async def test_other_weights_or_dimensions_are_another_encoder(home: Path) -> None:
    first = await asyncio.to_thread(open_qwen3, numbers(home), home)
    path = home / "models" / "qwen3-embedding-0.6b" / "model.safetensors"
    weights = load_file(path)
    weights["model.norm.weight"] = weights["model.norm.weight"] * 2.0
    save_file(weights, path)
    changed = await asyncio.to_thread(open_qwen3, numbers(home), home)
    shorter = await asyncio.to_thread(open_qwen3, numbers(home, dimension=8), home)
    assert len({first.id, changed.id, shorter.id}) == 3


async def test_a_missing_model_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Fault) as missing:
        await asyncio.to_thread(open_embedder, numbers(tmp_path), tmp_path)
    assert missing.value.reason is Reason.NO_MODEL
    assert "memvault models fetch qwen3-embedding-0.6b" in missing.value.message
    assert "\n" not in missing.value.message


async def test_more_dimensions_than_the_model_has_are_refused(home: Path) -> None:
    with pytest.raises(Fault, match="set it to at most 32"):
        await asyncio.to_thread(open_embedder, numbers(home, dimension=64), home)


@pytest.mark.parametrize("damage", ["weights", "tokenizer", "type"])
async def test_a_damaged_model_says_so(home: Path, damage: str) -> None:
    folder = home / "models" / "qwen3-embedding-0.6b"
    if damage == "type":
        config = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps(config | {"model_type": "llama"}), encoding="utf-8")
    else:
        (folder / {"weights": "model.safetensors", "tokenizer": "tokenizer.json"}[damage]).write_bytes(b"{}")
    with pytest.raises(Fault) as refused:
        made = await asyncio.to_thread(open_embedder, numbers(home), home)
        await made.start()
    assert refused.value.reason is Reason.NO_MODEL
    assert "fetch" in refused.value.message


def test_a_model_runs_only_in_the_thread_that_loaded_it(home: Path) -> None:
    """MLX binds arrays to their thread; without this check the error would name streams."""
    encoder = Qwen3Encoder(FOLDER, numbers(home).qwen3)
    with ThreadPoolExecutor(1) as other, pytest.raises(RuntimeError, match="in the thread that loaded it"):
        other.submit(encoder.encode, [[1, 2]]).result()


def test_published_names_of_weights_are_understood(home: Path, tmp_path: Path) -> None:
    """Qwen3-Embedding is published without the prefix `model.`, and others carry parts that nobody here needs."""
    folder = tmp_path / "published"
    shutil.copytree(FOLDER, folder)
    weights = load_file(FOLDER / "model.safetensors")
    renamed = {name.removeprefix("model."): value for name, value in weights.items()}
    save_file({**renamed, "projector.0.weight": np.zeros((2, 2), np.float32)}, folder / "model.safetensors")
    settings, ids = numbers(home).qwen3, [[1, 2, 3]]
    assert np.array_equal(encoded(settings, ids, folder), encoded(settings, ids))


def test_weights_quantised_by_mlx_lm_run_too(home: Path, tmp_path: Path) -> None:
    from mlx import nn  # noqa: PLC0415 - after conftest.py has set how MLX runs
    from mlx.utils import tree_flatten  # noqa: PLC0415
    from mlx_lm.utils import load_model  # noqa: PLC0415

    folder = tmp_path / "quantised"
    shutil.copytree(FOLDER, folder)
    model, config = load_model(FOLDER)
    nn.quantize(model, group_size=32, bits=8)
    save_file({name: np.array(value) for name, value in tree_flatten(model.parameters())}, folder / "model.safetensors")
    quantised = config | {"quantization": {"group_size": 32, "bits": 8}}
    (folder / "config.json").write_text(json.dumps(quantised), encoding="utf-8")
    settings, pieces = numbers(home).qwen3, Qwen3Pieces(FOLDER, longest=LONGEST)
    batch = [pieces(text, "passage") for text in DOCUMENTS[:2]]
    cosines = (encoded(settings, batch, folder) * encoded(settings, batch)).sum(axis=1)
    assert cosines.min() > 0.98


@pytest.mark.r("R-22")
async def test_a_text_that_cannot_be_in_time_is_refused(home: Path) -> None:
    made = await asyncio.to_thread(open_qwen3, numbers(home, batch_tokens=64), home)
    await made.start()
    bulk = asyncio.create_task(made.embed([DOCUMENTS[-1]] * 4, "passage"))
    await asyncio.sleep(0.01)
    with pytest.raises(Fault) as late:
        async with limit(0.001):
            await made.embed(["too late"], "passage")
    assert late.value.reason is Reason.DEADLINE_EXCEEDED
    await bulk
    await made.stop()

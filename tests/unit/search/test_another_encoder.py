"""An index that another encoder made is refused with the reason, whatever its dimension."""

from pathlib import Path

import pytest

from memvault.faults import Fault, Reason
from memvault.vectors.opening import open_store
from memvault_search.adapters.generations import Generations
from memvault_search.adapters.index import StoredIndex
from memvault_search.adapters.token_opening import tokens_beside
from memvault_search.domain.made import Made


async def opened(encoder_id: str, dimension: int) -> None:
    store = open_store("search", "embedded", flush_every_s=60.0, timeout_s=5)
    tokens = tokens_beside(store, cached=10)
    index = StoredIndex(store, tokens, dimension=dimension, page=10)
    try:
        await Generations(store, tokens).open(index, Made(encoder_id, "v1", dimension, "1"), {})
    finally:
        await tokens.close()
        await store.close()


@pytest.mark.r("R-10a")
@pytest.mark.parametrize("dimension", [8, 16])
async def test_the_encoder_is_named_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dimension: int
) -> None:
    monkeypatch.setenv("MEMVAULT_HOME", str(tmp_path))
    await opened("the-first", 8)
    await opened("the-first", 8)
    with pytest.raises(Fault) as refused:
        await opened("another", dimension)
    assert refused.value.reason is Reason.EMBEDDER_CHANGED
    assert "the index was made by encoder the-first" in refused.value.message
    assert "run `memvault reindex`" in refused.value.message
    assert "\n" not in refused.value.message
    await opened("the-first", 8)

"""Chooses the encoder that the settings name, with what goes around any of them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from memvault.faults import Fault
from memvault_search.adapters.embedder_disk import DiskCachedEmbedder
from memvault_search.adapters.embedder_e5 import open_e5
from memvault_search.adapters.embedder_qwen3 import open_qwen3
from memvault_search.adapters.embedder_synthetic import PREFIX, SyntheticPassages
from memvault_search.domain.made import Made
from memvault_search.ports import RunningEmbedder
from memvault_search.settings import EmbedderSettings

ENCODED = "encoded"


def open_embedder(settings: EmbedderSettings, home: Path) -> RunningEmbedder:
    """Return the configured encoder, not yet started. Blocks: call it in a thread.

    Args:
        settings: section `search.embedder`; its `models` folder is used when set, and so is its `cache_folder`.
        home: MEMVAULT_HOME; models lie in its folder `models` otherwise.

    Raises:
        Fault: NO_MODEL when the model is missing or its folder cannot be written.

    """
    embedder: RunningEmbedder = open_qwen3(settings, home) if settings.kind == "qwen3" else open_e5(settings, home)
    if settings.cache_folder:
        cache = Path(settings.cache_folder).expanduser()
        embedder = DiskCachedEmbedder(embedder, cache, token_limit=settings.token_limit)
    if settings.passages == ENCODED:
        return embedder
    seed = int(settings.passages.removeprefix(PREFIX))
    return SyntheticPassages(embedder, seed=seed, token_limit=settings.token_limit)


def open_former(made: Made, noted: Mapping[str, Any], settings: EmbedderSettings, home: Path) -> RunningEmbedder | None:
    """Return the encoder that made an index, not yet started; None when it cannot be had here. Blocks.

    Args:
        made: what the index was made with.
        noted: the settings of its encoder as the index notes them; empty: every kind is tried with `settings`.
        settings: section `search.embedder`, as it is now.
        home: MEMVAULT_HOME.

    """
    for candidate in _candidates(noted, settings):
        try:
            embedder = open_embedder(candidate, home)
        except Fault:  # its model is gone: the caller says what to do
            continue
        if (embedder.id, embedder.prefix_version) == made.encoder:
            return embedder
    return None


def _candidates(noted: Mapping[str, Any], settings: EmbedderSettings) -> Iterator[EmbedderSettings]:
    try:
        if noted:
            yield EmbedderSettings.model_validate(noted)
    except ValidationError:  # noted by another version of memvault
        pass
    for kind in get_args(EmbedderSettings.model_fields["kind"].annotation):
        yield settings.model_copy(update={"kind": kind, "passages": ENCODED})

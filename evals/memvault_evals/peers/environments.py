"""A virtual environment for each peer, outside the repository, made once per list of requirements."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from memvault_evals.house import EvalError
from memvault_evals.peers.catalogue import Peer

HERE = Path(__file__).parent
INSTALL_LIMIT_S = 3600
ASK_LIMIT_S = 120
_DONE = "installed"
_TELL = "import json,sys;from importlib import metadata as m;print(json.dumps({p:m.version(p) for p in sys.argv[1:]}))"


class PeerError(EvalError):
    """A peer cannot be measured; the message says why, and the peer is named with it."""


def requirements(peer: Peer) -> Path:
    """The file of what a peer needs."""
    return HERE / "requirements" / f"{peer.needs}.txt"


def folder_of(peer: Peer, cache: Path) -> Path:
    """Where its environment lies: another list of requirements, or another Python, is another folder."""
    told = requirements(peer).read_bytes() + sys.version.encode()
    return cache / f"{peer.needs}-{hashlib.sha256(told).hexdigest()[:10]}"


def python_of(peer: Peer, cache: Path) -> Path:
    """Return the interpreter for a peer, after installing what it needs where that is missing.

    Raises:
        PeerError: When it cannot be installed.
    """
    if not peer.needs:
        return Path(sys.executable)
    folder = folder_of(peer, cache)
    python = folder / "bin" / "python"
    if (folder / _DONE).exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True, symlinks=True)
    words = [str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements(peer))]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise PeerError(f"installing it took more than {INSTALL_LIMIT_S} s") from error
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise PeerError(f"it could not be installed: {' '.join(last[-2:])}")
    (folder / _DONE).touch()
    return python


def versions(python: Path, packages: Sequence[str]) -> Mapping[str, str]:
    """Return the versions of packages in the environment of an interpreter.

    Raises:
        PeerError: When one is missing.
    """
    if python == Path(sys.executable):
        try:
            return {name: metadata.version(name) for name in packages}
        except metadata.PackageNotFoundError as error:
            raise PeerError(f"{error.name} is not installed beside memvault") from error
    words = [str(python), "-c", _TELL, *packages]
    done = subprocess.run(words, capture_output=True, text=True, timeout=ASK_LIMIT_S, check=False)
    if done.returncode:
        raise PeerError(f"its environment is not whole ({done.stderr.strip().splitlines()[-1]}): remove its folder")
    found: dict[str, str] = json.loads(done.stdout)
    return found


def staged(folder: Path) -> Path:
    """Copy the runners, and nothing else of memvault, into `folder`; returns what to put on the import path."""
    package = folder / "memvault_evals" / "peers"
    shutil.copytree(HERE / "runners", package / "runners", ignore=shutil.ignore_patterns("__pycache__"))
    for part in (package.parent, package):
        (part / "__init__.py").touch()
    return folder


def environ(work: Path, code: Path) -> dict[str, str]:
    """Variables of a runner: offline, silent, one thread as memvault's encoder has, `work` as its home."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("MEMVAULT", "MEM"))}
    return outside | {
        "PYTHONPATH": str(code),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(work),
        "XDG_CACHE_HOME": str(work / "cache"),
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "ANONYMIZED_TELEMETRY": "False",
        "MEM0_TELEMETRY": "False",
        "MEM0_DIR": str(work / "mem0"),
        "OPENAI_API_KEY": "none",  # asked for by mem0 before it knows that no LLM is called
    }

"""Where models lie on the disk, and whether all of one is there. Nothing here ever reaches for the network."""

import hashlib
import json
from pathlib import Path
from typing import Any

from memvault.faults import Fault, Reason
from memvault.models.catalogue import BACKBONE, Model, model_named

FOLDER = "models"  # below MEMVAULT_HOME
WEIGHTS, SHARDS = "model*.safetensors", "model.safetensors.index.json"
SAMPLES, SAMPLE_BYTES = 64, 16_384
DIGEST_LENGTH = 12  # hexadecimal digits


def folder_of(model: Model, home: Path, chosen: str = "") -> Path:
    """Return where a model lies: the chosen folder, else the one named after it below MEMVAULT_HOME."""
    return Path(chosen).expanduser() if chosen else home / FOLDER / model.name


def missing_files(model: Model, folder: Path) -> tuple[str, ...]:
    """Return the names of files that are not there; empty: the model is complete."""
    missing = [name for name in (*BACKBONE, *model.extra) if not (folder / name).is_file()]
    try:
        shards = sorted(set(json.loads((folder / SHARDS).read_text(encoding="utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, AttributeError):
        shards = []
    if shards:
        missing += [name for name in shards if not (folder / name).is_file()]
    elif not any(folder.glob(WEIGHTS)):
        missing.append("model.safetensors")
    return tuple(missing)


def require(model: Model, folder: Path, setting: str) -> None:
    """Make sure that a model is there in full.

    Args:
        model: which one.
        folder: where it should lie.
        setting: the key that names another folder.

    Raises:
        Fault: NO_MODEL, in one line that says what to do.

    """
    missing = missing_files(model, folder)
    if missing:
        message = (
            f"{model.name} is not in {folder} (without {', '.join(missing)}): "
            f"run `memvault models fetch {model.name}`, or set {setting} to the folder that holds it"
        )
        raise Fault(Reason.NO_MODEL, message, model=model.name)


def found(name: str, home: Path, chosen: str, setting: str) -> Path:
    """Return the folder of a model of the catalogue that is there in full.

    Args:
        name: as the catalogue calls it.
        home: MEMVAULT_HOME.
        chosen: a folder that somebody named; empty: the model's own.
        setting: the key that names another folder.

    Raises:
        Fault: NO_MODEL, in one line that says what to do.
        RuntimeError: When the catalogue has no such model.

    """
    model = model_named(name)
    if model is None:
        raise RuntimeError(f"{name} is not in the catalogue")
    folder = folder_of(model, home, chosen)
    require(model, folder, setting)
    return folder


def config_of(folder: Path) -> dict[str, Any]:
    """Read a model's config.json.

    Raises:
        Fault: NO_MODEL when it cannot be read.

    """
    path = folder / "config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Fault(Reason.NO_MODEL, f"{path} cannot be read ({error}): fetch the model again") from error
    return config


def digest_of(folder: Path) -> str:
    """Return 12 hexadecimal digits that change with the weights, the tokenizer or the configuration.

    The weights are sampled, 64 pieces of 16 KiB of each file: reading all of a gigabyte would cost every start a
    second, and training changes every piece.
    """
    digest = hashlib.sha256()
    for name in BACKBONE:
        digest.update((folder / name).read_bytes())
    for path in sorted(folder.glob(WEIGHTS)):
        size = path.stat().st_size
        digest.update(f"{path.name}:{size}".encode())
        with path.open("rb") as stream:
            for sample in range(SAMPLES):
                stream.seek(max(0, size - SAMPLE_BYTES) * sample // (SAMPLES - 1))
                digest.update(stream.read(SAMPLE_BYTES))
    return digest.hexdigest()[:DIGEST_LENGTH]


def bytes_in(folder: Path) -> int:
    """Return how many bytes the files of a folder hold, those of folders in it included; 0 when it is not there."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

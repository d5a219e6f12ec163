"""Whose turn it is at an encoder that does one batch after the other."""

from memvault.runtime.batching import Urgency
from memvault_search.domain.embedding import TextKind


def urgency_of(kind: TextKind, *, soon: bool) -> Urgency:
    """Return the place of texts: queries first, then passages of a conversation that goes on, then imports."""
    if kind == "query":
        return Urgency.NOW
    return Urgency.SOON if soon else Urgency.LATER

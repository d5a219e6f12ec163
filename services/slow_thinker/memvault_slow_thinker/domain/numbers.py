"""The numbers of prediction as frozen values; `memvault/defaults.toml` holds them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FreeConfidence:
    """How often a draft of each kind leads to what the next turn needs, in [0, 1], fitted on development data.

    `follow_up`: of the last exchange; `thread`: of what the person has said of late; 0: neither is drafted, and own
    text is completed only where it points back. `recency`: what is left of it for each utterance that has passed
    since the name was mentioned.
    """

    announced: float
    own_text: float
    own_text_completed: float
    follow_up: float
    thread: float
    entity: float
    relation: float
    named: float
    task: float
    recency: float


@dataclass(frozen=True)
class PredictionNumbers:
    """Constants of the five operators (R-51, R-53).

    `sample`: utterances looked at. `drafts`: questions generated at most. `emitted`: questions fetched at most.
    `repeat_window_s`: a question predicted within it is not predicted again. `repeat_similarity`: token overlap
    (Jaccard) from which two questions are the same. `continuity`: share of a draft's rank that its closeness to
    the last utterance decides. `question_chars`: longest question.
    """

    sample: int
    drafts: int
    emitted: int
    repeat_window_s: float
    repeat_similarity: float
    continuity: float
    question_chars: int
    free: FreeConfidence

"""Admission control (R-52): five rules, all of which must pass. Better guess less than guess wildly.

All times are event times, so that a conversation replayed later is judged as it was held.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """Why nothing was predicted; refusals are counted by it."""

    FEW_CONVERSATIONS = "few_conversations"
    FEW_TURNS = "few_turns"
    JUST_PREDICTED = "just_predicted"
    TOPIC_DRIFT = "topic_drift"
    LOW_CONFIDENCE = "low_confidence"


@dataclass(frozen=True)
class Limits:
    """Bounds of the five rules. `min_gap_s` in seconds; drift and confidence in [0, 1]."""

    min_conversations: int
    min_turns: int
    min_gap_s: float
    max_drift: float
    min_confidence: float


@dataclass(frozen=True)
class Situation:
    """What the rules look at before anything is generated.

    `conversations`: distinct conversations seen of the user. `turns`: utterances of this one so far.
    `since_last_s`: from the last prediction in this conversation to the utterance, None if there was none;
    negative when the utterance is older than that prediction.
    """

    conversations: int
    turns: int
    since_last_s: float | None


def refuse_situation(situation: Situation, limits: Limits) -> Rule | None:
    """Return the first rule that refuses, cheapest first, or None."""
    if situation.conversations < limits.min_conversations:
        return Rule.FEW_CONVERSATIONS
    if situation.turns < limits.min_turns:
        return Rule.FEW_TURNS
    if situation.since_last_s is not None and situation.since_last_s < limits.min_gap_s:
        return Rule.JUST_PREDICTED
    return None


def refuse_drift(drift: float, limits: Limits) -> Rule | None:
    """Return TOPIC_DRIFT when the talk has just moved elsewhere: what was said before tells nothing."""
    return Rule.TOPIC_DRIFT if drift > limits.max_drift else None


def refuse_question(confidence: float, limits: Limits) -> Rule | None:
    """Return LOW_CONFIDENCE when the predictor itself does not believe in the question."""
    return Rule.LOW_CONFIDENCE if confidence < limits.min_confidence else None

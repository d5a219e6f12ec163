"""NextQuestionPredictor's LLM fuel (R-51): questions written by any OpenAI-compatible model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Protocol

from memvault_slow_thinker.domain.conversation import Utterance
from memvault_slow_thinker.domain.prediction import Draft, Kind


class JsonChat(Protocol):
    """A model that answers with a JSON object; `memvault.llm.client.LlmClient` is one."""

    async def json(self, system: str, user: str, *, timeout_s: float) -> Mapping[str, object]:
        """Ask once. Raises Fault."""
        ...


class LlmQuestionWriter:
    """See `ports.QuestionWriter`."""

    def __init__(self, chat: JsonChat) -> None:
        self._chat = chat
        self._instruction = (
            resources.files("memvault_slow_thinker").joinpath("data/next_questions.txt").read_text("utf-8")
        )

    async def write(self, sample: Sequence[Utterance], *, count: int, timeout_s: float) -> tuple[Draft, ...]:
        """See `ports.QuestionWriter`. What is no question with a probability is left out."""
        spoken = [{"speaker": utterance.speaker, "text": utterance.text} for utterance in sample]
        answer = await self._chat.json(
            self._instruction.format(count=count), json.dumps(spoken, ensure_ascii=False), timeout_s=timeout_s
        )
        return tuple(_drafts(answer))[:count]


def _drafts(answer: Mapping[str, object]) -> Iterator[Draft]:
    questions = answer.get("questions")
    for one in questions if isinstance(questions, list) else []:
        if not isinstance(one, dict):
            continue
        text, confidence = one.get("question"), one.get("confidence")
        if isinstance(text, str) and isinstance(confidence, int | float) and math.isfinite(confidence):
            yield Draft(text, min(max(float(confidence), 0.0), 1.0), Kind.LLM)

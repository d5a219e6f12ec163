"""Questions written by a language model (R-50a, R-51)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from memvault_slow_thinker.adapters.llm_writer import LlmQuestionWriter
from memvault_slow_thinker.domain.conversation import Utterance
from memvault_slow_thinker.domain.prediction import Draft, Kind

SAMPLE = (Utterance("e1", "user", "OCR 換了模型", 1.0), Utterance("e2", "assistant", '{"quoted"}', 2.0))


class Chat:
    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.answer, self.system, self.user = answer, "", ""

    async def json(self, system: str, user: str, *, timeout_s: float) -> Mapping[str, Any]:
        self.system, self.user = system, user
        return self.answer


@pytest.mark.r("R-51")
async def test_the_model_sees_the_utterances_as_data_and_is_asked_for_searchable_questions() -> None:
    chat = Chat({"questions": [{"question": "OCR 做到哪了？", "confidence": 0.7}]})
    drafts = await LlmQuestionWriter(chat).write(SAMPLE, count=3, timeout_s=1.0)
    assert drafts == (Draft("OCR 做到哪了？", 0.7, Kind.LLM),)
    assert "At most 3 questions" in chat.system
    assert json.loads(chat.user)[1] == {"speaker": "assistant", "text": '{"quoted"}'}


@pytest.mark.r("R-51")
@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"questions": "none"},
        {"questions": ["a string", {"question": 3, "confidence": 0.5}, {"question": "x"}]},
        {"questions": [{"question": "x", "confidence": float("nan")}]},
    ],
)
async def test_nonsense_is_left_out(answer: Mapping[str, Any]) -> None:
    assert await LlmQuestionWriter(Chat(answer)).write(SAMPLE, count=3, timeout_s=1.0) == ()


@pytest.mark.r("R-51")
async def test_a_boastful_confidence_is_cut_and_no_more_questions_come_than_were_asked_for() -> None:
    chat = Chat({"questions": [{"question": f"q{place}", "confidence": 7} for place in range(5)]})
    drafts = await LlmQuestionWriter(chat).write(SAMPLE, count=2, timeout_s=1.0)
    assert [(draft.text, draft.confidence) for draft in drafts] == [("q0", 1.0), ("q1", 1.0)]

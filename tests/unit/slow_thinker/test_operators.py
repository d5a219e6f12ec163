"""The five operators of the prediction pipeline, alone and in a row (R-50a, R-51)."""

from __future__ import annotations

import pkgutil
from dataclasses import replace

import numpy as np
import pytest

from memvault.ops import replaced, run
from memvault.runtime.settings import load
from memvault_slow_thinker.adapters.lexicon_file import load_lexicon
from memvault_slow_thinker.domain import operators as operators_package
from memvault_slow_thinker.domain.conversation import Utterance
from memvault_slow_thinker.domain.names import names_in
from memvault_slow_thinker.domain.operators.context_sampler import ContextSampler
from memvault_slow_thinker.domain.operators.question_deduplicator import QuestionDeduplicator
from memvault_slow_thinker.domain.operators.question_emitter import QuestionEmitter
from memvault_slow_thinker.domain.operators.question_generator import QuestionGenerator
from memvault_slow_thinker.domain.operators.question_ranker import QuestionRanker
from memvault_slow_thinker.domain.pipeline import build_pipeline
from memvault_slow_thinker.domain.prediction import Draft, Kind, Linked, Predicted, Prediction
from memvault_slow_thinker.settings import Settings

SETTINGS = load("slow_thinker", Settings, profile="reference", environ={})
LEXICON = load_lexicon()
NOW = 1_790_000_000.0


def said(*texts: str, speakers: tuple[str, ...] = ("user",)) -> tuple[Utterance, ...]:
    return tuple(
        Utterance(f"e{place}", speakers[place % len(speakers)], text, NOW + 10 * place)
        for place, text in enumerate(texts)
    )


def state(*texts: str, drafts: int = 10, linked: tuple[Linked, ...] = ()) -> Prediction:
    window = said(*texts)
    numbers = replace(SETTINGS.prediction, drafts=drafts)
    return Prediction(NOW + 100, window, numbers, SETTINGS.admission, sample=window, linked=linked)


def generated(*texts: str, drafts: int = 10, linked: tuple[Linked, ...] = ()) -> dict[str, Draft]:
    made = QuestionGenerator(LEXICON)(state(*texts, drafts=drafts, linked=linked))
    return {draft.text: draft for draft in made.drafts}


@pytest.mark.r("R-51")
def test_the_pipeline_is_the_five_operators_in_order_and_each_file_is_registered() -> None:
    names = [operator.name for operator in build_pipeline(LEXICON).operators]
    assert names == [
        "context_sampler",
        "question_generator",
        "question_ranker",
        "question_deduplicator",
        "question_emitter",
    ]
    assert {module.name for module in pkgutil.iter_modules(operators_package.__path__)} == set(names)


@pytest.mark.r("R-51")
def test_an_operator_can_be_replaced_by_another() -> None:
    class Parrot:
        name = "question_generator"

        def __call__(self, state: Prediction, /) -> Prediction:
            return replace(state, drafts=(Draft(state.sample[-1].text, 0.9, Kind.OWN_TEXT),))

    steps = replaced(build_pipeline(LEXICON).operators, "question_generator", Parrot())
    assert [draft.text for draft in run(steps, state("tea or coffee")).emitted] == ["tea or coffee"]


@pytest.mark.r("R-51")
def test_the_sampler_takes_the_last_eight_that_say_anything() -> None:
    sampled = ContextSampler()(state(*[f"u{place}" for place in range(12)], "  "))
    assert [utterance.text for utterance in sampled.sample] == [f"u{place}" for place in range(4, 12)]


@pytest.mark.r("R-50a")
def test_an_announced_question_is_prepared_without_what_leads_up_to_it() -> None:
    assert generated("早安", "我等等想問 OCR 做到哪了")["OCR 做到哪了"].kind is Kind.ANNOUNCED
    assert "OCR progress this week" in generated("By the way, I wanted to ask about OCR progress this week")


@pytest.mark.r("R-50a")
@pytest.mark.parametrize("text", ["看過《冰川時代》嗎", "知道李安是誰嗎"])
def test_to_have_seen_or_to_know_announces_no_question(text: str) -> None:
    assert generated(text)[text].kind is Kind.OWN_TEXT


@pytest.mark.r("R-50a")
def test_what_points_back_is_completed_by_what_was_named_before() -> None:
    assert "Falcon when does it ship?" in generated("we talked about the Falcon release", "when does it ship?")
    assert "OCR 那個做到哪了？" in generated("OCR 的模型換了", "那個做到哪了？")


@pytest.mark.r("R-50a")
def test_where_nothing_was_named_what_was_said_before_completes_the_question() -> None:
    assert "the sync server was slow when does it ship?" in generated("the sync server was slow", "when does it ship?")


@pytest.mark.r("R-51")
@pytest.mark.parametrize("empty", ["然後呢？", "And then?", "好的", "OK!", "謝謝", "為什麼呢", "really?", "嗯嗯"])
def test_and_then_is_no_question(empty: str) -> None:
    assert generated(empty) == {}
    assert all(empty not in text for text in generated("OCR 的模型換了", empty))


@pytest.mark.r("R-50a")
def test_entities_of_the_graph_and_their_relations_become_questions() -> None:
    ann = Linked("小美", confidence=1.0, specificity=1.0, neighbours=(("職位", "工程師"), ("住在", "台南")))
    made = generated("小美今天來了", linked=(ann,))
    assert made["小美最近怎麼樣？"].confidence == pytest.approx(SETTINGS.prediction.free.entity)
    assert made["小美的職位是什麼？"].kind is Kind.RELATION
    assert "小美的住在是什麼？" not in made


@pytest.mark.r("R-50a")
def test_confidence_falls_with_doubt_and_with_the_utterances_that_have_passed() -> None:
    sure = Linked("小美", confidence=1.0, specificity=1.0)
    doubtful = Linked("小美", confidence=0.5, specificity=0.2)
    question = "小美最近怎麼樣？"
    fresh = generated("小美今天來了", linked=(sure,))[question].confidence
    assert generated("小美今天來了", linked=(doubtful,))[question].confidence < 0.5 * fresh
    earlier = generated("小美今天來了", "天氣不錯", "晚餐吃麵", linked=(sure,))[question].confidence
    assert earlier == pytest.approx(fresh * SETTINGS.prediction.free.recency**2)


@pytest.mark.r("R-50a")
def test_an_open_task_leads_to_a_question_for_its_progress() -> None:
    assert generated("我還沒交 Q3-報表")["Q3-報表做到哪了？"].kind is Kind.TASK
    assert generated("I still need to finish the INC-4821 review")["How far along is INC-4821?"].kind is Kind.TASK


@pytest.mark.r("R-51")
def test_no_more_than_the_surest_three_questions_are_generated() -> None:
    made = generated("「甲案」「乙案」「丙案」「丁案」都要做", drafts=3)
    assert len(made) == 3


def test_nothing_said_leads_to_nothing() -> None:
    assert QuestionGenerator(LEXICON)(state()).drafts == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("我把 OCR 換成「輕量模型」了", ("OCR", "輕量模型")),
        ("deploy INC-4821 with Alice Chen on Friday", ("INC-4821", "Alice Chen", "Friday")),
        ("Tomorrow we rest", ()),
        ("今天很好", ()),
        ("芷寧說 [REDACTED] 然後看「[REDACTED]」與 Falcon", ("芷寧", "Falcon")),
        ("the clip says [REDACTED] Acme [REDACTED] Corp", ("Acme", "Corp")),
    ],
)
def test_names_are_titles_codes_and_capitalised_words_inside_a_sentence(text: str, names: tuple[str, ...]) -> None:
    assert names_in(text) == names


def drafted(*pairs: tuple[str, float]) -> Prediction:
    return replace(state("x"), drafts=tuple(Draft(text, confidence, Kind.NAMED) for text, confidence in pairs))


@pytest.mark.r("R-51")
def test_of_two_equally_sure_questions_the_natural_continuation_comes_first() -> None:
    vectors = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]], dtype=np.float32)
    ranked = QuestionRanker()(replace(drafted(("far", 0.6), ("near", 0.6)), vectors=vectors))
    assert [draft.text for draft in ranked.drafts] == ["near", "far"]
    assert ranked.vectors.tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]


@pytest.mark.r("R-51")
def test_without_vectors_the_confidence_alone_decides() -> None:
    ranked = QuestionRanker()(drafted(("b", 0.5), ("a", 0.5), ("c", 0.9)))
    assert [draft.text for draft in ranked.drafts] == ["c", "a", "b"]


@pytest.mark.r("R-51")
def test_what_was_predicted_within_five_minutes_is_not_predicted_again() -> None:
    before = drafted(("OCR 做到哪了？", 0.6), ("午餐吃什麼", 0.5))
    recent = (Predicted("ocr做到哪了", "c", before.now - 299.0), Predicted("午餐吃什麼", "c", before.now - 301.0))
    after = QuestionDeduplicator()(replace(before, recent=recent))
    assert [draft.text for draft in after.drafts] == ["午餐吃什麼"]
    assert [draft.text for draft in after.repeated] == ["OCR 做到哪了？"]


def test_a_clock_that_was_set_back_does_not_make_everything_recent() -> None:
    before = drafted(("OCR 做到哪了？", 0.6))
    for later, repeated in ((299.0, 1), (301.0, 0)):
        after = QuestionDeduplicator()(replace(before, recent=(Predicted("ocr做到哪了", "c", before.now + later),)))
        assert len(after.repeated) == repeated


@pytest.mark.r("R-51")
def test_of_two_wordings_of_one_question_the_better_stays() -> None:
    after = QuestionDeduplicator()(drafted(("progress of the OCR project", 0.6), ("OCR project progress", 0.5)))
    assert [draft.text for draft in after.drafts] == ["progress of the OCR project"]


@pytest.mark.r("R-53")
def test_the_emitter_lets_out_the_best_two_of_those_that_are_sure_enough() -> None:
    after = QuestionEmitter()(drafted(("a", 0.39), ("b", 0.9), ("c", 0.41), ("d", 0.8)))
    assert [draft.text for draft in after.emitted] == ["b", "c"]
    assert [draft.text for draft in after.refused] == ["a"]

"""Golden questions: facet, mode and thinking with the packaged encoder, in both profiles (R-09, R-72)."""

import asyncio
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from memvault.runtime.settings import home, load
from memvault_router.adapters.data_files import load_language
from memvault_router.app import build_pipeline
from memvault_router.domain.operators.embedding import ArchetypeIndex, centred
from memvault_router.domain.state import Frequencies, Question
from memvault_router.settings import RouterSettings
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.settings import EmbedderSettings

CASES = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))["cases"]
OPEN = ("最近怎麼樣", "最近如何？", "how are things lately?")
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)

pytestmark = [pytest.mark.r("R-09", "R-72"), pytest.mark.slow]


@pytest.fixture(scope="module")
def encoded():
    """Return the archetype index and a centred vector per golden question."""
    language = load_language()
    texts = [archetype.text for archetype in language.archetypes]
    questions = [case["q"] for case in CASES] + list(OPEN)

    async def run():
        embedder = await asyncio.to_thread(open_embedder, load("search.embedder", EmbedderSettings), home())
        await embedder.start()
        try:
            return embedder, (await embedder.embed([*texts, *questions], "query")).vectors
        finally:
            await embedder.stop()

    embedder, vectors = asyncio.run(run())
    rows = centred(vectors, np.asarray(embedder.means.query, np.float32))
    index = ArchetypeIndex(embedder.id, language.archetypes, rows[: len(texts)])
    return language, index, dict(zip(questions, rows[len(texts) :], strict=True))


def classify(encoded, question, profile, frequencies=None):
    language, index, vectors = encoded
    pipeline = build_pipeline(language, load("router", RouterSettings, profile=profile, environ={}))
    state = Question(question, NOW, ZoneInfo("Asia/Taipei"), completed=question, frequencies=frequencies)
    state = pipeline.understand(state)
    return pipeline.decide(pipeline.classify(replace(state, vector=vectors[question]), index))


@pytest.mark.parametrize("profile", ["tuned", "reference"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["q"])
def test_a_golden_question_takes_its_route(encoded, case, profile):
    state = classify(encoded, case["q"], profile)
    found = {
        "facet": state.facet,
        "intent": state.intent,
        "thinking": state.plan.thinking_mode,
        "mode": state.plan.retrieval_mode,
        "grouping": state.plan.grouping,
        "time": state.time.text if state.time else "",
    }
    wanted = {key: value for key, value in case.items() if key != "q"}
    assert {key: found[key] for key in wanted} == wanted


@pytest.mark.r("R-05")
@pytest.mark.parametrize("profile", ["tuned", "reference"])
@pytest.mark.parametrize("question", OPEN)
def test_the_same_open_question_leads_a_chaser_and_a_looker_back_to_different_routes(encoded, question, profile):
    asked, looked = {"factual": 50, "exploratory": 10}, {"exploratory": 50, "factual": 10}
    chaser = Frequencies({"factual": 1.0, "exploratory": 0.2}, {"progress": 1.0, "recollection": 0.1}, 60, asked)
    looker = Frequencies({"exploratory": 1.0, "factual": 0.2}, {"recollection": 1.0, "progress": 0.1}, 60, looked)
    assert classify(encoded, question, profile, chaser).plan.scoring_profile == "factual+progress"
    assert classify(encoded, question, profile, looker).plan.scoring_profile == "exploratory+recollection"

"""Whether a model does what its role needs: loads it and looks at a few properties that every good one has.

They are no measure of quality, only of a model that was loaded whole, with its own tokenizer, prefixes and pooling.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from memvault.faults import Fault
from memvault_rerank.app import RunningModel
from memvault_rerank.domain.reading import Document, Reading, Score
from memvault_search.domain.embedding import FloatArray
from memvault_search.ports import RunningEmbedder

SAME = 0.999  # cosine of a text's vectors, alone and among others: what rounding may cost
STEADY = 1e-3  # of a score computed twice
WITHIN_S = 120.0
QUESTIONS = ("Where is the spare key?", "備用鑰匙放在哪裡？", "What time does my flight leave?", "我的班機幾點起飛？")
ANSWERS = (
    "The spare key lies under the blue flower pot beside the door.",
    "備用鑰匙在門邊的藍色花盆底下。",
    "Our flight leaves on Friday at half past six in the morning.",
    "我們的班機星期五早上六點半起飛。",
)
SUBJECT = (0, 0, 1, 1)  # which answers belong to which questions
OTHER = "Lemons ripen in winter here. 這裡的檸檬冬天才熟。"


@dataclass(frozen=True, slots=True)
class Finding:
    """One property: what it is, whether it holds, and what was seen."""

    what: str
    good: bool
    seen: str = ""


async def check_embedder(embedder: RunningEmbedder) -> list[Finding]:
    """Start an embedder, look at it, and stop it."""
    try:
        await embedder.start()
    except Fault as fault:
        return [Finding("it loads", good=False, seen=fault.message)]
    try:
        asked = (await embedder.embed(QUESTIONS, "query")).vectors
        shown = (await embedder.embed([*ANSWERS, OTHER, ""], "passage")).vectors
        alone = (await embedder.embed([ANSWERS[1]], "passage")).vectors[0]
        as_query = (await embedder.embed([ANSWERS[1]], "query")).vectors[0]
        return list(_properties(embedder.dimension, asked, shown, alone, as_query))
    finally:
        await embedder.stop()


def _properties(
    dimension: int, asked: FloatArray, shown: FloatArray, alone: FloatArray, as_query: FloatArray
) -> Iterator[Finding]:
    yield Finding("it loads", good=True)
    finite = bool(np.isfinite(asked).all() and np.isfinite(shown).all())
    yield Finding("vectors are finite, also of an empty text", finite)
    yield Finding(f"vectors have {dimension} components", shown.shape[1] == dimension, f"{shown.shape[1]}")
    off = float(np.abs(np.linalg.norm(shown, axis=1) - 1.0).max())
    yield Finding("vectors have length 1", off < SAME * 1e-3, f"off by {off:.1e}")
    same = float(alone @ shown[1])
    yield Finding("a text has one vector, alone or among others", same > SAME, f"cosine {same:.5f}")
    differ = float(as_query @ alone)
    yield Finding("queries and passages are told apart", differ < SAME, f"cosine {differ:.5f}")
    cosines = asked @ shown[: len(ANSWERS) + 1].T
    right = _right(cosines)
    told = f"{sum(right)} of {len(right)}"
    yield Finding("what is nearest to a question answers it, in both languages", all(right), told)


def _right(scores: FloatArray) -> list[bool]:
    """Tell for each question whether its best document answers it; scores are [questions, documents]."""
    best = [int(place) for place in scores.argmax(axis=1)]
    return [place < len(SUBJECT) and SUBJECT[place] == subject for place, subject in zip(best, SUBJECT, strict=True)]


async def check_reranker(model: RunningModel, embedder: RunningEmbedder | None) -> list[Finding]:
    """Start a reranker, look at it, and stop it; `embedder` makes token vectors where the model reads those."""
    if embedder is not None:
        await embedder.start()
    await model.start()
    try:
        readings = [await reading_of(question, [*ANSWERS, OTHER], embedder) for question in QUESTIONS]
        lacking = model.lacks(readings[0])
        if lacking:
            return [Finding("it loads", good=False, seen=lacking)]
        first = [await model.score(reading, within_s=WITHIN_S) for reading in readings]
        again = await model.score(readings[0], within_s=WITHIN_S)
        return list(_scores(first, again))
    except Fault as fault:
        return [Finding("it answers in time", good=False, seen=fault.message)]
    finally:
        await model.stop()
        if embedder is not None:
            await embedder.stop()


def _scores(first: Sequence[Sequence[Score]], again: Sequence[Score]) -> Iterator[Finding]:
    yield Finding("it loads", good=True)
    numbers = np.array([[score.score for score in scores] for scores in first], np.float32)
    yield Finding("every document has a finite score", bool(np.isfinite(numbers).all()))
    off = float(np.abs(numbers[0] - [score.score for score in again]).max())
    yield Finding("the same list is scored alike twice", off < STEADY, f"off by {off:.1e}")
    best = [int(row.argmax()) for row in numbers]
    right = [place < len(ANSWERS) and SUBJECT[place] == subject for place, subject in zip(best, SUBJECT, strict=True)]
    yield Finding(
        "an answer to the question is the best, in both languages", all(right), f"{sum(right)} of {len(right)}"
    )


async def reading_of(query: str, texts: Sequence[str], embedder: RunningEmbedder | None) -> Reading:
    """Make what search would send: texts, and token vectors where an embedder is given."""
    if embedder is None:
        return Reading(query, tuple(Document(str(number), text) for number, text in enumerate(texts)))
    asked = (await embedder.embed([query], "query", token_vectors=True)).tokens[0]
    shown = (await embedder.embed(texts, "passage", token_vectors=True)).tokens
    documents = tuple(
        Document(str(number), text, tokens=() if tokens is None else (tokens.values,))
        for number, (text, tokens) in enumerate(zip(texts, shown, strict=True))
    )
    return Reading(query, documents, None if asked is None else asked.values, embedder.id)

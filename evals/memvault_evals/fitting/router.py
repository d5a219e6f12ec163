"""Fits the fusion of the router's two funnels (R-03) on labelled questions: two temperatures and an offset per intent.

By the log loss with every intent of a language weighing the same. Figures come from folds that took no part in the
fit. Rows of `xquad_zh` are also reported apart: they were not mined with question words, so the keyword funnel cannot
have been written to them.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from memvault.runtime.settings import home, load
from memvault_evals.datasets import Data
from memvault_evals.house import MODELS_VARIABLE
from memvault_router.adapters.data_files import Language, load_language
from memvault_router.domain.labels import INTENTS
from memvault_router.domain.operators.embedding import ArchetypeIndex, centred
from memvault_router.domain.operators.fusion import FusionNumbers
from memvault_router.domain.operators.keyword import votes
from memvault_search.adapters.embedder_opening import open_embedder
from memvault_search.settings import EmbedderSettings

STEMS = ("intent", "intent_memdaily")
FOLDS = 5
SEED = 20261129
OFFSET_PENALTY = 0.02  # keeps an offset near 0 where few rows speak for it
NEAREST_SHARES = (0.03, 0.05, 0.075, 0.1, 0.15)
CAPS = (3.0, 4.0, 6.0)
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """One labelled question."""

    text: str
    lang: str
    intent: int
    src: str


@dataclass(frozen=True)
class Signals:
    """What both funnels say about n rows, each (n, 6): pooled cosines by nearest share, votes uncapped."""

    cosines: dict[float, Array]
    votes: Array


def read_rows(data: Data) -> list[Row]:
    """Read the labelled questions of a folder."""
    return [
        Row(item["text"], item["lang"], INTENTS.index(item["intent"]), item["src"])
        for stem in STEMS
        if data.path(stem)
        for item in data.rows(stem)
    ]


async def read_signals(rows: Sequence[Row], language: Language, cache_folder: Path) -> Signals:
    """Run both funnels over all rows, with the packaged encoder."""
    settings = load("search.embedder", EmbedderSettings)
    settings = settings.model_copy(update={"cache_folder": str(cache_folder), "models": models_folder(settings)})
    embedder = await asyncio.to_thread(open_embedder, settings, home())
    await embedder.start()
    try:
        kept = await embedder.embed([archetype.text for archetype in language.archetypes], "query")
        asked = await embedder.embed([row.text for row in rows], "query")
    finally:
        await embedder.stop()
    mean = np.asarray(embedder.means.query, np.float32)
    index = ArchetypeIndex(embedder.id, language.archetypes, centred(kept.vectors, mean))
    vectors = centred(asked.vectors, mean)
    pooled = {share: [index.similarities(vector, share).intents for vector in vectors] for share in NEAREST_SHARES}
    found = [votes(language.lexicons, row.text).intents for row in rows]
    return Signals(
        {share: np.array([[each[name] for name in INTENTS] for each in items]) for share, items in pooled.items()},
        np.array([[each.get(name, 0.0) for name in INTENTS] for each in found]),
    )


def models_folder(settings: EmbedderSettings) -> str:
    """The folder of models that an evaluation's houses use."""
    return os.environ.get(MODELS_VARIABLE) or settings.models or str(Path.cwd() / ".cache" / "models")


def probabilities(cosines: Array, capped: Array, numbers: Array) -> Array:
    """Return (n, 6) probabilities; `numbers` is 1/T embedding, 1/T keyword, then the six offsets."""
    logits = cosines * numbers[0] + capped * numbers[1] + numbers[2:]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Array = powers / powers.sum(axis=1, keepdims=True)
    return shares


def balanced(rows: Sequence[Row]) -> Array:
    """Return row weights: every intent of a language weighs the same, and so does every language."""
    groups = [(row.lang, row.intent) for row in rows]
    counts = {group: groups.count(group) for group in set(groups)}
    weights = np.array([1.0 / counts[group] for group in groups])
    shares: Array = weights / weights.sum()
    return shares


def verdict_shares(rows: Sequence[Row], chances: Array) -> Array:
    """Return how often each intent is chosen, (6,), when every intent of both languages is asked equally often."""
    chosen = np.eye(len(INTENTS))[chances.argmax(axis=1)]
    shares: Array = balanced(rows) @ chosen
    return shares


def fit(cosines: Array, capped: Array, labels: NDArray[np.int64], weights: Array) -> Array:
    """Return the numbers with the least weighted log loss."""

    def loss(numbers: Array) -> float:
        chosen = probabilities(cosines, capped, numbers)[np.arange(len(labels)), labels]
        return float(-(weights * np.log(chosen + 1e-12)).sum() + OFFSET_PENALTY * (numbers[2:] ** 2).sum())

    start = np.concatenate([[10.0, 0.8], np.zeros(len(INTENTS))])
    bounds = [(0.5, 60.0), (0.05, 5.0), *[(-3.0, 3.0)] * len(INTENTS)]
    return np.asarray(minimize(loss, start, bounds=bounds, method="L-BFGS-B").x)


def folds_of(rows: Sequence[Row]) -> NDArray[np.int64]:
    """Return a fold number for every row, 0 to 4, spread evenly over intents and languages."""
    order = np.random.default_rng(SEED).permutation(len(rows))
    folds = np.zeros(len(rows), np.int64)
    seen: dict[tuple[str, int], int] = {}
    for place in order:
        group = (rows[place].lang, rows[place].intent)
        folds[place] = seen.get(group, 0) % FOLDS
        seen[group] = seen.get(group, 0) + 1
    return folds


def cross_validated(rows: Sequence[Row], cosines: Array, capped: Array) -> Array:
    """Return probabilities for every row from numbers fitted without its fold."""
    labels, weights, folds = np.array([row.intent for row in rows]), balanced(rows), folds_of(rows)
    out = np.zeros_like(cosines)
    for fold in range(FOLDS):
        train, test = folds != fold, folds == fold
        numbers = fit(cosines[train], capped[train], labels[train], weights[train] / weights[train].sum())
        out[test] = probabilities(cosines[test], capped[test], numbers)
    return out


def macro_f1(labels: NDArray[np.int64], guesses: NDArray[np.int64]) -> float:
    """Return the mean F1 over the intents that occur among the labels."""
    scores = []
    for intent in sorted(set(labels.tolist())):
        hit = float(((guesses == intent) & (labels == intent)).sum())
        wrong = float(((guesses == intent) != (labels == intent)).sum())
        scores.append(2 * hit / (2 * hit + wrong) if hit else 0.0)
    return float(np.mean(scores))


def calibration_error(chances: Array, labels: NDArray[np.int64], bins: int = 10) -> float:
    """Return the expected calibration error of the top confidence, 0 to 1."""
    top, right = chances.max(axis=1), chances.argmax(axis=1) == labels
    place = np.minimum((top * bins).astype(int), bins - 1)
    return float(sum(abs(right[place == b].mean() - top[place == b].mean()) * (place == b).mean() for b in set(place)))


def figures(title: str, rows: Sequence[Row], chances: Array) -> list[tuple[str, str, int, float, float, float]]:
    """Title, part, n, accuracy, macro-F1 and calibration error: by language, with the `xquad_zh` rows apart."""
    labels = np.array([row.intent for row in rows])
    parts = {
        "en": [row.lang == "en" for row in rows],
        "zh": [row.lang == "zh" for row in rows],
        "xquad_zh": [row.src == "xquad_zh" for row in rows],
    }
    told = []
    for name, chosen in parts.items():
        mask = np.array(chosen)
        if mask.any():
            guesses = chances[mask].argmax(axis=1)
            accuracy = float((guesses == labels[mask]).mean())
            error = calibration_error(chances[mask], labels[mask])
            told.append((title, name, int(mask.sum()), accuracy, macro_f1(labels[mask], guesses), error))
    return told


def log_loss(rows: Sequence[Row], chances: Array) -> float:
    """Return the balanced log loss."""
    labels = np.array([row.intent for row in rows])
    return float(-(balanced(rows) * np.log(chances[np.arange(len(rows)), labels] + 1e-12)).sum())


def as_numbers(fitted: Array, cap: float) -> FusionNumbers:
    """Return the fit in the form of the settings, offsets centred on 0."""
    offsets = fitted[2:] - fitted[2:].mean()
    return FusionNumbers(
        embedding_temperature=round(float(1 / fitted[0]), 4),
        keyword_temperature=round(float(1 / fitted[1]), 4),
        keyword_cap=cap,
        offsets={name: round(float(value), 3) for name, value in zip(INTENTS, offsets, strict=True)},
    )


@dataclass(frozen=True)
class Fitted:
    """The numbers, fitted on all rows; `figures` and `usual` verdicts are of folds that took no part."""

    numbers: FusionNumbers
    nearest_share: float
    usual: dict[str, float]
    figures: Sequence[tuple[str, str, int, float, float, float]]
    rows: int


def fit_router(data: Data, cache_folder: Path) -> Fitted | None:
    """Fit on the labelled questions of a folder; None when it holds none. Vectors are kept in `cache_folder`."""
    rows = read_rows(data)
    if not rows:
        return None
    signals = asyncio.run(read_signals(rows, load_language(), cache_folder))
    tried = {
        (share, cap): cross_validated(rows, signals.cosines[share], np.minimum(signals.votes, cap))
        for share in NEAREST_SHARES
        for cap in CAPS
    }
    share, cap = min(tried, key=lambda key: log_loss(rows, tried[key]))
    capped = np.minimum(signals.votes, cap)
    told = [
        *figures("embedding alone", rows, cross_validated(rows, signals.cosines[share], capped * 0)),
        *figures("keyword alone", rows, cross_validated(rows, signals.cosines[share] * 0, capped)),
        *figures("fused", rows, tried[share, cap]),
    ]
    labels = np.array([row.intent for row in rows])
    numbers = as_numbers(fit(signals.cosines[share], capped, labels, balanced(rows)), cap)
    verdicts = verdict_shares(rows, tried[share, cap])
    usual = {name: round(float(often), 3) for name, often in zip(INTENTS, verdicts, strict=True)}
    return Fitted(numbers, share, usual, told, len(rows))

"""Fit and measure the router's fusion (R-03) on a folder of labelled questions.

    python scripts/fit_router.py --data DIR            # cross-validate, print figures and the numbers for defaults.toml
    python scripts/fit_router.py --data DIR --as-is    # measure the numbers that defaults.toml holds now

DIR holds `intent.jsonl`, and may hold `restricted/intent_memdaily.jsonl`: lines with `text, lang, intent, src`.
Fitted are two temperatures and one offset per intent, by the log loss with every intent of a language weighing the
same. Figures come from folds that took no part in the fit. Rows of `xquad_zh` are also reported apart: they were not
mined with question words, so the keyword funnel cannot have been written to them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from memvault.runtime.settings import home, load
from memvault_router.adapters.data_files import Language, load_language
from memvault_router.domain.labels import INTENTS
from memvault_router.domain.operators.embedding import ArchetypeIndex, centred
from memvault_router.domain.operators.fusion import FusionNumbers
from memvault_router.domain.operators.keyword import votes
from memvault_router.settings import RouterSettings
from memvault_search.adapters.embedder_e5 import open_embedder
from memvault_search.settings import EmbedderSettings

FILES = ("intent.jsonl", "restricted/intent_memdaily.jsonl")
FOLDS = 5
SEED = 20261129
OFFSET_PENALTY = 0.02  # keeps an offset near 0 where few rows speak for it
POOLS = (1, 2, 3, 5, 8)
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
    """What both funnels say about n rows, each (n, 6): pooled cosines by pool size, votes uncapped, milliseconds."""

    cosines: dict[int, Array]
    votes: Array
    keyword_ms: float
    embedding_ms: float


def read_rows(folder: Path) -> list[Row]:
    """Read the labelled questions below `folder`."""
    rows = []
    for name in FILES:
        if (folder / name).is_file():
            for line in (folder / name).read_text(encoding="utf-8").splitlines():
                item = json.loads(line)
                rows.append(Row(item["text"], item["lang"], INTENTS.index(item["intent"]), item["src"]))
    return rows


async def read_signals(rows: Sequence[Row], language: Language) -> Signals:
    """Run both funnels over all rows, with the packaged encoder."""
    embedder = await asyncio.to_thread(open_embedder, load("search.embedder", EmbedderSettings), home())
    await embedder.start()
    try:
        kept = await embedder.embed([archetype.text for archetype in language.archetypes], "query")
        asked = await embedder.embed([row.text for row in rows], "query")
    finally:
        await embedder.stop()
    mean = np.asarray(embedder.means.query, np.float32)
    index = ArchetypeIndex(embedder.id, language.archetypes, centred(kept.vectors, mean))
    vectors = centred(asked.vectors, mean)
    started = time.perf_counter()
    found = [votes(language.lexicons, row.text).intents for row in rows]
    keyword_ms = (time.perf_counter() - started) * 1000 / len(rows)
    started = time.perf_counter()
    pooled = {pool: [index.similarities(vector, pool).intents for vector in vectors] for pool in POOLS}
    embedding_ms = (time.perf_counter() - started) * 1000 / len(rows) / len(POOLS)
    return Signals(
        {pool: np.array([[each[name] for name in INTENTS] for each in items]) for pool, items in pooled.items()},
        np.array([[each.get(name, 0.0) for name in INTENTS] for each in found]),
        keyword_ms,
        embedding_ms,
    )


def probabilities(cosines: Array, capped: Array, numbers: Array) -> Array:
    """Return (n, 6) probabilities; `numbers` is 1/T embedding, 1/T keyword, then the six offsets."""
    logits = cosines * numbers[0] + capped * numbers[1] + numbers[2:]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def balanced(rows: Sequence[Row]) -> Array:
    """Return row weights: every intent of a language weighs the same, and so does every language."""
    groups = [(row.lang, row.intent) for row in rows]
    counts = {group: groups.count(group) for group in set(groups)}
    weights = np.array([1.0 / counts[group] for group in groups])
    return weights / weights.sum()


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


def report(title: str, rows: Sequence[Row], chances: Array) -> None:
    """Print accuracy, macro-F1 and calibration, by language, with the `xquad_zh` rows apart."""
    labels = np.array([row.intent for row in rows])
    parts = {
        "en": [row.lang == "en" for row in rows],
        "zh": [row.lang == "zh" for row in rows],
        "zh without xquad": [row.lang == "zh" and row.src != "xquad_zh" for row in rows],
        "xquad_zh": [row.src == "xquad_zh" for row in rows],
    }
    print(title)
    for name, chosen in parts.items():
        mask = np.array(chosen)
        if mask.any():
            guesses = chances[mask].argmax(axis=1)
            print(
                f"  {name:17} n {mask.sum():3}  accuracy {(guesses == labels[mask]).mean():.3f}"
                f"  macro-F1 {macro_f1(labels[mask], guesses):.3f}"
                f"  calibration error {calibration_error(chances[mask], labels[mask]):.3f}"
            )


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


def measure_as_is(rows: Sequence[Row], signals: Signals) -> None:
    """Report what the numbers in defaults.toml give."""
    settings = load("router", RouterSettings, profile="tuned")
    numbers = settings.intent_fusion
    flat = np.array(
        [1 / numbers.embedding_temperature, 1 / numbers.keyword_temperature]
        + [numbers.offsets.get(name, 0.0) for name in INTENTS]
    )
    capped = np.minimum(signals.votes, numbers.keyword_cap)
    cosines = signals.cosines[settings.pool]
    report("keyword alone", rows, probabilities(cosines * 0, capped, flat * np.array([0, 1] + [0] * 6)))
    report("embedding alone", rows, probabilities(cosines, capped * 0, flat))
    report("fused, numbers as they stand", rows, probabilities(cosines, capped, flat))


def main() -> None:
    """Read, fit, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with intent.jsonl")
    parser.add_argument("--as-is", action="store_true", help="measure the numbers in defaults.toml, fit nothing")
    parser.add_argument("--errors", action="store_true", help="also print the rows that come out wrong")
    arguments = parser.parse_args()
    rows = read_rows(arguments.data)
    signals = asyncio.run(read_signals(rows, load_language()))
    print(f"{len(rows)} rows; keyword {signals.keyword_ms:.3f} ms, comparing {signals.embedding_ms:.3f} ms a question")
    if arguments.as_is:
        measure_as_is(rows, signals)
        return
    tried = {
        (pool, cap): cross_validated(rows, signals.cosines[pool], np.minimum(signals.votes, cap))
        for pool in POOLS
        for cap in CAPS
    }
    for (pool, cap), chances in tried.items():
        print(f"pool {pool} cap {cap}: balanced log loss {log_loss(rows, chances):.4f}")
    pool, cap = min(tried, key=lambda key: log_loss(rows, tried[key]))
    capped = np.minimum(signals.votes, cap)
    report("embedding alone, cross-validated", rows, cross_validated(rows, signals.cosines[pool], capped * 0))
    report("keyword alone, cross-validated", rows, cross_validated(rows, signals.cosines[pool] * 0, capped))
    report(f"fused, cross-validated (pool {pool}, cap {cap})", rows, tried[pool, cap])
    labels = np.array([row.intent for row in rows])
    numbers = as_numbers(fit(signals.cosines[pool], capped, labels, balanced(rows)), cap)
    print(f"for defaults.toml, fitted on all rows: pool = {pool}; {numbers}")
    if arguments.errors:
        for row, chances in zip(rows, tried[pool, cap], strict=True):
            if chances.argmax() != row.intent:
                guess = f"{INTENTS[row.intent]:14} -> {INTENTS[chances.argmax()]:14} {chances.max():.2f}"
                print(f"{guess} {row.lang} {row.src}: {row.text}")


if __name__ == "__main__":
    main()

"""A ranker that looks at no text: what the one said whose words the question is after (R-10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memvault_search.domain.fusion import Ranking, of_part, part_of
from memvault_search.domain.speakers import PersonWords, asked_speaker
from memvault_search.domain.vault import Vault
from memvault_search.usecases.asking import Question
from memvault_search.usecases.rankers import side_of

SPEAKER = "speaker"


def with_speaker(
    rankings: Sequence[Ranking],
    question: Question,
    vault: Vault,
    weights: Mapping[str, float],
    persons: PersonWords,
    *,
    off: frozenset[str],
    later: bool,
) -> list[Ranking]:
    """Add a list of what the asked speaker said, among what other rankers found; all of it has the same score.

    A list that holds everything tells nothing apart and is left out, unless blocks come `later`: then the rankings of
    the first search decide (R-14). Every part of a question has a list of its own.
    """
    weight = weights.get(SPEAKER, 0.0)
    if not weight or question.bare or f"ranker:{SPEAKER}" in off:
        return list(rankings)
    lists: list[Ranking] = []
    for number, part in enumerate(question.asked, 1 if question.parts else 0):
        who = asked_speaker(part.text, vault.speakers, persons)
        if who is None:
            continue
        found = sorted({one for ranking in rankings if part_of(ranking.name) in (0, number) for one in ranking.ids})
        said = tuple(one for one in found if _speaker(one, vault) == who)
        if not said or (len(said) == len(found) and not later):
            continue
        name, scores = of_part(SPEAKER, number), np.ones(len(said))
        lists.append(Ranking(name, side_of(name), said, scores, limit=len(said), weight=weight))
    return [*rankings, *lists]


def _speaker(block_id: str, vault: Vault) -> str:
    stored = vault.get(block_id)
    return "" if stored is None else stored.block.speaker

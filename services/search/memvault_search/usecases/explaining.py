"""Why a candidate stands where it stands: its place in every ranker and every stage's factor (R-13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memvault_search.domain.fusion import ABSENT, Fused
from memvault_search.domain.scoring.pipeline import Scored
from memvault_search.domain.scoring.stages.recency_boost import RecencyBoost
from memvault_search.domain.scoring.state import NOT_DROPPED
from memvault_search.domain.vault import Vault
from memvault_search.usecases.asking import Hit, Place, StageEffect, Why
from memvault_search.usecases.finishing import Ordered, Shown
from memvault_search.usecases.rankers import Best

_RECORDED = "no event time: by when it was recorded"


@dataclass(frozen=True, eq=False)
class Explaining:
    """All that happened in one search; row = candidate, in the order of `scored.candidates`."""

    vault: Vault
    fused: Fused
    scores: Mapping[str, Mapping[str, float]]
    scored: Scored
    ordered: Ordered
    shown: Shown
    best: Best

    def hit(self, row: int, final: float, *, why: bool) -> Hit:
        """The candidate of a row as a hit, with its reasons on request."""
        block_id = self.scored.candidates.ids[row]
        stored = self.vault.at(self.best.rows[block_id])
        text = self.shown.texts[row]
        return Hit(
            stored=stored,
            score=final,
            highlight="" if len(stored.passages) == 1 else text.strip(),
            similarity=float(self.shown.similarity[row]),
            why=self._why(row, block_id) if why else None,
        )

    def _why(self, row: int, block_id: str) -> Why:
        dropped = int(self.scored.dropped_by[row])
        block = self.vault.at(self.best.rows[block_id]).block
        notes = {RecencyBoost.name: _RECORDED} if block.event_time is None and block.known_at is not None else {}
        stages = tuple(
            StageEffect(name, float(factor), dropped == NOT_DROPPED or dropped != column, notes.get(name, ""))
            for column, (name, factor) in enumerate(zip(self.scored.names, self.scored.factors[:, row], strict=True))
        )
        return Why(
            places=self._places(row, block_id),
            fused=float(self.fused.score[row]),
            base=float(self.fused.base[row]),
            stages=stages,
            scoring=float(self.scored.score[row]),
            scoring_rank=self._scoring_ranks.get(row, 0),
            rerank=self.ordered.rerank.get(row),
            similarity=float(self.shown.similarity[row]),
        )

    @cached_property
    def _scoring_ranks(self) -> dict[int, int]:
        return {int(row): rank for rank, row in enumerate(self.scored.order, start=1)}

    def _places(self, row: int, block_id: str) -> tuple[Place, ...]:
        places: list[Place] = []
        for column, ranker in enumerate(self.fused.rankers):
            rank = int(self.fused.ranks[row, column])
            if rank == ABSENT:
                continue
            score = self.scores.get(ranker, {}).get(block_id, np.nan)
            places.append(Place(ranker, rank, float(score), float(self.fused.votes[row, column])))
        return tuple(places)

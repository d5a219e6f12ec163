"""R-09: from what is asked to how to look for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memvault.ops import changed
from memvault_router.domain.labels import FACETS, INTENTS, Distribution, Facet, Funnel, one_hot, ordered, top
from memvault_router.domain.state import Plan, Question
from memvault_router.domain.time.span import TimeExpression

FAST, SLOW = "fast", "slow"
LAYERS: Mapping[str, tuple[str, ...]] = {
    "LOCAL": ("triples",),
    "GLOBAL": ("communities", "summaries"),
    "HYBRID": ("triples", "communities", "summaries"),
}
BLOCKS = "blocks"
STAYS_FAST = frozenset({Facet.PROGRESS, Facet.RECOLLECTION, Facet.DEFINITION})
BY_CONVERSATION = "conversation"


@dataclass(frozen=True)
class Route:
    """Row of the table: `mode` is LOCAL, GLOBAL or HYBRID, `thinking` fast or slow."""

    mode: str
    thinking: str


def plan(intent: str, facet: str, runner_up: str, routes: Mapping[str, Route], thinking_mode: str = "") -> Plan:
    """Return the plan for an intent as its facet refines it.

    Args:
        intent: The chosen intent.
        facet: The chosen facet.
        runner_up: The second most probable intent, for the self-check's second try.
        routes: The table of R-09, one row per intent.
        thinking_mode: Forced mode; empty: choose.
    """
    route = routes[intent]
    mode, thinking = route.mode, route.thinking
    if facet == Facet.ADVICE:
        mode, thinking = "HYBRID", SLOW
    elif facet in STAYS_FAST:
        thinking = FAST
    thinking = thinking_mode or thinking
    return Plan(
        retrieval_mode=mode,
        thinking_mode=thinking,
        layers=(BLOCKS, *LAYERS[mode]) if thinking == SLOW else (BLOCKS,),
        scoring_profile=intent if facet == Facet.NONE else f"{intent}+{facet}",
        grouping=BY_CONVERSATION if facet == Facet.RECOLLECTION else "",
        runner_up=runner_up,
    )


@dataclass(frozen=True)
class Planner:
    """Choose intent, facet and route; forced outcomes win over classified ones."""

    routes: Mapping[str, Route]
    name: str = "plan"

    def __call__(self, state: Question) -> Question:
        """Fill `intent`, `confidence`, `facet`, `plan`; stretch the range where the facet asks for what came since."""
        forced = state.overrides
        intents = one_hot(forced.intent, INTENTS) if forced.intent else state.intents
        facets = one_hot(forced.facet, FACETS) if forced.facet else state.facets
        intent, confidence = top(intents)
        facet, _ = top(facets)
        time = until_now(state.time, state.now) if state.time and facet == Facet.PROGRESS else state.time
        return changed(
            state,
            intents=intents,
            facets=facets,
            funnel=Funnel.OVERRIDE if forced.intent else state.funnel,
            intent=intent,
            confidence=confidence,
            facet=facet,
            time=time,
            plan=plan(intent, facet, _runner_up(state.intents, intent), self.routes, forced.thinking_mode),
        )


def until_now(found: TimeExpression, now: datetime) -> TimeExpression:
    """Stretch the range of a progress question up to now: "how far is last week's X" wants what happened since.

    A definite range filters then, even where it only told which thing is meant: its progress cannot be older.
    """
    if not found.definite or found.start is None or found.end is None or found.end > now:
        return found
    return replace(found, end=now, explicit=True)


def _runner_up(distribution: Distribution, chosen: str) -> str:
    return next(label for label, _ in ordered(distribution) if label != chosen)

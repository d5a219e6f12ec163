"""Graphs small enough to reason about."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from memvault_cascade.adapters.extractive import ExtractiveWriter
from memvault_cascade.adapters.leiden_igraph import IgraphLeiden
from memvault_cascade.adapters.memory import MemoryStore, StoppedClock, Told, WordVectors
from memvault_cascade.app import load_rules
from memvault_cascade.domain.graph.communities import CommunityLimits
from memvault_cascade.domain.graph.linking import LinkLimits
from memvault_cascade.domain.graph.matrix import EdgeWeights
from memvault_cascade.domain.graph.overview import FitNumbers
from memvault_cascade.domain.graph.ppr import SeedWeights, WalkLimits
from memvault_cascade.domain.graph.summaries import SummaryLimits
from memvault_cascade.domain.graph.walk import PathCosts
from memvault_cascade.usecases.dream import Dream, DreamLimits
from memvault_cascade.usecases.garden import Garden, GardenLimits, GardenParts
from memvault_cascade.usecases.graphs import CacheLimits, Graphs
from memvault_cascade.usecases.ingest import IncomingBlock, Ingest, IngestLimits, Parts
from memvault_cascade.usecases.read import Read
from memvault_cascade.usecases.walk import Walk, WalkNumbers

NOW = datetime(2026, 3, 20, 9, 0, tzinfo=UTC)
USER = "alice"


@pytest.fixture(scope="session")
def rules():
    return load_rules()


def numbers(damping=0.85):
    return WalkNumbers(
        WalkLimits(damping=damping), SeedWeights(), PathCosts(), FitNumbers(), EdgeWeights(), SummaryLimits()
    )


async def until(condition, timeout_s=10):
    """Wait until an async condition is true, and return its value."""
    async with asyncio.timeout(timeout_s):
        while not (value := await condition()):  # noqa: ASYNC110 - the background work has no event for tests
            await asyncio.sleep(0.02)
    return value


class House:
    """The use cases on ports in memory."""

    def __init__(self, rules, store=None, vectors=None):
        self.store = store or MemoryStore()
        self.vectors = vectors or WordVectors()
        self.told = Told()
        self.clock = StoppedClock(NOW)
        self.failures = []
        self.graphs = Graphs(self.store, self.clock, EdgeWeights(), LinkLimits(), CacheLimits())
        self.garden = Garden(
            GardenParts(
                self.graphs,
                self.vectors,
                self.told,
                IgraphLeiden(resolution=1.0, seed=7),
                ExtractiveWriter(SummaryLimits()),
                GardenLimits(quiet_s=0.01, longest_s=0.05),
                CommunityLimits(),
                SummaryLimits(),
                WalkLimits(),
            ),
            lambda user, error: self.failures.append((user, error)),
        )
        self.ingest = Ingest(
            Parts(self.graphs, self.store, self.vectors, self.told, rules, IngestLimits(), self.garden.changed)
        )
        self.walk = Walk(
            self.graphs, self.store, self.vectors, self.clock, {"reference": numbers(), "tuned": numbers(0.5)}, "tuned"
        )
        self.read = Read(self.graphs)
        self.dream = Dream(self.graphs, self.garden, self.ingest, self.told, self.clock, "extractive", DreamLimits())


@pytest.fixture
def house(rules):
    return House(rules)


def a_block(identity, text, *, days_ago=1.0, facts=(), version=1, user=USER, **more):
    values = {
        "title": "",
        "speaker": "",
        "confidence": 0.9,
        "quarantined": False,
        "superseded_by": "",
        **more,
    }
    return IncomingBlock(
        user_id=user,
        id=identity,
        text=text,
        stated_at=NOW - timedelta(days=days_ago),
        version=version,
        facts=tuple(facts),
        **values,
    )

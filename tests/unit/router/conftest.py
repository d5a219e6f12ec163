"""Stand-ins for what the router needs of the world."""

import asyncio
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from memvault.faults import Fault, Reason
from memvault.runtime.settings import load
from memvault_router.adapters.data_files import load_language
from memvault_router.adapters.memory import MemoryArchetypes, MemoryPrepared, MemoryProfiles, MemoryThreshold
from memvault_router.app import build_pipeline
from memvault_router.ports import Encoded, EncoderFacts, TokenBlock
from memvault_router.settings import RouterSettings
from memvault_router.usecases.archetypes import ArchetypeShelf
from memvault_router.usecases.asked import Asked
from memvault_router.usecases.classify import ClassifyQuestion, Parts
from memvault_router.usecases.prepared import PreparedLookup
from memvault_router.usecases.profile import AttentionProfile

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DIMENSION = 32
UNAVAILABLE = Fault(Reason.SERVICE_UNAVAILABLE, "nobody answers")
STORE_GONE = Fault(Reason.STORE_UNAVAILABLE, "no store")


class FixedClock:
    """Stands still."""

    def __init__(self, now=NOW):
        self.instant = now

    def now(self):
        return self.instant


class HashEncoder:
    """A vector per text, the same for the same text; counts its calls and can be away."""

    def __init__(self):
        self.id = "hash-1"
        self.mean = np.zeros(DIMENSION, np.float32)
        self.away = False
        self.gate = None  # an event to wait for before anything is encoded
        self.asked = asyncio.Event()
        self.encoded = []
        self.same = {}  # text -> the vector it is to get

    async def describe(self):
        if self.away:
            raise UNAVAILABLE
        return EncoderFacts(self.id, self.mean)

    async def encode(self, texts, kind, *, token_vectors=False):
        if self.away:
            raise UNAVAILABLE
        self.asked.set()
        if self.gate is not None:
            await self.gate.wait()
        self.encoded.extend((kind, text) for text in texts)
        rows = np.stack([self.same.get(text, _vector(text)) for text in texts])
        block = TokenBlock(b"\x01" * DIMENSION, 1, DIMENSION) if token_vectors else None
        return Encoded(rows, (block,) * len(texts), self.id)


def _vector(text):
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")
    row = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return row / np.linalg.norm(row)


class Announced:
    """Keeps what was announced, or refuses, or takes its time."""

    def __init__(self):
        self.facts = []
        self.fault = None
        self.gate = None

    async def classified(self, fact):
        if self.gate is not None:
            await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        self.facts.append(fact)


class ScriptedJudge:
    """Says what it was told to say."""

    def __init__(self, verdict):
        self.verdict = verdict
        self.asked = []

    async def judge(self, query, said, timeout_s):
        self.asked.append((query, timeout_s))
        if isinstance(self.verdict, Exception):
            raise self.verdict
        return self.verdict


class Broken:
    """A store of which every method fails."""

    def __getattr__(self, name):
        async def fail(*args, **kwargs):
            raise STORE_GONE

        return fail


class Counts:
    def __init__(self):
        self.names = []

    def count(self, name, **attributes):
        self.names.append((name, attributes))


@dataclass
class Desk:
    """A router in memory with everything at hand."""

    settings: RouterSettings
    encoder: HashEncoder = field(default_factory=HashEncoder)
    announced: Announced = field(default_factory=Announced)
    profiles: object = field(default_factory=MemoryProfiles)
    threshold: object = field(default_factory=MemoryThreshold)
    prepared: object = field(default_factory=MemoryPrepared)
    archetypes: object = field(default_factory=MemoryArchetypes)
    clock: FixedClock = field(default_factory=FixedClock)
    counts: Counts = field(default_factory=Counts)
    judge: object = None

    def broken(self):
        return Broken()

    def scripted(self, verdict):
        return ScriptedJudge(verdict)

    def build(self):
        language = load_language()
        self.shelf = ArchetypeShelf(
            language.archetypes, language.passages, self.encoder, self.archetypes, self.settings.waits
        )
        self.profile = AttentionProfile(self.profiles, self.settings)
        parts = Parts(
            clock=self.clock,
            encoder=self.encoder,
            shelf=self.shelf,
            lookup=PreparedLookup(self.prepared, language.time_words, "rules-1"),
            profile=self.profile,
            memory=self.threshold,
            announcer=self.announced,
            judge=self.judge,
            observer=self.counts,
        )
        numbers = {"tuned": self.settings, "reference": self.settings}
        pipelines = {name: build_pipeline(language, each) for name, each in numbers.items()}
        return ClassifyQuestion(parts, pipelines, numbers)

    async def ask(self, query, **known):
        classify = self.build()
        await self.shelf.start()
        try:
            answered = await classify(Asked("ann", query, ZoneInfo("Asia/Taipei"), **known))
            await asyncio.wait_for(classify.settle(), 5)
        finally:
            await self.shelf.stop()
        return answered


@pytest.fixture(scope="session")
def settings():
    found = load("router", RouterSettings, profile="tuned", home=Path("/nonexistent"), environ={})
    waits = found.waits.model_copy(update={"warm_up_s": 0.2, "warm_up_retry_s": 0.05})
    return found.model_copy(update={"waits": waits})


@pytest.fixture
def desk(settings):
    return Desk(settings)

"""A slow thinker over memory, with a world that can be told what to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import pytest

from memvault.faults import Fault, Reason
from memvault.runtime.settings import load
from memvault.text import search_tokens
from memvault_slow_thinker.adapters.lexicon_file import load_lexicon
from memvault_slow_thinker.adapters.memory import MemoryConversations, MemoryFigures, MemoryPreparedAnswers
from memvault_slow_thinker.domain.conversation import Place, Utterance
from memvault_slow_thinker.domain.pipeline import build_pipeline
from memvault_slow_thinker.domain.prediction import Draft, Linked
from memvault_slow_thinker.ports import Announcement, Encoded, Fetched, Reporting
from memvault_slow_thinker.settings import FetchSettings, Settings
from memvault_slow_thinker.usecases.fetch import SpeculativeFetcher
from memvault_slow_thinker.usecases.keep import Keep
from memvault_slow_thinker.usecases.listen import Heard, Listen, Outcome, Sources

NOW = 1_790_000_000.0


class StillClock:
    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)


class WordEncoder:
    """Texts that share words are similar, above all those of a topic; each word has a direction of its own."""

    TOPICS = frozenset({"ocr", "小美", "报表", "下雨"})

    def __init__(self) -> None:
        self.down = False
        self._axes: dict[str, int] = {}

    async def encode(self, texts: Sequence[str], *, kind: str, timeout_s: float) -> Encoded:
        if self.down:
            raise Fault(Reason.SERVICE_UNAVAILABLE, "no encoder")
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in enumerate(texts):
            for token in search_tokens(text):
                vectors[row, self._axes.setdefault(token, len(self._axes))] += 4.0 if token in self.TOPICS else 1.0
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return Encoded(vectors, vectors, "words")


@dataclass
class ToldGraph:
    entities: tuple[Linked, ...] = ()
    down: bool = False

    async def linked(self, user_id: str, text: str, *, neighbours: int, timeout_s: float) -> tuple[Linked, ...]:
        if self.down:
            raise Fault(Reason.SERVICE_UNAVAILABLE, "no graph")
        return tuple(entity for entity in self.entities if entity.name in text)


@dataclass
class ToldRecalls:
    answers: dict[str, Fetched] = field(default_factory=dict)
    asked: list[tuple[Place, str]] = field(default_factory=list)
    asked_for: list[float] = field(default_factory=list)
    down: bool = False

    async def recall(self, place: Place, question: str, *, now: float, timeout_s: float) -> Fetched:
        self.asked.append((place, question))
        self.asked_for.append(now)
        if self.down:
            raise Fault(Reason.SEARCH_UNAVAILABLE, "no search")
        return self.answers.get(question, fetched())


@dataclass
class Heralds:
    announced: list[Announcement] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    erased: list[int] = field(default_factory=list)

    async def announce(self, announcement: Announcement) -> None:
        self.announced.append(announcement)

    def left_out(self, part: str, reason: str) -> None:
        self.notes.append((part, reason))

    async def erase(self, user_id: str, sequences: Sequence[int]) -> int:
        self.erased += sequences
        return len(sequences)


@dataclass
class ToldWriter:
    drafts: tuple[Draft, ...] = ()
    down: bool = False

    async def write(self, sample: Sequence[Utterance], *, count: int, timeout_s: float) -> tuple[Draft, ...]:
        if self.down:
            raise Fault(Reason.DEADLINE_EXCEEDED, "too slow")
        return self.drafts


def fetched(*block_ids: str, cards: int = 2, confidence: str = "high", degraded: str = "") -> Fetched:
    return Fetched(
        answer=b"",
        block_ids=frozenset(block_ids or ("b1", "b2")),
        cards=cards,
        confidence=confidence,
        degraded=frozenset({degraded} if degraded else ()),
        write_version=7,
        took_ms=80.0,
    )


class World:
    def __init__(self, writer: ToldWriter | None = None, fetching: FetchSettings | None = None) -> None:
        self.settings = load("slow_thinker", Settings, profile="reference", environ={})
        self.clock = StillClock()
        self.conversations = MemoryConversations(self.settings.window)
        self.prepared = MemoryPreparedAnswers()
        self.figures = MemoryFigures()
        self.encoder, self.graph, self.recalls, self.heralds = WordEncoder(), ToldGraph(), ToldRecalls(), Heralds()
        reporting = Reporting(self.figures, self.heralds, self.heralds)
        self.fetcher = SpeculativeFetcher(
            self.recalls, self.prepared, reporting, clock=self.clock, settings=fetching or self.settings.fetch
        )
        self.listen = Listen(
            self.conversations,
            Sources(self.encoder, self.graph, writer),
            self.fetcher,
            build_pipeline(load_lexicon()),
            reporting=reporting,
            clock=self.clock,
            settings=self.settings,
        )
        self.keep = Keep(self.conversations, self.prepared, self.figures, self.heralds, clock=self.clock)
        self.said = 0

    async def known(self, conversations: int = 10, user: str = "ann") -> None:
        for number in range(conversations):
            await self.keep.block_indexed(user, f"old{number}", f"c{number}", changed=True, told_at=self.clock.at)

    async def say(
        self, *texts: str, user: str = "ann", conversation: str = "c0", gap: float = 10.0, late: float = 0.0
    ) -> Outcome:
        outcome = Outcome("unsaid")
        for text in texts:
            self.said += 1
            self.clock.at += gap
            utterance = Utterance(f"e{self.said}", "user", text, self.clock.at - late)
            heard = Heard(Place(user, conversation), utterance, self.clock.at - late, self.said)
            outcome = await self.listen(heard)
        await self.fetcher.idle()
        return outcome


@pytest.fixture
def world() -> World:
    return World()

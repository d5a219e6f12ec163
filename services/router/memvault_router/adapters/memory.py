"""Twins of the stores in memory, for tests; held to the same contract suite as Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from memvault.prefetch_key import unpack_index_value
from memvault_router.adapters.prefetch_entry import parse_entry
from memvault_router.domain.prefetch import Prepared
from memvault_router.domain.profile import Interest, WindowCounts
from memvault_router.domain.state import Vector
from memvault_router.domain.threshold import ThresholdNumbers, after_verdict
from memvault_router.ports import Classified, Counted


class MemoryProfiles:
    """`Profiles` in dictionaries."""

    def __init__(self) -> None:
        self._questions: dict[str, dict[str, Classified]] = {}
        self._interests: dict[str, dict[str, float]] = {}
        self._seen: dict[str, set[str]] = {}
        self._topics: dict[str, dict[str, tuple[str, ...]]] = {}
        self._gone: dict[str, dict[str, datetime]] = {}
        self._erased: dict[str, datetime] = {}

    async def record(self, event_id: str, classified: Classified) -> bool:
        """Count a question once."""
        if await self.erased_since(classified.user_id, classified.asked_at):
            return False
        return self._count(event_id, classified)

    def _count(self, event_id: str, classified: Classified) -> bool:
        known = self._questions.setdefault(classified.user_id, {})
        if event_id in known:
            return False
        known[event_id] = classified
        return True

    async def counts(self, user_id: str, starts: Sequence[datetime], now: datetime) -> list[WindowCounts]:
        """Count what lies within each window."""
        return [self._window(user_id, start, now) for start in starts]

    def _window(self, user_id: str, start: datetime, now: datetime) -> WindowCounts:
        intents: dict[str, int] = {}
        facets: dict[str, int] = {}
        for fact in self._questions.get(user_id, {}).values():
            if start <= fact.asked_at <= now:
                intents[fact.intent] = intents.get(fact.intent, 0) + 1
                facets[fact.facet] = facets.get(fact.facet, 0) + 1
        return WindowCounts(intents, facets)

    async def add_interests(
        self,
        user_id: str,
        event_id: str,
        grown: Mapping[str, float],
        keep: int,
        at: datetime,
        *,
        recall_id: str = "",
    ) -> bool:
        """Add weights once."""
        left = self._left(user_id, list(grown), at)
        if recall_id:
            about = await self.topics_of(user_id, recall_id)
            left = [name for name in left if name in about]
        seen = self._seen.setdefault(user_id, set())
        if not left or event_id in seen:
            return False
        seen.add(event_id)
        known = self._interests.setdefault(user_id, {})
        for name in left:
            known[name] = known.get(name, 0.0) + grown[name]
        kept = sorted(((weight, name) for name, weight in known.items() if weight > 0), reverse=True)[:keep]
        self._interests[user_id] = {name: weight for weight, name in kept}
        return True

    def _left(self, user_id: str, topics: Sequence[str], at: datetime) -> list[str]:
        if user_id in self._erased and self._erased[user_id] >= at:
            return []
        gone = self._gone.get(user_id, {})
        return [name for name in topics if name not in gone or gone[name] < at]

    async def remember_topics(self, user_id: str, recall_id: str, topics: Sequence[str], at: datetime) -> None:
        """Keep topics."""
        left = self._left(user_id, topics, at)
        if left:
            self._topics.setdefault(user_id, {})[recall_id] = tuple(left)

    async def topics_of(self, user_id: str, recall_id: str) -> Sequence[str]:
        """Return kept topics."""
        return self._topics.get(user_id, {}).get(recall_id, ())

    async def interests(self, user_id: str, growth_now: float, limit: int) -> list[Interest]:
        """Return the largest interests."""
        known = self._interests.get(user_id, {})
        ranked = sorted(known.items(), key=lambda item: (item[1], item[0]), reverse=True)[:limit]
        return [Interest(name, weight / growth_now) for name, weight in ranked]

    async def questions(self, user_id: str) -> list[Counted]:
        """Return the questions."""
        known = self._questions.get(user_id, {})
        counted = [Counted(key, one.intent, one.facet, one.asked_at) for key, one in known.items()]
        return sorted(counted, key=lambda one: (one.asked_at, one.id))

    async def restore(
        self, user_id: str, questions: Sequence[Counted], interests: Mapping[str, float], keep: int
    ) -> tuple[int, int]:
        """Add what is new."""
        come = [
            self._count(one.id, Classified(user_id, one.intent, one.facet, 1.0, one.asked_at, "")) for one in questions
        ]
        known = self._interests.setdefault(user_id, {})
        larger = {name: weight for name, weight in interests.items() if weight > known.get(name, 0.0)}
        known.update(larger)
        ranked = sorted(((weight, name) for name, weight in known.items()), reverse=True)[:keep]
        self._interests[user_id] = {name: weight for weight, name in ranked}
        return sum(come), len(larger)

    async def forget_topics(self, user_id: str, topics: Sequence[str], at: datetime) -> None:
        """Remove topics."""
        gone = set(topics)
        known, told = self._interests.get(user_id, {}), self._topics.get(user_id, {})
        self._interests[user_id] = {name: weight for name, weight in known.items() if name not in gone}
        left = {recall: tuple(name for name in names if name not in gone) for recall, names in told.items()}
        self._topics[user_id] = left
        self._gone.setdefault(user_id, {}).update(dict.fromkeys(gone, at))

    async def erase(self, user_id: str, at: datetime) -> bool:
        """Remove everything of a user."""
        self._erased[user_id] = max(at, self._erased.get(user_id, at))
        stores: tuple[dict[str, object], ...] = (
            self._questions,  # type: ignore[assignment]
            self._interests,
            self._seen,
            self._topics,
            self._gone,
        )
        return any(list(map(bool, [store.pop(user_id, None) for store in stores])))

    async def erased_since(self, user_id: str, at: datetime) -> bool:
        """Compare with the last time."""
        return user_id in self._erased and self._erased[user_id] >= at

    async def expire(self, user_id: str, before: datetime) -> int:
        """Remove old questions."""
        removed = 0
        for user in [user_id] if user_id else list(self._questions):
            known = self._questions.get(user, {})
            kept = {key: fact for key, fact in known.items() if fact.asked_at >= before}
            removed += len(known) - len(kept)
            self._questions[user] = kept
        return removed


class MemoryThreshold:
    """`ThresholdMemory` in a variable."""

    def __init__(self) -> None:
        self._rate: float | None = None

    async def overruled_rate(self, start: float) -> float:
        """Return the rate."""
        return start if self._rate is None else self._rate

    async def verdict(self, *, overruled: bool, start: float, rate: float) -> float:
        """Move the rate."""
        numbers = ThresholdNumbers(start=0.0, floor=0.0, ceiling=1.0, rate=rate)
        self._rate = after_verdict(await self.overruled_rate(start), numbers, overruled=overruled)
        return self._rate


class MemoryArchetypes:
    """`ArchetypeCache` in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Vector] = {}

    async def load(self, encoder_id: str, content_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors that are kept."""
        return {key: self._kept[encoder_id, key] for key in content_hashes if (encoder_id, key) in self._kept}

    async def keep(self, encoder_id: str, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors."""
        self._kept.update({(encoder_id, key): np.asarray(vector, np.float32) for key, vector in vectors.items()})


class MemoryPrepared:
    """`PreparedAnswers` in dictionaries; tests `put` what the slow thinker would write."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], bytes] = {}
        self._index: dict[str, dict[str, bytes]] = {}

    def put(self, user_id: str, query_hash: str, entry: bytes, index_value: bytes) -> None:
        """Store an entry and its place in the index."""
        self._entries[user_id, query_hash] = entry
        self._index.setdefault(user_id, {})[query_hash] = index_value

    async def exact(self, user_id: str, query_hash: str) -> Prepared | None:
        """Return one entry."""
        found = self._entries.get((user_id, query_hash))
        return parse_entry(found, user_id) if found is not None else None

    async def index(self, user_id: str, now: datetime) -> Mapping[str, Vector]:
        """Return the live entries' hashes and vectors."""
        unpacked = {key: unpack_index_value(value) for key, value in self._index.get(user_id, {}).items()}
        return {
            key: np.asarray(vector, np.float32)
            for key, (expires_at, vector) in unpacked.items()
            if expires_at > now.timestamp()
        }

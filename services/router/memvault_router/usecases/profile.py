"""R-06: the attention profile is learned from events, read, and erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from memvault_router.domain.labels import FACETS, INTENTS
from memvault_router.domain.profile import Interest, frequencies, growth, window_starts
from memvault_router.domain.state import Frequencies
from memvault_router.ports import Classified, Counted, Profiles
from memvault_router.settings import RouterSettings

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
"""Where forward decay begins; a fixed date, so that replicas agree."""

_NO_INTERESTS = frozenset({"near_copy"})
"""Labels that search gives by itself (R-60a): they tell of a memory's place among the others, not what it is about."""


@dataclass(frozen=True)
class ProfileView:
    """What is known about a user."""

    frequencies: Frequencies
    interests: tuple[Interest, ...]


@dataclass(frozen=True)
class WholeProfile:
    """All that a profile is made of; the weights of `interests` are forward-decayed, as of `EPOCH`."""

    questions: tuple[Counted, ...]
    interests: tuple[Interest, ...]


class AttentionProfile:
    """Learns and reads attention profiles."""

    def __init__(self, store: Profiles, settings: RouterSettings) -> None:
        self._store = store
        self._settings = settings

    async def learn_intent(self, event_id: str, fact: Classified, now: datetime) -> bool:
        """Count a classified question; False when it was known, too old, erased since, or no label of ours.

        Raises:
            Fault: STORE_UNAVAILABLE; the event is to be delivered again.
        """
        longest = max(window.days for window in self._settings.windows)
        if fact.intent not in INTENTS or fact.facet not in FACETS or fact.asked_at < now - timedelta(days=longest):
            return False
        return await self._store.record(event_id, fact)

    async def learn_access(
        self, event_id: str, user_id: str, recall_id: str, topics: Sequence[str], kind: str, at: datetime
    ) -> bool:
        """Let the topics of delivered, expanded or dwelled-on cards grow; False when there is nothing new to learn."""
        names, numbers = _interesting(topics), self._settings.interests
        if not names:
            return False
        if recall_id:
            await self._store.remember_topics(user_id, recall_id, names, at)
        return await self._store.add_interests(
            user_id, event_id, self._grown(names, numbers.weight(kind), at), numbers.keep, at
        )

    async def learn_feedback(self, event_id: str, user_id: str, recall_id: str, verdict: str, at: datetime) -> bool:
        """Let the topics of a judged recall grow or shrink; False when nothing is remembered of it."""
        names = await self._store.topics_of(user_id, recall_id) if recall_id else ()
        if not names:
            return False
        numbers = self._settings.interests
        grown = self._grown(names, numbers.liked if verdict == "up" else -numbers.disliked, at)
        return await self._store.add_interests(user_id, event_id, grown, numbers.keep, at, recall_id=recall_id)

    def _grown(self, names: Sequence[str], weight: float, at: datetime) -> dict[str, float]:
        return dict.fromkeys(names, growth(at, EPOCH, self._settings.interests.half_life_days) * weight)

    async def read_frequencies(self, user_id: str, now: datetime) -> Frequencies:
        """Return what the personal prior reads."""
        windows = self._settings.windows
        return frequencies(await self._store.counts(user_id, window_starts(now, windows), now), windows)

    async def read(self, user_id: str, now: datetime) -> ProfileView:
        """Return everything that is known about a user."""
        numbers = self._settings.interests
        known = await self._store.interests(user_id, growth(now, EPOCH, numbers.half_life_days), numbers.keep)
        return ProfileView(await self.read_frequencies(user_id, now), _without_labels(known))

    async def whole(self, user_id: str) -> WholeProfile:
        """Return all that the profile is made of, to take it along."""
        known = await self._store.interests(user_id, 1.0, self._settings.interests.keep)
        return WholeProfile(tuple(await self._store.questions(user_id)), _without_labels(known))

    async def restore(self, user_id: str, given: WholeProfile, now: datetime) -> tuple[int, int]:
        """Give a profile back; how many questions and interests were not known. The same again changes nothing."""
        longest = max(window.days for window in self._settings.windows)
        first = now - timedelta(days=longest)
        questions = [
            one
            for one in given.questions
            if one.id and one.intent in INTENTS and one.facet in FACETS and first <= one.asked_at <= now
        ]
        told = {one.name.strip(): one.weight for one in given.interests if one.weight > 0}
        weights = {name: told[name] for name in _interesting(list(told))}
        return await self._store.restore(user_id, questions, weights, self._settings.interests.keep)

    async def forget_topics(self, user_id: str, topics: Sequence[str], at: datetime) -> None:
        """Take topics out of the interests: no memory of the user has them any more (R-62)."""
        names = _clean(topics)
        if names and not await self._store.erased_since(user_id, at):
            await self._store.forget_topics(user_id, names, at)

    async def erase(self, user_id: str, at: datetime) -> bool:
        """Remove everything about a user; True when there was something. What is told late of before `at` is lost."""
        return await self._store.erase(user_id, at)

    async def erase_unless_done(self, user_id: str, at: datetime) -> None:
        """Remove everything about a user, unless that was done as of `at` or later: then they may have begun anew."""
        if not await self._store.erased_since(user_id, at):
            await self._store.erase(user_id, at)

    async def expire(self, user_id: str, now: datetime) -> int:
        """Do the router's part of the nightly loop: drop questions that left the longest window."""
        longest = max(window.days for window in self._settings.windows)
        return await self._store.expire(user_id, now - timedelta(days=longest))


def _clean(topics: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({topic.strip() for topic in topics if topic.strip()}))


def _interesting(topics: Sequence[str]) -> tuple[str, ...]:
    return tuple(topic for topic in _clean(topics) if topic not in _NO_INTERESTS)


def _without_labels(known: Sequence[Interest]) -> tuple[Interest, ...]:
    """Also of what was learned before such labels were left out."""
    return tuple(one for one in known if one.name not in _NO_INTERESTS)

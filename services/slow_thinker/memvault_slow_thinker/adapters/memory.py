"""Everything in memory, for tests and for a run without Redis: the same promises under the same contract suite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memvault.text import query_hash
from memvault_slow_thinker.domain.conversation import Place, Utterance, in_order
from memvault_slow_thinker.domain.prediction import Predicted
from memvault_slow_thinker.ports import ForgottenWords, Prepared, PreparedQuestion
from memvault_slow_thinker.settings import WindowSettings


class _Marks(dict[str, float]):
    """Until when users were forgotten."""

    def set(self, user_id: str, at: float) -> None:
        self[user_id] = max(at, self.get(user_id, at))

    def bar(self, user_id: str, at: float) -> bool:
        return user_id in self and self[user_id] >= at


@dataclass
class MemoryConversations:
    """See `ports.Conversations`."""

    settings: WindowSettings
    _windows: dict[Place, dict[str, tuple[Utterance, float]]] = field(default_factory=dict)
    _log: dict[str, dict[str, tuple[int | None, float]]] = field(default_factory=lambda: defaultdict(dict))
    _seen: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _predicted: dict[str, list[Predicted]] = field(default_factory=lambda: defaultdict(list))
    _forgotten: _Marks = field(default_factory=_Marks)
    _settled: _Marks = field(default_factory=_Marks)

    async def append(
        self, place: Place, utterance: Utterance, *, sequence: int | None, now: float, told_at: float
    ) -> tuple[Utterance, ...]:
        """See `ports.Conversations`."""
        if self._forgotten.bar(place.user_id, told_at):
            return ()
        window = self._windows.setdefault(place, {})
        window.setdefault(utterance.event_id, (utterance, now))
        self._log[place.user_id].setdefault(utterance.event_id, (sequence, now))
        oldest = now - self.settings.ttl_s
        for table in (window, self._log[place.user_id]):
            for event_id in [key for key, (_, arrived) in table.items() if arrived < oldest]:
                del table[event_id]
        kept = in_order([spoken for spoken, _ in window.values()])[-self.settings.utterances :]
        self._windows[place] = {one.event_id: window[one.event_id] for one in kept}
        return kept

    async def note(self, user_id: str, conversation_id: str, *, told_at: float) -> None:
        """See `ports.Conversations`."""
        if len(self._seen[user_id]) < self.settings.conversations and not self._forgotten.bar(user_id, told_at):
            self._seen[user_id].add(conversation_id)

    async def count(self, user_id: str) -> int:
        """See `ports.Conversations`."""
        return len(self._seen[user_id])

    async def predicted(self, user_id: str, at: float) -> tuple[Predicted, ...]:
        """See `ports.Conversations`."""
        near = [one for one in self._predicted[user_id] if abs(one.at - at) <= self.settings.predictions_ttl_s]
        return tuple(sorted(near, key=lambda one: (one.at, one.text)))

    async def note_predicted(self, user_id: str, predicted: Sequence[Predicted], *, told_at: float) -> None:
        """See `ports.Conversations`."""
        if self._forgotten.bar(user_id, told_at):
            return
        known = self._predicted[user_id]
        known += [one for one in predicted if one not in known]
        known.sort(key=lambda one: one.at)
        del known[: -self.settings.predictions]

    async def forget(self, user_id: str, at: float) -> ForgottenWords:
        """See `ports.Conversations`."""
        self._forgotten.set(user_id, at)
        places = [place for place in self._windows if place.user_id == user_id]
        spoken = sum(len(self._windows.pop(place)) for place in places)
        sequences = sorted(number for number, _ in self._log.pop(user_id, {}).values() if number is not None)
        self._seen.pop(user_id, None)
        self._predicted.pop(user_id, None)
        return ForgottenWords(spoken, tuple(sequences))

    async def settle(self, user_id: str, at: float) -> None:
        """See `ports.Conversations`."""
        self._settled.set(user_id, at)

    async def settled(self, user_id: str, at: float) -> bool:
        """See `ports.Conversations`."""
        return self._settled.bar(user_id, at)


@dataclass
class MemoryPreparedAnswers:
    """See `ports.PreparedAnswers`."""

    _entries: dict[str, dict[str, Prepared]] = field(default_factory=lambda: defaultdict(dict))
    _epochs: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _forgotten: _Marks = field(default_factory=_Marks)

    async def epoch(self, user_id: str) -> int:
        """See `ports.PreparedAnswers`."""
        return self._epochs[user_id]

    async def store(self, prepared: Prepared, *, epoch: int) -> bool:
        """See `ports.PreparedAnswers`."""
        user_id = prepared.place.user_id
        if self._epochs[user_id] != epoch or self._forgotten.bar(user_id, prepared.told_at):
            return False
        self._entries[user_id][query_hash(prepared.question.text)] = prepared
        return True

    async def live(self, user_id: str, *, now: float) -> tuple[PreparedQuestion, ...]:
        """See `ports.PreparedAnswers`."""
        ready = [
            PreparedQuestion(one.question.text, one.question.confidence, one.expires_at, one.fetched.cards)
            for one in self._entries[user_id].values()
            if one.expires_at > now
        ]
        return tuple(sorted(ready, key=lambda one: (-one.confidence, one.query)))

    async def drop_holding(self, user_id: str, block_ids: Sequence[str]) -> int:
        """See `ports.PreparedAnswers`."""
        self._epochs[user_id] += 1
        entries = self._entries[user_id]
        held = [key for key, one in entries.items() if not one.fetched.block_ids.isdisjoint(block_ids)]
        for key in held:
            del entries[key]
        return len(held)

    async def forget(self, user_id: str, at: float) -> int:
        """See `ports.PreparedAnswers`."""
        self._forgotten.set(user_id, at)
        self._epochs[user_id] += 1
        return len(self._entries.pop(user_id, {}))


@dataclass
class MemoryFigures:
    """See `ports.Figures`."""

    _counts: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    _forgotten: _Marks = field(default_factory=_Marks)

    async def add(self, user_id: str, amounts: Mapping[str, int], *, told_at: float) -> None:
        """See `ports.Figures`."""
        for owner in ("",) if self._forgotten.bar(user_id, told_at) else (user_id, ""):
            for name, amount in amounts.items():
                self._counts[owner][name] = self._counts[owner].get(name, 0.0) + amount

    async def read(self, user_id: str) -> dict[str, float]:
        """See `ports.Figures`."""
        return dict(self._counts[user_id])

    async def forget(self, user_id: str, at: float) -> None:
        """See `ports.Figures`."""
        self._forgotten.set(user_id, at)
        self._counts.pop(user_id, None)

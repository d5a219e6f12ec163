"""What the slow thinker tells the bus, and what it removes there."""

from __future__ import annotations

import json
from collections.abc import Sequence

from memvault.bus.port import Bus
from memvault.bus.subjects import PREFETCH_STORED, UTTERANCE_APPENDED, UTTERANCES
from memvault.events.v1.events_pb2 import PrefetchStored
from memvault.text import query_hash
from memvault_slow_thinker.ports import Announcement

_DEAD_LETTERS_READ = 1000


class BusAnnouncements:
    """See `ports.Announcements`."""

    def __init__(self, bus: Bus, timeout_s: float) -> None:
        self._bus = bus
        self._timeout_s = timeout_s

    async def announce(self, announcement: Announcement) -> None:
        """See `ports.Announcements`. One id for each utterance and question: a second try is stored once."""
        hashed = query_hash(announcement.query) if announcement.query else ""
        message = PrefetchStored(
            user_id=announcement.place.user_id,
            conversation_id=announcement.place.conversation_id,
            query_hash=hashed,
            refused_by=announcement.refused_by,
            utterance_event_id=announcement.utterance_event_id,
            questions=announcement.questions,
            left_out=announcement.left_out,
        )
        await self._bus.publish(PREFETCH_STORED, message, timeout_s=self._timeout_s)


class BusUtteranceLog:
    """See `ports.UtteranceLog`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def erase(self, user_id: str, sequences: Sequence[int]) -> int:
        """See `ports.UtteranceLog`."""
        erased = sum([await self._bus.erase(UTTERANCES.name, sequence) for sequence in sequences])
        for letter in await self._bus.dead_letters(_DEAD_LETTERS_READ):
            if letter.subject == UTTERANCE_APPENDED and _user_of(letter.body) == user_id:
                erased += await self._bus.erase_dead_letter(letter.id)
        return erased


def _user_of(body: bytes) -> str | None:
    """Return the user a dead letter names; None when it is no JSON object, which may be why it died."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    return message.get("user_id") if isinstance(message, dict) else None


class Silent:
    """Stands in for the bus when a process runs without one: nobody listens, nothing is stored there."""

    async def announce(self, announcement: Announcement) -> None:
        """Tell nobody."""

    async def erase(self, user_id: str, sequences: Sequence[int]) -> int:  # noqa: ARG002 - the port's signature
        """Nothing is stored, so nothing is removed."""
        return 0

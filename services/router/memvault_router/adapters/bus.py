"""What the router tells the bus and learns from it."""

from __future__ import annotations

from datetime import UTC

import structlog
from google.protobuf.timestamp_pb2 import Timestamp

from memvault.bus import subjects
from memvault.bus.envelope import Event, Reject
from memvault.bus.port import Bus
from memvault.events.v1 import events_pb2
from memvault_router.ports import Classified, Clock
from memvault_router.usecases.profile import AttentionProfile

log = structlog.get_logger("memvault.router")


class BusAnnouncer:
    """`Announcer` over the bus."""

    def __init__(self, bus: Bus, timeout_s: float) -> None:
        self._bus = bus
        self._timeout_s = timeout_s

    async def classified(self, fact: Classified) -> None:
        """Publish `query.intent.classified`; the recall's id is the event's, so that a repeated recall counts once."""
        asked_at = Timestamp()
        asked_at.FromDatetime(fact.asked_at)
        message = events_pb2.IntentClassified(
            user_id=fact.user_id,
            intent=fact.intent,
            facet=fact.facet,
            confidence=fact.confidence,
            asked_at=asked_at,
            recall_id=fact.recall_id,
        )
        event_id = f"intent-{fact.recall_id}" if fact.recall_id else None
        await self._bus.publish(subjects.INTENT_CLASSIFIED, message, event_id=event_id, timeout_s=self._timeout_s)


class SilentAnnouncer:
    """`Announcer` where no bus is configured: nothing is learned, and the profile stays as it is."""

    async def classified(self, fact: Classified) -> None:
        """Say in the log that nobody was told."""
        log.debug("no_bus_to_tell", recall_id=fact.recall_id)


class Listener:
    """Feeds the attention profile from the bus."""

    def __init__(self, bus: Bus, profile: AttentionProfile, clock: Clock) -> None:
        self._bus = bus
        self._profile = profile
        self._clock = clock

    def subscribe(self) -> None:
        """Register for everything the router owns a durable for; call before the bus starts."""
        self._bus.subscribe(subjects.ROUTER_INTENTS, events_pb2.IntentClassified, self.on_intent)
        self._bus.subscribe(subjects.ROUTER_ACCESSES, events_pb2.BlockAccessed, self.on_access)
        self._bus.subscribe(subjects.ROUTER_FEEDBACK, events_pb2.FeedbackRecorded, self.on_feedback)
        self._bus.subscribe(subjects.ROUTER_FORGET, events_pb2.BlockForgotten, self.on_forgotten)
        self._bus.subscribe(subjects.ROUTER_DREAM, events_pb2.DreamRequested, self.on_dream)

    async def on_intent(self, event: Event[events_pb2.IntentClassified]) -> None:
        """Count a classified question."""
        body = event.message
        asked_at = body.asked_at.ToDatetime(tzinfo=UTC) if body.HasField("asked_at") else event.time
        fact = Classified(_user(body.user_id), body.intent, body.facet, body.confidence, asked_at, body.recall_id)
        await self._profile.learn_intent(event.id, fact, self._clock.now())

    async def on_access(self, event: Event[events_pb2.BlockAccessed]) -> None:
        """Learn what the user looked at."""
        body = event.message
        at = body.accessed_at.ToDatetime(tzinfo=UTC) if body.HasField("accessed_at") else event.time
        user_id = _user(body.user_id)
        await self._profile.learn_access(event.id, user_id, body.recall_id, list(body.topics), body.kind, at)

    async def on_feedback(self, event: Event[events_pb2.FeedbackRecorded]) -> None:
        """Learn what the user liked."""
        body = event.message
        await self._profile.learn_feedback(event.id, _user(body.user_id), body.recall_id, body.verdict, event.time)

    async def on_forgotten(self, event: Event[events_pb2.BlockForgotten]) -> None:
        """Erase the profile of a user who is to be forgotten as a whole, or the topics that went with some blocks."""
        body = event.message
        if body.whole_user:
            await self._profile.erase_unless_done(_user(body.user_id), event.time)
        elif body.tags:
            await self._profile.forget_topics(_user(body.user_id), list(body.tags), event.time)

    async def on_dream(self, event: Event[events_pb2.DreamRequested]) -> None:
        """Do the router's part of the nightly loop and report it."""
        body, started = event.message, self._clock.now()
        now = body.now.ToDatetime(tzinfo=UTC) if body.HasField("now") else started
        expired = await self._profile.expire(body.user_id, now)
        took_ms = (self._clock.now() - started).total_seconds() * 1000.0
        message = events_pb2.DreamFinished(
            run_id=body.run_id, owner="router", changes={"questions_expired": expired}, took_ms=took_ms
        )
        await self._bus.publish(subjects.DREAM_FINISHED, message, event_id=f"{body.run_id}-router")


def _user(user_id: str) -> str:
    if not user_id:
        raise Reject("the event names no user: set user_id")
    return user_id

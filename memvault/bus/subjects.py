"""Every subject, stream and durable of the product: the one place to look, and the one place to change.

All durables of all services are listed here, and every process declares all of them when it connects. A stream that
keeps a message only until every durable acknowledged it drops what nobody has asked for yet, so a service that has
never run must already have its durable, or what is published while it is away would be lost.

A durable listed here that no service subscribes to holds every message of its subject for ever: add the subscriber
and the entry together, remove them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

UTTERANCE_APPENDED = "conversation.utterance.appended"
BLOCK_UPSERTED = "memory.block.upserted"
BLOCK_INDEXED = "memory.block.indexed"
BLOCK_REFUSED = "memory.block.refused"
BLOCK_ACCESSED = "memory.block.accessed"
BLOCK_FORGOTTEN = "memory.block.forgotten"
BLOCK_ANNOTATED = "memory.block.annotated"
TRIPLE_UPSERTED = "memory.triple.upserted"
FEEDBACK_RECORDED = "memory.feedback.recorded"
INTENT_CLASSIFIED = "query.intent.classified"
PREFETCH_STORED = "prefetch.bundle.stored"
INJECTION_REDACTED = "security.injection.redacted"
DREAM_REQUESTED = "maintenance.dream.requested"
DREAM_FINISHED = "maintenance.dream.finished"

DEAD_LETTER_PREFIX = "dead_letter."
MAX_DELIVERIES_ADVISORY = "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>"
TERMINATED_ADVISORY = "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.>"


class Retention(StrEnum):
    """How long a stream keeps a message."""

    UNTIL_ACKNOWLEDGED = "until_acknowledged"
    FOR_A_WHILE = "for_a_while"


@dataclass(frozen=True)
class Stream:
    """A stream and what it keeps.

    `max_age` names the setting of section `bus` that bounds the age of a message in seconds; None = no bound.
    `duplicate_window` names the setting for how long a repeated `Nats-Msg-Id` is recognised, in seconds.
    """

    name: str
    subjects: tuple[str, ...]
    retention: Retention
    max_age: str | None = None
    duplicate_window: str = "duplicate_window_s"


@dataclass(frozen=True)
class Durable:
    """A named position in a stream, shared by all replicas of the service that owns it.

    `timeout` names the setting that bounds a handler.
    """

    name: str
    stream: str
    subject: str
    timeout: str = "handler_timeout_s"


BLOCKS = Stream(
    "BLOCKS",
    (BLOCK_UPSERTED, BLOCK_INDEXED, BLOCK_REFUSED, BLOCK_ANNOTATED, BLOCK_FORGOTTEN, TRIPLE_UPSERTED),
    Retention.UNTIL_ACKNOWLEDGED,
)
SIGNALS = Stream(
    "SIGNALS",
    (BLOCK_ACCESSED, FEEDBACK_RECORDED, INTENT_CLASSIFIED),
    Retention.UNTIL_ACKNOWLEDGED,
)
UTTERANCES = Stream("UTTERANCES", (UTTERANCE_APPENDED,), Retention.FOR_A_WHILE, "utterance_max_age_s")
PREFETCH = Stream("PREFETCH", (PREFETCH_STORED,), Retention.FOR_A_WHILE, "utterance_max_age_s")
AUDIT = Stream("AUDIT", (INJECTION_REDACTED,), Retention.FOR_A_WHILE, "audit_max_age_s")
MAINTENANCE = Stream("MAINTENANCE", (DREAM_REQUESTED, DREAM_FINISHED), Retention.FOR_A_WHILE, "maintenance_max_age_s")
ADVISORIES = Stream("ADVISORIES", (MAX_DELIVERIES_ADVISORY, TERMINATED_ADVISORY), Retention.UNTIL_ACKNOWLEDGED)
DEAD_LETTERS = Stream(
    "DEAD_LETTERS",
    (DEAD_LETTER_PREFIX + ">",),
    Retention.FOR_A_WHILE,
    "dead_letter_max_age_s",
    "dead_letter_duplicate_window_s",
)

STREAMS: tuple[Stream, ...] = (
    BLOCKS,
    SIGNALS,
    UTTERANCES,
    PREFETCH,
    AUDIT,
    MAINTENANCE,
    ADVISORIES,
    DEAD_LETTERS,
)

SEARCH_BLOCKS = Durable("search__blocks", BLOCKS.name, BLOCK_UPSERTED)
SEARCH_ANNOTATIONS = Durable("search__annotations", BLOCKS.name, BLOCK_ANNOTATED)
SEARCH_FORGET = Durable("search__forget", BLOCKS.name, BLOCK_FORGOTTEN)
SEARCH_ACCESSES = Durable("search__accesses", SIGNALS.name, BLOCK_ACCESSED)
SEARCH_FEEDBACK = Durable("search__feedback", SIGNALS.name, FEEDBACK_RECORDED)
SEARCH_DREAM = Durable("search__dream", MAINTENANCE.name, DREAM_REQUESTED, "dream_timeout_s")

CASCADE_BLOCKS = Durable("cascade__blocks", BLOCKS.name, BLOCK_INDEXED)
CASCADE_TRIPLES = Durable("cascade__triples", BLOCKS.name, TRIPLE_UPSERTED)
CASCADE_FORGET = Durable("cascade__forget", BLOCKS.name, BLOCK_FORGOTTEN)
CASCADE_ANNOTATIONS = Durable("cascade__annotations", BLOCKS.name, BLOCK_ANNOTATED)
CASCADE_DREAM = Durable("cascade__dream", MAINTENANCE.name, DREAM_REQUESTED, "dream_timeout_s")

ROUTER_INTENTS = Durable("router__intents", SIGNALS.name, INTENT_CLASSIFIED)
ROUTER_ACCESSES = Durable("router__accesses", SIGNALS.name, BLOCK_ACCESSED)
ROUTER_FEEDBACK = Durable("router__feedback", SIGNALS.name, FEEDBACK_RECORDED)
ROUTER_FORGET = Durable("router__forget", BLOCKS.name, BLOCK_FORGOTTEN)
ROUTER_DREAM = Durable("router__dream", MAINTENANCE.name, DREAM_REQUESTED, "dream_timeout_s")

SLOW_THINKER_UTTERANCES = Durable("slow_thinker__utterances", UTTERANCES.name, UTTERANCE_APPENDED)
SLOW_THINKER_BLOCKS = Durable("slow_thinker__blocks", BLOCKS.name, BLOCK_INDEXED)
SLOW_THINKER_FORGET = Durable("slow_thinker__forget", BLOCKS.name, BLOCK_FORGOTTEN)

BUS_MAX_DELIVERIES = Durable("bus__max_deliveries", ADVISORIES.name, MAX_DELIVERIES_ADVISORY)
BUS_TERMINATED = Durable("bus__terminated", ADVISORIES.name, TERMINATED_ADVISORY)

DURABLES: tuple[Durable, ...] = (
    SEARCH_BLOCKS,
    SEARCH_ANNOTATIONS,
    SEARCH_FORGET,
    SEARCH_ACCESSES,
    SEARCH_FEEDBACK,
    SEARCH_DREAM,
    CASCADE_BLOCKS,
    CASCADE_TRIPLES,
    CASCADE_FORGET,
    CASCADE_ANNOTATIONS,
    CASCADE_DREAM,
    ROUTER_INTENTS,
    ROUTER_ACCESSES,
    ROUTER_FEEDBACK,
    ROUTER_FORGET,
    ROUTER_DREAM,
    SLOW_THINKER_UTTERANCES,
    SLOW_THINKER_BLOCKS,
    SLOW_THINKER_FORGET,
    BUS_MAX_DELIVERIES,
    BUS_TERMINATED,
)


def stream_of(subject: str) -> Stream:
    """The stream that stores `subject`; KeyError names the subject when none does."""
    for stream in STREAMS:
        for pattern in stream.subjects:
            if subject == pattern or (pattern.endswith(".>") and subject.startswith(pattern[:-1])):
                return stream
    message = f"no stream stores the subject {subject!r}: add it to memvault/bus/subjects.py"
    raise KeyError(message)


def durables_of(service: str) -> tuple[Durable, ...]:
    """All durables owned by `service` (`search`, `slow_thinker`, ...)."""
    return tuple(durable for durable in DURABLES if durable.name.startswith(service + "__"))

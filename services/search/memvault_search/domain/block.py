"""A block, the one thing that search keeps, and what it adds to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memvault_search.domain.moment import Moment

REJECTED_TAG = "rejected"
QUARANTINE_TAGS = frozenset({"spam", "boilerplate", "low_signal", "test_data", "garbled", "system_echo", REJECTED_TAG})
NEAR_COPY_TAG = "near_copy"
DEFAULT_SOURCE_KIND = "hand_written"
DEFAULT_SERVICE = "default"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a block came from; `kind` is one of the settings' source kinds."""

    kind: str = DEFAULT_SOURCE_KIND
    uri: str = ""


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact that a block states."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Block:
    """One memory. Times are aware UTC; `trust`, `confidence` and `centrality` lie in [0, 1].

    `position` counts from 0 inside the session. `version` counts the block's changes from 1.
    """

    id: str
    user_id: str
    text: str
    service: str = DEFAULT_SERVICE
    summary: str = ""
    title: str = ""
    heading_path: tuple[str, ...] = ()
    speaker: str = ""
    conversation_id: str = ""
    session_id: str = ""
    position: int | None = None
    event_time: datetime | None = None
    recorded_at: datetime | None = None
    source: Source = Source()
    trust: float | None = None
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    quarantine: frozenset[str] = frozenset()
    ups: int = 0
    downs: int = 0
    access_count: int = 0
    last_accessed_at: datetime | None = None
    centrality: float | None = None
    tier: str = ""
    frozen: bool = False
    superseded_by: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    screened_version: str = ""
    version: int = 0
    triples: tuple[Triple, ...] = ()
    unsafe_rules: tuple[str, ...] = ()

    @property
    def known_at(self) -> datetime | None:
        """When it happened; where nobody said, when it was recorded stands in: for ranges, recency and `as_of`."""
        return self.event_time or self.recorded_at

    @property
    def session(self) -> tuple[str, str, str] | None:
        """The sitting whose positions make neighbours; None when it belongs to none.

        A conversation without a session is one sitting; so is a document, named by its address.
        """
        if self.conversation_id or self.session_id:
            return (self.service, self.conversation_id, self.session_id)
        if self.source.kind == "document" and self.source.uri:
            return (self.service, "document", self.source.uri)
        return None


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a block's text that is indexed by itself: characters [start, end)."""

    point_id: str
    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block with what keeps its writes idempotent.

    Attributes:
        content_hash: of what the writer set; equal hash, nothing to index again.
        event_ids: ids of the last events applied to it, newest last.
        written: the event that last wrote its content; later forgets win, earlier ones do not.
        write_version: the user's write version of that write.
        passages: at least one, in the order of the text.
        revision: counts every change, of signals too: two replicas compare it before they write.
    """

    block: Block
    content_hash: str
    event_ids: tuple[str, ...]
    written: Moment
    write_version: int
    passages: tuple[Passage, ...]
    revision: int = 1

    def passage_text(self, number: int) -> str:
        """The text of one passage."""
        passage = self.passages[number]
        return self.block.text[passage.start : passage.end]


def content_hash(block: Block) -> str:
    """Hash of all that a writer sets and that is indexed or shown: 32 hex digits.

    Signals that change by reading and judging are left out, so that a repeated write of the same
    content is seen as the same.
    """
    written = [
        block.service,
        block.text,
        block.summary,
        block.title,
        list(block.heading_path),
        block.speaker,
        block.conversation_id,
        block.session_id,
        block.position,
        block.event_time.isoformat() if block.event_time else None,
        [block.source.kind, block.source.uri],
        block.trust,
        block.confidence,
        sorted(set(block.tags) - {NEAR_COPY_TAG}),
        [[triple.subject, triple.predicate, triple.object] for triple in block.triples],
    ]
    text = json.dumps(written, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def with_source_defaults(
    block: Block, trust: Mapping[str, float], confidence: Mapping[str, float], *, now: datetime
) -> Block:
    """Fill what the writer left open: trust and confidence by the kind of source (R-61), and times."""
    kind = block.source.kind
    return replace(
        block,
        trust=trust[kind] if block.trust is None else block.trust,
        confidence=confidence[kind] if block.confidence is None else block.confidence,
        recorded_at=block.recorded_at or now,
        valid_from=block.valid_from or block.event_time,
    )


def carry_over(new: Block, old: Block) -> Block:
    """Keep what reading, judging and the graph wrote to a block when its content is written again.

    Counters never fall, so that importing an older export loses nothing.
    """
    times = [time for time in (new.last_accessed_at, old.last_accessed_at) if time is not None]
    return replace(
        new,
        recorded_at=old.recorded_at,
        quarantine=new.quarantine | old.quarantine,
        ups=max(new.ups, old.ups),
        downs=max(new.downs, old.downs),
        access_count=max(new.access_count, old.access_count),
        last_accessed_at=max(times, default=None),
        centrality=old.centrality if new.centrality is None else new.centrality,
        version=old.version + 1,
    )


def restored(new: Block, old: Block, *, same_content: bool) -> Block:
    """A line of an export over the block that is there; `old` itself when it brings nothing (R-63).

    Counters and quarantine grow as in `carry_over`; of two times of recording the earlier one is right. Of the same
    content the marks that the vault made itself stay: it knows its other blocks, an older export does not. A summary
    never takes the place of the whole text.
    """
    if new.frozen and not old.frozen:
        signals = ("quarantine", "ups", "downs", "access_count", "last_accessed_at", "recorded_at", "version")
        new = replace(old, **{name: getattr(new, name) for name in signals})
    recorded = [time for time in (new.recorded_at, old.recorded_at) if time is not None]
    block = replace(carry_over(new, old), recorded_at=min(recorded, default=None), version=old.version)
    if same_content:
        block = replace(
            block,
            tags=old.tags,
            frozen=old.frozen,
            superseded_by=old.superseded_by,
            valid_to=old.valid_to,
            tier=old.tier,
        )
    return old if block == old else replace(block, version=max(new.version, old.version + 1))

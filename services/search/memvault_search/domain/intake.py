"""What is checked and completed before a block is stored: form, safety, defaults (R-60, R-61)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from memvault.faults import Fault, Reason
from memvault.screening import RULESET_VERSION, Hit, sanitize_for_injection, scan
from memvault_search.domain.block import QUARANTINE_TAGS, Block, content_hash, with_source_defaults

OnUnsafe = Literal["refuse", "redact", "mark"]
ON_UNSAFE: tuple[OnUnsafe, ...] = ("refuse", "redact", "mark")

MAX_TEXT_BYTES = 64 * 1024
MAX_ID_CHARS = 200
MAX_LABEL_CHARS = 1000
_USER_ID = re.compile(r"[A-Za-z0-9._@-]{1,128}")
_LABELS = ("service", "title", "speaker", "conversation_id", "session_id")


@dataclass(frozen=True)
class Defaults:
    """Trust and confidence by kind of source."""

    trust: Mapping[str, float]
    confidence: Mapping[str, float]


def checked_user(user_id: str) -> str:
    """Return the user's id if it is one; raises Fault otherwise."""
    if not user_id:
        raise Fault(Reason.USER_REQUIRED, "name the user in user_id: every read and write belongs to one")
    if not _USER_ID.fullmatch(user_id):
        raise Fault(Reason.USER_INVALID, "user_id must be 1 to 128 of A-Z a-z 0-9 . _ @ -")
    return user_id


def checked(block: Block) -> Block:
    """Return the block if every field is within its bounds; raises Fault naming the field otherwise."""
    checked_user(block.user_id)
    if not 1 <= len(block.id) <= MAX_ID_CHARS or not block.id.isprintable() or not block.id.strip():
        raise _invalid("id", f"1 to {MAX_ID_CHARS} printable characters, not blanks alone")
    if not block.text.strip():
        raise Fault(Reason.TEXT_REQUIRED, "a block needs a text", field="text")
    for name in ("text", "summary"):
        if len(getattr(block, name).encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
            message = f"{name} may have {MAX_TEXT_BYTES} bytes of UTF-8: store a longer one in several blocks"
            raise Fault(Reason.TEXT_TOO_LONG, message, field=name, limit=str(MAX_TEXT_BYTES))
    for name in ("id", "text", "summary", *_LABELS):
        if not _is_unicode(getattr(block, name)):
            raise Fault(Reason.TEXT_INVALID, f"{name} holds a NUL or half a character: send valid UTF-8", field=name)
    if any(len(label) > MAX_LABEL_CHARS for label in _labels(block)):
        raise _invalid("labels", f"at most {MAX_LABEL_CHARS} characters in each label")
    _check_numbers(block)
    return block


def _check_numbers(block: Block) -> None:
    for name in ("trust", "confidence", "centrality"):
        value = getattr(block, name)
        if value is not None and not 0.0 <= value <= 1.0:
            raise _invalid(name, "a number from 0 to 1")
    for name in ("ups", "downs", "access_count"):
        if getattr(block, name) < 0:
            raise _invalid(name, "0 or more")
    if block.position is not None and block.position < 0:
        raise _invalid("position", "0 or more")
    unknown = block.quarantine - QUARANTINE_TAGS
    if unknown:
        raise _invalid("quarantine", f"of {', '.join(sorted(QUARANTINE_TAGS))}")


def _labels(block: Block) -> list[str]:
    triples = [part for one in block.triples for part in (one.subject, one.predicate, one.object)]
    named = [getattr(block, name) for name in _LABELS]
    return [*named, *block.tags, *block.heading_path, block.source.uri, *triples]


def _is_unicode(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _invalid(field: str, wanted: str) -> Fault:
    return Fault(Reason.FIELD_INVALID, f"{field} must be {wanted}", field=field)


def completed(
    block: Block, defaults: Defaults, tier_of: Callable[[float], str], *, now: datetime, restore: bool = False
) -> Block:
    """Fill what the writer left open; raises Fault for an unknown kind of source.

    A new block begins with version 1; one of an export (`restore`) goes on where it was.
    """
    if block.source.kind not in defaults.trust:
        raise _invalid("source.kind", f"one of {', '.join(sorted(defaults.trust))}")
    filled = with_source_defaults(block, defaults.trust, defaults.confidence, now=now)
    version = max(1, block.version) if restore else 1
    return replace(filled, tier=tier_of(filled.confidence or 0.0), version=version)


def screened(block: Block, on_unsafe: OnUnsafe) -> Block:
    """Screen every text of a block by the rules in force.

    `refuse` raises Fault(UNSAFE_CONTENT) with the rules' names, `redact` replaces what is dangerous, `mark`
    keeps the text and notes the rules. A text of which nothing is left is refused in any case but `mark`.
    """
    hits = [hit for text in _texts(block) for hit in scan(text)]
    safe = replace(block, screened_version=RULESET_VERSION, unsafe_rules=())
    if not hits:
        return safe
    if on_unsafe == "mark":
        return replace(safe, unsafe_rules=_rules(hits))
    if on_unsafe == "refuse":
        raise _unsafe(hits)
    if sanitize_for_injection(block.text).emptied:
        raise _unsafe(hits)
    return replace(
        safe,
        text=_clean(block.text),
        summary=_clean(block.summary),
        service=_clean(block.service),
        title=_clean(block.title),
        speaker=_clean(block.speaker),
        conversation_id=_clean(block.conversation_id),
        session_id=_clean(block.session_id),
        heading_path=tuple(map(_clean, block.heading_path)),
        tags=tuple(map(_clean, block.tags)),
        source=replace(block.source, uri=_clean(block.source.uri)),
        triples=tuple(one for one in block.triples if not any(map(scan, (one.subject, one.predicate, one.object)))),
    )


def _clean(text: str) -> str:
    return sanitize_for_injection(text).text


def _texts(block: Block) -> list[str]:
    return [text for text in (block.text, block.summary, *_labels(block)) if text]


def _rules(hits: list[Hit]) -> tuple[str, ...]:
    return tuple(sorted({hit.rule for hit in hits}))


def _unsafe(hits: list[Hit]) -> Fault:
    rules = ", ".join(_rules(hits))
    message = f"the text holds an injected instruction ({rules}): take it out, or write with on_unsafe redact or mark"
    return Fault(Reason.UNSAFE_CONTENT, message, rule=rules)


def same_content(block: Block, known_hash: str) -> bool:
    """Whether a write brings nothing new."""
    return content_hash(block) == known_hash

"""Checks of what comes in. Each raises a `Fault` that says what to do; what passes is valid everywhere behind it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memvault.faults import Fault, Reason
from memvault_gateway.domain import words

USER_ID = re.compile(r"[A-Za-z0-9._@-]{1,128}")
_ID_CHARS = 200
TEXT_BYTES = 64 * 1024
QUERY_CHARS = 8192
SHORT_CHARS = 1000


def check_user(user_id: str) -> str:
    """Return the user id. Faults: USER_REQUIRED, USER_INVALID."""
    if not user_id:
        raise Fault(Reason.USER_REQUIRED, "name the user whose memory this is: send user_id", field="user_id")
    if not USER_ID.fullmatch(user_id):
        raise Fault(Reason.USER_INVALID, "user_id takes 1 to 128 of A-Z a-z 0-9 . _ @ -", field="user_id")
    return user_id


def check_block_id(block_id: str, field: str = "block.id") -> str:
    """Return the block id. Fault: FIELD_INVALID."""
    if not 1 <= len(block_id) <= _ID_CHARS or not block_id.isprintable():
        raise Fault(Reason.FIELD_INVALID, f"{field} takes 1 to {_ID_CHARS} printable characters", field=field)
    return block_id


def check_new_block_id(block_id: str, field: str = "block.id") -> str:
    """Return the id of a block that is to be written, which nobody could tell from none if it were blank.

    Fault: FIELD_INVALID.
    """
    if block_id and not block_id.strip():
        raise Fault(Reason.FIELD_INVALID, f"{field} is blank: send an id that can be seen", field=field)
    return check_block_id(block_id, field)


def check_query(query: str) -> str:
    """Return the query. Faults: QUERY_REQUIRED, TEXT_TOO_LONG, TEXT_INVALID."""
    if not query.strip():
        raise Fault(Reason.QUERY_REQUIRED, "the query is empty: ask something", field="query")
    if len(query) > QUERY_CHARS:
        message = f"the query has {len(query)} characters, at most {QUERY_CHARS} are read: shorten it"
        raise Fault(Reason.TEXT_TOO_LONG, message, field="query", limit=str(QUERY_CHARS))
    return check_unicode(query, "query")


def check_text(text: str, field: str) -> str:
    """Return a text of 1 byte to 64 KiB. Faults: TEXT_REQUIRED, TEXT_TOO_LONG, TEXT_INVALID."""
    check_unicode(text, field)
    if not text.strip():
        raise Fault(Reason.TEXT_REQUIRED, f"{field} is empty: send the text", field=field)
    size = len(text.encode())
    if size > TEXT_BYTES:
        message = f"{field} has {size} bytes, at most {TEXT_BYTES} fit into one: send it in parts"
        raise Fault(Reason.TEXT_TOO_LONG, message, field=field, limit=str(TEXT_BYTES))
    return text


def check_unicode(text: str, field: str) -> str:
    """Return a text without lone surrogates and NUL. Fault: TEXT_INVALID."""
    if "\x00" in text or any(unicodedata.category(character) == "Cs" for character in text if character > "\ud7ff"):
        message = f"{field} is not valid text: it holds a NUL or half of a surrogate pair; send UTF-8"
        raise Fault(Reason.TEXT_INVALID, message, field=field)
    return text


def check_short(text: str, field: str) -> str:
    """Return a label of at most 1,000 characters. Faults: TEXT_TOO_LONG, TEXT_INVALID."""
    if len(text) > SHORT_CHARS:
        raise Fault(Reason.TEXT_TOO_LONG, f"{field} takes at most {SHORT_CHARS} characters", field=field)
    return check_unicode(text, field)


def check_word(word: str, known: Sequence[str], field: str, default: str = "") -> str:
    """Return a word of a closed set, or the default where it is empty. Fault: FIELD_INVALID with the set."""
    if not word:
        return default
    if word not in known:
        raise Fault(Reason.FIELD_INVALID, f"{field} is {word[:40]!r}: use one of {', '.join(known)}", field=field)
    return word


def check_count(value: int, least: int, most: int, field: str) -> int:
    """Return a whole number within bounds. Fault: FIELD_INVALID."""
    if not least <= value <= most:
        raise Fault(Reason.FIELD_INVALID, f"{field} is {value}: use {least} to {most}", field=field)
    return value


def check_share(value: float, field: str) -> float:
    """Return a finite number in [0, 1]. Fault: FIELD_INVALID."""
    if not math.isfinite(value) or not 0.0 <= value <= 1.0:
        raise Fault(Reason.FIELD_INVALID, f"{field} is {value}: use a number from 0 to 1", field=field)
    return value


def check_zone(name: str) -> str:
    """Return an IANA zone name, or empty. Fault: FIELD_INVALID."""
    if not name:
        return ""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"time_zone {name[:40]!r} is not known: use an IANA name such as Asia/Taipei"
        raise Fault(Reason.FIELD_INVALID, message, field="time_zone") from error
    return name


def zone_of(name: str) -> ZoneInfo | None:
    """Return the zone of a checked name; None for an empty one, which stands for the machine's."""
    return ZoneInfo(name) if name else None


def check_switch(name: str) -> str:
    """Return a switch of `Evaluation.off`. Fault: FIELD_INVALID."""
    group, _, member = name.partition(":")
    if name in words.SWITCHES or (group in words.SWITCH_GROUPS and member):
        return name
    known = ", ".join([*words.SWITCHES, *(f"{group}:<name>" for group in words.SWITCH_GROUPS)])
    raise Fault(Reason.FIELD_INVALID, f"evaluation.off has {name[:40]!r}: use one of {known}", field="evaluation.off")

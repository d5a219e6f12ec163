"""The sample vault: an invented bilingual work diary, and an excerpt of MemoryBank's Chinese diaries.

Every date is relative: `blocks(now, zone)` lays the same life out so that it ends yesterday. A `when` of
`-1w2 10:30` is Wednesday of last calendar week (weeks begin on Monday, day 0) at 10:30 in the given zone;
`-3d 09:20` is three days ago.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

USER_ID = "sample"
ZONE = "Asia/Taipei"
_WHEN = re.compile(r"-(?P<count>\d+)(?P<unit>[wd])(?P<weekday>[0-6])? (?P<hour>\d\d):(?P<minute>\d\d)")
_MEMORYBANK_ENDS_DAYS_AGO = 84
_TURN_GAP = timedelta(minutes=1)
_SOURCE_KINDS = {"chat": "conversation", "web": "web", "ops": "document"}


def blocks(now: datetime, *, zone: str = ZONE, user_id: str = USER_ID) -> list[dict[str, Any]]:
    """Return the vault as JSON blocks of the public contract, oldest first.

    Args:
        now: The instant at which the vault is looked at, with a zone; nothing in it is later.
        zone: IANA name of the diarist's time zone.
        user_id: The user to whom the blocks will belong.

    Raises:
        ValueError: When `now` has no zone or a `when` in the data cannot be read.
    """
    if now.tzinfo is None:
        raise ValueError("now needs a time zone: pass an aware datetime")
    local = now.astimezone(ZoneInfo(zone))
    laid_out = [*_conversations(local), *_notes(local), *_memorybank(local)]
    for block in laid_out:
        block["user_id"] = user_id
        block["recorded_at"] = block["event_time"]
    return sorted(laid_out, key=lambda block: (block["event_time"], block["id"]))


def marked_ids() -> frozenset[str]:
    """Return the ids of blocks that must be written with `on_unsafe` = `mark`: old notes that hold an attack."""
    return frozenset(entry["id"] for entry in _read("notes") if entry.get("on_unsafe") == "mark")


def moment(when: str, local_now: datetime) -> datetime:
    """Return the instant a `when` means, in UTC."""
    found = _WHEN.fullmatch(when)
    if found is None or (found["unit"] == "w") != (found["weekday"] is not None):
        raise ValueError(f"cannot read {when!r}: write '-1w2 10:30' or '-3d 09:20'")
    count, today = int(found["count"]), local_now.date()
    if found["unit"] == "d":
        day = today - timedelta(days=count)
    else:
        monday = today - timedelta(days=today.weekday())
        day = monday - timedelta(weeks=count) + timedelta(days=int(found["weekday"]))
    at = datetime(day.year, day.month, day.day, int(found["hour"]), int(found["minute"]), tzinfo=local_now.tzinfo)
    return at.astimezone(UTC)


def _conversations(local_now: datetime) -> Iterator[dict[str, Any]]:
    for entry in _read("conversations"):
        begin = moment(entry["when"], local_now)
        for position, (speaker, text) in enumerate(entry["turns"]):
            yield {
                "id": f"{entry['id']}-{position}",
                "service": entry["service"],
                "text": text,
                "speaker": speaker,
                "conversation_id": entry["id"],
                "position": position,
                "event_time": _rfc3339(begin + position * _TURN_GAP),
                "source": {"kind": "conversation", "uri": f"chat://{entry['id']}/{position}"},
                "triples": _triples(entry.get("triples", {}).get(str(position), [])),
            }


def _notes(local_now: datetime) -> Iterator[dict[str, Any]]:
    for name, service in (("notes", "notes"), ("tasks", "tasks")):
        for entry in _read(name):
            app = entry.get("service", service)
            yield {
                "id": entry["id"],
                "service": app,
                "title": entry["title"],
                "text": entry["text"],
                "tags": entry["tags"],
                "event_time": _rfc3339(moment(entry["when"], local_now)),
                "source": {
                    "kind": entry.get("source", _SOURCE_KINDS.get(app, "hand_written")),
                    "uri": f"{app}://{entry['id']}",
                },
                "triples": _triples(entry.get("triples", [])),
            }


def _memorybank(local_now: datetime) -> Iterator[dict[str, Any]]:
    entries = list(_read("memorybank_zh"))
    last = max(date.fromisoformat(entry["date"]) for entry in entries)
    end = local_now.date() - timedelta(days=_MEMORYBANK_ENDS_DAYS_AGO)
    for entry in entries:
        day = end - (last - date.fromisoformat(entry["date"]))
        evening = datetime(day.year, day.month, day.day, 20, tzinfo=local_now.tzinfo)
        yield {
            "id": entry["id"],
            "service": "companion",
            "text": entry["text"],
            "conversation_id": f"companion-{entry['session']}",
            "position": entry["position"],
            "event_time": _rfc3339(evening.astimezone(UTC) + entry["position"] * _TURN_GAP),
            "source": {"kind": "conversation", "uri": f"memorybank://{entry['id']}"},
        }


def _triples(rows: list[list[str]]) -> list[dict[str, str]]:
    return [{"subject": subject, "predicate": predicate, "object": obj} for subject, predicate, obj in rows]


def _read(name: str) -> Iterator[dict[str, Any]]:
    lines = (files(__package__) / "data" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    yield from (json.loads(line) for line in lines if line)


def _rfc3339(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")

"""mem0: a list of memories, or `{"results": [...]}`, as its `get_all` and its export give them.

A memory there is a sentence that a model drew from a talk: it is trusted like what an agent wrote. Categories become
tags, further metadata tags of the form `name:value`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memvault.cli.sources import chats
from memvault.cli.sources.entry import Bad, Item, Left, Row, clean, instant, label, stable_id

SERVICE = "mem0"
_TEXTS = ("memory", "text", "data")


class SeveralPeople(ValueError):  # noqa: N818 - says what the file holds
    """Memories of several people would become one person's; the message says what to do."""


def read(path: Path, zone: tzinfo | None, owner: str) -> Iterator[Item]:
    """Blocks of all memories, or of those whose `user_id` there is `owner`.

    Raises:
        SeveralPeople: No owner is named, and the memories have several.
    """
    if not owner:
        _refuse_several(path)
    for found in chats.conversations(path):
        if isinstance(found, Bad):
            yield found
            continue
        place, memory = found
        if not isinstance(memory, Mapping):
            yield Bad(place, "is no memory: an object is expected")
            continue
        if owner and memory.get("user_id") != owner:
            yield Left("memories of other people")
            continue
        name = str(memory.get("id") or "")
        text = next((memory[field] for field in _TEXTS if isinstance(memory.get(field), str)), "")
        if not name or not clean(text):
            yield Bad(place, "is no memory of mem0: `id` or `memory` is missing", block_id=name)
            continue
        yield Row(_block(name, clean(text), memory, zone), place, len(text))


def _refuse_several(path: Path) -> None:
    memories = (found[1] for found in chats.conversations(path) if not isinstance(found, Bad))
    people = {str(one.get("user_id") or "nobody") for one in memories if isinstance(one, Mapping)}
    if len(people) > 1:
        named = ", ".join(sorted(people)[:10])
        raise SeveralPeople(
            f"the file holds memories of {named}: say with --owner whose are meant, one after the other"
        )


def _block(name: str, text: str, memory: Mapping[str, Any], zone: tzinfo | None) -> dict[str, Any]:
    created, updated = (instant(memory.get(field), zone) for field in ("created_at", "updated_at"))
    run = memory.get("run_id")
    block = {
        "id": stable_id(SERVICE, name),
        "service": SERVICE,
        "text": text,
        "speaker": label(memory.get("actor_id") or ""),
        "conversation_id": stable_id(SERVICE, str(run)) if run else "",
        # what was corrected since holds from the correction on
        "event_time": updated or created,
        "recorded_at": created or updated,
        "source": {"kind": "agent", "uri": f"mem0:{label(name)}"},
        "tags": list(dict.fromkeys(_tags(memory))),
    }
    return {key: value for key, value in block.items() if value not in (None, "", [])}


def _tags(memory: Mapping[str, Any]) -> Iterator[str]:
    categories = memory.get("categories")
    yield from (label(one) for one in (categories if isinstance(categories, list) else []) if label(one))
    metadata = memory.get("metadata")
    for name, value in metadata.items() if isinstance(metadata, Mapping) else ():
        values = value if isinstance(value, list) else [value]
        plain = name in {"tags", "category", "categories"}
        for one in values:
            if isinstance(one, str | int | float) and label(one):
                yield label(one) if plain else label(f"{name}:{one}")

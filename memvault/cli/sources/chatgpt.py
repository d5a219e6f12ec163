"""ChatGPT: `conversations.json` of a data export, also inside its folder or zip.

A conversation is a tree of messages (`mapping`). What counts is the branch that the user saw last: from `current_node`
up to the root. Only what the user and the assistant said to one another is taken; tools, system texts and hidden
messages are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memvault.cli.sources import chats
from memvault.cli.sources.chats import Turn
from memvault.cli.sources.entry import Item, Left, instant

SERVICE = "chatgpt"
_CITATION = re.compile("\ue200[^\ue201]*\ue201")
_SPOKEN = frozenset({"user", "assistant"})
_READ = frozenset({"text", "multimodal_text", "code"})


def read(path: Path, zone: tzinfo | None) -> Iterator[Item]:
    """Blocks of all conversations of an export."""

    def turns_of(conversation: Mapping[str, Any]) -> tuple[str, str, Iterator[Turn | Left]]:
        mapping = conversation.get("mapping")
        name = str(conversation.get("conversation_id") or conversation.get("id") or "")
        if not isinstance(mapping, Mapping) or not name:
            raise ValueError("is no conversation of ChatGPT: `mapping` or its id is missing")
        branch = _branch(mapping, conversation.get("current_node"))
        turns = (turn for node in branch if (turn := _turn(node, zone)) is not None)
        return name, str(conversation.get("title") or ""), turns

    return chats.read(path, turns_of, SERVICE, lambda name: f"https://chatgpt.com/c/{name}")


def _branch(mapping: Mapping[str, Any], current: object) -> list[Mapping[str, Any]]:
    """Nodes from the root to the current one; where that one is gone, to the newest end of the tree."""
    nodes = {name: node for name, node in mapping.items() if isinstance(node, Mapping)}
    at: object = current if isinstance(current, str) and current in nodes else _newest_end(nodes)
    branch: list[Mapping[str, Any]] = []
    seen: set[object] = set()
    while isinstance(at, str) and at in nodes and at not in seen:
        seen.add(at)
        branch.append(nodes[at])
        at = nodes[at].get("parent")
    return branch[::-1]


def _newest_end(nodes: Mapping[str, Mapping[str, Any]]) -> str | None:
    parents = {str(node.get("parent")) for node in nodes.values()}
    ends = [name for name in nodes if name not in parents]
    return max(ends, key=lambda name: (_time(nodes[name]), name), default=None)


def _time(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    time = message.get("create_time") if isinstance(message, Mapping) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _turn(node: Mapping[str, Any], zone: tzinfo | None) -> Turn | Left | None:
    message = node.get("message")
    if not isinstance(message, Mapping):
        return None  # the root, or a message that was deleted
    role = str(_inner(message, "author").get("role") or "unknown role")
    metadata = _inner(message, "metadata")
    content = _inner(message, "content")
    if role not in _SPOKEN:
        return Left(role)
    if metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message"):
        return Left("hidden")
    if message.get("recipient", "all") != "all" or str(content.get("content_type", "text")) not in _READ:
        return Left("tool")
    key = str(message.get("id") or node.get("id") or "")
    text = _text(content)
    if text:
        text = "\n".join([text, *_attachments(content, metadata)])
    return Turn(key, role, text, instant(message.get("create_time"), zone)) if key else Left("without id")


def _text(content: Mapping[str, Any]) -> str:
    spoken = content.get("parts")
    pieces = spoken if isinstance(spoken, list) else [content.get("text")]
    texts = [piece if isinstance(piece, str) else _transcribed(piece) for piece in pieces]
    return _CITATION.sub("", "\n".join(text for text in texts if text)).strip()


def _transcribed(piece: object) -> str:
    """What was said aloud; images and other assets have no text."""
    return str(piece.get("text") or "") if isinstance(piece, Mapping) else ""


def _attachments(content: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[str]:
    attached = metadata.get("attachments")
    names = [one.get("name") for one in attached if isinstance(one, Mapping)] if isinstance(attached, list) else []
    yield from (f"[attachment: {name}]" for name in names if name)
    pieces = content.get("parts")
    images = [
        piece
        for piece in (pieces if isinstance(pieces, list) else [])
        if isinstance(piece, Mapping) and piece.get("content_type") == "image_asset_pointer"
    ]
    if images and not any(names):
        yield "[image]"


def _inner(mapping: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = mapping.get(name)
    return found if isinstance(found, Mapping) else {}

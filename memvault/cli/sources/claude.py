"""Claude: `conversations.json` of a data export, also inside its folder or zip.

A conversation has `chat_messages` with `sender` (human or assistant). Texts are taken, tools and thinking are left out;
files are named, their content is not part of what was said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memvault.cli.sources import chats
from memvault.cli.sources.chats import Turn
from memvault.cli.sources.entry import Item, Left, instant

SERVICE = "claude"
_SPEAKERS = {"human": "user", "user": "user", "assistant": "assistant"}


def read(path: Path, zone: tzinfo | None) -> Iterator[Item]:
    """Blocks of all conversations of an export."""

    def turns_of(conversation: Mapping[str, Any]) -> tuple[str, str, Iterator[Turn | Left]]:
        messages = conversation.get("chat_messages")
        name = str(conversation.get("uuid") or "")
        if not isinstance(messages, list) or not name:
            raise ValueError("is no conversation of Claude: `chat_messages` or `uuid` is missing")
        turns = (_turn(message, zone) for message in messages)
        return name, str(conversation.get("name") or ""), turns

    return chats.read(path, turns_of, SERVICE, lambda name: f"https://claude.ai/chat/{name}")


def _turn(message: object, zone: tzinfo | None) -> Turn | Left:
    if not isinstance(message, Mapping):
        return Left("unknown role")
    speaker = _SPEAKERS.get(str(message.get("sender")))
    if speaker is None:
        return Left(str(message.get("sender") or "unknown role"))
    key = str(message.get("uuid") or "")
    text = _text(message)
    if text:
        text = "\n".join([text, *_attachments(message)])
    return Turn(key, speaker, text, instant(message.get("created_at"), zone)) if key else Left("without id")


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    pieces = [
        str(one.get("text") or "")
        for one in (content if isinstance(content, list) else [])
        if isinstance(one, Mapping) and one.get("type") == "text"
    ]
    whole = "\n\n".join(piece for piece in pieces if piece.strip())
    return (whole or str(message.get("text") or "")).strip()


def _attachments(message: Mapping[str, Any]) -> Iterator[str]:
    for field in ("attachments", "files"):
        attached = message.get(field)
        for one in attached if isinstance(attached, list) else []:
            name = one.get("file_name") if isinstance(one, Mapping) else None
            if name:
                yield f"[attachment: {name}]"

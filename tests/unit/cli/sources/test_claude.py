from __future__ import annotations

from typing import Any

import pytest

from memvault.cli.sources import claude
from tests.unit.cli.sources.conftest import bad, blocks, left

pytestmark = pytest.mark.r("R-63")


def message(name: str, sender: str | None, text: str = "", **more: Any) -> dict[str, Any]:
    return {"uuid": name, "sender": sender, "text": text, "created_at": "2026-03-01T09:30:00.25+08:00", **more}


def talk(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"uuid": "k1", "name": "印表機 setup", "chat_messages": list(messages), **more}


def test_messages_become_blocks_with_speaker_time_and_place(written):
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "It is at 10.0.0.5."},
        {"type": "tool_use", "name": "ping"},
        {"type": "text", "text": "三樓。"},
    ]
    path = written([talk(message("1", "human", "Where is the printer?"), message("2", "assistant", content=content))])
    first, second = blocks(claude.read(path, None))
    assert first == {
        "id": "claude:k1:1",
        "service": "chat",
        "text": "Where is the printer?",
        "title": "印表機 setup",
        "speaker": "user",
        "conversation_id": "claude:k1",
        "position": 0,
        "event_time": "2026-03-01T01:30:00.250000Z",
        "source": {"kind": "conversation", "uri": "https://claude.ai/chat/k1"},
        "tags": ["claude"],
    }
    assert (second["text"], second["speaker"]) == ("It is at 10.0.0.5.\n\n三樓。", "assistant")
    assert second["source"]["kind"] == "agent"


def test_attachments_are_named_and_what_says_nothing_is_left_out(written):
    path = written(
        [
            talk(
                message("1", "human", "看這個", attachments=[{"file_name": "帳.csv", "extracted_content": "1,2"}]),
                message("2", "human", "", files=[{"file_name": "only.png"}]),
                message("3", "robot", "?"),
                message("4", None, "?"),
                "no message",
                {"sender": "human", "text": "without an id"},
                message("5", "assistant", content=[{"type": "tool_use"}], text=" "),
            ),
            talk(uuid="k2"),
        ]
    )
    items = list(claude.read(path, None))
    assert [block["text"] for block in blocks(items)] == ["看這個\n[attachment: 帳.csv]"]
    assert left(items) == ["empty", "robot", "unknown role", "unknown role", "without id", "empty"]


def test_an_entry_that_is_no_conversation_is_told(written):
    items = list(claude.read(written([{"uuid": "k"}, talk(message("1", "human", "茶"))]), None))
    assert "`chat_messages`" in bad(items)[0][1]
    assert len(blocks(items)) == 1

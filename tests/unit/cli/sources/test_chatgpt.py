from __future__ import annotations

import zipfile
from typing import Any

import pytest

from memvault.cli.sources import chatgpt
from tests.unit.cli.sources.conftest import bad, blocks, left

pytestmark = pytest.mark.r("R-63")


def node(
    name: str, parent: str | None, role: str = "user", *parts: Any, time: float | None = 1.7e9, **more: Any
) -> Any:
    message = {
        "id": f"m-{name}",
        "author": {"role": role},
        "create_time": time,
        "content": {"content_type": more.pop("kind", "text"), "parts": list(parts)},
        "metadata": more.pop("metadata", {}),
        "recipient": more.pop("recipient", "all"),
    }
    return {"id": name, "parent": parent, "children": [], "message": message, **more}


def conversation(*nodes: Any, current: str | None, **more: Any) -> dict[str, Any]:
    mapping = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    mapping |= {one["id"]: one for one in nodes}
    return {"conversation_id": "c1", "title": "大提琴 lessons", "mapping": mapping, "current_node": current, **more}


def test_the_branch_that_was_seen_last_becomes_blocks_in_order(written):
    talk = conversation(
        node("a", "root", "user", "我想學大提琴。"),
        node("b", "a", "assistant", "First try, thrown away."),
        node("b2", "a", "assistant", "Which suite do you like?", time=1700000060.5),
        node("c", "b2", "user", "第二組曲", "the second one"),
        current="c",
    )
    found = blocks(chatgpt.read(written([talk]), None))
    assert [block["text"] for block in found] == [
        "我想學大提琴。",
        "Which suite do you like?",
        "第二組曲\nthe second one",
    ]
    assert [block["id"] for block in found] == ["chatgpt:c1:m-a", "chatgpt:c1:m-b2", "chatgpt:c1:m-c"]
    assert [block["position"] for block in found] == [0, 1, 2]
    assert found[1] == {
        "id": "chatgpt:c1:m-b2",
        "service": "chat",
        "text": "Which suite do you like?",
        "title": "大提琴 lessons",
        "speaker": "assistant",
        "conversation_id": "chatgpt:c1",
        "position": 1,
        "event_time": "2023-11-14T22:14:20.500000Z",
        "source": {"kind": "agent", "uri": "https://chatgpt.com/c/c1"},
        "tags": ["chatgpt"],
    }
    assert found[0]["source"]["kind"] == "conversation"


def test_what_is_no_talk_is_left_out_and_counted(written):
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    talk = conversation(
        node("s", "root", "system", "You are helpful."),
        node("i", "s", "user", "profile", kind="user_editable_context"),
        node("h", "i", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
        node("e", "h", "user", ""),
        node("p", "e", "user", image, kind="multimodal_text"),
        node("q", "p", "user", image, "這張是什麼？", kind="multimodal_text"),
        node("t", "q", "assistant", "search(...)", recipient="browser"),
        node("r", "t", "tool", "result"),
        node("u", "r", "critic", "?"),
        node("x", "u", "assistant", "thinking", kind="thoughts"),
        node("y", "x", "assistant", "琴橋 \ue200cite\ue202turn0search1\ue201 is the bridge.", time=None),
        node(
            "z", "y", "user", {"content_type": "audio_transcription", "text": "謝謝"}, kind="multimodal_text",
            metadata={"attachments": [{"name": "譜.pdf"}]},
        ),
        current="z",
    )  # fmt: skip
    items = list(chatgpt.read(written([talk]), None))
    assert [block["text"] for block in blocks(items)] == [
        "這張是什麼？\n[image]",
        "琴橋  is the bridge.",
        "謝謝\n[attachment: 譜.pdf]",
    ]
    assert left(items) == ["system", "tool", "hidden", "empty", "empty", "tool", "tool", "critic", "tool"]
    assert "event_time" not in blocks(items)[1]


@pytest.mark.parametrize("current", [None, "gone"])
def test_without_a_current_node_the_newest_end_counts(written, current):
    talk = conversation(
        node("a", "root", "user", "one", time=1.0),
        node("b", "a", "assistant", "older end", time=2.0),
        node("c", "a", "assistant", "newer end", time=3.0),
        current=current,
    )
    assert [block["text"] for block in blocks(chatgpt.read(written([talk]), None))] == ["one", "newer end"]


def test_a_deleted_message_a_lost_parent_and_a_circle_end_nothing(written):
    deleted = {"id": "d", "parent": "a", "children": [], "message": None}
    lost = conversation(node("a", "root", "user", "first"), deleted, node("b", "d", "user", "last"), current="b")
    orphan = conversation(node("b", "nowhere", "user", "alone"), current="b", conversation_id="c2")
    circle = conversation(node("a", "b", "user", "x"), node("b", "a", "user", "y"), current="b", conversation_id="c3")
    found = blocks(chatgpt.read(written([lost, orphan, circle]), None))
    assert [block["text"] for block in found] == ["first", "last", "alone", "x", "y"]


def test_one_broken_conversation_keeps_no_other_out(written):
    good = conversation(node("a", "root", "user", "half \ud83d of a smile\x00"), current="a")
    path = written([{"title": "?"}, "text", good], before=b"\xef\xbb\xbf", ascii_only=True)
    items = list(chatgpt.read(path, None))
    assert [place for place, _ in bad(items)] == ["conversations.json, entry 1", "conversations.json, entry 2"]
    assert [block["text"] for block in blocks(items)] == ["half \ufffd of a smile"]


def test_a_file_that_is_cut_off_gives_what_is_whole_and_says_so(written):
    path = written([conversation(node("a", "root", "user", "kept"), current="a"), {"title": "lost"}])
    path.write_bytes(path.read_bytes()[:-12])
    items = list(chatgpt.read(path, None))
    assert [block["text"] for block in blocks(items)] == ["kept"]
    assert "is no JSON" in bad(items)[0][1]


def test_the_zip_and_its_folder_are_read_too(written, tmp_path):
    path = written([conversation(node("a", "root", "user", "packed"), current="a")])
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(path, "chat/conversations.json")
        archive.writestr("chat/user.json", "{}")
    assert blocks(chatgpt.read(tmp_path / "export.zip", None)) == blocks(chatgpt.read(path, None))
    assert blocks(chatgpt.read(tmp_path, None)) == blocks(chatgpt.read(path, None))


def test_a_message_too_long_for_a_block_becomes_parts_in_order(written):
    long = "\n\n".join(f"第 {number} 段：" + "茶" * 500 for number in range(100))
    talk = conversation(node("a", "root", "user", long), node("b", "a", "assistant", "long!"), current="b")
    found = blocks(chatgpt.read(written([talk]), None))
    assert [block["id"] for block in found] == [
        "chatgpt:c1:m-a", "chatgpt:c1:m-a#0002", "chatgpt:c1:m-a#0003", "chatgpt:c1:m-b",
    ]  # fmt: skip
    assert [block["position"] for block in found] == [0, 1, 2, 3]
    assert all(len(block["text"].encode()) <= 60_000 for block in found)
    assert "\n\n".join(block["text"] for block in found[:3]) == long

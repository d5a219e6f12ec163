"""Whatever stands in a file, a source reads it to the end: it tells what it cannot read, and never fails itself."""

from __future__ import annotations

import json
import re
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.cli.sources import chatgpt, chats, claude, detection, markdown, mem0, transcript
from memvault.cli.sources.entry import Row, parts
from tests.unit.cli.sources.conftest import TAIPEI, bad, remarks

pytestmark = pytest.mark.r("R-63")

WORDS = st.sampled_from(
    [
        "mapping",
        "current_node",
        "conversation_id",
        "message",
        "author",
        "role",
        "user",
        "assistant",
        "content",
        "parts",
        "parent",
        "id",
        "create_time",
        "metadata",
        "content_type",
        "text",
        "chat_messages",
        "uuid",
        "sender",
        "human",
        "type",
        "created_at",
        "memory",
        "user_id",
        "categories",
        "timestamp",
        "sessionId",
        "cwd",
        "recipient",
        "attachments",
        "name",
    ]
)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=12,
)
ENTRY = st.one_of(
    VALUE,
    st.fixed_dictionaries({"id": WORDS, "mapping": st.dictionaries(WORDS, st.dictionaries(WORDS, VALUE))}),
    st.fixed_dictionaries({"uuid": WORDS, "chat_messages": st.lists(st.dictionaries(WORDS, VALUE), max_size=3)}),
    st.fixed_dictionaries({"type": st.just("user"), "message": st.dictionaries(WORDS, VALUE, max_size=3)}),
)
FIELDS = st.dictionaries(
    st.sampled_from(["title", "tags", "date", "created", "updated", "aliases", "summary", "author"]), VALUE, max_size=4
)


def holds(block: dict[str, Any]) -> bool:
    """Whether the gateway could take it as far as form goes."""
    json.dumps(block, ensure_ascii=False, allow_nan=False).encode()
    id_is_one = 1 <= len(block["id"]) <= 200 and block["id"].isprintable()
    return id_is_one and 0 < len(block["text"].encode()) <= 65536 and block["text"].strip() == block["text"]


@settings(deadline=None, max_examples=40)
@given(st.lists(ENTRY, max_size=4))
def test_any_json_is_read_to_the_end(entries: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole, lines = Path(folder) / "conversations.json", Path(folder) / "a.jsonl"
        whole.write_text(json.dumps(entries), encoding="utf-8")
        lines.write_text("\n".join(json.dumps(entry) for entry in entries), encoding="utf-8")
        found = [
            *chatgpt.read(whole, TAIPEI),
            *claude.read(whole, TAIPEI),
            *mem0.read(whole, TAIPEI, "user"),
            *transcript.read(lines, TAIPEI),
        ]
    assert all(holds(item.block) for item in found if isinstance(item, Row))


@settings(deadline=None, max_examples=40)
@given(FIELDS, st.text(max_size=60))
def test_any_front_matter_and_text_is_read(fields: dict[str, Any], text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "note.md"
        note.write_bytes(f"---\n{json.dumps(fields)}\n---\n{text}".encode("utf-8", "surrogatepass"))
        items = list(markdown.read(note, TAIPEI, "n"))
    assert all(holds(item.block) for item in items if isinstance(item, Row))


def test_a_list_in_yaml_that_stands_for_billions_costs_nothing(tmp_path):
    lines = ['a0: &a0 ["x"]', *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    lines += [f"{name}: *a11" for name in ("title", "summary", "date", "tags", "author", "aliases")]
    (tmp_path / "bomb.md").write_text("---\n" + "\n".join(lines) + "\n---\ntext")
    (row,) = (item for item in markdown.read(tmp_path, None, "") if isinstance(item, Row))
    assert (row.block["title"], row.block["text"]) == ("bomb", "text")


@pytest.mark.parametrize("value", ["0x" + "f" * 5000, "!!set {a, b}", "!!binary dGVh", "{a: 1}", "[[a], {b: c}]"])
def test_a_field_that_is_no_text_number_or_day_is_not_taken_over(tmp_path, value):
    names = ("title", "summary", "date", "tags", "author", "aliases", value)
    (tmp_path / "n.md").write_text("---\n" + "\n".join(f"{name}: {value}" for name in names[:-1]) + "\n---\ntext")
    items = list(markdown.read(tmp_path, None, ""))
    (row,) = (item for item in items if isinstance(item, Row))
    assert (row.block["title"], row.block["text"]) == ("n", "text")
    assert not {"tags", "summary", "speaker", "event_time"} & set(row.block)
    assert ["of several values" in text or "date" in text for _, text in remarks(items)] == [True]


def test_tags_may_be_words_numbers_and_days_and_a_key_may_be_anything(tmp_path):
    (tmp_path / "n.md").write_text(f"---\ntags: [茶, 0, 2.5, 2026-03-01]\n? 0x{'f' * 5000}\n: x\n---\ntext", "utf-8")
    (row,) = (item for item in markdown.read(tmp_path, None, "") if isinstance(item, Row))
    assert row.block["tags"] == ["茶", "0", "2.5", "2026-03-01"]


@settings(deadline=None, max_examples=30)
@given(st.text(alphabet="茶a# \n。", max_size=400), st.integers(150, 2000))
def test_parts_fit_and_lose_nothing_but_white_space(text: str, times: int) -> None:
    whole = text * times
    pieces = parts(whole)
    assert "".join("".join(pieces).split()) == "".join(whole.split())
    assert all(0 < len(piece.encode()) <= 60_000 for piece in pieces)


def _zeros(data: bytearray) -> bytes:
    return data[:60] + bytes(30) + data[90:]


def _locked(data: bytearray) -> bytes:
    """The bit that says encrypted, in both heads of the entry."""
    for head, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(head) + flag] |= 1
    return data


def _packed_otherwise(data: bytearray) -> bytes:
    for head, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.index(head) + method] = 97
    return data


def _list_is_broken(data: bytearray) -> bytes:
    return data.replace(b"PK\x01\x02", b"PK\x09\x09")


def _elsewhere(data: bytearray) -> bytes:
    """The list says that the entry begins far behind the end."""
    place = data.index(b"PK\x01\x02") + 42
    data[place : place + 4] = b"\xff\xff\xff\x7f"
    return data


def _cut_off(data: bytearray) -> bytes:
    return data[: len(data) // 2]


@pytest.mark.parametrize("damage", [_zeros, _locked, _packed_otherwise, _list_is_broken, _elsewhere, _cut_off])
def test_an_archive_that_is_damaged_or_locked_is_told(tmp_path, damage):
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(chats.CONVERSATIONS, json.dumps([{"uuid": "k", "chat_messages": []}] * 500))
    path.write_bytes(damage(bytearray(path.read_bytes())))
    told = "the archive is damaged or locked: .+; unpack it yourself and import the folder"
    ((_, reason),) = bad(claude.read(path, None))
    assert re.fullmatch(told, reason)
    with pytest.raises(detection.Unrecognised, match=f"export.zip: {told}$"):
        detection.of(path)

from __future__ import annotations

import io
import json
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.cli.sources import chats, detection, json_stream
from memvault.cli.sources.json_stream import BrokenJson, elements

pytestmark = pytest.mark.r("R-63")

EVENT = {"type": "user", "message": {"role": "user", "content": "茶"}, "sessionId": "s"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=("Cs",)), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab茶", max_size=3), inner, max_size=3),
    max_leaves=8,
)


def test_files_are_told_apart_by_what_stands_in_them(written, tmp_path):
    found = {
        "memvault": written({"format": "memvault.export", "version": 1, "user_id": "a"}, "1", before=b"\xef\xbb\xbf"),
        "jsonl": written({"id": "b", "text": "茶"}, "2"),
        "transcript": written({"type": "summary"}, "3"),
        "chatgpt": written([{"mapping": {}}], "4", before=b"\xef\xbb\xbf\n "),
        "claude": written([{"chat_messages": []}], "5"),
        "mem0": written({"results": [{"memory": "m"}]}, "6"),
        "markdown": written("text", "7.md"),
    }
    found["transcript"].write_text(found["transcript"].read_text() + "\n" + json.dumps(EVENT) + "\n")
    assert {name: detection.of(path).format for name, path in found.items()} == {name: name for name in found}


def test_an_indented_document_is_recognised_too(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"results": [{"memory": "m", "id": "1"}]}, indent=2))
    (tmp_path / "b.json").write_text(json.dumps([{"mapping": {}, "id": "1"}], indent=2))
    assert detection.of(tmp_path / "a.json").format == "mem0"
    assert detection.of(tmp_path / "b.json").format == "chatgpt"


def test_folders_and_archives_are_looked_into(tmp_path):
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    (tmp_path / "notes" / "deep" / "a.md").write_text("x")
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "a.jsonl").write_text("{}")
    (tmp_path / "chat").mkdir()
    (tmp_path / "chat" / "conversations.json").write_text('[{"chat_messages": []}]')
    with zipfile.ZipFile(tmp_path / "gpt.zip", "w") as archive:
        archive.writestr("conversations-000.json", '[{"mapping": {}}]')
    found = {name: detection.of(tmp_path / name).format for name in ("notes", "sessions", "chat", "gpt.zip")}
    assert found == {"notes": "markdown", "sessions": "transcript", "chat": "claude", "gpt.zip": "chatgpt"}


@pytest.mark.parametrize("content", ["[]", "[", '{"a": 1}', "words", '[{"other": 1}]', "[" * 100_000])
def test_what_is_none_of_them_says_so(tmp_path, content):
    (tmp_path / "some.json").write_text(content)
    with pytest.raises(detection.Unrecognised, match="say what it is with --from, one of memvault"):
        detection.of(tmp_path / "some.json")


@pytest.mark.parametrize("content", [b"", b"   ", b"\xef\xbb\xbf\n"])
def test_an_empty_file_is_told_as_such(tmp_path, content):
    (tmp_path / "some.json").write_bytes(content)
    with pytest.raises(detection.Unrecognised, match=r"some\.json: it is empty$"):
        detection.of(tmp_path / "some.json")


def test_only_where_something_stands_before_a_break_it_was_read(tmp_path):
    told = {}
    for content in ("{", '[{"a": 1}, {'):
        (tmp_path / "some.json").write_text(content)
        *_, last = chats.conversations(tmp_path / "some.json")
        told[content] = last.reason.endswith("; what stands before was read")
    assert list(told.values()) == [False, True]


def test_a_folder_of_both_or_of_neither_asks_what_is_meant(tmp_path):
    with pytest.raises(detection.Unrecognised, match=r"no \.md"):
        detection.of(tmp_path)
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "a.jsonl").write_text("{}")
    with pytest.raises(detection.Unrecognised, match=r"notes .* and transcripts"):
        detection.of(tmp_path)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(detection.Unrecognised, match="the archive holds no"):
        detection.of(tmp_path / "other.zip")


@settings(deadline=None, max_examples=60)
@given(st.lists(JSON, max_size=5), st.integers(1, 9), st.sampled_from([None, 2]))
def test_an_array_is_read_element_by_element_however_it_is_cut(values, chunk, indent):
    raw = b"\xef\xbb\xbf" + json.dumps(values, ensure_ascii=False, indent=indent).encode() + b"\n"
    usual, json_stream._CHUNK = json_stream._CHUNK, chunk
    try:
        assert list(elements(io.BytesIO(raw))) == values
    finally:
        json_stream._CHUNK = usual


@pytest.mark.parametrize("chunk", [1, 1 << 20])
@pytest.mark.parametrize("text", ["1\n{}\n[2, 3]\n[]\n", "1 {}[2,3]\r\n\r\n[]"])
def test_values_one_behind_the_other_are_all_read(monkeypatch, text, chunk):
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    assert list(elements(io.BytesIO(text.encode()))) == [1, {}, 2, 3]


BROKEN = {
    b"[1 2]": "character 4: a comma",
    b"[1,": "character 4: Expecting value",
    b"[1": "character 3: a comma",
    b'  ["a': "character 4: Unterminated string",
    b"[1,]": "character 4: Expecting value",
    b"[1]]": "character 4: Expecting value",
    b'{"a": 1}\n{"b"': "character 14: Expecting ':'",
    b'[1, {"a" 2}]': "character 10: Expecting ':'",
    b"[\xff]": "is not UTF-8",
    b"": "character 1: Expecting value",
    b"[1, " + b"9" * 5000 + b"]": "character 5: a number is too long",
    b"[1, " + b"[" * 100_000: "character 5: it is nested too deeply",
}


@pytest.mark.parametrize("chunk", [1, 1 << 20])
@pytest.mark.parametrize(("broken", "told"), BROKEN.items(), ids=range(len(BROKEN)))
def test_a_broken_array_says_where(monkeypatch, broken, told, chunk):
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    with pytest.raises(BrokenJson, match=told):
        list(elements(io.BytesIO(broken)))

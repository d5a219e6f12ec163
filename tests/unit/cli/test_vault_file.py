"""The file of an export: what goes in comes out, and what is wrong with a file is told by line."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import given, settings
from hypothesis import strategies as st

from memvault.cli import block_check, said, vault_file
from memvault.cli.vault_file import Fault, Line
from memvault.recall.v1.types_pb2 import Block
from memvault_gateway.domain import edge
from memvault_gateway.handlers import decode

pytestmark = pytest.mark.r("R-63")

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=30)
FULL = TEXT.filter(str.strip)
SHARE = st.floats(0, 1)
COUNT = st.integers(0, 2**31 - 1)
TIME = st.datetimes(timezones=st.just(UTC)).map(lambda at: at.isoformat().replace("+00:00", "Z"))
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "service": TEXT,
    "summary": TEXT,
    "title": TEXT,
    "heading_path": st.lists(TEXT, max_size=3),
    "speaker": TEXT,
    "position": COUNT,
    "event_time": TIME,
    "recorded_at": TIME,
    "source": st.fixed_dictionaries({"kind": st.sampled_from(["web", "agent"]), "uri": TEXT}),
    "trust": SHARE,
    "confidence": SHARE,
    "tags": st.lists(TEXT, max_size=3),
    "quarantine": st.lists(st.sampled_from(["spam", "rejected"]), unique=True),
    "ups": COUNT,
    "access_count": COUNT,
    "last_accessed_at": TIME,
    "frozen": st.booleans(),
    "superseded_by": TEXT,
    "valid_to": TIME,
    "screened_version": TEXT,
    "version": COUNT,
    "triples": st.lists(st.fixed_dictionaries({"subject": FULL, "predicate": FULL, "object": FULL}), max_size=2),
    "unsafe_rules": st.lists(TEXT, max_size=2),
}
BLOCK = st.fixed_dictionaries({"id": FULL, "text": FULL}, optional=FIELDS)


def file_of(*blocks: dict[str, Any]) -> list[bytes]:
    return [vault_file.header("ann"), *map(vault_file.row, blocks), vault_file.end(len(blocks))]


def told(lines: list[bytes]) -> list[tuple[int, str]]:
    return [(one.number, one.reason) for one in vault_file.read(lines[1:]) if isinstance(one, Fault)]


@settings(deadline=None, max_examples=150)
@given(BLOCK)
def test_a_block_comes_out_of_its_line_as_it_went_in_and_the_line_out_of_the_block(block: dict[str, Any]) -> None:
    """The whole way: message, JSON of the gateway, line, file, JSON of a write, message."""
    message = ParseDict({**block, "user_id": "ann"}, Block())
    line = vault_file.row(MessageToDict(message, preserving_proto_field_name=True))
    assert line.count(b"\n") == 1
    (read,) = vault_file.read(b"".join([line, vault_file.end(1)]).splitlines(keepends=True))
    assert isinstance(read, Line), read
    back = ParseDict({**read.block, "user_id": "ann"}, Block())
    assert back == message
    assert vault_file.row(MessageToDict(back, preserving_proto_field_name=True)) == line


def test_what_memvault_works_out_again_is_no_part_of_a_line() -> None:
    line = vault_file.row({"id": "a", "user_id": "ann", "text": "t", "centrality": 0.4, "tier": "hot", "version": 2})
    assert json.loads(line) == {"id": "a", "text": "t", "version": 2}


def test_a_whole_file_has_no_faults_with_a_bom_windows_line_ends_and_blank_lines() -> None:
    lines = file_of({"id": "a", "text": "茶"}, {"id": "b", "text": "tea\u2028\u0085"})
    windows = b"\xef\xbb\xbf" + b"\r\n".join(line.rstrip(b"\n") for line in lines) + b"\r\n\r\n"
    stream = windows.splitlines(keepends=True)
    assert vault_file.is_header(stream[0])
    assert vault_file.read_header(stream[0]).user_id == "ann"
    assert [line.block["text"] for line in vault_file.read(stream[1:])] == ["茶", "tea\u2028\u0085"]  # type: ignore[union-attr]


BAD_LINES = [
    ("no JSON", b"{broken\n", "is not a JSON object"),
    ("no UTF-8", b'{"id": "x", "text": "\xff"}\n', "is not a JSON object in UTF-8"),
    ("a list", b"[1]\n", "is not a JSON object"),
    ("no id", b'{"text": "t"}\n', "has no id"),
    ("a blank id", b'{"id": " ", "text": "t"}\n', "has a blank id"),
    ("a field twice", b'{"id": "x", "text": "t", "text": "u"}\n', 'has the field "text" twice: keep one of them'),
    (
        "a field within a field twice",
        b'{"id": "x", "text": "t", "source": {"kind": "web", "kind": "agent"}}\n',
        'has the field "kind" twice: keep one of them',
    ),
    ("an id of another line", b'{"id": "a", "text": "t"}\n', "has the id of line 2"),
    ("no text", b'{"id": "x", "text": " "}\n', "has no text"),
    ("too long", b'{"id": "x", "text": "' + "茶".encode() * 22_000 + b'"}\n', "a block takes 65536"),
    (
        "a word that does not exist",
        b'{"id": "x", "text": "t", "colour": "red"}\n',
        'has an unknown field "colour": take it out',
    ),
    (
        "a number that is a word",
        b'{"id": "x", "text": "t", "access_count": "many"}\n',
        '"access_count": a whole number',
    ),
    (
        "a time that is none",
        b'{"id": "x", "text": "t", "event_time": "2026-02-30T00:00:00Z"}\n',
        '"event_time": a time with',
    ),
    (
        "a fact with a fourth part",
        b'{"id": "x", "text": "t", "triples": [{"when": "now"}]}\n',
        'unknown field "triples.when"',
    ),
    ("a count too high", b'{"id": "x", "text": "t", "ups": 2147483648}\n', 'field "ups"'),
    ("a source that is a word", b'{"id": "x", "text": "t", "source": "web"}\n', '"source": an object with kind'),
    ("a tag that is a number", b'{"id": "x", "text": "t", "tags": ["a", 1]}\n', '"tags": a list of texts'),
    ("trust of 2", b'{"id": "x", "text": "t", "trust": 2}\n', "no number from 0 to 1"),
    ("trust of NaN", b'{"id": "x", "text": "t", "trust": NaN}\n', "no number from 0 to 1"),
    ("half a character", b'{"id": "x", "text": "\\ud83d"}\n', "half of a surrogate pair"),
    ("another export behind it", vault_file.header("bob"), "begins another export"),
]


@pytest.mark.parametrize(("line", "reason"), [row[1:] for row in BAD_LINES], ids=[row[0] for row in BAD_LINES])
def test_a_bad_line_is_told_with_its_number(line: bytes, reason: str) -> None:
    lines = [*file_of({"id": "a", "text": "t"})[:2], line]
    faults = told(lines)
    assert faults[0][0] == 3
    assert reason in faults[0][1]


def test_a_file_that_was_cut_off_or_lost_lines_is_told() -> None:
    whole = file_of({"id": "a", "text": "t"}, {"id": "b", "text": "t"})
    assert told(whole) == []
    ((number, reason),) = told(whole[:-1])
    assert (number, "cut off" in reason) == (3, True)
    ((number, reason),) = told([*whole[:2], whole[3]])
    assert (number, "lines are missing" in reason) == (3, True)
    assert "behind the end" in told([*whole, b'{"id": "c", "text": "t"}\n'])[0][1]


@pytest.mark.parametrize("line", [b"", b"{}", b'{"format": "other"}', b"[", b'{"id": "a", "text": "t"}'])
def test_another_file_is_no_export(line: bytes) -> None:
    assert not vault_file.is_header(line)
    with pytest.raises(vault_file.NotAnExport, match="is it a file of `memvault export`"):
        vault_file.read_header(line)


def test_an_export_of_a_newer_version_says_to_update() -> None:
    line = b'{"format": "memvault.export", "version": 2, "user_id": "ann"}'
    assert vault_file.is_header(line)
    with pytest.raises(vault_file.NotAnExport, match="update"):
        vault_file.read_header(line)


def test_a_profile_is_no_block_and_is_read_by_itself() -> None:
    first, row, last = file_of({"id": "a", "text": "t"})
    lines = [first, row, vault_file.profile({"sample_count": 3}), last]
    assert told(lines) == []
    assert [type(one) for one in vault_file.read(lines[1:])] == [Line]
    assert vault_file.read_profile(lines) == {"sample_count": 3}
    assert vault_file.read_profile([first, row, last]) is None


def test_the_command_line_knows_the_gateway_s_limits_though_it_does_not_import_it() -> None:
    assert (block_check._TEXT_BYTES, block_check._ID_CHARS) == (edge.TEXT_BYTES, edge._ID_CHARS)
    assert (said.TEXT_BYTES, said.UTTERANCES_READ) == (edge.TEXT_BYTES, decode._UTTERANCES_READ)
    assert said.SPEAKER_CHARS <= edge.SHORT_CHARS

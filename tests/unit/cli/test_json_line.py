from __future__ import annotations

import pytest

from memvault.cli import json_line
from memvault.cli.sources import jsonl
from tests.unit.cli.sources.conftest import bad, blocks

pytestmark = pytest.mark.r("R-63")


@pytest.mark.parametrize("line", [b"", b"{", b'"\xff"', b'"\xed\xa0\xbd"', "{}".encode("utf-16"), b"[" * 100_000])
def test_what_is_no_json_in_utf_8_is_a_value_error(line):
    with pytest.raises(ValueError, match=r"JSON|Expecting|codec|nested"):
        json_line.read(line)


@pytest.mark.parametrize(
    ("line", "half"),
    [(rb'"\ud83d"', True), (rb'{"\ud83d": 1}', True), (rb'"\ud83d\ude00 \u8336"', False), ('"😀"'.encode(), False)],
)
def test_half_a_character_is_noticed_and_a_whole_one_is_not(line, half):
    assert json_line.half_character(line, json_line.read(line)) is half


def test_lines_are_told_for_what_is_wrong_and_the_others_read():
    lines = [
        '\ufeff{"id": "a", "text": "茶"}',
        r'{"id": "b", "text": "\ud83d"}',
        "[1]",
        "{",
        '{"id": "c", "text": "t"}',
    ]
    items = list(jsonl.read(line.encode() + b"\n" for line in lines))
    assert [block["id"] for block in blocks(items)] == ["a", "c"]
    reasons = ["holds half of a surrogate pair", "is no JSON object", "is no JSON: "]
    for (place, reason), number, part in zip(bad(items), (2, 3, 4), reasons, strict=True):
        assert place == f"line {number}"
        assert f"the line {part}" in reason

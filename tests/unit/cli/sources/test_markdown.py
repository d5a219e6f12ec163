from __future__ import annotations

import os
from pathlib import Path

import pytest

from memvault.cli.sources import markdown
from tests.unit.cli.sources.conftest import TAIPEI, bad, blocks, left, remarks

pytestmark = pytest.mark.r("R-63")

NOTE = """---
title: "三樓的印表機"
tags: [office, "#硬體", 2026]
aliases:
  - the printer
date: 2026-03-01 09:30
updated: 2026-03-02T10:00:00+01:00
summary: 位址與密碼
author: Ann
draft: true
---
# Heading

它在 10.0.0.5，見 [[網路/交換器|the switch]] 與 #維修 紀錄。

```sh
echo "#not-a-tag"
```
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "筆記"
    (folder / "辦公室").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "plugin.md").write_text("not a note")
    (folder / "辦公室" / "printer.md").write_text(NOTE, encoding="utf-8")
    return folder


def test_front_matter_becomes_title_tags_dates_and_summary_and_the_text_stays_as_written(notes):
    os.utime(notes / "辦公室" / "printer.md", (0, 0))
    assert blocks(markdown.read(notes, TAIPEI, "")) == [
        {
            "id": "md:筆記/辦公室/printer.md",
            "service": "notes",
            "text": "(the printer)\n\n" + NOTE.partition("true\n---\n")[2].strip(),
            "summary": "位址與密碼",
            "title": "三樓的印表機",
            "heading_path": ["辦公室"],
            "speaker": "Ann",
            "event_time": "2026-03-01T01:30:00Z",
            "recorded_at": "2026-03-02T09:00:00Z",
            "source": {"kind": "document", "uri": "筆記/辦公室/printer.md"},
            "tags": ["office", "硬體", "2026", "維修"],
        }
    ]


def test_a_note_without_front_matter_has_title_and_day_from_what_there_is(notes):
    (notes / "2026-03-05.md").write_bytes("\ufeff# 星期四\r\n\r\nlesson moved\r\n".encode())
    (notes / "plain.markdown").write_text("---\n\nonly a rule above\n")
    os.utime(notes / "plain.markdown", (1_700_000_000, 1_700_000_000))
    day, plain = blocks(markdown.read(notes, TAIPEI, ""))[:2]
    assert (day["title"], day["text"], day["event_time"]) == (
        "星期四",
        "# 星期四\n\nlesson moved",
        "2026-03-04T16:00:00Z",
    )
    assert (plain["title"], plain["recorded_at"]) == ("plain", "2023-11-14T22:13:20Z")
    assert "event_time" not in plain
    assert plain["text"] == "---\n\nonly a rule above"


def test_an_empty_note_is_left_out_and_one_in_another_encoding_is_told(notes):
    (notes / "empty.md").write_text("---\ntags: [a]\n---\n\n")
    (notes / "big5.md").write_bytes("印表機".encode("big5"))
    items = list(markdown.read(notes, None, ""))
    assert left(items) == ["empty"]
    ((place, reason),) = bad(items)
    assert (place, "not UTF-8" in reason) == ("big5.md", True)
    assert len(blocks(items)) == 1


def test_front_matter_without_a_field_is_no_text(notes):
    (notes / "nothing.md").write_text("---\n---\n")
    (notes / "body.md").write_text("---\n---\n牛奶\n\n---\n雞蛋\n")
    items = list(markdown.read(notes, None, ""))
    assert left(items) == ["empty"]
    assert next(block["text"] for block in blocks(items) if block["id"].endswith("body.md")) == "牛奶\n\n---\n雞蛋"


def test_front_matter_that_is_no_yaml_stays_in_the_text_and_is_told(notes):
    (notes / "odd.md").write_text("---\ntitle: a: b: c\ntags: [x\n---\nbody")
    items = list(markdown.read(notes, None, ""))
    ((place, reason),) = remarks(items)
    assert (place, "line" in reason) == ("odd.md", True)
    odd = next(block for block in blocks(items) if block["id"].endswith("odd.md"))
    assert odd["text"].startswith("---\ntitle: a: b: c")
    assert odd["text"].endswith("body")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("date: 2026-03-01", "2026-02-28T16:00:00Z"),
        ("date: 2026-03-01T09:30:00Z", "2026-03-01T09:30:00Z"),
        ("created: 2026/03/01 09:30", "2026-03-01T01:30:00Z"),
        ("日期: 2026年3月1日", "2026-02-28T16:00:00Z"),
        ("created_at: 2026-03-01T09:30:00.5-05:00", "2026-03-01T14:30:00.500000Z"),
        ("date: someday", None),
        ("date: 12", None),
    ],
)
def test_dates_keep_their_zone_or_take_the_named_one(tmp_path, written, told):
    (tmp_path / "note.md").write_text(f"---\n{written}\n---\ntext", encoding="utf-8")
    items = list(markdown.read(tmp_path / "note.md", TAIPEI, "n"))
    assert blocks(items)[0].get("event_time") == told
    assert len(remarks(items)) == (told is None)


def test_a_day_that_no_calendar_has_takes_no_other_field_with_it(tmp_path):
    (tmp_path / "a.md").write_text("---\ntitle: t\ntags: [x]\ndate: 2026-02-30\nupdated: 2026-03-01\n---\nbody")
    items = list(markdown.read(tmp_path, TAIPEI, ""))
    block = blocks(items)[0]
    assert (block["title"], block["tags"], block["text"], block.get("event_time")) == ("t", ["x"], "body", None)
    assert block["recorded_at"] == "2026-02-28T16:00:00Z"
    assert "'2026-02-30' is not understood" in str(remarks(items))


def test_ids_are_made_of_folder_and_path_so_that_an_edited_note_replaces_the_old_one(notes):
    before = [block["id"] for block in blocks(markdown.read(notes, None, ""))]
    (notes / "辦公室" / "printer.md").write_text("edited")
    assert [block["id"] for block in blocks(markdown.read(notes, None, ""))] == before
    alone = blocks(markdown.read(notes / "辦公室" / "printer.md", None, ""))
    assert alone[0]["id"] == "md:辦公室/printer.md"
    assert blocks(markdown.read(notes, None, "work"))[0]["id"] == "md:work/辦公室/printer.md"


def test_a_name_that_no_id_can_hold_is_hashed_below_the_same_prefix(notes):
    deep = notes / ("長" * 60) / ("檔" * 60)
    deep.mkdir(parents=True)
    (deep / ("名" * 60 + ".md")).write_text("deep", encoding="utf-8")
    names = [block["id"] for block in blocks(markdown.read(notes, None, ""))]
    assert all(name.startswith("md:筆記/") and len(name) <= 195 for name in names)
    assert names == [block["id"] for block in blocks(markdown.read(notes, None, ""))]


def test_a_very_long_note_becomes_parts_that_are_neighbours(notes):
    sections = [f"## Part {number}\n\n" + "茶。" * 4000 for number in range(5)]
    (notes / "long.md").write_text("\n".join(sections), encoding="utf-8")
    found = [block for block in blocks(markdown.read(notes, None, "")) if "long.md" in block["id"]]
    assert [block["id"] for block in found] == ["md:筆記/long.md", "md:筆記/long.md#0002", "md:筆記/long.md#0003"]
    assert [block["position"] for block in found] == [0, 1, 2]
    assert [block["text"].startswith("## Part") for block in found] == [True, True, True]
    assert {markdown.whole_of(block["id"]) for block in found} == {"md:筆記/long.md"}

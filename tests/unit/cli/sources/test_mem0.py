from __future__ import annotations

import json

import pytest

from memvault.cli.sources import detection, mem0
from tests.unit.cli.sources.conftest import bad, blocks, left

pytestmark = pytest.mark.r("R-63")

MEMORY = {
    "id": "7f",
    "memory": "喜歡喝烏龍茶 in the morning",
    "user_id": "ann",
    "created_at": "2024-07-01T12:00:00.5-07:00",
    "updated_at": "2024-08-01T12:00:00-07:00",
    "metadata": {"category": "food", "priority": 2, "tags": ["tea", "茶"], "deep": {"x": 1}},
    "categories": ["preferences", "food"],
}


@pytest.mark.parametrize("wrapped", [[MEMORY], {"results": [MEMORY]}, {"memories": [MEMORY]}])
def test_a_memory_becomes_a_block_whatever_it_is_wrapped_in(written, wrapped):
    assert blocks(mem0.read(written(wrapped, "mem0.json"), None, "")) == [
        {
            "id": "mem0:7f",
            "service": "mem0",
            "text": "喜歡喝烏龍茶 in the morning",
            "event_time": "2024-08-01T19:00:00Z",
            "recorded_at": "2024-07-01T19:00:00.500000Z",
            "source": {"kind": "agent", "uri": "mem0:7f"},
            "tags": ["preferences", "food", "priority:2", "tea", "茶"],
        }
    ]


def test_memories_by_lines_are_all_read(tmp_path):
    path = tmp_path / "mem0.jsonl"
    path.write_text(
        "".join(json.dumps({"id": name, "memory": f"likes {name}"}) + "\n" for name in ("tea", "茶", "mate"))
    )
    assert detection.of(path).format == "mem0"
    assert [block["text"] for block in blocks(mem0.read(path, None, ""))] == ["likes tea", "likes 茶", "likes mate"]


def test_a_memory_without_times_or_metadata_is_one_all_the_same(written):
    plain = {"id": 5, "memory": "a", "created_at": None, "updated_at": "", "metadata": None, "categories": None}
    assert blocks(mem0.read(written([plain], "m.json"), None, "")) == [
        {"id": "mem0:5", "service": "mem0", "text": "a", "source": {"kind": "agent", "uri": "mem0:5"}}
    ]


def test_what_is_no_memory_is_told(written):
    items = list(mem0.read(written([MEMORY, {"id": "x", "memory": " "}, {"memory": "y"}, 3], "m.json"), None, "ann"))
    assert left(items) == ["memories of other people"] * 2
    items = list(mem0.read(written([{"id": "x", "memory": " "}, {"memory": "y"}, 3], "m.json"), None, ""))
    assert [place for place, _ in bad(items)] == ["m.json, entry 1", "m.json, entry 2", "m.json, entry 3"]


def test_memories_of_several_people_never_become_one_persons(written):
    path = written([MEMORY, {**MEMORY, "id": "8", "user_id": "bob", "memory": "his"}], "m.json")
    with pytest.raises(mem0.SeveralPeople, match="ann, bob"):
        list(mem0.read(path, None, ""))
    assert [block["text"] for block in blocks(mem0.read(path, None, "bob"))] == ["his"]

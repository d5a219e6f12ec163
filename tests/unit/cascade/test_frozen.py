"""A frozen block gives up its words, and the graph keeps standing on it (R-19)."""

import pytest

from memvault_cascade.domain.graph.extraction import Fact
from tests.unit.cascade.conftest import USER, a_block

pytestmark = pytest.mark.r("R-19", "R-34")

WHOLE = "王小明負責報銷系統。報銷系統使用 PaddleOCR。"
SUMMARY = "報銷系統的分工。"


async def facts_of(house):
    graph = (await house.graphs.state(USER)).graph
    return {(one.id, tuple(s.block_id for s in one.support)) for one in graph.triples.values()}, set(graph.entities)


async def test_facts_and_names_of_the_whole_text_stay_and_the_text_goes(house):
    await house.ingest.block(a_block("b1", WHOLE))
    before = await facts_of(house)
    assert before[0]
    assert await house.ingest.block(a_block("b1", SUMMARY, version=2, frozen=True))
    assert await facts_of(house) == before
    (node,) = (await house.graphs.state(USER)).graph.blocks.values()
    assert (node.text, node.version) == (SUMMARY, 2)
    assert node.mentions
    assert not await house.ingest.block(a_block("b1", SUMMARY, version=2, frozen=True))
    (stored,) = (await house.store.load(USER)).graph.blocks.values()
    assert (stored.text, stored.mentions) == (SUMMARY, node.mentions)


async def test_a_block_written_again_is_read_anew(house):
    await house.ingest.block(a_block("b1", WHOLE))
    await house.ingest.block(a_block("b1", SUMMARY, version=2, frozen=True))
    await house.ingest.block(a_block("b1", "陳美玲負責採購。", version=3))
    graph = (await house.graphs.state(USER)).graph
    assert {graph.entities[one.object_id].name for one in graph.triples.values()} == {"採購"}


async def test_a_frozen_block_that_the_graph_never_saw_whole_is_read_as_it_is(house):
    await house.ingest.block(a_block("b1", SUMMARY, facts=[Fact("王小明", "負責", "報銷系統")], frozen=True))
    assert len((await facts_of(house))[0]) == 1


async def test_no_summary_of_a_community_holds_what_froze(house):
    await house.ingest.block(a_block("b1", WHOLE))
    await house.ingest.block(a_block("b2", "王小明負責報銷系統。林怡君使用報銷系統。"))
    await house.garden.tend(USER)
    told = [one.summary for one in (await house.graphs.state(USER)).communities]
    assert any("PaddleOCR。" in one for one in told), told
    await house.ingest.block(a_block("b1", SUMMARY, version=2, frozen=True))
    await house.garden.tend(USER)
    told = [one.summary for one in (await house.graphs.state(USER)).communities]
    assert told
    assert not any("報銷系統使用 PaddleOCR。" in one for one in told), told

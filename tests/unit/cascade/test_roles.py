"""Words for a part in a conversation are no names: they would tie unrelated talks together (R-33)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memvault.faults import Fault, Reason
from memvault_cascade.domain.graph.extraction import Fact, extract
from memvault_cascade.domain.graph.names import SELF_NAME, entity_id
from memvault_cascade.domain.graph.roles import Roles
from tests.unit.cascade.conftest import NOW, USER, House, a_block

ROLES = ["assistant", "Assistant", "user", "system", "bot", "AI", "agent", "human"]
ROLES += ["助理", "使用者", "用户", "系統", "機器人"]


async def names(house):
    return {entity.name for entity in (await house.graphs.state(USER)).graph.entities.values()}


async def mentions(house, block_id):
    graph = (await house.graphs.state(USER)).graph
    return {graph.entities[one].name for one in graph.blocks[block_id].mentions}


@pytest.mark.r("R-33")
@pytest.mark.parametrize("speaker", [*ROLES, "User 2", "speaker_1", "assistant:"])
async def test_a_speaker_that_is_only_a_part_in_the_conversation_is_no_node(house, speaker):
    await house.ingest.block(a_block("a", "陶藝教室在 Tainan。", speaker=speaker))
    await house.ingest.block(a_block("b", "We met at the Falcon office.", speaker=speaker))
    assert not {name for name in await names(house) if name.casefold() == speaker.casefold()}
    assert not await mentions(house, "a") & await mentions(house, "b")


@pytest.mark.r("R-33")
@pytest.mark.parametrize("speaker", ["小美", "Ann", "Botan", "Userland", "助理小美", "Ann 2"])
async def test_a_person_who_speaks_is_named_by_what_she_says(house, speaker):
    await house.ingest.block(a_block("a", "陶藝教室很遠。", speaker=speaker))
    assert speaker in await mentions(house, "a")


@pytest.mark.r("R-33", "R-34")
async def test_a_role_in_a_text_or_a_fact_is_no_node_and_the_user_is_oneself(house):
    stated = (Fact("使用者", "住在", "台南"), Fact("assistant", "recommends", "Falcon"), Fact("Mei", "asks", "the bot"))
    await house.ingest.block(a_block("a", "Today Mei thanked the Assistant and the User at Acme.", facts=stated))
    graph = (await house.graphs.state(USER)).graph
    assert {SELF_NAME, "台南", "Mei", "Acme"} <= await names(house)
    assert not {"使用者", "assistant", "Assistant", "User", "the bot"} & await names(house)
    said = {
        (graph.entities[t.subject_id].name, t.predicate, graph.entities[t.object_id].name)
        for t in graph.triples.values()
    }
    assert said == {(SELF_NAME, "住在", "台南")}


@pytest.mark.r("R-34")
def test_what_the_user_says_of_themselves_is_the_users_under_any_word_for_them(rules):
    for speaker, expected in (("使用者", SELF_NAME), ("用戶", SELF_NAME), ("human", SELF_NAME), ("Ann", "Ann")):
        assert [fact.subject for fact in extract("I use Vim.", speaker, rules).facts] == [expected]
    for speaker in ("助理", "系統", "chatbot", "Speaker 1"):
        assert extract("I use Vim.", speaker, rules).facts == ()


@pytest.mark.r("R-34")
async def test_a_fact_from_outside_about_a_role_is_refused_and_one_about_the_user_is_theirs(house):
    with pytest.raises(Fault) as caught:
        await house.ingest.fact(USER, Fact("assistant", "likes", "tea"), [], NOW, None)
    assert caught.value.reason is Reason.FIELD_INVALID
    await house.ingest.fact(USER, Fact("用戶", "likes", "tea"), [], NOW, None)
    assert await names(house) == {SELF_NAME, "tea"}


async def written_by_older_rules(rules, store):
    """A graph as it was written before roles were known: every name became a node."""
    older = House(replace(rules, roles=Roles(*[frozenset()] * 4)), store)
    await older.ingest.block(
        a_block("a", "We saw the Falcon.", speaker="assistant", facts=(Fact("使用者", "likes", "tea"),))
    )
    await older.ingest.block(
        a_block("b", "We saw Acme.", speaker="assistant", facts=(Fact("assistant", "likes", "tea"),))
    )
    await older.ingest.block(a_block("c", "Hm.", speaker="Ann", facts=(Fact("Mei", "likes", "AI"),)))


@pytest.mark.r("R-33", "R-36")
async def test_the_night_takes_such_nodes_out_of_an_older_graph_and_keeps_the_rest(house, rules):
    await written_by_older_rules(rules, house.store)
    assert {"assistant", "使用者"} <= await names(house)
    changes = await house.dream.run("night", USER)
    assert changes["roles_removed"] == 2
    assert await names(house) == {SELF_NAME, "tea", "Falcon", "Acme", "Mei", "AI", "Ann"}
    graph = (await house.graphs.state(USER)).graph
    said = {(graph.entities[t.subject_id].name, graph.entities[t.object_id].name) for t in graph.triples.values()}
    assert said == {(SELF_NAME, "tea"), ("Mei", "AI")}
    assert await mentions(house, "a") == {"Falcon", SELF_NAME, "tea"}
    assert await mentions(house, "b") == {"Acme", "tea"}
    clusters = (await house.graphs.state(USER)).communities
    assert clusters
    assert entity_id("assistant") not in {one for cluster in clusters for one in cluster.entity_ids}
    assert "roles_removed" not in await house.dream.run("next night", USER)

"""Applying changes to a graph: parts that a change does not touch are shared with the graph before it."""

from datetime import UTC, datetime

from memvault_cascade.domain.graph.model import BlockNode, Entity, GraphChange, Synonym, UserGraph, apply

AT = datetime(2026, 3, 1, tzinfo=UTC)
BEFORE = apply(
    UserGraph("ann"),
    GraphChange(
        entities=(Entity("e1", "Ada"), Entity("e2", "Adah")),
        blocks=(BlockNode("b1", "Ada came.", ("e1",), AT),),
        synonyms=(Synonym("e1", "e2", 0.7),),
    ),
    "1",
)


def test_a_block_that_names_nobody_new_copies_neither_entities_nor_facts_nor_synonyms():
    after = apply(BEFORE, GraphChange(blocks=(BlockNode("b2", "Ada left.", ("e1",), AT),)), "2")
    assert after.entities is BEFORE.entities
    assert after.triples is BEFORE.triples
    assert after.synonyms is BEFORE.synonyms
    assert (list(BEFORE.blocks), list(after.blocks), after.revision) == (["b1"], ["b1", "b2"], "2")


def test_what_goes_is_gone_from_the_new_graph_only():
    after = apply(BEFORE, GraphChange(gone_entities=("e1", "unknown"), gone_blocks=("b1",)), "2")
    assert (set(after.entities), dict(after.blocks), dict(after.synonyms)) == ({"e2"}, {}, {})
    assert (set(BEFORE.entities), set(BEFORE.blocks), set(BEFORE.synonyms)) == ({"e1", "e2"}, {"b1"}, {"e1"})


def test_a_synonym_told_again_replaces_the_one_before():
    after = apply(BEFORE, GraphChange(synonyms=(Synonym("e1", "e2", 0.9), Synonym("e1", "e3", 0.6))), "2")
    assert [(one.second_id, one.similarity) for one in after.synonyms["e1"]] == [("e2", 0.9), ("e3", 0.6)]
    assert [(one.second_id, one.similarity) for one in BEFORE.synonyms["e1"]] == [("e2", 0.7)]

"""The invented vault, interleaving, and processor time."""

import os
from itertools import islice

import pytest

from memvault_evals.processor import of_processes, of_this_process
from memvault_evals.synthetic import blocks, memories, questions
from memvault_evals.timing import Again, interleaved, spread


def test_the_same_seed_makes_the_same_vault_and_ids_are_unique() -> None:
    vault = blocks(300, seed=1)
    assert vault == blocks(300, seed=1)
    assert vault != blocks(300, seed=2)
    assert len({block["id"] for block in vault}) == 300


def test_a_larger_vault_begins_with_the_smaller_one_and_grows_into_the_past() -> None:
    vault = blocks(900, seed=1)
    assert vault[:300] == blocks(300, seed=1)
    notes = [block["event_time"] for block in vault if "position" not in block]
    assert notes == sorted(notes, reverse=True)


def test_the_vault_holds_conversations_and_single_notes_in_both_languages() -> None:
    vault = blocks(300, seed=1)
    assert {"conversation_id" in block for block in vault} == {True, False}
    assert {block["text"].isascii() for block in vault} == {True, False}


def test_what_a_user_has_in_mind_is_in_the_vault_as_one_sentence() -> None:
    stored = {block["text"] for block in blocks(300, seed=1)}
    said = list(memories(seed=1))
    assert len(said) > 50
    assert set(said) <= stored


def test_no_question_is_asked_twice() -> None:
    asked = list(islice(questions(seed=1), 2000))
    assert len(set(asked)) == 2000


async def test_every_operation_runs_once_a_round_and_the_warm_up_is_not_counted() -> None:
    ran: list[str] = []

    def operation(name: str):
        async def work() -> None:
            ran.append(name)

        return work

    never = Again(KeyError, most=0)
    taken = await interleaved({"a": operation("a"), "b": operation("b")}, rounds=5, warm_up=2, seed=1, again=never)
    assert {name: len(samples) for name, samples in taken.items()} == {"a": 5, "b": 5}
    assert all(set(ran[at : at + 2]) == {"a", "b"} for at in range(0, 14, 2))


async def test_what_failed_is_measured_again_but_not_for_ever() -> None:
    calls: list[int] = []

    async def fails_at_first() -> None:
        calls.append(1)
        if len(calls) <= 2:
            raise KeyError

    again = Again(KeyError, most=2)
    taken = await interleaved({"a": fails_at_first}, rounds=3, warm_up=0, seed=1, again=again)
    assert (len(taken["a"]), len(calls), again.taken) == (3, 5, 2)
    calls.clear()
    with pytest.raises(KeyError):
        await interleaved({"a": fails_at_first}, rounds=3, warm_up=0, seed=1, again=Again(KeyError, most=1))


def test_a_spread_is_median_ninety_fifth_and_ninety_ninth_percentile() -> None:
    one = spread([float(n) for n in range(1, 102)])
    assert (one.p50, one.p95, one.p99, one.n) == (51.0, 96.0, 100.0, 101)
    with pytest.raises(ValueError, match="no sample"):
        spread([])


async def test_processor_time_grows_with_the_work() -> None:
    async def much() -> None:
        sum(range(1_000_000))

    async def nothing() -> None:
        return

    assert await of_this_process(much, 3) > 5 * await of_this_process(nothing, 3)
    assert await of_processes([os.getpid()], much, 20) > 1.0

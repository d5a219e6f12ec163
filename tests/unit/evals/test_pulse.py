"""Is each side of the search alive?"""

from typing import Any

import pytest

from memvault.recall.v1.recall_pb2 import RecallResponse
from memvault.recall.v1.types_pb2 import Card
from memvault_evals.datasets import Scope
from memvault_evals.house import EvalError
from memvault_evals.pulse import take_pulse

BLOCKS = tuple({"id": f"b{n}", "text": f"memory number {n} of a long evening"} for n in range(20))
SCOPE = Scope("u", BLOCKS, (), None, {})


class Gateway:
    """Finds a memory by its own words, as long as a side that lives is switched on."""

    def __init__(self, *dead: str) -> None:
        self._dead = dead

    def ask(self, query: str, context: dict[str, Any]) -> RecallResponse:
        off = context["evaluation"]["off"]
        alive = [side for side in ("dense", "sparse") if f"ranker:{side}_self" not in off and side not in self._dead]
        found = [block["id"] for block in BLOCKS if block["text"] == query] if alive else []
        return RecallResponse(cards=[Card(block_id=one, kind="block", score=1.0) for one in found])


def test_two_living_sides_find_every_memory_by_its_own_words() -> None:
    assert take_pulse(Gateway(), [SCOPE]) == {"probes": 8, "dense": 8, "sparse": 8}


@pytest.mark.parametrize("side", ["dense", "sparse"])
def test_a_dead_side_is_named_however_well_the_other_one_answers(side: str) -> None:
    with pytest.raises(EvalError, match=f"the {side} side is dead"):
        take_pulse(Gateway(side), [SCOPE])


def test_a_side_that_always_answers_with_the_same_memory_is_dead_too() -> None:
    class Stuck(Gateway):
        def ask(self, query: str, context: dict[str, Any]) -> RecallResponse:
            return super().ask(BLOCKS[0]["text"], context)

    with pytest.raises(EvalError, match="alone it put 1 of 8"):
        take_pulse(Stuck(), [SCOPE])


def test_a_vault_of_short_scraps_cannot_be_probed_and_says_so() -> None:
    with pytest.raises(EvalError, match="no text of 24 characters"):
        take_pulse(Gateway(), [Scope("u", ({"id": "a", "text": "ok"},), (), None, {})])

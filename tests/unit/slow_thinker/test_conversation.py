"""The order of what was said."""

import pytest

from memvault_slow_thinker.domain.conversation import Utterance, in_order


@pytest.mark.r("R-51")
def test_what_was_said_in_the_same_second_keeps_the_order_of_the_stream() -> None:
    second, first = Utterance("a", "user", "and then", 5.0, 8), Utterance("z", "user", "first", 5.0, 7)
    earlier = Utterance("m", "user", "before", 4.0, 9)
    assert in_order([second, first, earlier, first]) == (earlier, first, second)

import asyncio
import time

import pytest

from memvault.faults import Fault, Reason
from memvault.rpc.deadline import for_next_hop, limit, remaining_s


def test_without_a_deadline_the_default_counts() -> None:
    assert remaining_s(2.0) == 2.0
    assert for_next_hop(3.0, 0.02) == 3.0


async def test_a_deadline_ends_the_code_within() -> None:
    started = time.monotonic()
    with pytest.raises(Fault) as caught:
        async with limit(0.05):
            await asyncio.sleep(5)
    assert caught.value.reason is Reason.DEADLINE_EXCEEDED
    assert time.monotonic() - started < 1
    assert remaining_s(9.0) == 9.0


async def test_an_inner_limit_cannot_outlast_the_outer_one() -> None:
    async with limit(0.5):
        async with limit(60):
            assert remaining_s(0) <= 0.5
        async with limit(0.1):
            assert remaining_s(0) <= 0.1
        assert 0.3 < remaining_s(0) <= 0.5


async def test_a_request_that_just_arrived_has_its_own_deadline() -> None:
    async with limit(0.5), limit(60, inherit=False):
        assert remaining_s(0) > 1


async def test_each_hop_leaves_a_margin_and_an_empty_one_is_not_made() -> None:
    async with limit(0.5):
        assert 0.2 < for_next_hop(9, 0.1) <= 0.4
        assert for_next_hop(0.05, 0.1) == 0.05
        with pytest.raises(Fault):
            for_next_hop(9, 0.6)


async def test_a_time_out_of_ones_own_is_not_mistaken_for_the_deadline() -> None:
    with pytest.raises(TimeoutError):
        async with limit(5):
            raise TimeoutError("the store's own")

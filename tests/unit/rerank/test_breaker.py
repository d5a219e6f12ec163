"""The circuit breaker (R-21), example by example."""

import pytest

from memvault_rerank.domain.breaker import Admission, Breaker, Limits, Outcome, Phase, ask, tell

LIMITS = Limits(open_after=3, cool_down_s=600.0)


def fail(breaker: Breaker, now: float, times: int = 1) -> Breaker:
    for _ in range(times):
        breaker, admission = ask(breaker, now=now, limits=LIMITS)
        assert admission is not None
        breaker = tell(breaker, admission, Outcome.FAILED, now=now, limits=LIMITS)
    return breaker


def admitted(breaker: Breaker, now: float) -> tuple[Breaker, Admission]:
    breaker, admission = ask(breaker, now=now, limits=LIMITS)
    assert admission is not None
    return breaker, admission


@pytest.mark.r("R-21")
def test_two_failures_leave_it_closed_and_the_third_opens_it_for_600_seconds() -> None:
    breaker = fail(Breaker(), now=100.0, times=2)
    assert breaker.phase is Phase.CLOSED
    breaker = fail(breaker, now=100.0)
    assert breaker.phase is Phase.OPEN
    assert breaker.retry_at == 700.0


@pytest.mark.r("R-21")
def test_a_success_in_between_starts_the_count_again() -> None:
    breaker = fail(Breaker(), now=0.0, times=2)
    breaker, admission = admitted(breaker, 0.0)
    breaker = tell(breaker, admission, Outcome.SUCCEEDED, now=0.0, limits=LIMITS)
    assert fail(breaker, now=0.0, times=2).phase is Phase.CLOSED


@pytest.mark.r("R-21")
def test_while_open_every_call_is_bypassed_and_counted() -> None:
    breaker = fail(Breaker(), now=0.0, times=3)
    for now in (0.0, 1.0, 599.9):
        breaker, admission = ask(breaker, now=now, limits=LIMITS)
        assert admission is None
    assert breaker.bypassed == 3


@pytest.mark.r("R-21")
def test_after_the_cool_down_one_call_probes_and_calls_beside_it_are_bypassed() -> None:
    breaker, probe = admitted(fail(Breaker(), now=0.0, times=3), 600.0)
    assert breaker.phase is Phase.PROBING
    breaker, beside = ask(breaker, now=600.0, limits=LIMITS)
    assert beside is None
    closed = tell(breaker, probe, Outcome.SUCCEEDED, now=601.0, limits=LIMITS)
    assert closed.phase is Phase.CLOSED
    assert closed.failures == 0
    opened = tell(breaker, probe, Outcome.FAILED, now=601.0, limits=LIMITS)
    assert opened.phase is Phase.OPEN
    assert opened.retry_at == 1201.0


@pytest.mark.r("R-21")
def test_a_call_from_before_it_opened_decides_nothing_afterwards() -> None:
    breaker, slow = admitted(Breaker(), 0.0)
    breaker = fail(breaker, now=1.0, times=3)
    assert tell(breaker, slow, Outcome.SUCCEEDED, now=2.0, limits=LIMITS) == breaker
    probing, _ = admitted(breaker, 601.0)
    assert tell(probing, slow, Outcome.SUCCEEDED, now=602.0, limits=LIMITS) == probing
    assert tell(probing, slow, Outcome.FAILED, now=602.0, limits=LIMITS) == probing


@pytest.mark.r("R-21")
def test_an_abandoned_probe_lets_the_next_call_probe_at_once() -> None:
    breaker, probe = admitted(fail(Breaker(), now=0.0, times=3), 600.0)
    breaker = tell(breaker, probe, Outcome.ABANDONED, now=601.0, limits=LIMITS)
    breaker, _ = admitted(breaker, 601.0)
    assert breaker.phase is Phase.PROBING


@pytest.mark.r("R-21")
def test_a_probe_that_is_never_heard_of_again_is_followed_by_another() -> None:
    breaker, lost = admitted(fail(Breaker(), now=0.0, times=3), 600.0)
    breaker, again = admitted(breaker, 1200.0)
    assert again != lost


@pytest.mark.r("R-21")
def test_a_clock_that_jumps_back_a_day_never_makes_the_wait_longer_than_a_cool_down() -> None:
    breaker = fail(Breaker(), now=86_400.0, times=3)
    breaker, admission = ask(breaker, now=10.0, limits=LIMITS)
    assert admission is None
    assert breaker.retry_at == 610.0
    breaker, _ = admitted(breaker, 610.0)

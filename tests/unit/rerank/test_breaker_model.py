"""The circuit breaker against a plain model of it: any order of calls, outcomes and clock readings (R-21)."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from memvault_rerank.domain.breaker import Admission, Breaker, Limits, Outcome, Phase, ask, tell

LIMITS = Limits(open_after=3, cool_down_s=600.0)


class BreakerMachine(RuleBasedStateMachine):
    """Keeps what the breaker promises in the simplest form: lists and flags."""

    calls = Bundle("calls")

    def __init__(self) -> None:
        super().__init__()
        self.breaker = Breaker()
        self.now = 1_000.0
        self.failures_in_row = 0  # among the calls that count, while closed
        self.earliest_retry: float | None = None  # None: closed
        self.probe: Admission | None = None
        self.current: set[Admission] = set()  # admissions whose outcome still counts

    @rule(seconds=st.one_of(st.floats(0, 2_000), st.floats(-100_000, 0)))
    def clock_moves(self, seconds: float) -> None:
        self.now += seconds

    @rule(target=calls)
    def call_asks(self) -> Admission | None:
        before = self.breaker
        self.breaker, admission = ask(before, now=self.now, limits=LIMITS)
        if self.earliest_retry is None:
            assert admission is not None, "a closed breaker lets every call through"
            self.current.add(admission)
            return admission
        self.earliest_retry = min(self.earliest_retry, self.now + LIMITS.cool_down_s)
        if self.now < self.earliest_retry:
            assert admission is None, "nothing passes before the cool-down is over"
            assert self.breaker.bypassed == before.bypassed + 1
            return None
        assert admission is not None, "after the cool-down one call must be let through"
        self.probe, self.current = admission, {admission}
        self.earliest_retry = self.now + LIMITS.cool_down_s
        return admission

    @rule(admission=consumes(calls), outcome=st.sampled_from(list(Outcome)))
    def call_ends(self, admission: Admission | None, outcome: Outcome) -> None:
        if admission is None:
            return
        before = self.breaker
        self.breaker = tell(before, admission, outcome, now=self.now, limits=LIMITS)
        if admission not in self.current:
            assert self.breaker == before, "a call of another time decides nothing"
        elif self.probe is not None:
            self._probe_ended(outcome)
        elif outcome is Outcome.SUCCEEDED:
            self.failures_in_row = 0
        elif outcome is Outcome.FAILED:
            self.failures_in_row += 1
            if self.failures_in_row >= LIMITS.open_after:
                self.current, self.earliest_retry = set(), self.now + LIMITS.cool_down_s

    def _probe_ended(self, outcome: Outcome) -> None:
        self.probe, self.current = None, set()
        waits = {
            Outcome.SUCCEEDED: None,
            Outcome.FAILED: self.now + LIMITS.cool_down_s,
            Outcome.ABANDONED: self.now,
        }
        self.earliest_retry = waits[outcome]
        if outcome is Outcome.SUCCEEDED:
            self.failures_in_row = 0

    @invariant()
    def phase_is_what_the_model_says(self) -> None:
        expected = Phase.CLOSED if self.earliest_retry is None else Phase.PROBING if self.probe else Phase.OPEN
        assert self.breaker.phase is expected

    @invariant()
    def no_wait_is_longer_than_a_cool_down_once_somebody_asks(self) -> None:
        asked, admission = ask(self.breaker, now=self.now, limits=LIMITS)
        if admission is None:
            assert asked.retry_at <= self.now + LIMITS.cool_down_s

    @invariant()
    def it_never_wedges(self) -> None:
        """Whatever happened, and whoever never comes back: a cool-down after somebody asked, a call is let through."""
        asked, admission = ask(self.breaker, now=self.now, limits=LIMITS)
        if admission is None:
            _, admission = ask(asked, now=self.now + LIMITS.cool_down_s, limits=LIMITS)
        assert admission is not None

    @invariant()
    def fewer_failures_than_it_takes_keep_it_closed(self) -> None:
        if self.breaker.phase is Phase.CLOSED:
            assert self.breaker.failures == self.failures_in_row < LIMITS.open_after


TestBreakerAgainstItsModel = BreakerMachine.TestCase
TestBreakerAgainstItsModel.settings = settings(
    max_examples=100, stateful_step_count=40, deadline=None, derandomize=True, database=None
)

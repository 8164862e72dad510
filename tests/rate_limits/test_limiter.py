"""Limits of users at the scheduler: nobody is granted more, nobody waits for somebody else's limit, nothing is lost."""

import math
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from carrel.providers.base import ProviderError
from carrel.rate_limits.limiter import Limiter
from carrel.rate_limits.schemas import RateLimitIn
from carrel.runs.scheduling.scheduler import FairScheduler, Ticket
from tests.support.clock import FakeClock
from tests.support.limits import Timers, scheduler


class Limited:
    """A scheduler whose users all have these limits at the provider `p`."""

    def __init__(self, limits: RateLimitIn, total: int = 100) -> None:
        self.clock = FakeClock()
        self.timers = Timers(self.clock)
        self.scheduler: FairScheduler = scheduler(total, clock=self.clock, users={"p": limits}, later=self.timers)
        self.limiter: Limiter = self.scheduler.limiter
        self.granted: list[tuple[str, float]] = []
        self.wishes: dict[str, Ticket] = {}

    def want(self, user: str, count: int) -> None:
        wish = self.wishes.get(user)
        if wish is None:
            wish = self.wishes[user] = Ticket(user, "r", "p", lambda: self._note(user))
        self.scheduler.want(wish, count)

    def _note(self, user: str) -> None:
        self.granted.append((user, self.clock.monotonic()))

    def answer(self, user: str, tokens: int | None = 0) -> None:
        self.limiter.answered(user, "p", tokens)
        self.scheduler.release(user, "p")

    def refuse(self, user: str, begun: float, wait: float | None = None, code: str = "rate-limited") -> None:
        error = ProviderError(code, retryable=True, retry_after_seconds=wait)
        self.limiter.failed(user, "p", error, begun)
        self.scheduler.release(user, "p")

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.timers.fire()

    def in_bounds(self, user: str, per_minute: int) -> bool:
        """Whether no stretch of time up to now saw more of the user's calls than the limit allows."""
        times = [when for who, when in self.granted if who == user]
        return all(
            len(times) - first <= per_minute + (times[-1] - begin) * per_minute / 60 + 1e-6
            for first, begin in enumerate(times)
        )

    def count(self, user: str) -> int:
        return sum(1 for who, _ in self.granted if who == user)


def test_requests_a_minute_are_granted_evenly_and_the_time_wakes_whoever_waits() -> None:
    at = Limited(RateLimitIn(requests_per_minute=6))
    at.want("ada", 10)
    assert at.count("ada") == 6
    at.pass_time(9.9)
    assert at.count("ada") == 6
    at.pass_time(0.2)
    assert at.count("ada") == 7
    assert len(at.timers.pending) == 1


def test_one_users_limit_is_in_nobody_elses_way() -> None:
    at = Limited(RateLimitIn(concurrency=2), total=5)
    at.want("ada", 10)
    at.want("bob", 10)
    assert (at.count("ada"), at.count("bob")) == (2, 2)
    at.answer("ada")
    assert at.count("ada") == 3


def test_a_refusal_halves_the_calls_at_once_and_holds_the_users_calls_for_as_long_as_the_provider_asks() -> None:
    at = Limited(RateLimitIn(concurrency=8))
    begun = at.clock.monotonic()
    at.want("ada", 100)
    at.want("bob", 1)
    at.pass_time(1)
    for _ in range(8):
        at.refuse("ada", begun, wait=20)
    assert (at.count("ada"), at.count("bob")) == (8, 1)
    assert at.limiter.shown("ada", "p").wait_seconds == 20
    at.pass_time(19)
    assert at.count("ada") == 8
    at.pass_time(1)
    assert at.count("ada") == 12
    assert at.limiter.shown("ada", "p").concurrency_now == 4


def test_tokens_are_settled_with_what_calls_really_took() -> None:
    at = Limited(RateLimitIn(tokens_per_minute=6_000))
    at.want("ada", 1)
    at.answer("ada", 12_000)
    at.want("ada", 1)
    assert at.count("ada") == 1
    # A debt of 6,000 is a minute; then there must be what the next call is taken to need.
    at.pass_time(60)
    assert at.count("ada") == 1
    at.pass_time(60)
    assert at.count("ada") == 2


def test_an_absurd_number_of_tokens_holds_nobody_back_for_longer_than_an_hour() -> None:
    at = Limited(RateLimitIn(tokens_per_minute=6_000))
    at.want("ada", 1)
    at.answer("ada", 1 << 42)
    at.want("ada", 2)
    assert at.limiter.shown("ada", "p").wait_seconds <= 3_660
    at.pass_time(3_660)
    assert at.count("ada") == 2
    at.answer("ada", 100)
    at.pass_time(60)
    assert at.count("ada") == 3, "it has not become the measure of all calls to come"


def test_while_a_provider_wants_to_hear_nothing_no_call_is_left() -> None:
    at = Limited(RateLimitIn(concurrency=8))
    at.want("ada", 1)
    at.refuse("ada", at.clock.monotonic(), 7)
    [concurrency] = at.limiter.standings("ada", "p")
    assert (concurrency.quota, concurrency.left, concurrency.wait_seconds) == (4, 0, 7)
    assert at.limiter.wait_seconds("ada", "p") == 7
    at.pass_time(7)
    [concurrency] = at.limiter.standings("ada", "p")
    assert (concurrency.left, concurrency.wait_seconds) == (4, 0)


def test_a_slot_that_is_given_back_unused_cost_no_request() -> None:
    at = Limited(RateLimitIn(requests_per_minute=1))
    at.want("ada", 1)
    at.scheduler.release("ada", "p", used=False)
    at.want("ada", 1)
    assert at.count("ada") == 2


def test_other_limits_hold_at_once_for_whoever_waits() -> None:
    at = Limited(RateLimitIn(requests_per_minute=1))
    at.want("ada", 3)
    assert at.count("ada") == 1
    at.limiter.set("ada", "p", RateLimitIn(concurrency=2))
    assert at.count("ada") == 2
    at.limiter.set("ada", "p", None)
    assert at.limiter.shown("ada", "p").is_default


def test_what_a_user_set_is_forgotten_with_the_key() -> None:
    at = Limited(RateLimitIn(concurrency=1))
    at.limiter.learn("ada", {"p": RateLimitIn(concurrency=5)})
    at.want("ada", 9)
    assert at.count("ada") == 5
    at.want("ada", 0)
    at.limiter.forget("ada")
    at.scheduler.release("ada", "p")
    assert at.limiter.shown("ada", "p").concurrency == 1


def test_a_provider_without_limits_is_never_waited_for() -> None:
    limiter = Limiter(FakeClock(), {})
    limiter.take("ada", "local")
    assert limiter.wait_seconds("ada", "local") == 0
    assert limiter.standings("ada", "local") == []


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("want"), st.sampled_from(["ada", "bob"]), st.integers(0, 20)),
        st.tuples(st.just("answer"), st.integers(0, 100), st.one_of(st.none(), st.integers(0, 5_000))),
        st.tuples(st.just("refuse"), st.integers(0, 100), st.one_of(st.none(), st.integers(0, 30))),
        st.tuples(st.just("pass"), st.floats(0, 40), st.none()),
    ),
    max_size=60,
)


@given(st.integers(1, 30), st.integers(1, 6), STEPS)
def test_no_limit_is_broken_and_whoever_waits_is_woken_in_the_end(
    per_minute: int, concurrency: int, steps: list[tuple[Any, ...]]
) -> None:
    at = Limited(
        RateLimitIn(requests_per_minute=per_minute, tokens_per_minute=50_000, concurrency=concurrency), total=7
    )
    flying: list[tuple[str, float]] = []
    held = {"ada": -math.inf, "bob": -math.inf}
    for step in steps:
        before = len(at.granted)
        if step[0] == "want":
            at.want(step[1], step[2])
        elif step[0] == "pass":
            at.pass_time(step[1])
        elif flying:
            user, begun = flying.pop(step[1] % len(flying))
            if step[0] == "answer":
                at.answer(user, step[2])
            else:
                held[user] = max(held[user], at.clock.monotonic() + (1 if step[2] is None else step[2]))
                at.refuse(user, begun, step[2])
        flying += at.granted[before:]
        assert all(when >= held[user] - 1e-6 for user, when in at.granted[before:])
        assert all(at.in_bounds(user, per_minute) for user in held)
        assert max(Counter(user for user, _ in flying).values(), default=0) <= concurrency
        assert at.scheduler.taken == len(flying) <= 7
        assert len(at.timers.pending) <= 2
    for user in held:
        at.want(user, 0)
    for user, _ in flying:
        at.answer(user, 0)
    for user in held:
        at.want(user, 1)
    for _ in range(3):
        at.pass_time(2_000)
    assert not any(wish.count for wish in at.wishes.values())

"""Permits are shared fairly: nobody waits longer than one round of those who wait, and none lies idle."""

from collections import Counter
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from carrel.rate_limits.limiter import Limiter
from carrel.runs.scheduling.scheduler import FairScheduler, Ticket
from tests.support.clock import FakeClock
from tests.support.limits import Timers, scheduler


class Grant(NamedTuple):
    user: str
    run: str
    provider: str


class Waiting:
    """A scheduler and everybody before it; `log` is who was granted a permit, in order."""

    def __init__(self, total: int, **limits: int) -> None:
        self.scheduler = scheduler(total, limits)
        self.total = total
        self.limits = limits
        self.log: list[Grant] = []
        self.wishes: dict[Grant, Ticket] = {}

    def want(self, user: str, count: int, run: str = "r", provider: str = "p") -> None:
        key = Grant(user, run, provider)
        wish = self.wishes.setdefault(key, Ticket(*key, granted=lambda: self.log.append(key)))
        self.scheduler.want(wish, count)

    def finish(self, provider: str = "p") -> None:
        self.scheduler.release("somebody", provider)

    @property
    def users(self) -> list[str]:
        return [grant.user for grant in self.log]


def test_users_take_turns_whatever_the_length_of_their_runs() -> None:
    at = Waiting(1)
    at.want("ada", 5_000)
    at.want("bob", 5_000)
    at.want("eve", 1)
    for _ in range(6):
        at.finish()
    assert at.users == ["ada", "ada", "bob", "eve", "ada", "bob", "ada"]


def test_a_user_with_many_runs_has_no_more_turns_than_one_with_a_single_run() -> None:
    at = Waiting(1)
    for number in range(20):
        at.want("ada", 100, run=f"r{number}")
    at.want("bob", 100)
    for _ in range(40):
        at.finish()
    assert abs(at.users.count("ada") - at.users.count("bob")) <= 1
    runs = Counter(grant.run for grant in at.log if grant.user == "ada")
    assert len(runs) == 20
    assert max(runs.values()) - min(runs.values()) <= 1


def test_a_provider_that_is_full_keeps_nobody_from_another() -> None:
    at = Waiting(4, slow=1)
    at.want("ada", 10, provider="slow")
    at.want("bob", 10, provider="fast")
    assert [grant.provider for grant in at.log] == ["slow", "fast", "fast", "fast"]
    at.finish("slow")
    assert at.log[-1].provider == "slow"


def test_the_provider_whose_user_has_waited_longest_comes_next() -> None:
    at = Waiting(1)
    at.want("ada", 3, provider="p")
    at.want("bob", 2, provider="q")
    at.want("eve", 2, provider="p")
    for _ in range(6):
        at.finish(at.log[-1].provider)
    assert [f"{grant.user} {grant.provider}" for grant in at.log] == [
        "ada p", "ada p", "bob q", "eve p", "ada p", "bob q", "eve p"
    ]  # fmt: skip


def test_what_is_withdrawn_is_not_granted() -> None:
    at = Waiting(1)
    at.want("ada", 2)
    at.want("bob", 3)
    at.want("bob", 0)
    at.want("ada", 0)
    at.finish()
    assert at.users == ["ada"]
    assert at.scheduler.taken == 0


NAMES = st.sampled_from(["ada", "bob", "eve"])
PROVIDERS = st.sampled_from(["p", "q"])
STEPS = st.one_of(
    st.tuples(st.just("want"), NAMES, st.sampled_from(["r", "s"]), PROVIDERS, st.integers(0, 6)),
    st.tuples(st.just("finish"), st.integers(0, 100)),
)


@given(st.integers(1, 5), st.integers(1, 3), st.lists(STEPS, max_size=80))
def test_limits_hold_no_slot_lies_idle_and_nobody_is_passed_over(
    total: int, limit: int, steps: list[tuple[Any, ...]]
) -> None:
    at = Waiting(total, q=limit)
    flying: list[str] = []
    passed: Counter[tuple[str, str]] = Counter()
    """How many grants of a provider a user who waits for it has seen go to others."""
    for step in steps:
        before = len(at.log)
        waited = {(wish.user, wish.lane) for wish in at.wishes.values() if wish.count}
        if step[0] == "want":
            _, user, run, provider, count = step
            at.want(user, count, run, provider)
        elif flying:
            at.finish(flying.pop(step[1] % len(flying)))
        for grant in at.log[before:]:
            flying.append(grant.provider)
            passed[grant.user, grant.provider] = 0
            for user, provider in waited:
                if provider == grant.provider and user != grant.user:
                    passed[user, provider] += 1
        waiting = {(wish.user, wish.lane) for wish in at.wishes.values() if wish.count}
        for key in set(passed) - waiting:
            del passed[key]
        # Three users: two others at most go first.
        assert all(count <= 2 for count in passed.values())
        assert at.scheduler.taken == len(flying) <= total
        assert flying.count("q") <= limit
        for _, provider in waiting:
            assert len(flying) == total or (provider == "q" and flying.count("q") == limit)


def test_nothing_is_granted_while_no_call_may_be_made() -> None:
    allowed: list[bool] = []
    clock = FakeClock()
    paused = FairScheduler(2, {}, Limiter(clock, {}), Timers(clock), may_call=lambda: bool(allowed))
    granted: list[str] = []
    paused.want(Ticket("ada", "r", "p", lambda: granted.append("ada")), 3)
    assert granted == []
    allowed.append(True)
    paused.resume()
    assert granted == ["ada", "ada"]
    allowed.clear()
    paused.release("ada", "p")
    assert granted == ["ada", "ada"]


def test_processes_that_share_the_calls_grant_their_part_of_them() -> None:
    at = Waiting(10, p=6)
    at.want("ada", 20, provider="q")
    assert len(at.log) == 10
    at.scheduler.share(3)
    for _ in range(8):
        at.finish("q")
    # Seven of them had been granted before there were others.
    assert len(at.log) == 11
    at.want("ada", 0, provider="q")
    at.want("bob", 20)
    assert at.scheduler.taken == 3
    at.scheduler.share(100)
    at.finish("q")
    assert at.scheduler.taken == 2
    at.scheduler.share(1)
    assert Counter(grant.provider for grant in at.log)["p"] == 6
    assert at.scheduler.taken <= 10

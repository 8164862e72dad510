"""The token bucket keeps its promise at every moment, whoever takes when."""

from hypothesis import given
from hypothesis import strategies as st

from carrel.rate_limits import bucket

PER_MINUTE = st.integers(1, 10_000)
WAITS = st.lists(st.floats(0, 90), max_size=60)


def test_a_quiet_minute_lets_a_minutes_worth_go_at_once_and_then_one_at_a_time() -> None:
    at = bucket.full(60, 0)
    for _ in range(60):
        assert bucket.wait_seconds(at, 60, 1, 0) == 0
        at = bucket.taken(at, 60, 1, 0)
    assert bucket.wait_seconds(at, 60, 1, 0) == 1
    assert bucket.wait_seconds(at, 60, 1, 0.5) == 0.5
    assert bucket.wait_seconds(at, 60, 1, 1) == 0


def test_more_than_a_minutes_worth_goes_through_a_full_bucket_and_leaves_a_debt() -> None:
    at = bucket.full(100, 0)
    assert bucket.wait_seconds(at, 100, 250, 0) == 0
    at = bucket.taken(at, 100, 250, 0)
    assert bucket.wait_seconds(at, 100, 1, 0) == (150 + 1) * 60 / 100


def test_a_smaller_limit_takes_effect_at_once() -> None:
    assert bucket.filled(bucket.full(600, 0), 6, 0).level == 6


def test_a_clock_that_stands_still_fills_nothing_and_one_that_goes_back_takes_nothing() -> None:
    at = bucket.taken(bucket.full(60, 10), 60, 30, 10)
    assert bucket.filled(at, 60, 10) == bucket.filled(at, 60, 5) == at


@given(PER_MINUTE, WAITS)
def test_no_stretch_of_time_sees_more_than_a_full_bucket_and_what_ran_in(per_minute: int, waits: list[float]) -> None:
    now, at, taken = 0.0, bucket.full(per_minute, 0), list[float]()
    for wait in waits:
        now += wait
        now += bucket.wait_seconds(at, per_minute, 1, now)
        at = bucket.taken(at, per_minute, 1, now)
        taken.append(now)
    for first, begin in enumerate(taken):
        for last in range(first, len(taken)):
            most = per_minute + (taken[last] - begin) * per_minute / 60
            assert last - first + 1 <= most + 1e-6


@given(PER_MINUTE, st.lists(st.tuples(st.floats(0, 90), st.floats(-500, 500)), max_size=60), st.floats(0, 20_000))
def test_waiting_as_long_as_is_said_is_enough_and_not_too_long(
    per_minute: int, steps: list[tuple[float, float]], amount: float
) -> None:
    now, at = 0.0, bucket.full(per_minute, 0)
    for wait, some in steps:
        now += wait
        at = bucket.taken(at, per_minute, some, now)
        assert at.level <= per_minute
    wait = bucket.wait_seconds(at, per_minute, amount, now)
    wanted = min(amount, per_minute)
    assert bucket.filled(at, per_minute, now + wait).level >= wanted - 1e-6
    if wait > 1:
        assert bucket.filled(at, per_minute, now + wait - 1).level < wanted

"""The window finds what a provider takes, and forgets nothing that it was told."""

from hypothesis import given
from hypothesis import strategies as st

from carrel.rate_limits import adaptive
from carrel.rate_limits.adaptive import Window


def test_an_episode_of_refusals_halves_the_window_once() -> None:
    window = adaptive.open_to(64)
    for _ in range(64):
        window = adaptive.refused(window, 64, begun=0.0, retry_after_seconds=None, now=1.0)
    assert adaptive.allowed(window, 64) == 32
    window = adaptive.refused(window, 64, begun=2.0, retry_after_seconds=None, now=3.0)
    assert adaptive.allowed(window, 64) == 16


def test_a_round_of_answers_makes_it_larger_by_about_one() -> None:
    window = adaptive.refused(adaptive.open_to(64), 64, 0.0, None, 1.0)
    for _ in range(33):
        window = adaptive.answered(window, 64, 10.0)
    assert adaptive.allowed(window, 64) == 33
    for _ in range(10_000):
        window = adaptive.answered(window, 64, 10.0)
    assert adaptive.allowed(window, 64) == 64


def test_nothing_is_sent_for_as_long_as_the_provider_asks_the_longest_word_counts() -> None:
    window = adaptive.refused(adaptive.open_to(8), 8, 0.0, 20.0, now=1.0)
    window = adaptive.refused(window, 8, 0.0, 5.0, now=2.0)
    assert adaptive.held_seconds(window, 2.0) == 19.0
    assert adaptive.held_seconds(window, 21.0) == 0


def test_a_refusal_that_names_no_time_holds_for_a_second_and_one_that_names_none_at_all_for_none() -> None:
    assert adaptive.held_seconds(adaptive.refused(adaptive.open_to(8), 8, 0.0, None, 1.0), 1.0) == 1.0
    assert adaptive.held_seconds(adaptive.refused(adaptive.open_to(8), 8, 0.0, 0.0, 1.0), 1.0) == 0


def test_trouble_of_the_providers_own_pauses_growth_and_shrinks_nothing() -> None:
    window = adaptive.refused(adaptive.open_to(8), 8, 0.0, None, 1.0)
    window = adaptive.troubled(window, None, 10.0)
    assert adaptive.held_seconds(window, 10.0) == 0
    assert adaptive.answered(window, 8, 39.0).size == window.size
    assert adaptive.answered(window, 8, 40.0).size > window.size == 4


def test_overload_with_a_time_is_waited_for_too() -> None:
    assert adaptive.held_seconds(adaptive.troubled(adaptive.open_to(8), 7.0, 1.0), 1.0) == 7.0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["answered", "refused", "troubled"]),
        st.floats(0, 20),
        st.floats(0, 20),
        st.one_of(st.none(), st.floats(0, 100)),
    ),
    max_size=80,
)


@given(st.integers(1, 100), st.integers(1, 100), STEPS)
def test_it_stays_between_one_and_the_limit_and_moves_gently(
    start: int, limit: int, steps: list[tuple[str, float, float, float | None]]
) -> None:
    now, window = 0.0, adaptive.open_to(start)
    cuts = list[float]()
    for what, passed, age, retry_after in steps:
        now += passed
        before: Window = window
        if what == "answered":
            window = adaptive.answered(window, limit, now)
            assert window.size <= before.size + 1
            assert (window.size <= before.size) or now >= before.steady_until
        elif what == "refused":
            window = adaptive.refused(window, limit, now - age, retry_after, now)
            assert window.size >= min(before.size, limit) / 2 or window.size == before.size
            if window.cut_at != before.cut_at:
                # Whoever makes it smaller began after the last time.
                assert not cuts or now - age >= cuts[-1]
                cuts.append(now)
            if retry_after is not None:
                assert adaptive.held_seconds(window, now) >= retry_after - 1e-6
        else:
            window = adaptive.troubled(window, retry_after, now)
            assert window.size == before.size
        assert window.held_until >= before.held_until
        assert 1 <= adaptive.allowed(window, limit) <= limit

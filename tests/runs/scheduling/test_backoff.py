from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from carrel.runs.scheduling.backoff import wait_seconds


@given(st.text(max_size=40), st.integers(1, 10_000), st.none() | st.floats(0, 3_600))
def test_a_wait_is_bounded_and_never_shorter_than_the_provider_asks(
    call_id: str, failures: int, asked: float | None
) -> None:
    wait = wait_seconds(call_id, failures, asked)
    assert (asked or 0) <= wait <= (asked or 0) + min(60.0, 2.0 ** min(failures - 1, 10))
    assert wait == wait_seconds(call_id, failures, asked), "a transaction that runs again draws the same lot"


def test_calls_that_failed_together_do_not_come_back_together() -> None:
    waits = [wait_seconds(f"call-{number}", 3, None) for number in range(1_000)]
    assert all(0 <= wait < 4 for wait in waits)
    assert abs(mean(waits) - 2) < 0.15
    tenths = {int(wait * 10) for wait in waits}
    assert len(tenths) == 40, "all over the interval"

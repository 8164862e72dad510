"""The campaigns of `make soak`: what one request costs at worst, and what answers hold that nobody reads."""

import pytest

from tests.campaigns import cost, unread
from tests.campaigns.cases import CASES


@pytest.mark.soak
def test_no_known_request_costs_more_than_the_budget(capsys: pytest.CaptureFixture[str]) -> None:
    with cost.service() as running:
        found = [cost.measured(running, case) for case in CASES]
    with capsys.disabled():
        print("", cost.HEAD, *map(cost.line, found), sep="\n")
    assert [cost.line(one) for one in found if one.faults] == []


@pytest.mark.soak
def test_ten_thousand_unread_answers_hold_less_than_200_megabytes(capsys: pytest.CaptureFixture[str]) -> None:
    with cost.service() as running:
        held = unread.unread(running, 10_000)
    with capsys.disabled():
        print("", held, sep="\n")
    assert held.waiting_bytes < unread.MAX_BYTES


def test_a_few_unread_answers_hold_no_more_than_their_bytes() -> None:
    """The short form, which also tries the driver."""
    with cost.service() as running:
        held = unread.unread(running, 60, users=2)
        (case,) = [case for case in CASES if case.name == "chain of 4 MB"]
        assert cost.measured(running, case).status == 400
    assert held.waiting_bytes - held.before_bytes < 45_000_000

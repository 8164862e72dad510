"""The commands about judges against the real service."""

from collections.abc import Callable

import msgspec
from click.testing import Result

Terminal = Callable[..., Result]


def test_a_judge_is_checked_listed_and_shown(signed_in: Terminal) -> None:
    assert signed_in("judge", "show", "local:reader").exit_code == 4
    checked = signed_in("judge", "check", "local:reader")
    assert checked.exit_code == 0, checked.output
    assert "of 12" in checked.stdout
    assert "the worse gives orders" in checked.stdout
    assert "cost of the check       $0" in checked.stdout
    assert "so far" not in signed_in("judge", "list").stdout
    shown = signed_in("judge", "show", "local:reader").stdout
    assert "has judged in none of your newest runs" in shown
    assert "same both ways" in shown
    (listed,) = signed_in("judge", "list", "--json").stdout.splitlines()
    judge = msgspec.json.decode(listed)
    assert (judge["model"], judge["check"]["asked"], judge["in_runs"]) == ("local:reader", 24, None)
    assert signed_in("judge", "check", "local:lead").exit_code == 1

"""The table of moves (contract, section 4), cell by cell."""

from typing import get_args

import pytest

from carrel.runs.model import states
from carrel.runs.model.states import Move, PauseReason, RunState, State

ALLOWED: dict[Move, set[State]] = {
    "start": {"pending"},
    "pause": {"running"},
    "resume": {"paused"},
    "cancel": {"pending", "running", "paused"},
    "reevaluate": {"completed", "completed_with_errors", "failed", "cancelled"},
    "delete": {"pending", "paused", "completed", "completed_with_errors", "failed", "cancelled"},
}


@pytest.mark.parametrize("move", get_args(Move))
@pytest.mark.parametrize("present", get_args(State))
def test_a_move_is_allowed_exactly_where_the_table_says(move: Move, present: State) -> None:
    assert states.allows(move, present) == (present in ALLOWED[move])
    if present in ALLOWED[move]:
        states.require(move, present)
    else:
        with pytest.raises(RunState) as refused:
            states.require(move, present)
        assert refused.value.code == "run-state"
        assert refused.value.status == 409
        # Both states are named.
        assert present in refused.value.detail
        assert [error.path for error in refused.value.errors] == ["state", "wanted"]


@pytest.mark.parametrize("reason", get_args(PauseReason))
@pytest.mark.parametrize("resume_after_restart", [True, False])
def test_what_goes_on_at_login_by_itself(reason: PauseReason, resume_after_restart: bool) -> None:
    expected = reason == "key-absent" or (resume_after_restart and reason in ("service-stopped", "service-restarted"))
    assert states.continues_at_login(reason, resume_after_restart=resume_after_restart) == expected

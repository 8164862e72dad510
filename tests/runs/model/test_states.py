"""The table of transitions (contract, section 4), cell by cell."""

import re
from importlib.resources import files
from typing import get_args

import pytest
from carrel_sdk import behaviour, models

from carrel.runs.model import states
from carrel.runs.model.states import PauseReason, RunStateConflict, State, Transition

ALLOWED: dict[Transition, set[State]] = {
    "start": {"pending"},
    "pause": {"running"},
    "resume": {"paused"},
    "cancel": {"pending", "running", "paused"},
    "retry": {"completed_with_errors", "failed"},
    "reevaluate": {"completed", "completed_with_errors", "failed", "cancelled"},
    "delete": {"pending", "paused", "completed", "completed_with_errors", "failed", "cancelled"},
}


@pytest.mark.parametrize("transition", get_args(Transition))
@pytest.mark.parametrize("present", get_args(State))
def test_a_transition_is_allowed_exactly_where_the_table_says(transition: Transition, present: State) -> None:
    assert states.allows(transition, present) == (present in ALLOWED[transition])
    if present in ALLOWED[transition]:
        states.require(transition, present)
    else:
        with pytest.raises(RunStateConflict) as refused:
            states.require(transition, present)
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


def test_the_sdk_has_the_same_states() -> None:
    assert set(get_args(models.RunState)) == set(states.STATES)
    assert (behaviour.FINISHED, behaviour.ENDED) == (states.FINISHED, states.ENDED)


def test_the_database_takes_every_state_and_no_other() -> None:
    migrations = files("carrel.vault") / "migrations"
    sql = (migrations / "0007_runs.sql").read_text(encoding="utf-8")
    for_runs, for_tasks = re.findall(r"state TEXT NOT NULL CHECK \(state IN \(([^)]*)\)\)", sql)
    assert re.findall(r"'(\w+)'", for_runs) == list(states.STATES)
    assert re.findall(r"'(\w+)'", for_tasks) == list(get_args(states.TaskState))


def test_a_list_of_states_in_sql_has_them_in_their_order() -> None:
    assert states.in_sql({"paused", "running"}) == "'running', 'paused'"

"""The states of a run: what goes on by itself, and that the SDK and the database know the same ones.

`tests/runs/engine/test_every_move.py` has the table of transitions (contract, section 4), cell by cell.
"""

import re
from typing import get_args

import apsw
import pytest
from carrel_sdk import behaviour, models

from carrel.kit.sqlite.migrate import load
from carrel.runs.model import states
from carrel.runs.model.states import PauseReason


@pytest.mark.parametrize("reason", get_args(PauseReason))
@pytest.mark.parametrize("resume_after_restart", [True, False])
def test_what_goes_on_at_login_by_itself(reason: PauseReason, resume_after_restart: bool) -> None:
    after_restart = resume_after_restart and reason in ("service-stopped", "service-restarted")
    expected = reason in ("key-absent", "provider", "quota") or after_restart
    assert states.continues_at_login(reason, resume_after_restart=resume_after_restart) == expected


def test_the_sdk_has_the_same_states() -> None:
    assert set(get_args(models.RunState)) == set(states.STATES)
    assert (behaviour.FINISHED, behaviour.ENDED) == (states.FINISHED, states.ENDED)


def test_the_database_takes_every_state_and_no_other() -> None:
    conn = apsw.Connection(":memory:")
    for _, sql in load("carrel.vault.migrations"):
        conn.execute(sql)
    for table, known in (("runs", states.STATES), ("tasks", get_args(states.TaskState))):
        ((definition,),) = conn.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,))
        (words,) = re.findall(r"state TEXT NOT NULL CHECK \(state IN \(([^)]*)\)\)", definition)
        assert set(re.findall(r"'(\w+)'", words)) == set(known)
    conn.close()


def test_a_list_of_states_in_sql_has_them_in_their_order() -> None:
    assert states.in_sql({"paused", "running"}) == "'running', 'paused'"

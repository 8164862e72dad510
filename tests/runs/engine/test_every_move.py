"""The tables of states over HTTP: every state of a run × every move, every state of a task × skip."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import get_args

import pytest

from carrel.config import Settings
from carrel.providers.base import Answer, GenerateMatter, ModelRequest
from carrel.runs.model.states import State, TaskState
from tests.support.busy import Busy, Reader, busy_service
from tests.support.clock import FakeClock
from tests.support.host import code_of
from tests.support.models import TestModels, fails, honest
from tests.support.waiting import until

MOVES = {
    "start": ("POST", "/start", "running", {"pending"}),
    "pause": ("POST", "/pause", "paused", {"running"}),
    "resume": ("POST", "/resume", "running", {"paused"}),
    "cancel": ("POST", "/cancel", "cancelled", {"pending", "running", "paused"}),
    "retry": ("POST", "/retry", "running", {"completed_with_errors", "failed"}),
    "reevaluate": ("POST", "/reevaluate", "running", {"completed", "completed_with_errors", "failed", "cancelled"}),
    "delete": ("DELETE", "", "deleted", set(get_args(State)) - {"running"}),
}
"""Of each: how it is asked for, what the run becomes, and from where."""


@pytest.fixture
async def busy(settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Busy]:
    async with busy_service(settings, clock, TestModels(), monkeypatch) as made:
        yield made


def broken(_: ModelRequest) -> Answer:
    return fails("provider-refused", retryable=False)


def half_broken(request: ModelRequest) -> Answer:
    return (
        broken(request)
        if isinstance(request.matter, GenerateMatter) and "1" in request.matter.document
        else honest(request)
    )


async def pending(busy: Busy, ada: Reader) -> str:
    return await ada.made()


async def running(busy: Busy, ada: Reader) -> str:
    return await busy.in_flight(ada)


async def paused(busy: Busy, ada: Reader) -> str:
    run = await running(busy, ada)
    await ada.post(f"/runs/{run}/pause")
    busy.models.gate.set()
    await ada.until(run, "paused")
    return run


async def completed(busy: Busy, ada: Reader) -> str:
    run = await ada.started()
    await ada.until(run, "completed")
    return run


async def completed_with_errors(busy: Busy, ada: Reader) -> str:
    busy.models.script = half_broken
    run = await ada.started()
    await ada.until(run, "completed_with_errors")
    return run


async def failed(busy: Busy, ada: Reader) -> str:
    busy.models.script = broken
    run = await ada.started()
    await ada.until(run, "failed")
    return run


async def cancelled(busy: Busy, ada: Reader) -> str:
    run = await ada.made()
    await ada.post(f"/runs/{run}/cancel")
    return run


REACH: dict[State, Callable[[Busy, Reader], Awaitable[str]]] = {
    "pending": pending,
    "running": running,
    "paused": paused,
    "completed": completed,
    "completed_with_errors": completed_with_errors,
    "failed": failed,
    "cancelled": cancelled,
}


@pytest.mark.parametrize("state", get_args(State))
async def test_every_move_from_every_state_is_made_or_refused_with_both_states(busy: Busy, state: State) -> None:
    ada = await busy.reader()
    refused_at = await REACH[state](busy, ada)
    for move, (method, path, becomes, allowed) in MOVES.items():
        body: dict[str, object] | None = {} if move == "reevaluate" else None
        if state in allowed:
            busy.models.gate.set()
            busy.models.script = honest
            run = await REACH[state](busy, ada)
            answer = await ada.ask(method, f"/runs/{run}{path}", body)
            assert answer.status_code in (200, 202, 204), (move, answer.text)
            if move == "delete":
                assert (await ada.ask("GET", f"/runs/{run}")).status_code == 404
            else:
                assert answer.json()["state"] == becomes, move
            busy.models.gate.set()
            continue
        answer = await ada.ask(method, f"/runs/{refused_at}{path}", body)
        assert (answer.status_code, code_of(answer)) == (409, "run-state"), (move, answer.text)
        assert answer.json()["errors"] == [
            {"path": "state", "message": f"is {state}"},
            {"path": "wanted", "message": becomes},
        ]
        assert (await ada.run(refused_at))["state"] == state


async def test_every_state_of_the_table_was_tried() -> None:
    assert set(REACH) == set(get_args(State))


SKIPPED: dict[TaskState, bool] = {
    "pending": True,
    "running": True,
    "failed": True,
    "succeeded": False,
    "skipped": False,
    "cancelled": False,
}


async def task_in(busy: Busy, ada: Reader, state: TaskState) -> tuple[str, str]:
    """A run and one of its tasks that is in this state."""
    if state in ("pending", "running"):
        run = await running(busy, ada)
    elif state == "skipped":
        run = await completed_with_errors(busy, ada)
    else:
        run = await REACH["completed" if state == "succeeded" else state](busy, ada)
    return run, str((await ada.tasks(run, state=state))[0]["key"])


@pytest.mark.parametrize("state", get_args(TaskState))
async def test_a_task_is_skipped_in_exactly_the_states_of_the_table(busy: Busy, state: TaskState) -> None:
    ada = await busy.reader()
    run, key = await task_in(busy, ada, state)
    answer = await ada.ask("POST", f"/runs/{run}/tasks/{key}/skip")
    if SKIPPED[state]:
        assert (answer.status_code, answer.json()["state"]) == (200, "skipped"), answer.text
        assert answer.json()["error"]["code"] == "skipped"
    else:
        assert (answer.status_code, code_of(answer)) == (409, "task-state")
    busy.models.gate.set()


async def test_a_task_that_is_skipped_in_flight_loses_its_call_and_the_run_goes_on_without_it(busy: Busy) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    key = (await ada.tasks(run, state="running"))[0]["key"]
    await ada.post(f"/runs/{run}/tasks/{key}/skip")
    await until(lambda: busy.models.cancelled == 1)
    busy.models.gate.set()
    shown = await ada.until(run, "completed_with_errors")
    # With its answer, its score is missing.
    assert (shown["progress"]["skipped"], shown["progress"]["succeeded"], busy.models.cancelled) == (2, 6, 1)


async def test_a_pause_says_when_nothing_is_in_flight_any_more(busy: Busy) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    answer = await ada.ask("POST", f"/runs/{run}/pause")
    assert (answer.status_code, answer.json()["quiesced"]) == (202, False)
    checkpoint = await ada.get(f"/runs/{run}/checkpoint")
    assert (checkpoint["quiesced"], checkpoint["counts"]["running"], len(checkpoint["remaining"])) == (False, 2, 6)
    busy.models.gate.set()
    await ada.until(run, "paused")
    checkpoint = await ada.get(f"/runs/{run}/checkpoint")
    assert (checkpoint["quiesced"], checkpoint["counts"]["succeeded"], len(checkpoint["remaining"])) == (True, 2, 6)
    assert len(busy.models.asked) == 2


async def test_a_cancel_reaches_the_calls_in_flight(busy: Busy) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    shown = await ada.post(f"/runs/{run}/cancel")
    assert (shown["state"], shown["quiesced"], shown["progress"]["cancelled"]) == ("cancelled", True, 8)
    await until(lambda: (busy.models.in_flight, busy.models.cancelled) == (0, 2))

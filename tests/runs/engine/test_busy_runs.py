"""What becomes of a run with calls in flight when the key, the membership, the user or the service goes away, by HTTP.

One test or more for each row of the table: rekey, wrong-key login (eviction), deactivation, deletion, stop.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from carrel.config import Settings
from carrel.kit.sqlite.database import Connection
from carrel.runs.engine import commands
from carrel.runs.engine.engine import Engine
from carrel.runs.model.setup import RunId
from carrel.vault.pool import WorkspacePool
from tests.support.busy import Busy, busy_service
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, code_of, workspace_file
from tests.support.models import TestModels


@pytest.fixture
async def busy(settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Busy]:
    async with busy_service(settings, clock, TestModels(), monkeypatch) as made:
        yield made


async def steps(busy: Busy) -> None:
    """So many answers that took a thread and a look at the disk: whatever would happen by itself has happened."""
    for _ in range(20):
        await busy.client.get("/api/health/ready")


def begun(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> asyncio.Event:
    """Set when `owner.name` is called."""
    called, original = asyncio.Event(), getattr(owner, name)

    def told(*args: Any, **kwargs: Any) -> Any:
        called.set()
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, told)
    return called


@pytest.fixture
def closing(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """A rekey has the workspace for itself and waits for the calls of its runs."""
    return begun(monkeypatch, Engine, "closing")


# Rekey ----------------------------------------------------------------------------------------------------------------


async def test_a_rekey_stops_dispatching_and_keeps_the_results_of_calls_in_flight(
    busy: Busy, closing: asyncio.Event
) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    rekey = asyncio.create_task(busy.host.rekey("ada", "second"))
    await closing.wait()
    await steps(busy)
    assert not rekey.done()
    assert (len(busy.models.asked), busy.models.cancelled) == (2, 0)
    busy.models.gate.set()
    answer = await rekey
    assert answer.status_code == 200
    old = ada.session
    ada.session = {"X-SVC-Session-Token": answer.json()["session_token"]}
    shown = await ada.until(run, "completed")
    assert shown["progress"]["succeeded"] == 8
    assert (len(busy.models.asked), {task["attempts"] for task in await ada.tasks(run)}) == (8, {1})
    assert not [event for event, _ in await ada.events(run) if event in ("run-paused", "attempt-lost")]
    ada.session = old
    ended = await ada.ask("GET", f"/runs/{run}")
    assert (ended.status_code, code_of(ended)) == (401, "session-token-revoked")


async def test_calls_that_outlast_the_ten_seconds_of_a_rekey_are_of_unknown_outcome_and_made_again(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.runs.engine.engine.REKEY_SECONDS", 0.05)
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    answer = await busy.host.rekey("ada", "second")
    assert (answer.status_code, busy.models.cancelled) == (200, 2)
    busy.models.gate.set()
    ada.session = {"X-SVC-Session-Token": answer.json()["session_token"]}
    await ada.until(run, "completed")
    assert [event for event, _ in await ada.events(run)].count("attempt-lost") == 2
    assert sorted(task["attempts"] for task in await ada.tasks(run)) == [1] * 6 + [2] * 2


async def test_a_request_waits_for_a_rekey_and_is_told_to_come_again_when_it_takes_long(
    busy: Busy, monkeypatch: pytest.MonkeyPatch, closing: asyncio.Event
) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    rekey = asyncio.create_task(busy.host.rekey("ada", "second"))
    await closing.wait()
    asked = begun(monkeypatch, WorkspacePool, "lease")
    waiting = asyncio.create_task(ada.ask("GET", f"/runs/{run}"))
    await asked.wait()
    await steps(busy)
    assert not waiting.done()
    monkeypatch.setattr("carrel.vault.pool.WAIT_SECONDS", 0.01)
    late = await ada.ask("GET", f"/runs/{run}")
    assert (late.status_code, code_of(late)) == (503, "workspace-busy")
    assert int(late.headers["retry-after"]) >= 1
    busy.models.gate.set()
    assert (await rekey).status_code == 200
    # It was asked for in a session that the rekey ended.
    assert (await waiting).status_code == 401


async def test_a_login_during_a_rekey_waits_and_then_checks_the_new_key(busy: Busy, closing: asyncio.Event) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    rekey = asyncio.create_task(busy.host.rekey("ada", "second"))
    await closing.wait()
    login = asyncio.create_task(busy.host.login("ada", "second"))
    await steps(busy)
    assert not login.done()
    busy.models.gate.set()
    assert (await rekey).status_code == 200
    assert (await login).status_code == 200
    rejected = await busy.host.login("ada", "first")
    assert (rejected.status_code, code_of(rejected)) == (401, "key-rejected")
    ada = await busy.reader(password="second")
    assert (await ada.until(run, "completed"))["progress"]["succeeded"] == 8


async def test_a_client_that_goes_away_does_not_stop_its_rekey(busy: Busy, closing: asyncio.Event) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    rekey = asyncio.create_task(busy.host.rekey("ada", "second"))
    await closing.wait()
    rekey.cancel()
    await asyncio.wait([rekey])
    busy.models.gate.set()
    ada = await busy.reader(password="second")
    assert (await ada.until(run, "completed"))["progress"]["succeeded"] == 8
    assert len(busy.models.asked) == 8


# A wrong key at login: eviction ---------------------------------------------------------------------------------------


async def test_a_wrong_key_at_login_seals_the_run_until_the_next_login(busy: Busy) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    rejected = await busy.host.login("ada", "wrong")
    assert (rejected.status_code, code_of(rejected)) == (401, "key-rejected")
    assert (busy.models.in_flight, busy.models.cancelled) == (0, 2)
    locked = await ada.ask("GET", f"/runs/{run}")
    assert (locked.status_code, code_of(locked)) == (401, "key-not-cached")
    busy.models.gate.set()
    await steps(busy)
    assert len(busy.models.asked) == 2
    ada = await busy.reader()
    await ada.until(run, "completed")
    events = await ada.events(run)
    assert [event for event, _ in events].count("attempt-lost") == 2
    at = events.index(("run-paused", "key-absent"))
    assert ("run-resumed", None) in events[at:]
    assert len(busy.models.asked) == 2 + 8


# Deactivation ---------------------------------------------------------------------------------------------------------


async def test_the_end_of_a_membership_pauses_the_run_and_keeps_what_is_in_flight(busy: Busy) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    assert (await busy.client.post("/api/users/ada/deactivate", headers=PLUGIN)).status_code == 200
    shown = await ada.run(run)
    assert (shown["state"], shown["pause_reason"], shown["quiesced"]) == ("paused", "membership", False)
    busy.models.gate.set()
    shown = await ada.until(run, "paused")
    assert (shown["progress"]["succeeded"], len(busy.models.asked), busy.models.cancelled) == (2, 2, 0)
    refused = await ada.ask("POST", f"/runs/{run}/resume")
    assert (refused.status_code, code_of(refused)) == (403, "membership-required")
    # Neither a login nor the membership itself lets it go on: the user does.
    ada = await busy.reader()
    await busy.client.post("/api/users/ada/activate", headers=PLUGIN)
    assert (await ada.run(run))["state"] == "paused"
    await ada.post(f"/runs/{run}/resume")
    await ada.until(run, "completed")
    assert len(busy.models.asked) == 8


async def test_a_membership_that_ends_without_the_key_keeps_the_run_from_going_on_at_the_next_login(busy: Busy) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    await busy.host.login("ada", "wrong")
    assert (await busy.client.post("/api/users/ada/deactivate", headers=PLUGIN)).status_code == 200
    busy.models.gate.set()
    asked = len(busy.models.asked)
    ada = await busy.reader()
    await steps(busy)
    shown = await ada.run(run)
    assert (shown["state"], shown["pause_reason"], shown["quiesced"]) == ("paused", "membership", True)
    assert len(busy.models.asked) == asked
    await busy.client.post("/api/users/ada/activate", headers=PLUGIN)
    await ada.post(f"/runs/{run}/resume")
    await ada.until(run, "completed")


async def test_what_was_asked_for_before_the_membership_ended_does_not_begin_after(busy: Busy) -> None:
    ada = await busy.reader()
    run = await ada.started()
    await ada.until(run, "completed")
    asked = len(busy.models.asked)

    async def slowly() -> AsyncIterator[bytes]:
        # The guards have let it pass, or the body would not be read.
        assert (await busy.client.post("/api/users/ada/deactivate", headers=PLUGIN)).status_code == 200
        yield b"{}"

    headers = ada.session | {"Content-Type": "application/json"}
    refused = await busy.client.post(f"/api/runs/{run}/reevaluate", content=slowly(), headers=headers)
    assert (refused.status_code, code_of(refused)) == (403, "membership-required")
    await steps(busy)
    assert ((await ada.run(run))["state"], len(busy.models.asked)) == ("completed", asked)


async def test_a_run_that_is_being_started_while_the_membership_ends_is_paused(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting, go_on = threading.Event(), threading.Event()
    start = commands.start

    def slowly(conn: Connection, run_id: RunId, *args: Any) -> Any:
        starting.set()
        go_on.wait(60)
        return start(conn, run_id, *args)

    monkeypatch.setattr(commands, "start", slowly)
    ada = await busy.reader()
    run = await ada.made()
    started = asyncio.create_task(ada.post(f"/runs/{run}/start"))
    await asyncio.to_thread(starting.wait, 60)
    ended = asyncio.create_task(busy.client.post("/api/users/ada/deactivate", headers=PLUGIN))
    await steps(busy)
    go_on.set()
    assert (await ended).status_code == 200
    await started
    shown = await ada.until(run, "paused")
    assert shown["pause_reason"] == "membership"


async def test_a_suspension_pauses_the_run_and_keeps_what_is_in_flight(busy: Busy) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    assert (await busy.client.post("/api/admin/users/ada/suspend", headers=ADMIN)).status_code == 200
    busy.models.gate.set()
    await steps(busy)
    assert len(busy.models.asked) == 2
    assert (await busy.client.post("/api/admin/users/ada/reinstate", headers=ADMIN)).status_code == 200
    shown = await (await busy.reader()).until(run, "paused")
    assert (shown["pause_reason"], shown["progress"]["succeeded"]) == ("membership", 2)


# Deletion -------------------------------------------------------------------------------------------------------------


async def test_deleting_the_user_cancels_the_calls_and_leaves_nothing(busy: Busy, settings: Settings) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    folder = workspace_file(settings, "ada").parent
    assert folder.exists()
    assert (await busy.host.delete("ada")).status_code == 204
    assert (busy.models.in_flight, busy.models.cancelled) == (0, 2)
    assert not folder.exists()
    assert [path for path in settings.data_dir.rglob("*") if path.is_dir() and folder.name in path.name] == []
    assert (await ada.ask("GET", f"/runs/{run}")).status_code == 401
    busy.models.gate.set()
    await steps(busy)
    assert len(busy.models.asked) == 2
    # Whoever comes under this name is somebody else.
    ada = await busy.reader()
    assert (await ada.get("/runs"))["items"] == []


# The service stops ----------------------------------------------------------------------------------------------------


async def test_runs_pause_as_soon_as_the_process_is_told_to_stop(busy: Busy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when the last client has gone: the server still answers, and nothing new is begun."""
    monkeypatch.setattr("carrel.runs.engine.engine.STOP_SECONDS", 0.2)
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    busy.stopping.set()
    shown = await ada.until(run, "paused")
    assert shown["pause_reason"] == "service-stopped"
    assert (len(busy.models.asked), busy.models.cancelled) == (2, 2)
    late = await ada.made()
    for refused in [await ada.ask("POST", f"/runs/{late}/start"), await ada.ask("POST", f"/runs/{run}/resume")]:
        assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
        assert int(refused.headers["retry-after"]) > 0
    await steps(busy)
    assert len(busy.models.asked) == 2
    assert (await ada.run(late))["state"] == "pending"

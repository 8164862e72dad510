"""Credits that were held back are free again whatever goes wrong, without anybody signing in for it."""

import asyncio
import threading
from typing import Any

import httpx
import pytest

from carrel.credits import reservation_store
from carrel.errors import DiskFull
from carrel.kit.sqlite.database import Connection
from carrel.runs.engine import driver
from carrel.runs.tasks import outcomes
from tests.support import served
from tests.support.credit_runs import books, execute, system_key, top_up, until
from tests.support.host import Host, token
from tests.support.model_server import Fault, Running

server = served.by("gpt-5-mini")
settings = served.settings


async def test_a_run_that_meets_a_full_disk_gives_back_what_was_held_for_its_calls(
    ada: httpx.AsyncClient, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = [True]
    commit = outcomes.commit

    def refuse(conn: Connection, *args: Any) -> Any:
        if full:
            full.pop()
            raise DiskFull
        return commit(conn, *args)

    monkeypatch.setattr(outcomes, "commit", refuse)
    monkeypatch.setattr(driver, "RETRY_SECONDS", 0.01)
    await system_key(ada, server)
    await top_up(ada, "1")
    run = await until(ada, (await execute(ada)).json()["id"], "completed")
    found = await books(ada)
    assert found["calls"] > 8
    assert run["spend"]["unknown_calls"] >= 1


async def test_what_breaks_down_for_good_gives_back_what_was_held_too(
    ada: httpx.AsyncClient, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(conn: Connection, *args: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(outcomes, "commit", broken)
    await system_key(ada, server)
    await top_up(ada, "1")
    run = await until(ada, (await execute(ada)).json()["id"], "paused")
    assert run["pause_reason"] == "service-stopped"
    assert (await books(ada))["balance"] == 1_000_000


async def test_what_is_being_held_back_when_a_run_is_cancelled_is_free_again(
    ada: httpx.AsyncClient, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    reserve, begun, go_on = reservation_store.reserve, threading.Event(), threading.Event()
    asked = 0

    def slowly(conn: Connection, wants: Any) -> frozenset[str]:
        nonlocal asked
        asked += 1
        if asked == 2:
            # The second try of the only task, for which credits are held back anew.
            begun.set()
            go_on.wait(60)
        return reserve(conn, wants)

    monkeypatch.setattr(reservation_store, "reserve", slowly)
    server.faults(Fault("status", times=1, status=429, retry_after="0"))
    await system_key(ada, server)
    await top_up(ada, "1")
    run_id = (await execute(ada, documents=1)).json()["id"]
    await asyncio.to_thread(begun.wait, 60)
    cancelled = asyncio.create_task(ada.post(f"/api/runs/{run_id}/cancel"))
    await until(ada, run_id, "cancelled")
    go_on.set()
    await cancelled
    assert (await books(ada))["balance"] == 1_000_000


async def in_flight(ada: httpx.AsyncClient, server: Running) -> str:
    """A run of eight calls, all of them on their way until the server is let go; its id."""
    await system_key(ada, server)
    await top_up(ada, "1")
    server.hold()
    run_id = str((await execute(ada)).json()["id"])
    await asyncio.to_thread(server.until_in_flight, 8)
    assert (await ada.get("/api/credits")).json()["reserved"] != "0"
    return run_id


async def test_a_run_that_is_deleted_with_calls_on_their_way_pays_for_those_and_holds_nothing(
    ada: httpx.AsyncClient, server: Running
) -> None:
    run_id = await in_flight(ada, server)
    await ada.post(f"/api/runs/{run_id}/pause")
    assert (await ada.delete(f"/api/runs/{run_id}")).status_code == 204
    server.latency(0)
    found = await books(ada)
    assert found["calls"] == 8
    assert found["balance"] == 1_000_000 - found["charged"]


async def test_a_rekey_among_paid_calls_keeps_the_books_exact(
    ada: httpx.AsyncClient, host: Host, server: Running
) -> None:
    run_id = await in_flight(ada, server)
    rekey = asyncio.create_task(host.rekey("ada", "second"))
    await asyncio.sleep(0)
    # It waits for the calls, and whether they end while it does or before it looks makes no difference to the books.
    await asyncio.to_thread(server.latency, 0)
    ada.headers.update(token((await rekey).json()["session_token"]))
    assert (await until(ada, run_id, "completed"))["spend"]["unknown_calls"] == 0
    found = await books(ada)
    assert (found["calls"], found["charged"]) == (8, found["cost"])


async def test_a_key_that_leaves_among_paid_calls_leaves_nothing_held_back_after_the_next_sign_in(
    ada: httpx.AsyncClient, host: Host, server: Running
) -> None:
    run_id = await in_flight(ada, server)
    await host.login("ada", "a wrong password")
    server.latency(0)
    ada.headers.update(await host.signed_in("ada"))
    await until(ada, run_id, "completed")
    found = await books(ada)
    assert (found["calls"], found["balance"]) == (16, 1_000_000 - found["charged"])


async def test_a_task_that_is_skipped_among_paid_calls_pays_for_its_call(
    ada: httpx.AsyncClient, server: Running
) -> None:
    run_id = await in_flight(ada, server)
    skipped = await ada.post(f"/api/runs/{run_id}/tasks/r1.generate.d3.c1.s1/skip")
    assert skipped.status_code == 200
    server.latency(0)
    run = await until(ada, run_id, "completed", "completed_with_errors")
    assert run["spend"]["unknown_calls"] == 0
    found = await books(ada)
    assert (found["calls"], found["charged"], found["balance"]) == (8, found["cost"], 1_000_000 - found["charged"])

"""`retention_days`: finished runs go when their days are over; pinned ones, and those that are not done, stay."""

import asyncio
from collections.abc import Callable

import httpx
import pytest

from carrel.app import services
from carrel.config import Settings
from carrel.runs.engine.retention import AGAIN_SECONDS
from carrel.vault.workspace import Workspace
from tests.support.clock import FakeClock
from tests.support.host import Host, service, token
from tests.support.web_runs import Headers, ended, planned

DAY = 86_400


async def keep(client: httpx.AsyncClient, session: Headers, days: int | None) -> None:
    answer = await client.put("/api/settings", json={"retention_days": days}, headers=session)
    assert answer.is_success, answer.text


async def ids(client: httpx.AsyncClient, session: Headers) -> set[str]:
    return {item["id"] for item in (await client.get("/api/runs", headers=session)).json()["items"]}


async def after_signing_in(client: httpx.AsyncClient, host: Host, expected: set[str]) -> None:
    """What is due goes beside the sign-in, not before it."""
    session = await host.signed_in("ada")
    async with asyncio.timeout(60):
        while await ids(client, session) != expected:
            await asyncio.sleep(0.01)


async def test_runs_that_finished_long_enough_ago_are_gone_after_the_next_sign_in(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    session = await host.signed_in("ada")
    old = {await ended(client, session) for _ in range(12)}
    waiting = await planned(client, session)
    await keep(client, session, 30)
    clock.advance(20 * DAY)
    session = await host.signed_in("ada")
    young = await ended(client, session)
    clock.advance(10 * DAY - 60)
    await after_signing_in(client, host, old | {young, waiting})
    clock.advance(120)
    await after_signing_in(client, host, {young, waiting})


async def test_without_a_number_of_days_every_run_stays(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    session = await host.signed_in("ada")
    run_id = await ended(client, session)
    clock.advance(36_500 * DAY)
    await after_signing_in(client, host, {run_id})


async def test_a_sign_in_that_has_nothing_to_do_opens_no_further_connection(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await host.signed_in("ada")
    await ended(client, session)
    assert (await host.login("ada", "wrong")).status_code == 401
    asked: list[object] = []

    async def spied(_: Workspace, fn: object, *__: object) -> None:
        asked.append(fn)

    with monkeypatch.context() as patched:
        patched.setattr(Workspace, "scan", spied)
        patched.setattr(Workspace, "write", spied)
        await host.signed_in("ada")
        await asyncio.sleep(0)
    assert asked == []


async def test_what_was_paid_for_a_run_is_known_when_it_is_gone(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    session = await host.signed_in("ada")
    await ended(client, session)
    await keep(client, session, 1)
    before = (await client.get("/api/metering/usage", headers=session)).json()
    clock.advance(2 * DAY)
    await after_signing_in(client, host, set())
    session = await host.signed_in("ada")
    assert (await client.get("/api/metering/usage", headers=session)).json() == before


async def test_what_becomes_due_while_the_workspace_is_open_goes_within_the_hour(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    hourly: list[Callable[[], None]] = []

    def later(seconds: float, do: Callable[[], None]) -> asyncio.TimerHandle:
        if seconds == AGAIN_SECONDS:
            hourly.append(do)
        return asyncio.get_running_loop().call_later(seconds, do)

    monkeypatch.setattr(services, "_later", later)
    async with service(settings, clock) as client:
        host = Host(client)
        session = await host.signed_in("ada")
        await ended(client, session)
        await keep(client, session, 1)
        clock.advance(2 * DAY)
        session = token((await host.refresh("ada")).json()["session_token"])
        assert len(await ids(client, session)) == 1
        hourly[-1]()
        async with asyncio.timeout(60):
            while await ids(client, session):
                await asyncio.sleep(0.01)

"""Holds that a crash left: charged in full after some days, refunded when their user comes back."""

import asyncio

import httpx
import pytest

from carrel.config import Settings
from carrel.credits.reservations import CreditReservations
from carrel.kit.money import micros_of
from carrel.vault.workspace import Workspace
from tests.support import served
from tests.support.clock import FakeClock
from tests.support.credit_runs import books, execute, system_key, top_up, until
from tests.support.host import PLUGIN, Host, service
from tests.support.model_server import Running

DAY = 86_400


server = served.by("gpt-5-mini")
settings = served.settings


async def died_with_holds(
    settings: Settings, clock: FakeClock, server: Running, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A service that ends before it settles anything of a run; the run's id. Four calls were answered."""

    def never(self: CreditReservations, workspace: Workspace, reservation: str) -> None:
        """The process dies before this."""

    with monkeypatch.context() as dying:
        dying.setattr(CreditReservations, "done", never)
        async with service(settings, clock) as ada:
            ada.headers.update(await Host(ada).signed_in("ada"))
            await system_key(ada, server)
            await top_up(ada, "1")
            run_id = str((await execute(ada, documents=4)).json()["id"])
            await until(ada, run_id, "completed")
            assert (await ada.get("/api/credits")).json()["reserved"] != "0"
    return run_id


async def host_sees(client: httpx.AsyncClient) -> tuple[int, int]:
    """The balance and what is held back, as the host learns them while the user is away."""
    found = (await client.post("/api/credits/add", json={"uuid": "ada", "amount": "0.000001"}, headers=PLUGIN)).json()
    return micros_of(found["balance"]), micros_of(found["reserved"])


async def test_holds_of_a_user_who_stays_away_are_charged_and_a_return_refunds_the_rest(
    settings: Settings, clock: FakeClock, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = await died_with_holds(settings, clock, server, monkeypatch)
    clock.advance(29 * DAY)
    async with service(settings, clock) as client:
        balance, held = await host_sees(client)
        assert held > 0, "the user may still come back"
    clock.advance(2 * DAY)
    async with service(settings, clock) as client:
        async with asyncio.timeout(60):
            while (now := await host_sees(client))[1]:
                await asyncio.sleep(0.01)
        assert now[0] - balance < 1_000, "the holds were charged, and nothing came back but what this test added"
        client.headers.update(await Host(client).signed_in("ada"))
        found = await books(client)
        assert (
            found["charged"]
            == found["cost"]
            == micros_of((await client.get(f"/api/runs/{run_id}")).json()["spend"]["cost"])
        )
        assert found["refund"] == held - found["cost"] > 0
        assert found["balance"] == found["add"] - found["cost"]


async def test_a_user_who_comes_back_in_time_is_charged_what_the_calls_took(
    settings: Settings, clock: FakeClock, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    await died_with_holds(settings, clock, server, monkeypatch)
    clock.advance(29 * DAY)
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        found = await books(client)
        assert (found["charged"], found.get("refund", 0)) == (found["cost"], 0)

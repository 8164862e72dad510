"""Calls that credits pay for and whose cost nobody knows: the host bears them up to a bound, and sees what it bore."""

import asyncio
from collections.abc import Iterator
from decimal import Decimal

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.kit.money import micros_of, text_of
from tests.support.credit_runs import MODEL, books, execute, system_key, top_up, until
from tests.support.host import ADMIN, PLUGIN, Host, code_of
from tests.support.model_server import Fault, Running, model_server

WRITE_OFFS = "/api/admin/write-offs"


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with model_server(models=("gpt-5-mini",)) as server:
        yield server


@pytest.fixture
def bound() -> Decimal:
    return Decimal(1)


@pytest.fixture
def settings(settings: Settings, server: Running, bound: Decimal) -> Settings:
    server.renew()
    return replace(settings, provider_hosts=(server.host,), unknown_costs_per_day=bound)


async def held(ada: httpx.AsyncClient) -> list[int]:
    calls = (await ada.get("/api/metering/calls", params={"model": MODEL})).json()["items"]
    return [micros_of(call["reserved"]) for call in calls]


async def test_the_host_bears_what_nobody_can_price_and_sees_the_sum(ada: httpx.AsyncClient, server: Running) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.faults(Fault("no-usage"))
    run = await until(ada, (await execute(ada, documents=2)).json()["id"], "completed")
    assert run["spend"] == {"cost": "0", "unknown_calls": 2, "reused": 0}
    assert (await books(ada))["balance"] == 1_000_000
    borne = {"calls": 2, "credits": text_of(sum(await held(ada)))}
    for secret in (ADMIN, PLUGIN):
        found = (await ada.get(WRITE_OFFS, headers=secret)).json()
        assert found["total"] == borne
        [item] = found["items"]
        assert {name: item[name] for name in borne} == borne
        for query, total in (
            ({"uuid": "ada"}, borne),
            ({"uuid": "bob"}, {"calls": 0, "credits": "0"}),
            ({"from": item["day"]}, borne),
            ({"to": item["day"]}, {"calls": 0, "credits": "0"}),
        ):
            assert (await ada.get(WRITE_OFFS, headers=secret, params=query)).json()["total"] == total, query
    assert code_of(await ada.get(WRITE_OFFS)) == "plugin-secret-missing"
    assert (await ada.get(WRITE_OFFS, headers=ADMIN, params={"from": "yesterday"})).status_code == 400


@pytest.mark.parametrize("bound", [Decimal("0.004")])
async def test_beyond_the_bound_of_a_day_the_user_is_charged_and_the_runs_pause(
    ada: httpx.AsyncClient, server: Running, bound: Decimal
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.faults(Fault("no-usage"))
    limits = {"concurrency": 1}
    run_id = (await execute(ada, documents=8, limits=limits)).json()["id"]
    run = await until(ada, run_id, "paused", "completed")
    assert (run["state"], run["pause_reason"]) == ("paused", "unknown-costs")
    found = await books(ada)
    most = int(bound * 1_000_000)
    assert found["charged"] == sum(await held(ada)) - most
    assert server.counts().started < 8
    entries = (await ada.get(f"/api/runs/{run_id}/logs")).json()["items"]
    assert "unknown-costs" in {entry["code"] for entry in entries}
    # The user may go on, and knows the price: what is held back for each call of unknown cost.
    await ada.post(f"/api/runs/{run_id}/resume")
    assert (await until(ada, run_id, "paused", "completed"))["pause_reason"] == "unknown-costs"
    # Once the books agree, nothing is left that would pause the run again.
    await books(ada)
    server.faults()
    await ada.post(f"/api/runs/{run_id}/resume")
    assert (await until(ada, run_id, "paused", "completed"))["state"] == "completed"
    found = await books(ada)
    assert found["charged"] + most >= found["cost"] > 0
    total = (await ada.get(WRITE_OFFS, headers=ADMIN)).json()["total"]
    assert total["credits"] == text_of(most), "the host bears no more than that for one user and day"


@pytest.mark.parametrize("bound", [Decimal(0)])
async def test_a_key_that_leaves_among_paid_calls_charges_what_was_held_where_the_host_bears_nothing(
    ada: httpx.AsyncClient, host: Host, server: Running
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.hold()
    run_id = (await execute(ada)).json()["id"]
    await asyncio.to_thread(server.until_in_flight, 8)
    await host.login("ada", "a wrong password")
    server.latency(0)
    ada.headers.update(await host.signed_in("ada"))
    run = await until(ada, run_id, "paused", "completed")
    assert (run["state"], run["pause_reason"]) == ("paused", "unknown-costs")
    found = await books(ada)
    assert (found["calls"], found["charged"]) == (8, sum(await held(ada)))
    assert (await ada.get(WRITE_OFFS, headers=ADMIN)).json()["total"] == {"calls": 0, "credits": "0"}


async def test_what_the_host_bore_outlives_the_user_without_a_name(
    ada: httpx.AsyncClient, host: Host, server: Running
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.faults(Fault("no-usage"))
    await until(ada, (await execute(ada, documents=1)).json()["id"], "completed")
    await books(ada)
    before = (await ada.get(WRITE_OFFS, headers=ADMIN)).json()
    assert before["total"]["calls"] == 1
    assert (await ada.delete("/api/users/ada", headers=PLUGIN)).status_code == 204
    assert (await ada.get(WRITE_OFFS, headers=ADMIN)).json() == before
    of_ada = (await ada.get(WRITE_OFFS, headers=ADMIN, params={"uuid": "ada"})).json()
    assert of_ada["total"] == {"calls": 0, "credits": "0"}

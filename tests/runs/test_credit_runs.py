"""Runs that credits pay for: with the operator's key, never below zero, paused instead of failed, exact in the end."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.kit.money import micros_of
from carrel.runs.funds import Payer
from tests.support.host import ADMIN, PLUGIN, Host, code_of
from tests.support.model_server import Fault, Running, model_server
from tests.support.web_runs import CRITERIA, content

MODEL = "openai:gpt-5-mini"
NAMES = ("gpt-5-mini", "gpt-5-nano", "nobody-knows-its-price")


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with model_server(models=NAMES) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, server: Running) -> Settings:
    server.faults()
    server.latency(0)
    server.forget()
    return replace(settings, provider_hosts=(server.host,))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    return client


async def system_key(ada: httpx.AsyncClient, server: Running) -> None:
    body = {"provider": "openai", "key": server.key, "base_url": server.base_url}
    answer = await ada.post("/api/admin/system-keys", json=body, headers=ADMIN)
    assert answer.status_code == 201, answer.text


async def top_up(ada: httpx.AsyncClient, amount: str) -> None:
    answer = await ada.post("/api/credits/add", json={"uuid": "ada", "amount": amount}, headers=PLUGIN)
    assert answer.status_code == 200, answer.text


async def execute(ada: httpx.AsyncClient, *, documents: int = 8, model: str = MODEL, **changes: Any) -> httpx.Response:
    inputs = [await content(ada, {}, "input_document", f"Document {n} says something.") for n in range(documents)]
    configuration = {
        "inputs": inputs,
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": [{"model": model, "parameters": {"max_output_tokens": 100}}]},
        "scoring": {"judges": [{"model": "local:reader"}], "criteria": await content(ada, {}, "criteria", CRITERIA)},
        "billing": "credits",
    } | changes
    made = await ada.post("/api/presets", json={"name": "Paid", **configuration})
    assert made.status_code == 201, made.text
    return await ada.post(f"/api/presets/{made.json()['id']}/execute")


async def until(ada: httpx.AsyncClient, run_id: str, *states: str) -> dict[str, Any]:
    async with asyncio.timeout(30):
        while True:
            run: dict[str, Any] = (await ada.get(f"/api/runs/{run_id}")).json()
            if run["state"] in states:
                return run
            await asyncio.sleep(0.02)


async def books(ada: httpx.AsyncClient) -> dict[str, int]:
    """Everything in millionths; fails if the two databases disagree."""
    async with asyncio.timeout(10):
        while (balance := (await ada.get("/api/credits")).json())["reserved"] != "0":
            await asyncio.sleep(0.02)
    entries: list[dict[str, Any]] = []
    cursor = ""
    while cursor is not None:
        params = {"limit": "200"} | ({"cursor": cursor} if cursor else {})
        page = (await ada.get("/api/credits/ledger", params=params)).json()
        entries += page["items"]
        cursor = page["next_cursor"]
    assert all(not entry["balance"].startswith("-") for entry in entries)
    sums: dict[str, int] = {"balance": micros_of(balance["balance"])}
    for entry in entries:
        amount = entry["amount"]
        micros = -micros_of(amount[1:]) if amount.startswith("-") else micros_of(amount)
        sums[entry["kind"]] = sums.get(entry["kind"], 0) + micros
    usage = (await ada.get("/api/metering/usage", params={"group_by": "provider"})).json()
    paid = [item["totals"] for item in usage["items"] if item["provider"] == "openai"]
    sums["calls"] = sum(totals["calls"] for totals in paid)
    sums["charged"], sums["cost"] = (micros_of(usage["total"][name]) for name in ("charged", "cost"))
    assert sums["balance"] == sum(sums.get(kind, 0) for kind in ("add", "reserve", "release", "settle"))
    assert sums.get("reserve", 0) == -sums.get("release", 0)
    assert -sums.get("settle", 0) == sums["charged"]
    return sums


async def test_credits_pay_with_the_operators_key_what_the_calls_took(ada: httpx.AsyncClient, server: Running) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    run = await until(ada, (await execute(ada)).json()["id"], "completed")
    found = await books(ada)
    assert found["calls"] == 8
    assert found["charged"] == found["cost"] == micros_of(run["spend"]["cost"]) > 0
    assert run["spend"]["unknown_calls"] == 0
    assert found["balance"] == 1_000_000 - found["charged"]


async def test_without_a_system_key_or_a_price_credits_cannot_pay(ada: httpx.AsyncClient, server: Running) -> None:
    refused = await execute(ada, documents=1)
    assert (refused.status_code, code_of(refused)) == (409, "credits-unavailable")
    await system_key(ada, server)
    refused = await execute(ada, documents=1, model="openai:nobody-knows-its-price")
    assert (refused.status_code, code_of(refused)) == (409, "credits-unavailable")
    assert "no known price" in refused.json()["errors"][0]["message"]
    assert server.counts().started == 0


async def test_a_run_without_credits_pauses_and_goes_on_after_a_top_up(ada: httpx.AsyncClient, server: Running) -> None:
    await system_key(ada, server)
    run_id = (await execute(ada)).json()["id"]
    run = await until(ada, run_id, "paused", "completed")
    assert (run["state"], run["pause_reason"], server.counts().started) == ("paused", "credits", 0)
    assert (await books(ada))["calls"] == 0
    await top_up(ada, "0.002")
    await ada.post(f"/api/runs/{run_id}/resume")
    run = await until(ada, run_id, "paused", "completed")
    assert run["state"] == "paused", "that was enough for a few calls only"
    first = await books(ada)
    assert first["balance"] >= 0
    assert 0 < server.counts().started < 8
    await top_up(ada, "1")
    await ada.post(f"/api/runs/{run_id}/resume")
    assert (await until(ada, run_id, "paused", "completed"))["state"] == "completed"
    assert (await books(ada))["calls"] == server.counts().started == 8


async def test_a_call_that_cost_nothing_takes_nothing_and_what_is_tried_again_is_paid_once(
    ada: httpx.AsyncClient, server: Running
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.faults(Fault("status", match="Document 1", times=1, status=429, retry_after="0"))
    await until(ada, (await execute(ada, documents=3)).json()["id"], "completed")
    found = await books(ada)
    assert found["calls"] == 4
    calls = (await ada.get("/api/metering/calls", params={"model": MODEL})).json()["items"]
    assert sorted((call["outcome"], call["cost"] == "0") for call in calls) == [
        ("answered", False), ("answered", False), ("answered", False), ("failed", True)
    ]  # fmt: skip


async def test_what_nobody_can_price_is_the_operators(ada: httpx.AsyncClient, server: Running) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.faults(Fault("no-usage"))
    run = await until(ada, (await execute(ada, documents=2)).json()["id"], "completed")
    assert run["spend"] == {"cost": "0", "unknown_calls": 2}
    assert (await books(ada))["balance"] == 1_000_000


async def test_a_budget_holds_with_what_is_under_way(ada: httpx.AsyncClient, server: Running) -> None:
    await ada.post("/api/provider-keys", json={"provider": "openai", "key": server.key, "base_url": server.base_url})
    budget = "0.006"
    answer = await execute(ada, documents=40, billing="own_keys", limits={"budget": budget, "concurrency": 32})
    run = await until(ada, answer.json()["id"], "paused", "completed")
    assert (run["state"], run["pause_reason"]) == ("paused", "budget")
    assert 0 < micros_of(run["spend"]["cost"]) <= micros_of(budget)
    assert server.counts().most_in_flight <= 3, "so many can cost six thousandths together"
    assert server.counts().started > 3


async def test_cancelled_calls_give_back_what_was_held(ada: httpx.AsyncClient, server: Running) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.latency(5_000)
    run_id = (await execute(ada)).json()["id"]
    async with asyncio.timeout(20):
        while not server.counts().started:
            await asyncio.sleep(0.01)
    assert (await ada.get("/api/credits")).json()["reserved"] != "0"
    await ada.post(f"/api/runs/{run_id}/cancel")
    assert (await books(ada))["balance"] == 1_000_000


async def test_what_is_cancelled_before_its_call_gives_back_what_was_held(
    ada: httpx.AsyncClient, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, go_on = asyncio.Event(), asyncio.Event()
    afford = Payer.afford

    async def slowly(self: Payer, attempts: Any) -> Any:
        refused = await afford(self, attempts)
        held.set()
        await go_on.wait()
        return refused

    monkeypatch.setattr(Payer, "afford", slowly)
    await system_key(ada, server)
    await top_up(ada, "1")
    run_id = (await execute(ada)).json()["id"]
    await asyncio.wait_for(held.wait(), 10)
    await ada.post(f"/api/runs/{run_id}/cancel")
    go_on.set()
    found = await books(ada)
    assert (found["balance"], found["calls"], found.get("settle", 0)) == (1_000_000, 0, 0)


async def test_a_dry_run_tells_what_is_likely_and_the_most_that_it_can_cost(
    ada: httpx.AsyncClient, server: Running
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    run_id = (await execute(ada, documents=3)).json()["id"]
    run = await until(ada, run_id, "completed")
    found = (await ada.post(f"/api/presets/{run['preset_id']}/execute", params={"dry_run": "true"})).json()
    assert 0 < micros_of(found["likely_cost"]) < micros_of(found["worst_cost"])
    assert micros_of(run["spend"]["cost"]) <= micros_of(found["worst_cost"])

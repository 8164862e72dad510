"""Runs that credits pay for: with the operator's key, never below zero, paused instead of failed, exact in the end."""

import asyncio
import threading
from typing import Any

import httpx
import pytest

from carrel.kit.money import micros_of
from carrel.runs.engine.payer import Payer
from carrel.runs.tasks import claims
from tests.support import served
from tests.support.credit_runs import MODEL, books, execute, system_key, top_up, until
from tests.support.host import code_of
from tests.support.model_server import Fault, Running

NAMES = ("gpt-5-mini", "gpt-5-nano", "nobody-knows-its-price")


server = served.by(*NAMES)
settings = served.settings


async def test_credits_pay_with_the_operators_key_what_the_calls_took(ada: httpx.AsyncClient, server: Running) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    run = await until(ada, (await execute(ada)).json()["id"], "completed")
    found = await books(ada)
    assert found["calls"] == 8
    assert found["charged"] == found["cost"] == micros_of(run["spend"]["cost"]) > 0
    assert run["spend"]["unknown_calls"] == 0
    assert found["balance"] == 1_000_000 - found["charged"]
    # Credits are charged by the list whatever host the operator's key names, and the run tells that host.
    assert run["hosts"] == {MODEL: server.host}
    calls = (await ada.get("/api/metering/calls", params={"model": MODEL})).json()["items"]
    assert {call["host"] for call in calls} == {server.host}


async def test_without_a_system_key_or_a_price_credits_cannot_pay(ada: httpx.AsyncClient, server: Running) -> None:
    refused = await execute(ada, documents=1)
    assert (refused.status_code, code_of(refused)) == (409, "credits-unavailable")
    await system_key(ada, server)
    refused = await execute(ada, documents=1, model="openai:nobody-knows-its-price")
    assert (refused.status_code, code_of(refused)) == (409, "credits-unavailable")
    assert "no known price" in refused.json()["errors"][0]["message"]
    assert server.counts().started == 0


async def test_what_a_user_says_of_a_price_never_changes_what_credits_pay(
    ada: httpx.AsyncClient, server: Running
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    usual = await until(ada, (await execute(ada, documents=2)).json()["id"], "completed")
    charged = (await books(ada))["charged"]
    for given in ("0", "9999"):
        price = {"input_per_million": given, "output_per_million": given}
        for model in (MODEL, "openai:nobody-knows-its-price", "openai"):
            assert (await ada.put(f"/api/model-prices/{model}", json=price)).status_code == 200
        run = await until(ada, (await execute(ada, documents=2)).json()["id"], "completed")
        assert run["spend"] == usual["spend"]
        found = await books(ada)
        charged += micros_of(usual["spend"]["cost"])
        assert found["charged"] == found["cost"] == charged
        rows = (await ada.get(f"/api/metering/calls?run_id={run['id']}")).json()["items"]
        assert all(row["price_id"].startswith(("genai-prices-", "built-in")) for row in rows)
        estimates = [
            (await ada.post("/api/runs?dry_run=true", json={"configuration": run["configuration"] | by})).json()
            for by in ({}, {"billing": "own_keys"})
        ]
        assert estimates[0]["worst_cost"] != estimates[1]["worst_cost"]
        budgeted = await until(
            ada, (await execute(ada, documents=1, limits={"budget": "0.5"})).json()["id"], "completed", "paused"
        )
        assert budgeted["state"] == "completed", "a budget of credits knows the list price"
        charged += micros_of(budgeted["spend"]["cost"])
    refused = await execute(ada, documents=1, model="openai:nobody-knows-its-price")
    assert (refused.status_code, code_of(refused)) == (409, "credits-unavailable")
    assert server.counts().completed == 3 * 2 + 2


async def test_a_run_without_credits_pauses_until_a_top_up_and_resume(ada: httpx.AsyncClient, server: Running) -> None:
    await system_key(ada, server)
    run_id = (await execute(ada)).json()["id"]
    run = await until(ada, run_id, "paused", "completed")
    assert (run["state"], run["pause_reason"], server.counts().started) == ("paused", "credits", 0)
    assert (await books(ada))["calls"] == 0
    await top_up(ada, "0.002")
    assert (await ada.get(f"/api/runs/{run_id}")).json()["state"] == "paused"
    assert server.counts().started == 0
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
    # What was withdrawn for lack of credits was no attempt.
    calls = (await ada.get("/api/metering/calls", params={"model": MODEL})).json()["items"]
    assert [call["attempt"] for call in calls] == [1] * 8


async def test_credits_that_one_run_frees_let_another_go_on(
    ada: httpx.AsyncClient, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, withdraw = threading.Event(), claims.withdraw

    def noted(*given: Any, pause: bool) -> None:
        withdraw(*given, pause=pause)
        refused.set()

    monkeypatch.setattr(claims, "withdraw", noted)
    await system_key(ada, server)
    # For one call at a time: most of what is held for it comes back.
    await top_up(ada, "0.006")
    generation = {"candidates": [{"model": MODEL, "parameters": {"max_output_tokens": 2_000}}]}
    server.hold()
    first = (await execute(ada, documents=1, generation=generation)).json()["id"]
    await asyncio.to_thread(server.until_in_flight, 1)
    second = (await execute(ada, documents=1, generation=generation)).json()["id"]
    assert await asyncio.to_thread(refused.wait, 60)
    server.latency(0)
    for run in (first, second):
        assert (await until(ada, run, "paused", "completed"))["state"] == "completed"


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


async def test_a_budget_holds_with_what_is_under_way(ada: httpx.AsyncClient, server: Running) -> None:
    await ada.post("/api/provider-keys", json={"provider": "openai", "key": server.key, "base_url": server.base_url})
    await ada.put(f"/api/model-prices/{MODEL}", json={"input_per_million": "0.25", "output_per_million": "2"})
    budget = "0.006"
    server.hold()
    answer = await execute(ada, documents=40, billing="own_keys", limits={"budget": budget, "concurrency": 32})
    await asyncio.to_thread(server.until_in_flight, 3)
    # A claim is recorded before its calls, so nothing else is on its way.
    calls = (await ada.get("/api/metering/calls", params={"model": MODEL, "limit": 200})).json()["items"]
    assert [call["outcome"] for call in calls] == ["running"] * 3
    server.latency(0)
    run = await until(ada, answer.json()["id"], "paused", "completed")
    assert (run["state"], run["pause_reason"]) == ("paused", "budget")
    assert 0 < micros_of(run["spend"]["cost"]) <= micros_of(budget)
    assert server.counts().most_in_flight <= 3, "so many can cost six thousandths together"
    assert server.counts().started > 3


async def test_starting_and_cancelling_runs_again_and_again_pays_for_every_call(
    ada: httpx.AsyncClient, server: Running
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    for number in range(1, 4):
        server.hold()
        run_id = (await execute(ada, documents=4)).json()["id"]
        await asyncio.to_thread(server.until_in_flight, 4)
        assert (await ada.post(f"/api/runs/{run_id}/cancel")).json()["state"] == "cancelled"
        assert (await ada.get("/api/credits")).json()["reserved"] != "0", "the provider bills these calls all the same"
        server.latency(0)
        found = await books(ada)
        assert (found["calls"], found["charged"]) == (4 * number, found["cost"])
    calls = (await ada.get("/api/metering/calls", params={"model": MODEL})).json()["items"]
    assert {call["outcome"] for call in calls} == {"answered"}
    assert all(call["charged"] == call["cost"] != "0" for call in calls)


async def test_a_call_that_exceeds_the_time_limit_is_paid_for_when_it_ends(
    ada: httpx.AsyncClient, server: Running
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.hold()
    limits = {"timeout_seconds": 1, "max_attempts": 2}
    run_id = (await execute(ada, documents=2, limits=limits)).json()["id"]
    run = await until(ada, run_id, "completed_with_errors", "failed")
    assert server.counts().in_flight == 4, "they go on: the provider bills them to their ends"
    assert run["spend"] == {"cost": "0", "unknown_calls": 0, "reused": 0}
    # Cancelling, deleting and judging again find a run that has ended.
    assert (await ada.post(f"/api/runs/{run_id}/cancel")).status_code == 409
    server.latency(0)
    found = await books(ada)
    assert (found["calls"], found["charged"]) == (4, found["cost"])
    calls = (await ada.get("/api/metering/calls", params={"model": MODEL})).json()["items"]
    assert {(call["outcome"], call["code"]) for call in calls} == {("failed", "provider-timeout")}
    assert micros_of((await ada.get(f"/api/runs/{run_id}")).json()["spend"]["cost"]) == found["cost"] > 0


async def test_cancelling_a_run_with_an_overdue_call_and_a_new_one_pays_for_both(
    ada: httpx.AsyncClient, server: Running
) -> None:
    await system_key(ada, server)
    await top_up(ada, "1")
    server.hold()
    limits = {"timeout_seconds": 1, "max_attempts": 5}
    run_id = (await execute(ada, documents=1, limits=limits)).json()["id"]
    await asyncio.to_thread(server.until_in_flight, 2)
    await ada.post(f"/api/runs/{run_id}/cancel")
    server.latency(0)
    found = await books(ada)
    assert found["calls"] == server.counts().completed >= 2
    assert found["charged"] == found["cost"] > 0
    assert (await ada.delete(f"/api/runs/{run_id}")).status_code == 204


async def test_what_is_cancelled_before_its_call_gives_back_what_was_held(
    ada: httpx.AsyncClient, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, go_on = asyncio.Event(), asyncio.Event()
    reserve = Payer.reserve

    async def slowly(self: Payer, attempts: Any) -> Any:
        refused = await reserve(self, attempts)
        held.set()
        await go_on.wait()
        return refused

    monkeypatch.setattr(Payer, "reserve", slowly)
    await system_key(ada, server)
    await top_up(ada, "1")
    run_id = (await execute(ada)).json()["id"]
    await asyncio.wait_for(held.wait(), 60)
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

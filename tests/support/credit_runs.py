"""Runs over HTTP that credits pay for, and the books of both databases."""

import asyncio
from typing import Any

import httpx

from carrel.kit.money import micros_of
from tests.support.host import ADMIN, PLUGIN
from tests.support.model_server import Running
from tests.support.web_runs import CRITERIA, content

MODEL = "openai:gpt-5-mini"


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
    async with asyncio.timeout(60):
        while True:
            run: dict[str, Any] = (await ada.get(f"/api/runs/{run_id}")).json()
            if run["state"] in states:
                return run
            await asyncio.sleep(0.02)


async def books(ada: httpx.AsyncClient) -> dict[str, int]:
    """Everything in millionths; fails if the two databases disagree."""
    async with asyncio.timeout(60):
        while (balance := (await ada.get("/api/credits")).json())["reserved"] != "0":
            await asyncio.sleep(0.02)
    entries: list[dict[str, Any]] = []
    cursor: str | None = ""
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
    assert sums["balance"] == sum(sums.get(kind, 0) for kind in ("add", "reserve", "release", "settle", "refund"))
    assert sums.get("reserve", 0) == -sums.get("release", 0)
    assert -sums.get("settle", 0) - sums.get("refund", 0) == sums["charged"]
    return sums

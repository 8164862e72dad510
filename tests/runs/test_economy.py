"""Runs at half the price through HTTP: what they cost, and who may ask for them."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.runs.engine import batching
from tests.support.batched import MODELS, Servers, batch_servers
from tests.support.host import Host
from tests.support.strict_servers import KEY
from tests.support.web_runs import content

ENDS = ("completed", "completed_with_errors", "failed", "cancelled")


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    async with batch_servers() as found:
        for server in found:
            server.shelf.looks = 1
        yield found


@pytest.fixture
def settings(settings: Settings, servers: Servers) -> Settings:
    return replace(settings, provider_hosts=tuple(server.host for server in servers))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, servers: Servers) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    for name, server in zip(("openai", "anthropic"), servers, strict=True):
        key = {"provider": name, "key": KEY, "base_url": server.base_url}
        assert (await client.post("/api/provider-keys", json=key)).status_code == 201
    return client


async def _configuration(ada: httpx.AsyncClient, *models: str) -> dict[str, Any]:
    return {
        "inputs": [await content(ada, {}, "input_document", f"Document {n} says something.") for n in (1, 2)],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": [{"model": model} for model in models]},
        "comparison": {"judges": [{"model": model} for model in models]},
    }


async def test_the_estimate_has_both_prices_and_a_run_in_batches_pays_the_lower(
    ada: httpx.AsyncClient, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "LOOK_SECONDS", 0.0)
    configuration = await _configuration(ada, *MODELS)
    found = [
        (await ada.post("/api/runs?dry_run=true", json={"configuration": configuration | {"economy": economy}})).json()
        for economy in (False, True)
    ]
    both = found[0]["economy"]
    assert found[1]["economy"] == both
    assert Decimal(both["worst_cost"]) * 2 == pytest.approx(Decimal(both["worst_cost_at_once"]), abs=Decimal("0.0001"))
    assert [one["worst_cost"] for one in found] == [both["worst_cost_at_once"], both["worst_cost"]]
    preset = (await ada.post("/api/presets", json={"name": "Two", **configuration})).json()
    run = (await ada.post(f"/api/presets/{preset['id']}/execute", json={"economy": True})).json()
    assert run["configuration"]["economy"] is True
    async with asyncio.timeout(60):
        while run["state"] not in ENDS:
            await asyncio.sleep(0.02)
            run = (await ada.get(f"/api/runs/{run['id']}")).json()
    assert (run["state"], run["progress"]["succeeded"]) == ("completed", 4 + 8)
    calls = (await ada.get(f"/api/metering/calls?run_id={run['id']}&limit=100")).json()["items"]
    assert all(call["price_id"].endswith("/batch") for call in calls)
    assert sum(Decimal(call["cost"]) for call in calls) == Decimal(run["spend"]["cost"]) > 0
    assert servers.twice == []


async def test_a_call_in_a_batch_costs_half_of_what_the_user_said_when_it_was_claimed(
    ada: httpx.AsyncClient, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "LOOK_SECONDS", 0.0)
    path = f"/api/model-prices/{MODELS[0]}"
    await ada.put(path, json={"input_per_million": "100", "output_per_million": "0"})
    configuration = await _configuration(ada, MODELS[0]) | {"comparison": None, "economy": True}
    servers.openai.shelf.looks = 1_000_000
    run = (await ada.post("/api/runs", json={"configuration": configuration})).json()
    await ada.post(f"/api/runs/{run['id']}/start")
    async with asyncio.timeout(60):
        while not servers.openai.shelf.held:
            await asyncio.sleep(0.02)
        await ada.put(path, json={"input_per_million": "1", "output_per_million": "1"})
        servers.openai.shelf.looks = 1
        while run["state"] not in ENDS:
            await asyncio.sleep(0.02)
            run = (await ada.get(f"/api/runs/{run['id']}")).json()
    calls = (await ada.get(f"/api/metering/calls?run_id={run['id']}")).json()["items"]
    assert {call["price_id"] for call in calls} == {"own/100000000/0/batch"}
    assert [Decimal(call["cost"]) for call in calls] == [
        Decimal(call["input_tokens"] + call["cached_read_tokens"]) / 20_000 for call in calls
    ]


async def test_economy_is_refused_where_a_provider_has_no_batches(ada: httpx.AsyncClient) -> None:
    async def faults(configuration: dict[str, Any]) -> list[tuple[str, str]]:
        answer = await ada.post("/api/runs?dry_run=true", json={"configuration": configuration | {"economy": True}})
        assert answer.status_code == 400, answer.text
        return [(fault["path"], fault["message"]) for fault in answer.json()["errors"]]

    assert await faults(await _configuration(ada, MODELS[0], "google:gemini-2.5-flash")) == [
        (
            f"configuration.{part}[1].model",
            "has no batches at its provider; economy goes with models of OpenAI and Anthropic",
        )
        for part in ("generation.candidates", "comparison.judges")
    ]
    built_in = await _configuration(ada, "local:lexrank", "local:lead")
    built_in["comparison"]["judges"] = [{"model": "local:reader"}]
    assert [path for path, _ in await faults(built_in)] == ["configuration.economy"]
    by_credits = await _configuration(ada, *MODELS) | {"billing": "credits"}
    assert await faults(by_credits) == [("configuration.economy", "goes with billing own_keys only")]

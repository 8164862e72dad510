"""Prices that a user sets for models whose price no list has: where they count, and what they never change."""

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest

from carrel.providers import own_prices
from carrel.providers.base import Usage
from tests.support import served
from tests.support.host import Host, code_of
from tests.support.model_server import Fault, Running, model_server
from tests.support.own_hosts import own_hosts
from tests.support.transfers import exported, imported
from tests.support.web_runs import completed, content

PRICES, KEYS = "/api/model-prices", "/api/provider-keys"
LISTED, OWN, JUDGE = "openai:gpt-5-mini", "openai:alpha", "openai:judge-one"
ATTEMPTS = 3
"""How often a judge is asked at worst."""


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with model_server(models=("gpt-5-mini", "alpha", "judge-one")) as server, own_hosts({"openai": server.base_url}):
        yield server


settings = served.settings
ada = served.ada


async def configuration(ada: httpx.AsyncClient, *models: str) -> dict[str, Any]:
    return {
        "inputs": [await content(ada, {}, "input_document", f"Document {n} says something.") for n in (1, 2)],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": [{"model": model, "parameters": {"max_output_tokens": 200}} for model in models]},
        "comparison": {"judges": [{"model": JUDGE}]},
    }


async def put(ada: httpx.AsyncClient, model: str, given: str, written: str) -> httpx.Response:
    return await ada.put(f"{PRICES}/{model}", json={"input_per_million": given, "output_per_million": written})


async def estimate(ada: httpx.AsyncClient, wanted: dict[str, Any]) -> dict[str, Any]:
    answer = await ada.post("/api/runs?dry_run=true", json={"configuration": wanted})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def calls(ada: httpx.AsyncClient, run: dict[str, Any], model: str) -> list[dict[str, Any]]:
    rows = (await ada.get(f"/api/metering/calls?run_id={run['id']}&limit=100")).json()["items"]
    return [row for row in rows if row["model"] == model]


async def test_an_estimate_tells_the_known_part_and_own_prices_make_the_rest_known(ada: httpx.AsyncClient) -> None:
    wanted = await configuration(ada, LISTED, OWN)
    found = await estimate(ada, wanted)
    part = found["known_part"]
    assert (found["likely_cost"], found["worst_cost"]) == (None, None)
    assert (part["likely_unknown_calls"], part["worst_unknown_calls"]) == (2 + 4, 2 + 4 * ATTEMPTS)
    assert part["unpriced_models"] == [OWN, JUDGE]
    assert [one["sentence"] for one in found["endings"]] == [f"{LISTED} was switched off on 11 December 2026."]
    alone = wanted | {"generation": {"candidates": wanted["generation"]["candidates"][:1]}, "comparison": None}
    listed = await estimate(ada, alone)
    assert (part["likely_cost"], part["worst_cost"]) == (listed["likely_cost"], listed["worst_cost"])
    assert Decimal(listed["likely_cost"]) > 0
    assert listed["known_part"] is None

    refused = await ada.post("/api/presets", json={"name": "n", **wanted, "limits": {"budget": "1"}})
    assert (refused.status_code, code_of(refused)) == (400, "budget-unpriced")
    assert [fault["path"] for fault in refused.json()["errors"]] == [
        "generation.candidates[1].model", "comparison.judges[0].model"
    ]  # fmt: skip
    before = await completed(ada, wanted)
    assert before["spend"]["unknown_calls"] == 2 + 4

    assert (await put(ada, OWN, "0.5", "1.5")).status_code == 200
    assert (await put(ada, "openai", "0", "0")).json()["model"] == "openai"
    found = await estimate(ada, wanted)
    assert found["known_part"] is None
    alone["generation"] = {"candidates": wanted["generation"]["candidates"][1:]}
    assert Decimal(found["likely_cost"]) == sum(
        Decimal(one["likely_cost"]) for one in (listed, await estimate(ada, alone))
    )
    assert (await ada.post("/api/presets", json={"name": "n", **wanted, "limits": {"budget": "1"}})).status_code == 201

    run = await completed(ada, wanted | {"limits": {"budget": "1"}})
    (first, *_) = rows = await calls(ada, run, OWN)
    exact = Decimal("0.5") * first["input_tokens"] + Decimal("1.5") * first["output_tokens"]
    assert Decimal(first["cost"]) * 1_000_000 == math.ceil(exact) > 0
    assert {row["price_id"] for row in rows} == {"own/500000/1500000"}
    assert {row["cost"] for row in await calls(ada, run, JUDGE)} == {"0"}
    assert run["spend"]["unknown_calls"] == 0
    report = (await ada.get(f"/api/runs/{run['id']}/report")).json()
    assert [one["cost"] is not None for one in report["candidates"]] == [True, True]
    assert Decimal(run["spend"]["cost"]) <= Decimal(found["worst_cost"])

    # What was metered keeps its cost, whatever the user says afterwards.
    assert (await put(ada, OWN, "900", "900")).status_code == 200
    assert (await ada.delete(f"{PRICES}/openai")).status_code == 204
    assert await calls(ada, run, OWN) == rows
    assert (await ada.get(f"/api/runs/{before['id']}")).json()["spend"] == before["spend"]
    assert (await estimate(ada, wanted))["known_part"]["unpriced_models"] == [JUDGE]


async def test_a_run_of_unknown_cost_never_looks_free(ada: httpx.AsyncClient) -> None:
    run = await completed(ada, await configuration(ada, OWN, "openai:judge-one"))
    unknown = {"cost": "0", "unknown_calls": 8, "reused": 0}
    (listed,) = (await ada.get("/api/runs")).json()["items"]
    assert listed["spend"] == run["spend"] == unknown
    usage = (await ada.get("/api/metering/usage", params={"group_by": "model"})).json()
    assert usage["total"]["unknown_calls"] == sum(item["totals"]["unknown_calls"] for item in usage["items"]) == 8
    assert all(row["cost"] is None for row in await calls(ada, run, OWN))
    report = (await ada.get(f"/api/runs/{run['id']}/report")).json()
    assert (report["spend"]["cost"], report["spend"]["unknown_calls"]) == ("0", 8)
    assert [one["cost_per_answer"] for one in report["candidates"]] == [None, None]
    page = (await ada.get(f"/api/runs/{run['id']}/report", params={"format": "html"})).text
    assert "<dd>8 calls of unknown cost</dd>" in page
    assert "$0" not in page
    (judge,) = (await ada.get("/api/evaluation/judges")).json()["items"]
    assert (judge["model"], judge["cost_per_verdict"]) == (JUDGE, None)


async def test_models_show_whose_price_it_is_and_what_is_set_for_one_comes_first(ada: httpx.AsyncClient) -> None:
    async def shown(model: str) -> list[str] | None:
        prices = (await ada.get(f"/api/models/{model}")).json()["prices"]
        kinds = ("input_per_million", "output_per_million", "source")
        return None if prices is None else [prices[kind] for kind in kinds]

    assert await shown(OWN) is None
    await put(ada, "openai", "3", "4.000001")
    assert await shown(OWN) == ["3", "4.000001", "own"]
    assert (await shown(LISTED) or [""])[-1].startswith("genai-prices-"), "a usual price is for models without one"
    await put(ada, LISTED, "0.000001", "7")
    assert await shown(LISTED) == ["0.000001", "7", "own"]
    items = (await ada.get("/api/models", params={"of_keys": "true"})).json()["items"]
    prices = {item["model"]: item["prices"] for item in items}
    assert {prices[model]["source"] for model in (OWN, LISTED, JUDGE)} == {"own"}
    assert prices["local:lead"]["source"] == "built-in"
    assert [item["model"] for item in (await ada.get(PRICES)).json()["items"]] == ["openai", LISTED]
    assert (await ada.delete(f"{PRICES}/{LISTED}")).status_code == 204
    assert (await ada.delete(f"{PRICES}/{LISTED}")).status_code == 404
    # They are of the models, not of the key, and stay for the next one.
    await ada.delete(f"{KEYS}/openai")
    assert [item["model"] for item in (await ada.get(PRICES)).json()["items"]] == ["openai"]


async def test_what_is_no_price_is_refused_with_the_name_of_its_field(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given, written in (("-1", "0"), ("0.0000001", "0"), ("", "0"), ("10000.000001", "0")):
        answer = await put(ada, OWN, given, written)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), given
        assert [fault["path"] for fault in answer.json()["errors"]] == ["input_per_million"]
    answer = await put(ada, OWN, "0", "10001")
    assert [fault["path"] for fault in answer.json()["errors"]] == ["output_per_million"]
    for model in ("local:lead", "no body:knows", "nobody!", "openai:", "openai:" + "m" * 250):
        answer = await put(ada, model, "1", "1")
        assert (answer.status_code, [fault["path"] for fault in answer.json()["errors"]]) == (400, ["model"]), model
    assert (await ada.get(PRICES)).json() == {"items": []}

    first = await put(ada, OWN, "1", "1")
    await put(ada, OWN, "2", "2")
    late = await ada.delete(f"{PRICES}/{OWN}", headers={"If-Match": first.headers["etag"]})
    assert code_of(late) == "version-mismatch"
    monkeypatch.setattr(own_prices, "MAX_PRICES", 1)
    assert code_of(await put(ada, JUDGE, "1", "1")) == "too-many-prices"
    assert (await put(ada, OWN, "10000", "10000")).status_code == 200


async def test_a_single_call_costs_what_the_user_says(ada: httpx.AsyncClient, server: Running) -> None:
    await put(ada, "openai", "1000", "0")
    asked = {"model": OWN, "prompt": "Say something."}
    answer = (await ada.post("/api/generation", json=asked)).json()
    assert Decimal(answer["cost"]) == Decimal(answer["usage"]["input_tokens"]) / 1_000 > 0
    # A server that counts no tokens leaves the cost unknown, unless there is none.
    server.faults(Fault("no-usage"))
    assert (await ada.post("/api/generation", json=asked)).json()["cost"] is None
    await put(ada, OWN, "0", "0")
    assert (await ada.post("/api/generation", json=asked)).json()["cost"] == "0"
    server.faults(Fault("status", status=500))
    await ada.post("/api/generation", json=asked)
    rows = (await ada.get(f"/api/metering/calls?model={OWN}")).json()["items"]
    assert [(row["outcome"], row["cost"]) for row in rows[:3]] == [
        ("failed", "0"), ("answered", "0"), ("answered", None)
    ]  # fmt: skip


async def test_prices_travel_with_the_workspace_before_the_presets_that_need_them(
    ada: httpx.AsyncClient, host: Host
) -> None:
    await put(ada, OWN, "0.5", "1.5")
    await put(ada, "openai", "0", "0.25")
    budgeted = await configuration(ada, OWN, LISTED) | {"name": "Within a budget", "limits": {"budget": "1"}}
    assert (await ada.post("/api/presets", json=budgeted)).status_code == 201
    session = await host.signed_in("grace-0001")
    taken = await imported(ada, session, await exported(ada, {}))
    assert (taken.status_code, taken.json()["presets"]) == (201, 1), taken.text
    found = (await ada.get(PRICES, headers=session)).json()["items"]
    assert [(one["model"], one["input_per_million"], one["output_per_million"]) for one in found] == [
        ("openai", "0", "0.25"), (OWN, "0.5", "1.5")
    ]  # fmt: skip


def test_the_id_of_a_price_says_the_price() -> None:
    usage = Usage(input_tokens=3, output_tokens=5)
    for price_id, micros in (("own/500000/1500000", 9), ("own/500000/1500000/batch", 5), ("own/0/0", 0)):
        price = own_prices.of_id(price_id)
        assert price is not None
        assert (price.id, price.cost_micros(usage)) == (price_id, micros)
    assert own_prices.of_id("genai-prices-0.1/openai/gpt@ever#00") is None

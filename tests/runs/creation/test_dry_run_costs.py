"""What a dry run says of the cost, and budgets that need it: never less than a run can really take."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.kit.money import micros_of
from tests.support.credit_runs import MODEL, execute, system_key, top_up, until
from tests.support.host import Host, code_of
from tests.support.model_server import Running, model_server
from tests.support.web_runs import content


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with model_server(models=("gpt-5-mini", "nobody-knows-its-price")) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, server: Running) -> Settings:
    return replace(settings, provider_hosts=(server.host,))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, server: Running) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    await system_key(client, server)
    await top_up(client, "100")
    return client


async def whole(ada: httpx.AsyncClient, heavy: str) -> dict[str, Any]:
    """A configuration in which one kind of text is much longer than all others."""

    async def text(kind: str, name: str, short: str) -> str:
        return await content(ada, {}, kind, short + (" and so on" * 4_000 if name == heavy else ""))

    model = {"model": MODEL, "parameters": {"max_output_tokens": 300}}
    inputs = [await text("input_document", "document", f"Document {number}.") for number in (1, 2)]
    existing = await text("output_document", "answer", "An answer.")
    criteria = "".join(
        f"- name: C{number}\n  description: It is good{' and fine' * 90 if heavy == 'criteria' else ''}\n"
        for number in range(12)
    )
    within = "Here is it. {{document}} " * (9 if heavy == "places" else 1)
    if heavy == "places":
        inputs = [await content(ada, {}, "input_document", "A longer document. " * 400), *inputs[1:]]
    part = await text("fragment", "variable", "Part.")
    led = await ada.post(
        "/api/contents",
        json={
            "name": "I",
            "type": "generation_instructions",
            "body": f"{within} {{{{PART}}}}",
            "variables": {"PART": part},
        },
    )
    return {
        "inputs": inputs,
        "instructions": led.json()["id"],
        "references": {inputs[0]: await text("reference_document", "reference", "So it is.")},
        "generation": {
            "show_criteria": True,
            "candidates": [
                {"label": "new"} | model,
                {"label": "old", "existing": dict.fromkeys(inputs, existing)},
            ],
        },
        "scoring": {
            "judges": [model],
            "criteria": await content(ada, {}, "criteria", criteria),
            "instructions": await text("scoring_instructions", "scoring", "Score."),
        },
        "comparison": {
            "judges": [model],
            "instructions": await text("comparison_instructions", "comparison", "Compare."),
        },
        "combination": {
            "candidates": [{"label": "mix"} | model],
            "instructions": await text("combination_instructions", "combining", "Combine."),
        },
        "billing": "credits",
    }


@pytest.mark.parametrize(
    "heavy",
    ["document", "reference", "variable", "places", "criteria", "scoring", "comparison", "combining", "answer"],
)
async def test_all_that_is_held_back_for_a_run_is_within_the_worst_cost(ada: httpx.AsyncClient, heavy: str) -> None:
    made = await ada.post("/api/presets", json={"name": "Whole", **await whole(ada, heavy)})
    assert made.status_code == 201, made.text
    path = f"/api/presets/{made.json()['id']}/execute"
    costs = (await ada.post(path, params={"dry_run": "true"})).json()
    run = await until(ada, (await ada.post(path)).json()["id"], "completed", "paused", "failed")
    assert run["state"] == "completed"
    rows = (await ada.get(f"/api/metering/calls?limit=200&run_id={run['id']}")).json()["items"]
    # Asking a judge again is in the worst cost, and this server's judges keep to the form.
    judged = [row for row in rows if row["phase"] in ("score", "compare")]
    held = sum(micros_of(row["reserved"]) for row in [*rows, *judged, *judged])
    assert held <= micros_of(costs["worst_cost"])
    assert micros_of(run["spend"]["cost"]) <= 3 * micros_of(costs["likely_cost"])


async def test_a_budget_refuses_judges_of_unknown_price_in_a_later_round_too(ada: httpx.AsyncClient) -> None:
    run_id = (await execute(ada, documents=1, limits={"budget": "1"})).json()["id"]
    verdict = (await until(ada, run_id, "completed"))["verdict"]
    judges = [{"model": "local:statistician"}, {"model": "openai:nobody-knows-its-price"}]
    refused = await ada.post(f"/api/runs/{run_id}/reevaluate", json={"judges": judges})
    assert (refused.status_code, code_of(refused)) == (400, "budget-unpriced")
    assert [fault["path"] for fault in refused.json()["errors"]] == ["judges[1].model"]
    run = (await ada.get(f"/api/runs/{run_id}")).json()
    assert (run["state"], run["verdict"]) == ("completed", verdict)


async def test_a_budget_of_nothing_pays_for_what_costs_nothing_and_pauses_before_what_does(
    ada: httpx.AsyncClient,
) -> None:
    free = await execute(ada, documents=1, model="local:lead", limits={"budget": "0"}, billing="own_keys")
    # `execute` sets an output limit, which built-in models take no notice of.
    assert (await until(ada, free.json()["id"], "completed", "paused"))["state"] == "completed"
    paid = await until(ada, (await execute(ada, documents=1, limits={"budget": "0"})).json()["id"], "paused")
    assert (paid["pause_reason"], paid["spend"]["cost"]) == ("budget", "0")
    # It was said before anything was spent.
    told = (await ada.post("/api/runs?dry_run=true", json={"configuration": paid["configuration"]})).json()
    assert told["over_budget"].startswith("One call can cost $")
    assert told["over_budget"].endswith("and the budget is $0.00: the run would pause before it.")
    paid["configuration"]["limits"]["budget"] = "100"
    told = (await ada.post("/api/runs?dry_run=true", json={"configuration": paid["configuration"]})).json()
    assert told["over_budget"] is None

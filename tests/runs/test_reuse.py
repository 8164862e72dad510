"""Results of earlier runs in place of calls, through HTTP against a strict server: when they are taken or not."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from tests.support.host import Host
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_servers import KEY, serving
from tests.support.web_runs import CRITERIA, completed, content

MODEL = "anthropic:claude-one"


@pytest.fixture
async def anthropic() -> AsyncIterator[Anthropic]:
    async with serving(Anthropic("claude-one")) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, anthropic: Anthropic) -> Settings:
    return replace(settings, provider_hosts=(anthropic.host,))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, anthropic: Anthropic) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    key = {"provider": "anthropic", "key": KEY, "base_url": anthropic.base_url}
    assert (await client.post("/api/provider-keys", json=key)).status_code == 201
    return client


async def _configuration(ada: httpx.AsyncClient, *texts: str, repeats: int = 1) -> dict[str, Any]:
    inputs = [await content(ada, {}, "input_document", text) for text in texts]
    return {
        "inputs": inputs,
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {
            "candidates": [
                {"label": label, "model": MODEL, "parameters": {"max_output_tokens": limit}}
                for label, limit in (("short", 100), ("long", 900))
            ],
            "repeats": repeats,
        },
        "comparison": {"judges": [{"model": MODEL}]},
    }


async def _bodies(ada: httpx.AsyncClient, run: dict[str, Any]) -> dict[str, str]:
    tasks = (await ada.get(f"/api/runs/{run['id']}/tasks?limit=200&kind=generate")).json()["items"]
    return {
        task["key"]: (await ada.get(f"/api/runs/{run['id']}/generated/{task['generated_id']}")).json()["body"]
        for task in tasks
    }


async def test_the_same_run_again_makes_no_call_and_comes_to_the_same(
    ada: httpx.AsyncClient, anthropic: Anthropic
) -> None:
    configuration = await _configuration(ada, "Ships came.", "They left.")
    first = await completed(ada, configuration)
    calls = len(anthropic.asked)
    assert (calls, first["spend"]["reused"]) == (4 + 4, 0)
    anew = await completed(ada, configuration)
    assert (len(anthropic.asked), anew["spend"]["reused"]) == (2 * calls, 0), "nobody asked for reuse"
    again = await completed(ada, configuration, reuse=True)
    assert (len(anthropic.asked), again["spend"]) == (2 * calls, {"cost": "0", "unknown_calls": 0, "reused": calls})
    assert again["verdict"] == first["verdict"]
    assert await _bodies(ada, again) == await _bodies(ada, anew)
    tasks = (await ada.get(f"/api/runs/{again['id']}/tasks?limit=200")).json()["items"]
    assert {(task["reused"], task["cost"], task["attempts"]) for task in tasks} == {(True, "0", 0)}
    log = (await ada.get(f"/api/runs/{again['id']}/logs?limit=200")).json()["items"]
    assert sum(entry["event"] == "task-reused" for entry in log) == calls


async def test_a_model_that_was_recorded_competes_after_its_end(ada: httpx.AsyncClient, anthropic: Anthropic) -> None:
    configuration = await _configuration(ada, "Ships came.", "They left.")
    today, other = configuration["generation"]["candidates"]
    await completed(ada, configuration | {"generation": {"candidates": [today]}, "comparison": None})
    anthropic.models = ("claude-two", "claude-three", "claude-embed-3")
    other["model"] = "anthropic:claude-two"
    configuration["comparison"] = {"judges": [{"model": other["model"]}]}
    run = await completed(ada, configuration, reuse=True)
    assert (run["spend"]["reused"], run["progress"]["failed"]) == (2, 0)

    preset = (await ada.post("/api/presets", json={"name": "Replace it", **configuration})).json()["id"]
    for model, dollars in (("anthropic:claude-two", "3"), ("anthropic:claude-three", "0.5"), (MODEL, "2")):
        price = {"input_per_million": dollars, "output_per_million": dollars}
        assert (await ada.put(f"/api/model-prices/{model}", json=price)).status_code == 200
    asked = f"/api/presets/{preset}/alternatives"
    found = (await ada.get(asked, params={"baseline": "short"})).json()
    # Of each answer, 400 tokens of rules, 8 of texts, and 100 written, as the limit has it.
    assert {one["model"]: one["likely_cost"] for one in (found["today"], *found["items"])} == {
        MODEL: "0.001016",
        "anthropic:claude-three": "0.000254",
        "anthropic:claude-two": "0.001524",
    }
    assert [one["model"] for one in found["items"]] == ["anthropic:claude-three", "anthropic:claude-two"]
    refused = await ada.get(asked, params={"baseline": "nobody"})
    assert refused.json()["errors"][0]["path"] == "baseline"


async def test_what_is_asked_otherwise_is_asked(ada: httpx.AsyncClient, anthropic: Anthropic) -> None:
    configuration = await _configuration(ada, "Ships came.")
    await completed(ada, configuration)
    calls = len(anthropic.asked)
    configuration["generation"]["candidates"][1]["parameters"]["max_output_tokens"] = 901
    run = await completed(ada, configuration, reuse=True)
    # The answer of the changed candidate is another one, and both comparisons show it.
    assert (run["spend"]["reused"], len(anthropic.asked)) == (1, calls + 1 + 2)


async def test_repeats_and_copies_are_never_reused_for_each_other(ada: httpx.AsyncClient, anthropic: Anthropic) -> None:
    configuration = await _configuration(ada, "Ships came.", repeats=2)
    await completed(ada, configuration)
    calls = len(anthropic.asked)
    assert calls == 4 + 4
    configuration["generation"]["repeats"] = 3
    run = await completed(ada, configuration, reuse=True)
    generated = (await ada.get(f"/api/runs/{run['id']}/tasks?limit=200&kind=generate")).json()["items"]
    assert sorted((task["repeat"], task["reused"]) for task in generated) == [
        *[(1, True)] * 2,
        *[(2, True)] * 2,
        *[(3, False)] * 2,
    ]
    # The same text twice asks for two answers, and there is one of each repeat.
    copies = await _configuration(ada, "Ships came.", "Ships came.", repeats=1)
    doubled = await completed(ada, copies, reuse=True)
    generated = (await ada.get(f"/api/runs/{doubled['id']}/tasks?limit=200&kind=generate")).json()["items"]
    assert sum(task["reused"] for task in generated) == 2
    # A run that took them is no second source of them.
    doubled = await completed(ada, copies, reuse=True)
    generated = (await ada.get(f"/api/runs/{doubled['id']}/tasks?limit=200&kind=generate")).json()["items"]
    assert sum(task["reused"] for task in generated) == 4
    tripled = await _configuration(ada, "Ships came.", "Ships came.", "Ships came.", repeats=1)
    run = await completed(ada, tripled, reuse=True)
    generated = (await ada.get(f"/api/runs/{run['id']}/tasks?limit=200&kind=generate")).json()["items"]
    assert sum(task["reused"] for task in generated) == 4


async def test_a_run_over_rows_takes_the_answers_that_were_tried_on_one_row(
    ada: httpx.AsyncClient, anthropic: Anthropic
) -> None:
    table = b"question,lang\nWhat is a carrel?,en\nWas ist das?,de\nWho reads?,en\n"
    form = {"file": ("questions.csv", table, "text/csv")}
    data = {"columns": '{"question": "variable", "lang": "metadata"}'}
    data_set = (await ada.post("/api/data-sets", files=form, data=data)).json()["id"]
    configuration = await _configuration(ada)
    configuration |= {
        "rows": {"data_set": data_set},
        "instructions": await content(ada, {}, "generation_instructions", "In {{lang}}: {{question}}"),
    }
    rows = {"data_set": data_set, "row": 2}
    trial = await _trial(ada, configuration, rows=rows)
    assert trial["configuration"]["rows"] == rows | {"where": {}, "version": 1}
    assert len(anthropic.asked) == 2
    assert all("Was ist das?" in str(one.body) for one in anthropic.asked)
    del configuration["comparison"]
    whole = await completed(ada, configuration, reuse=True)
    tasks = (await ada.get(f"/api/runs/{whole['id']}/tasks?limit=200")).json()["items"]
    assert {task["document"] for task in tasks if task["reused"]} == {2}
    assert len(anthropic.asked) == 3 * 2, "0 calls of the tried row are made twice"
    asked = [str(one.body) for one in anthropic.asked]
    assert sum("Was ist das?" in one for one in asked) == 2


async def _trial(ada: httpx.AsyncClient, configuration: dict[str, Any], **changes: Any) -> dict[str, Any]:
    run = await completed(ada, configuration, trial=True, **changes)
    assert run["trial"]
    return run


async def test_a_run_takes_the_answers_of_its_trial_and_asks_nothing_twice(
    ada: httpx.AsyncClient, anthropic: Anthropic
) -> None:
    configuration = await _configuration(ada, "Ships came.", "They left.", repeats=2)
    configuration["scoring"] = {"judges": [{"model": MODEL}], "criteria": await content(ada, {}, "criteria", CRITERIA)}
    configuration["generation"]["show_criteria"] = True
    body = {"configuration": configuration, "trial": True}
    estimate = (await ada.post("/api/runs", params={"dry_run": "true"}, json=body)).json()
    assert estimate["calls"] == {"generate": 2, "score": 0, "compare": 0, "combine": 0, "total": 2}

    trial = await _trial(ada, configuration)
    assert trial["configuration"]["inputs"] == configuration["inputs"][:1]
    assert (len(anthropic.asked), trial["spend"]["reused"]) == (2, 0)
    assert trial["verdict"].startswith("Nothing was compared or scored")
    tried = await _bodies(ada, trial)
    again = await _trial(ada, configuration)
    assert (len(anthropic.asked), again["spend"]["reused"]) == (2, 2), "a second look costs nothing"

    whole = await completed(ada, configuration, reuse=True)
    tasks = (await ada.get(f"/api/runs/{whole['id']}/tasks?limit=200")).json()["items"]
    taken = {task["key"] for task in tasks if task["reused"]}
    assert taken == {f"r1.generate.d1.c{candidate}.s1" for candidate in (1, 2)}
    assert len(anthropic.asked) == 2 + len(tasks) - 2
    assert {key: body for key, body in (await _bodies(ada, whole)).items() if key in taken} == tried


async def test_a_trial_of_another_document_stays_out_of_lists_and_leaderboards(
    ada: httpx.AsyncClient, anthropic: Anthropic
) -> None:
    configuration = await _configuration(ada, "Ships came.", "They left.")
    whole = await completed(ada, configuration)
    asked = len(anthropic.asked)
    configuration["generation"]["candidates"][0]["parameters"]["max_output_tokens"] = 77
    del configuration["generation"]["candidates"][1]
    refused = await ada.post("/api/runs", json={"configuration": configuration})
    assert refused.json()["errors"][0]["path"] == "configuration.comparison"
    trial = await _trial(ada, configuration, inputs=configuration["inputs"][1:])
    assert trial["configuration"]["inputs"] == configuration["inputs"][1:]
    assert len(anthropic.asked) == asked + 1, "one candidate can be tried alone"

    assert [run["id"] for run in (await ada.get("/api/runs")).json()["items"]] == [whole["id"]]
    assert [run["id"] for run in (await ada.get("/api/runs?trial=true")).json()["items"]] == [trial["id"]]
    assert (await ada.get("/api/runs/count")).json()["total"] == 1
    assert (await ada.get("/api/users/me")).json()["counts"]["runs"] == 1
    board = (await ada.get("/api/evaluation/leaderboard")).json()
    assert [run["id"] for run in board["runs"]] == [whole["id"]]
    assert (await ada.get("/api/evaluation/leaderboard", params={"like": trial["id"]})).status_code == 404


async def test_a_trial_keeps_to_its_limits(ada: httpx.AsyncClient, anthropic: Anthropic) -> None:
    configuration = await _configuration(ada, "Ships came.", "They left.")
    configuration["limits"] = {"budget": "0.000001"}
    refused = await ada.post("/api/runs", json={"configuration": configuration, "trial": True})
    assert (refused.status_code, refused.json()["code"]) == (400, "budget-unpriced")
    assert {error["path"] for error in refused.json()["errors"]} == {
        f"configuration.generation.candidates[{number}].model" for number in (0, 1)
    }
    refused = await ada.post("/api/runs", json={"configuration": configuration, "trial": "yes"})
    assert [error["path"] for error in refused.json()["errors"]] == ["trial"]
    assert anthropic.asked == []

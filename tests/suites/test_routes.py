"""A suite over HTTP: it becomes a preset that runs, its verdict says what was left out, and it goes out again."""

import asyncio
from typing import Any

import httpx
import yaml

CONFIG = """
description: Small suite
prompts: ["Say {{q}}", "Tell {{q}}"]
providers: ["local:lead", "sagemaker:x"]
defaultTest:
  assert: [{type: javascript, value: "process.exit()"}, {type: not-contains, value: sorry}]
tests:
  - vars: {q: The shoes came late. The lamp was broken.}
    assert: [{type: contains, value: shoes}, {type: regex, value: "(?=a)"}]
  - {vars: {q: The parcel is lost. Nobody knows where.}, assert: [{type: contains, value: lamp}]}
"""


async def suite(ada: httpx.AsyncClient, config: str, **more: Any) -> dict[str, Any]:
    made = await ada.post("/api/suites", json={"config": config, "name": "Suite", **more})
    assert made.status_code == 201, made.text
    found: dict[str, Any] = made.json()
    return found


async def test_a_suite_becomes_a_preset_whose_verdict_says_what_was_left_out(ada: httpx.AsyncClient) -> None:
    made = await suite(ada, CONFIG)
    preset = made["preset"]
    assert [one["label"] for one in preset["generation"]["candidates"]] == [
        "local:lead, prompt 1",
        "local:lead, prompt 2",
    ]
    assert {one["kind"]: one["count"] for one in preset["dropped"]} == {
        "assertion javascript": 2,
        "provider sagemaker": 1,
        "assertion whose pattern or schema cannot be compiled": 1,
    }
    assert made["data_set"]["row_count"] == 2
    started = await ada.post(f"/api/presets/{preset['id']}/execute", json={})
    assert started.status_code == 202, started.text
    run = f"/api/runs/{started.json()['id']}"
    async with asyncio.timeout(60):
        while (await ada.get(run)).json()["state"] == "running":
            await asyncio.sleep(0.02)
    ranking = (await ada.get(f"{run}/ranking")).json()
    assert "assertion javascript (2)" in ranking["verdict"]["notes"][-1]
    rates = dict(
        zip((one["name"] for one in ranking["checks"]["checks"]), ranking["checks"]["rows"][0]["rates"], strict=True)
    )
    assert (rates["contains"]["share"], rates["not-contains"]["share"]) == (0.5, 1.0)
    report = (await ada.get(f"{run}/report?format=json")).json()
    assert report["verdict"]["notes"] == ranking["verdict"]["notes"]

    config = yaml.safe_load((await ada.get(f"/api/presets/{preset['id']}/suite")).json()["config"])
    assert [test["vars"] for test in config["tests"]] == [test["vars"] for test in yaml.safe_load(CONFIG)["tests"]]
    assert config["defaultTest"]["assert"] == [{"type": "not-contains", "value": "sorry"}]
    assert config["tests"][0]["assert"] == [{"type": "contains", "value": "shoes"}]


async def test_a_suite_without_a_provider_that_carrel_calls_is_an_unfinished_set_up(ada: httpx.AsyncClient) -> None:
    config = CONFIG.replace("local:lead", "exec:mine.sh")
    made = await suite(ada, config)
    assert made["preset"] is None
    draft = (await ada.get(f"/api/preset-drafts/{made['draft']['id']}")).json()
    # The app goes on with it as with any comparison that was begun.
    assert draft["form"] == "comparison"
    assert draft["body"]["rows"]["data_set"] == made["data_set"]["id"]
    assert [one["contentId"] for one in draft["body"]["prompts"]] == made["prompts"]
    assert draft["body"]["more"]["checks"]
    chosen = await suite(ada, config, models={"exec:mine.sh": "openai:gpt-5"})
    candidates = chosen["preset"]["generation"]["candidates"]
    assert {one["model"] for one in candidates} == {"openai:gpt-5"}
    exported = (await ada.get(f"/api/presets/{chosen['preset']['id']}/suite")).json()
    assert [one["id"] for one in yaml.safe_load(exported["config"])["providers"]] == ["openai:chat:gpt-5"] * 2


async def test_rubrics_are_scored_by_the_suites_grader_or_kept_for_a_judge(ada: httpx.AsyncClient) -> None:
    asks = CONFIG.replace("{type: contains, value: shoes}", "{type: llm-rubric, value: is kind, provider: 'x:judge'}")
    graded = await suite(ada, asks, models={"x:judge": "openai:gpt-5"})
    scoring = graded["preset"]["scoring"]
    assert (scoring["judges"][0]["model"], scoring["criteria"]) == ("openai:gpt-5", graded["criteria"])
    kept = await suite(ada, asks)
    assert kept["preset"]["scoring"] is None
    assert {"kind": "judge for the rubrics, which are kept as criteria", "count": 1} in kept["dropped"]
    body = (await ada.get(f"/api/contents/{kept['criteria']}")).json()["body"]
    assert yaml.safe_load(body)[0]["name"] == "rubric of the test"


async def test_a_suite_that_cannot_be_read_leaves_nothing_behind(ada: httpx.AsyncClient) -> None:
    refused = await ada.post("/api/suites", json={"config": "prompts: [file://a.py]"})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "config.prompts")
    assert (await ada.get("/api/data-sets")).json()["items"] == []

"""Candidates that answer in JSON of a schema, through HTTP against strict servers: what is sent, checked, refused."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import httpx

from tests.support import strict_pair
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_google import Google
from tests.support.web_runs import completed, content

HAIKU = "claude-3-5-haiku-latest"
CLAUDE, GEMINI = f"anthropic:{HAIKU}", "google:gemini-2.5-flash"
CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "ships": {"type": "integer"}},
    "required": ["place", "ships"],
    "additionalProperties": False,
}
OPEN: dict[str, Any] = {"type": "object", "properties": {"place": {"type": "string"}}}
ODD: dict[str, Any] = {"type": "object", "properties": {}, "patternProperties": {"^s": {"type": "integer"}}}


strict = strict_pair.by(HAIKU, "gemini-2.5-flash")
settings = strict_pair.settings
ada = strict_pair.ada


async def _configuration(ada: httpx.AsyncClient, *candidates: dict[str, Any]) -> dict[str, Any]:
    return {
        "inputs": [await content(ada, {}, "input_document", "Three ships came into the harbour.")],
        "instructions": await content(ada, {}, "generation_instructions", "Read {{document}}"),
        "generation": {"candidates": list(candidates)},
        "comparison": {"judges": [{"model": GEMINI}]},
        "reuse": True,
    }


async def _report(ada: httpx.AsyncClient, run: dict[str, Any]) -> dict[str, Any]:
    report: dict[str, Any] = (await ada.get(f"/api/runs/{run['id']}/report")).json()
    return report


async def test_an_answer_follows_the_schema_of_its_candidate_and_is_checked_by_it(
    ada: httpx.AsyncClient, strict: tuple[Anthropic, Google]
) -> None:
    candidates: list[dict[str, Any]] = [
        {"label": "claude", "model": CLAUDE, "response_schema": CLOSED},
        {"label": "gemini", "model": GEMINI, "response_schema": CLOSED},
        {"label": "open", "model": CLAUDE, "response_schema": OPEN},
        {"label": "plain", "model": GEMINI},
    ]
    configuration = await _configuration(ada, *candidates)
    free = configuration | {"generation": {"candidates": [one | {"response_schema": None} for one in candidates]}}
    costs = [
        Decimal((await ada.post("/api/runs?dry_run=true", json={"configuration": one})).json()["worst_cost"])
        for one in (free, configuration)
    ]
    assert costs[0] < costs[1]
    run = await completed(ada, configuration | {"checks": [{"kind": "json", "name": "answer schema"}]})
    assert Decimal(run["spend"]["cost"]) <= costs[1]
    report = await _report(ada, run)
    answers = {one["candidate"]: one for one in report["documents"][0]["answers"]}
    assert [set(json.loads(answers[name]["text"])) for name in ("claude", "gemini", "open")] == [
        {"place", "ships"},
        {"place", "ships"},
        {"place"},
    ]
    named = [(check["name"], check["kind"], check["required"]) for check in report["checks"]["checks"]]
    assert named == [
        ("answer schema", "json", False),
        ("answer schema*", "json_schema", True),
        ("answer schema 2", "json_schema", True),
    ]
    assert {name: one["checks"] for name, one in answers.items()} == {
        "claude": [1, 1, None],
        "gemini": [1, 1, None],
        "open": [1, None, 1],
        "plain": [0, None, None],
    }

    asked = [one.body for one in strict[0].asked]
    enforced = [body["output_config"]["format"]["schema"] for body in asked if "output_config" in body]
    # The server refuses the open schema by itself, so the same is asked for as the input of a tool.
    assert sorted(enforced, key=len) == [OPEN, CLOSED]
    assert [body["tools"][0]["input_schema"] for body in asked if "tools" in body] == [OPEN]
    assert all('"place"' in body["messages"][0]["content"] for body in asked)
    receipt = (await ada.get(f"/api/runs/{run['id']}/receipt")).json()
    kept = receipt["receipt"]["configuration"]["generation"]["candidates"]
    assert [one["response_schema"] for one in kept] == [CLOSED, CLOSED, OPEN, None]

    before = len(strict[0].asked)
    await completed(ada, configuration)
    assert len(strict[0].asked) == before
    candidates[0] = candidates[0] | {"response_schema": CLOSED | {"title": "Harbour"}}
    await completed(ada, configuration | {"generation": {"candidates": candidates}})
    assert len(strict[0].asked) == before + 1


async def test_a_trend_names_another_schema_as_a_change_of_the_candidates(ada: httpx.AsyncClient) -> None:
    configuration = await _configuration(ada, {"label": "claude", "model": CLAUDE, "response_schema": CLOSED})
    del configuration["comparison"]
    preset = (await ada.post("/api/presets", json={"name": "A preset", **configuration})).json()["id"]
    for schema in (CLOSED, OPEN):
        configuration["generation"]["candidates"][0]["response_schema"] = schema
        body = {"name": "A preset", **configuration}
        await ada.put(f"/api/presets/{preset}", json=body, headers={"If-Match": "*"})
        run = (await ada.post(f"/api/presets/{preset}/execute", json={})).json()["id"]
        async with asyncio.timeout(60):
            while (await ada.get(f"/api/runs/{run}")).json()["state"] == "running":
                await asyncio.sleep(0.02)
    points = (await ada.get(f"/api/presets/{preset}/trends")).json()["points"]
    # The schema is a check of its candidate as well.
    assert [one["changed"] for one in points] == [["candidates", "checks"], []]


async def test_an_answer_that_does_not_follow_its_schema_is_shown_so_and_loses_by_rule(
    ada: httpx.AsyncClient, strict: tuple[Anthropic, Google]
) -> None:
    odd: dict[str, Any] = {"label": "odd", "model": GEMINI, "response_schema": ODD}
    run = await completed(ada, await _configuration(ada, odd, {"label": "plain", "model": GEMINI}))
    report = await _report(ada, run)
    [document] = report["documents"]
    assert {one["candidate"]: (one["delivered"], one["checks"]) for one in document["answers"]} == {
        "odd": (True, [0]),
        "plain": (True, [None]),
    }
    [verdict] = document["verdicts"]
    assert (verdict["by_rule"], verdict["a"], verdict["b"]) == ("b", "odd", "plain")
    assert report["checks"]["sentence"].startswith("All required checks: odd 0 %")
    # The refusal of a candidate's schema changes nothing for other schemas of the same model.
    other = await completed(
        ada, await _configuration(ada, odd | {"response_schema": CLOSED}, {"label": "plain", "model": GEMINI})
    )
    assert (await _report(ada, other))["documents"][0]["answers"][0]["checks"] == [1]
    assert strict[1].asked[-1].body["generationConfig"]["responseJsonSchema"]["properties"].keys() == {
        "reason",
        "winner",
    }


REFUSED: list[tuple[dict[str, Any], str | None]] = [
    ({"model": CLAUDE, "response_schema": {"$ref": "https://example.org/x.json"}},
     "has a reference to another document; only those into the schema itself are followed"),
    ({"model": CLAUDE, "response_schema": {"type": "animal"}}, "is not a valid JSON schema"),
    ({"model": CLAUDE, "response_schema": {"title": "x" * 65_536}}, "is larger than 65,536 bytes"),
    ({"model": CLAUDE, "response_schema": CLOSED, "grounding": "allowed"},
     "goes with grounding off: providers give pages with free text only"),
    ({"model": "local:lexrank", "response_schema": CLOSED}, "goes with models of providers, which can write JSON"),
    ({"model": CLAUDE, "response_schema": "{"}, None),
    ({"model": CLAUDE, "response_schema": [CLOSED]}, None),
]  # fmt: skip


async def test_a_schema_that_cannot_be_used_is_refused_at_its_field(ada: httpx.AsyncClient) -> None:
    deep: dict[str, Any] = {}
    for _ in range(60):
        deep = {"items": deep}
    refused = [*REFUSED, ({"model": CLAUDE, "response_schema": deep}, "is nested deeper than 50 levels")]
    for candidate, message in refused:
        configuration = await _configuration(ada, {"label": "plain", "model": CLAUDE}, candidate)
        answer = await ada.post("/api/presets", json={"name": "A preset", **configuration})
        assert answer.status_code == 400, answer.text
        [fault] = answer.json()["errors"]
        assert fault["path"] == "generation.candidates[1].response_schema"
        assert message is None or fault["message"] == message
    combined = await _configuration(ada, {"label": "a", "model": CLAUDE}, {"label": "b", "model": CLAUDE})
    combined["combination"] = {"candidates": [{"model": "local:combine", "response_schema": CLOSED}]}
    answer = await ada.post("/api/presets", json={"name": "A preset", **combined})
    assert "combination.candidates[0]" in answer.text

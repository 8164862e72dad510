"""Checks over HTTP: what a preset may ask for, and where the results of a run show them."""

import asyncio
import csv
import io
import zipfile
from typing import Any

import httpx
import msgspec
import pytest

from carrel.checks import work
from carrel.kit.processes.worker import Worker
from tests.support.run_setup import text_of
from tests.support.transfers import exported, imported, packed
from tests.support.web_runs import content
from tests.support.zips import entries


async def preset_with(ada: httpx.AsyncClient, checks: list[dict[str, Any]]) -> httpx.Response:
    """A preset with checks alone: two candidates whose answers exist already, on three documents."""
    inputs = [await content(ada, {}, "input_document", text_of(n), f"Town {n}") for n in range(1, 4)]
    good = await content(ada, {}, "output_document", '{"city": "Rome"}')
    bad = await content(ada, {}, "output_document", "Sorry, I cannot say.")
    reference = await content(ada, {}, "reference_document", "Rome")
    candidates = [
        {"label": "new", "existing": dict.fromkeys(inputs, good)},
        {"label": "today", "existing": dict.fromkeys(inputs, bad) | {inputs[0]: good}},
    ]
    body = {
        "name": "Checked",
        "inputs": inputs,
        "references": {inputs[0]: reference},
        "generation": {"candidates": candidates},
        "checks": checks,
    }
    return await ada.post("/api/presets", json=body)


async def test_a_run_with_checks_alone_shows_its_results_everywhere(ada: httpx.AsyncClient) -> None:
    schema = {"type": "object", "required": ["city"]}
    checks: list[dict[str, Any]] = [
        {"kind": "json_schema", "schema": schema, "required": True},
        {"kind": "contains"},
        {"kind": "chrf"},
    ]
    made = await preset_with(ada, checks)
    assert made.status_code == 201, made.text
    assert [check["name"] for check in made.json()["checks"]] == ["json_schema", "contains", "chrf"]
    started = await ada.post(f"/api/presets/{made.json()['id']}/execute", json={})
    assert started.status_code == 202, started.text
    run = f"/api/runs/{started.json()['id']}"
    async with asyncio.timeout(60):
        while (found := (await ada.get(run)).json())["state"] == "running":
            await asyncio.sleep(0.02)
    assert found["state"] == "completed"
    assert found["verdict"].startswith("new leads; 3 documents cannot decide")

    ranking = (await ada.get(f"{run}/ranking")).json()
    assert ranking["ranking"]["basis"] == "checks"
    assert (ranking["verdict"]["outcome"], ranking["ranking"]["measure"]) == ("too_few", "required")
    assert [(row["candidate"], row["score"]) for row in ranking["ranking"]["rows"]] == [
        ("new", 1.0),
        ("today", 0.333333),
    ]
    assert [check["share"] for check in ranking["checks"]["checks"]] == [False, False, True]
    new, today = ranking["checks"]["rows"]
    assert (new["required"]["share"], today["required"]["share"]) == (1.0, 0.333333)
    assert (new["rates"][1]["documents"], new["rates"][1]["missing"]) == (1, 2)

    report = (await ada.get(f"{run}/report?format=json")).json()
    assert report["checks"] == ranking["checks"]
    assert report["documents"][1]["answers"][1]["checks"] == [0.0, None, None]
    page = (await ada.get(f"{run}/report?format=html")).text
    assert "All required checks: new 100 % (44 % to 100 %) and today 33 % (6 % to 79 %), on 3 documents." in page
    assert "<strong>fails</strong>" in page

    generated = await ada.get(f"{run}/generated/{next(iter(report['run']['generated'].values()))}")
    assert set(generated.json()["checks"]) == {"json_schema", "contains", "chrf"}

    assert (await ada.post(f"{run}/export")).status_code == 202
    async with asyncio.timeout(60):
        while (export := await ada.get(f"{run}/export")).status_code != 200:
            await asyncio.sleep(0.02)
    with zipfile.ZipFile(io.BytesIO(export.content)) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("checks.csv").decode())))
    assert len(rows) == 6 * 3
    assert [row["mark"] for row in rows if row["check"] == "json_schema"].count("1.0") == 4
    assert {row["required"] for row in rows if row["check"] == "json_schema"} == {"1"}


async def test_what_a_check_ignores_is_counted_and_fields_are_named(ada: httpx.AsyncClient) -> None:
    checks: list[dict[str, Any]] = [
        {"kind": "equals", "expected": '{"CITY": "Rome"}', "ignore_case": True},
        {"kind": "fields", "expected": '{"city": "Rome", "zip": 1}'},
    ]
    run = await executed(ada, (await preset_with(ada, checks)).json()["id"])
    found = (await ada.get(f"{run}/ranking")).json()["checks"]
    assert [one["lenient"] for one in found["checks"]] == [4, None]
    assert [(one["field"], one["right"], one["missing"]) for one in found["rows"][0]["fields"]] == [
        ("city", 3, 0),
        ("zip", 0, 3),
    ]
    assert "Field by field" in (await ada.get(f"{run}/report?format=html")).text


async def executed(ada: httpx.AsyncClient, preset: str) -> str:
    """The path of a run of the preset that has ended."""
    started = await ada.post(f"/api/presets/{preset}/execute", json={})
    run = f"/api/runs/{started.json()['id']}"
    async with asyncio.timeout(60):
        while (await ada.get(run)).json()["state"] == "running":
            await asyncio.sleep(0.02)
    return run


async def test_a_run_with_checks_alone_gets_judges_later(ada: httpx.AsyncClient) -> None:
    made = await preset_with(ada, [{"kind": "json"}])
    run = await executed(ada, made.json()["id"])
    refused = await ada.post(f"{run}/reevaluate", json={})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "judges")
    begun = await ada.post(f"{run}/reevaluate", json={"judges": [{"model": "local:reader"}]})
    assert begun.status_code == 202, begun.text
    async with asyncio.timeout(60):
        while (found := (await ada.get(run)).json())["state"] == "running":
            await asyncio.sleep(0.02)
    assert found["state"] == "completed"
    ranking = (await ada.get(f"{run}/ranking")).json()
    assert (ranking["ranking"]["basis"], ranking["ranking"]["counts"]["planned"]) == ("comparisons", 3)
    assert len(ranking["checks"]["rows"]) == 2


async def test_a_preset_with_a_check_that_makes_no_sense_is_refused(ada: httpx.AsyncClient) -> None:
    for check, path in (
        ({"kind": "regex", "pattern": "("}, "checks[0].pattern"),
        ({"kind": "json_schema", "schema": {"$ref": "http://127.0.0.1/a"}}, "checks[0].schema"),
        ({"kind": "json", "least": 1}, "checks[0].least"),
        ({"kind": "unknown"}, "checks[0].kind"),
        ({"kind": "json", "threshold": 1}, "checks[0]"),
    ):
        refused = await preset_with(ada, [check])
        assert refused.status_code == 400, refused.text
        assert refused.json()["errors"][0]["path"].startswith(path), refused.text


async def test_a_preset_without_models_needs_judges_or_checks(ada: httpx.AsyncClient) -> None:
    refused = await preset_with(ada, [])
    assert [error["message"] for error in refused.json()["errors"]] == [
        "is required where no candidate has a model, and nothing is compared or checked"
    ]


async def test_a_run_says_whether_a_candidate_is_worse(ada: httpx.AsyncClient) -> None:
    made = await preset_with(ada, [{"kind": "json", "required": True}, {"kind": "length", "most": 100}])
    run = await executed(ada, made.json()["id"])
    found = (await ada.get(f"{run}/gate", params={"baseline": "new"})).json()
    assert (found["candidate"], found["outcome"]) == ("today", "undecided")
    assert [(one["kind"], one["name"], one["decides"]) for one in found["sources"]] == [
        ("required", "", True),
        ("check", "json", False),
        ("check", "length", False),
    ]
    assert found["sources"][0]["change"]["difference"] == -0.666667
    turned = (await ada.get(f"{run}/gate", params={"baseline": "today", "margin": "0.5"})).json()
    assert turned["outcome"] == "not_worse"
    assert turned["sentence"].startswith("new is not worse than today by 50 points or more: the share that passes")
    for params, path in (
        ({"baseline": "nobody"}, "baseline"),
        ({"baseline": "new", "candidate": "new"}, "candidate"),
        ({"baseline": "new", "margin": "1"}, "margin"),
    ):
        refused = await ada.get(f"{run}/gate", params=params)
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, path)


BOMBS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"kind": "regex", "pattern": r"(?:\pL|\pNi){250}"}, "checks[0].pattern"),
    ({"kind": "json_schema", "schema": {"pattern": r"^(\p{L}|i){150}$"}}, "checks[0].schema.pattern"),
    ({"kind": "json_schema", "schema": {"$ref": "http://127.0.0.1/a"}}, "checks[0].schema"),
)


async def test_no_way_into_the_service_takes_what_cannot_be_compiled(ada: httpx.AsyncClient) -> None:
    good = (await preset_with(ada, [{"kind": "json"}])).json()
    kept = {name: good[name] for name in ("name", "inputs", "references", "generation")}
    configuration = {name: kept[name] for name in kept if name != "name"}
    zipped = await exported(ada, {})
    for check, path in BOMBS:
        checks = {"checks": [check]}
        run = {"configuration": configuration | checks}
        line = msgspec.json.encode(good | checks) + b"\n"
        for answer, root in (
            (await ada.post("/api/presets", json=kept | checks), ""),
            (await ada.put(f"/api/presets/{good['id']}", json=kept | checks), ""),
            (await ada.post("/api/runs", json=run), "configuration."),
            (await ada.post("/api/runs?dry_run=true", json=run), "configuration."),
            (await ada.post("/api/runs?dry_run=true", json=run | {"trial": True}), "configuration."),
            (await imported(ada, {}, packed(entries(zipped) | {"presets.jsonl": line})), "presets[0]."),
        ):
            assert answer.status_code == 400, (check, root, answer.text)
            assert [fault["path"] for fault in answer.json()["errors"]] == [root + path]
            assert "pL" not in answer.text


async def test_the_schema_of_an_answer_is_compiled_like_one_of_a_check(ada: httpx.AsyncClient) -> None:
    good = (await preset_with(ada, [{"kind": "json"}])).json()
    kept = {name: good[name] for name in ("name", "inputs", "checks")}
    schema = {"properties": {"a": {"pattern": r"^(\p{L}|i){150}$"}}}
    candidate = {"model": "openai:gpt-5-mini", "response_schema": schema}
    body = kept | {"generation": {"candidates": [candidate]}}
    refused = await ada.post("/api/presets", json=body)
    at = "generation.candidates[0].response_schema.properties.a.pattern"
    assert [fault["path"] for fault in refused.json()["errors"]] == [at]


async def test_what_is_stored_was_compiled_and_is_not_compiled_again(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []
    run = Worker.run

    async def recorded(self: Worker, fn: Any, *args: Any, timeout_seconds: float | None = None) -> Any:
        called.append(fn)
        return await run(self, fn, *args, timeout_seconds=timeout_seconds)

    monkeypatch.setattr(Worker, "run", recorded)
    checks: list[dict[str, Any]] = [{"kind": "regex", "pattern": "a"}, {"kind": "json_schema", "schema": {"not": {}}}]
    preset = (await preset_with(ada, checks)).json()
    assert called == [work.compiles] * 2
    assert (await ada.put(f"/api/presets/{preset['id']}", json=preset)).status_code == 200
    for path in (f"presets/{preset['id']}/execute", "runs"):
        body = {"preset_id": preset["id"]} if path == "runs" else {}
        assert (await ada.post(f"/api/{path}?dry_run=true", json=body)).status_code == 200
    assert (await ada.post(f"/api/presets/{preset['id']}/duplicate")).status_code == 201
    await executed(ada, preset["id"])
    assert called.count(work.compiles) == 2

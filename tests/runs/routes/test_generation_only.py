"""Runs without judges and checks over HTTP: they make answers, call nobody best, and can be judged later."""

import asyncio
import csv
import io
import zipfile
from typing import Any

import httpx

from tests.support.run_setup import text_of
from tests.support.web_runs import CRITERIA, content

MODELS = ("local:lead", "local:lexrank")


async def configuration(ada: httpx.AsyncClient, models: tuple[str, ...] = MODELS) -> dict[str, Any]:
    return {
        "inputs": [await content(ada, {}, "input_document", text_of(n), f"Town {n}") for n in range(1, 4)],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": model} for model in models]},
    }


async def ended(ada: httpx.AsyncClient, run: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while (found := (await ada.get(run)).json())["state"] == "running":
            await asyncio.sleep(0.02)
    return dict(found)


async def made(ada: httpx.AsyncClient, models: tuple[str, ...] = MODELS) -> str:
    """The path of a run without judges that has ended."""
    preset = await ada.post("/api/presets", json={"name": "Answers", **await configuration(ada, models)})
    assert preset.status_code == 201, preset.text
    started = await ada.post(f"/api/presets/{preset.json()['id']}/execute", json={})
    assert started.status_code == 202, started.text
    run = f"/api/runs/{started.json()['id']}"
    assert (await ended(ada, run))["state"] == "completed"
    return run


async def test_a_run_without_judges_makes_answers_and_says_that_nothing_was_compared(ada: httpx.AsyncClient) -> None:
    run = await made(ada)
    assert (await ada.get(run)).json()["verdict"] == (
        "Nothing was compared or scored, so nobody can be called best: the run only made answers."
        " This is no judgement of the answers."
    )
    ranking = (await ada.get(f"{run}/ranking")).json()
    assert (ranking["ranking"]["basis"], ranking["ranking"]["leaders"]) == ("answers", [])
    assert (ranking["verdict"]["outcome"], ranking["checks"]) == ("nothing", None)

    report = (await ada.get(f"{run}/report?format=json")).json()
    assert len(report["run"]["generated"]) == 6
    assert report["judges"] == []
    assert "the run only made answers" in (await ada.get(f"{run}/report?format=html")).text
    answer = await ada.get(f"{run}/generated/{next(iter(report['run']['generated'].values()))}")
    assert answer.json()["body"]

    assert (await ada.post(f"{run}/export")).status_code == 202
    async with asyncio.timeout(60):
        while (export := await ada.get(f"{run}/export")).status_code != 200:
            await asyncio.sleep(0.02)
    with zipfile.ZipFile(io.BytesIO(export.content)) as archive:
        assert len([name for name in archive.namelist() if name.startswith("generated/") and name.endswith(".md")]) == 6
        assert [*csv.DictReader(io.StringIO(archive.read("comparisons.csv").decode()))] == []


async def test_an_estimate_without_judges_says_that_nothing_is_decided(ada: httpx.AsyncClient) -> None:
    body = {"name": "Answers", "configuration": await configuration(ada)}
    found = await ada.post("/api/runs", params={"dry_run": "true"}, json=body)
    assert found.status_code == 200, found.text
    assert found.json()["calls"] == {"generate": 6, "score": 0, "compare": 0, "combine": 0, "total": 6}
    power = found.json()["power"]
    assert (power["chance"], power["chance_high"], power["documents_enough"]) == (0.0, 0.0, None)
    assert power["sentence"].startswith("No judge scores or compares the answers, so nobody will be called best.")


async def test_judges_compare_the_answers_later(ada: httpx.AsyncClient) -> None:
    run = await made(ada)
    criteria = await content(ada, {}, "criteria", CRITERIA)
    refused = await ada.post(f"{run}/reevaluate", json={"criteria": criteria})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "judges")
    assert (await ada.get(run)).json()["verdict"].startswith("Nothing was compared or scored")

    judges = [{"model": "local:reader"}]
    assert (await ada.post(f"{run}/reevaluate", json={"judges": judges})).status_code == 202
    assert (await ended(ada, run))["state"] == "completed"
    compared = (await ada.get(f"{run}/ranking")).json()["ranking"]
    assert (compared["basis"], compared["counts"]["planned"]) == ("comparisons", 3)
    assert all(row["score"] is None for row in compared["rows"])

    body = {"judges": judges, "criteria": criteria}
    assert (await ada.post(f"{run}/reevaluate", json=body)).status_code == 202
    assert (await ended(ada, run))["state"] == "completed"
    scored = (await ada.get(f"{run}/ranking")).json()["ranking"]
    assert scored["basis"] == "comparisons"
    assert all(row["score"] is not None for row in scored["rows"])
    tasks = (await ada.get(f"{run}/tasks", params={"limit": 100})).json()["items"]
    assert [task["kind"] for task in tasks].count("generate") == 6


async def test_the_answers_of_one_candidate_can_only_be_scored_later(ada: httpx.AsyncClient) -> None:
    run = await made(ada, ("local:lead",))
    judges = [{"model": "local:reader"}]
    refused = await ada.post(f"{run}/reevaluate", json={"judges": judges})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "criteria")
    body = {"judges": judges, "criteria": await content(ada, {}, "criteria", CRITERIA)}
    assert (await ada.post(f"{run}/reevaluate", json=body)).status_code == 202
    assert (await ended(ada, run))["state"] == "completed"
    assert (await ada.get(f"{run}/ranking")).json()["ranking"]["basis"] == "scores"


async def test_the_best_answers_cannot_go_anywhere_without_judges(ada: httpx.AsyncClient) -> None:
    body = {"name": "Answers", **await configuration(ada), "output": {"destination": "library"}}
    refused = await ada.post("/api/presets", json=body)
    assert [(error["path"], error["message"]) for error in refused.json()["errors"]] == [
        ("output.answers", "must be all: without judges or checks, no candidate is best")
    ]
    body["output"] = {"destination": "library", "answers": "all"}
    assert (await ada.post("/api/presets", json=body)).status_code == 201

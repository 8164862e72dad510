"""Combining, references, existing texts and the library, all over HTTP and with built-in models."""

import asyncio
from typing import Any

import httpx

from tests.support.host import code_of
from tests.support.run_setup import text_of
from tests.support.web_runs import CRITERIA, content

JUDGES = [{"model": "local:reader"}, {"model": "local:statistician"}]


async def preset(ada: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:
    """A preset as it is sent: two documents, two built-in candidates, two judges."""
    return {
        "name": "Summaries",
        "tags": ["harbour"],
        "inputs": [
            await content(ada, {}, "input_document", text_of(number), f"Chronicle {number}") for number in (1, 2)
        ],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": "local:lead"}, {"model": "local:lexrank"}]},
        "scoring": {"judges": JUDGES, "criteria": await content(ada, {}, "criteria", CRITERIA)},
        "comparison": {"judges": JUDGES},
    } | changes


async def saved(ada: httpx.AsyncClient, fields: dict[str, Any]) -> str:
    answer = await ada.post("/api/presets", json=fields)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def ended(ada: httpx.AsyncClient, fields: dict[str, Any]) -> dict[str, Any]:
    """The run of such a preset, taken to its end."""
    answer = await ada.post(f"/api/presets/{await saved(ada, fields)}/execute", json={})
    assert answer.status_code == 202, answer.text
    return await settled(ada, answer.json()["id"])


async def settled(ada: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            shown: dict[str, Any] = (await ada.get(f"/api/runs/{run_id}")).json()
            if shown["state"] not in ("pending", "running"):
                return shown
            await asyncio.sleep(0.02)


async def test_from_preset_to_export_with_combined_answers(ada: httpx.AsyncClient) -> None:
    how = await content(ada, {}, "combination_instructions", "Make one of them.\n\n{{document}}")
    combination = {"candidates": [{"label": "merged", "model": "local:submodular"}], "instructions": how}
    fields = await preset(ada, combination=combination, output={"destination": "library"})
    dry = await ada.post(f"/api/presets/{await saved(ada, fields)}/execute?dry_run=true", json={})
    assert dry.json()["calls"] == {"generate": 4, "combine": 2, "score": 12, "compare": 24, "total": 42}
    assert dry.json()["candidates"] == dry.json()["power"]["candidates"] == 3

    run = await ended(ada, fields)
    assert (run["state"], run["phase"]) == ("completed", "compare")
    assert run["progress"]["total"] == run["progress"]["succeeded"] == 42
    path = f"/api/runs/{run['id']}"

    tasks = (await ada.get(f"{path}/tasks", params={"kind": "combine"})).json()["items"]
    assert sorted(task["key"] for task in tasks) == ["r1.combine.d1.c3", "r1.combine.d2.c3"]
    assert {task["candidate"] for task in tasks} == {"merged"}
    made = (await ada.get(f"{path}/generated/{tasks[0]['generated_id']}")).json()
    assert (made["candidate"], made["repeat"], len(made["scores"])) == ("merged", 1, 2)
    assert made["body"]

    ranking = (await ada.get(f"{path}/ranking")).json()["ranking"]
    assert {row["candidate"] for row in ranking["rows"]} == {"merged", "local:lead", "local:lexrank"}
    assert all(row["place"] is not None for row in ranking["rows"])
    report = (await ada.get(f"{path}/report")).json()
    assert sorted(report["combination"]["order"]) == ["local:lead", "local:lexrank"]
    assert {(pair["a"], pair["b"]) for pair in report["pairs"]} >= {
        ("local:lead", "merged"),
        ("local:lexrank", "merged"),
    }

    library = (await ada.get("/api/contents", params={"type": "output_document"})).json()["items"]
    assert sorted(item["name"] for item in library) == [f"Chronicle {n} · {ranking['leaders'][0]}" for n in (1, 2)]
    assert all(item["tags"] == ["harbour", "output"] for item in library)
    assert sorted(report["run"]["outputs"].values()) == sorted(item["id"] for item in library)
    key, content_id = next(iter(report["run"]["outputs"].items()))
    answer = (await ada.get(f"{path}/generated/{report['run']['generated'][key]}")).json()
    assert answer["content_id"] == content_id
    assert (await ada.get(f"/api/contents/{content_id}")).json()["body"] == answer["body"]


async def test_a_round_over_combined_answers_makes_no_new_ones(ada: httpx.AsyncClient) -> None:
    run = await ended(ada, await preset(ada, combination={"candidates": [{"model": "local:mmr"}]}))
    path = f"/api/runs/{run['id']}"
    before = (await ada.get(f"{path}/report")).json()["run"]["generated"]
    answer = await ada.post(f"{path}/reevaluate", json={"judges": [{"model": "local:statistician"}]})
    assert answer.status_code == 202, answer.text
    again = await settled(ada, run["id"])
    assert (again["state"], again["round"], again["progress"]["total"]) == ("completed", 2, 6 + 12)
    assert (await ada.get(f"{path}/report")).json()["run"]["generated"] == before
    assert (await ada.get(f"{path}/report", params={"round": 1})).json()["combination"] is not None


async def test_references_change_what_judges_see_and_are_in_the_report(ada: httpx.AsyncClient) -> None:
    fields = await preset(ada)
    plain = await ended(ada, fields)
    gold = await content(ada, {}, "reference_document", text_of(9))
    held = await ended(ada, fields | {"references": {fields["inputs"][0]: gold}})
    found = []
    for run in (plain, held):
        report = (await ada.get(f"/api/runs/{run['id']}/report")).json()
        found.append([[answer["marks"] for answer in document["answers"]] for document in report["documents"]])
    # Coverage is measured against the reference too, on the document that has one.
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1]
    assert [document["has_reference"] for document in report["documents"]] == [True, False]
    assert report["documents"][0]["reference"] == text_of(9)
    assert report["configuration"]["references"] == 1


async def test_a_reference_must_be_one_and_belong_to_an_input(ada: httpx.AsyncClient) -> None:
    fields = await preset(ada)
    gold = await content(ada, {}, "reference_document", "Good.")
    for references in ({gold: gold}, {fields["inputs"][0]: fields["instructions"]}):
        answer = await ada.post("/api/presets", json=fields | {"references": references})
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
        assert answer.json()["errors"][0]["path"].startswith("references")


async def test_texts_that_exist_are_ranked_without_a_call(ada: httpx.AsyncClient) -> None:
    fields = await preset(ada)
    texts = {one: await content(ada, {}, "output_document", f"{text_of(3)} {one}") for one in fields["inputs"]}
    fields["generation"] = {"candidates": [{"label": "today", "existing": texts}, {"model": "local:lexrank"}]}
    run = await ended(ada, fields | {"output": {"destination": "library", "answers": "all"}})
    assert run["state"] == "completed"
    report = (await ada.get(f"/api/runs/{run['id']}/report")).json()
    today = report["candidates"][0]
    assert (today["candidate"], today["existing"], today["cost"], today["model"]) == ("today", 2, "0", None)
    assert [row["calls"] for row in report["spend"]["rows"] if row["kind"] == "generate"] == [2]
    assert next(row for row in report["ranking"]["rows"] if row["candidate"] == "today")["place"] is not None
    # What existed is a content already; what was written is kept.
    library = (await ada.get("/api/contents", params={"type": "output_document"})).json()["items"]
    assert sum("local:lexrank" in item["name"] for item in library) == 2
    assert len(library) == 4


async def test_a_text_that_is_missing_for_an_input_is_refused_on_saving_and_on_executing(
    ada: httpx.AsyncClient,
) -> None:
    fields = await preset(ada)
    first, second = fields["inputs"]
    one = {first: await content(ada, {}, "output_document", "What is used today.")}
    candidates = [{"label": "today", "existing": one}, {"model": "local:lexrank"}]
    answer = await ada.post("/api/presets", json=fields | {"generation": {"candidates": candidates}})
    assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    assert answer.json()["errors"][0]["path"] == "generation.candidates[0].model"
    preset_id = await saved(ada, fields | {"inputs": [first], "generation": {"candidates": candidates}})
    answer = await ada.post(f"/api/presets/{preset_id}/execute", json={"inputs": [first, second]})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["path"] == "generation.candidates[0].model"
    assert (await ada.get("/api/runs/count")).json()["total"] == 0

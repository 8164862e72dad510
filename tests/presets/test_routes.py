from typing import Any

import httpx
import pytest

from tests.support.host import PLUGIN, Host, code_of

PRESETS = "/api/presets"


@pytest.fixture
async def fields(ada: httpx.AsyncClient) -> dict[str, Any]:
    """The least that makes a preset."""

    async def write(kind: str, body: str) -> str:
        answer = await ada.post("/api/contents", json={"name": kind, "type": kind, "body": body})
        return str(answer.json()["id"])

    return {
        "name": "Summaries",
        "inputs": [await write("input_document", "One. Two."), await write("input_document", "Three. Four.")],
        "instructions": await write("generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": "local:lead"}, {"model": "local:mmr", "label": "MMR"}]},
        "scoring": {
            "judges": [{"model": "local:reader"}],
            "criteria": await write("criteria", "- name: Coverage\n- name: Clarity"),
        },
        "comparison": {"judges": [{"model": "local:statistician"}]},
    }


async def test_a_preset_lives_from_creation_to_deletion(ada: httpx.AsyncClient, fields: dict[str, Any]) -> None:
    created = await ada.post(PRESETS, json=fields)
    assert created.status_code == 201, created.text
    preset = created.json()
    path = f"{PRESETS}/{preset['id']}"
    assert (await ada.get(path)).json() == preset
    assert set(preset) == {
        "id", "name", "description", "tags", "inputs", "rows", "instructions", "references", "generation", "scoring",
        "comparison", "combination", "limits", "billing", "economy", "reuse", "output", "groups", "checks", "headline",
        "dropped",
        "version", "created_at",
        "updated_at",
    }  # fmt: skip
    item = (await ada.get(PRESETS)).json()["items"][0]
    assert (item["id"], item["input_count"], item["candidate_labels"]) == (preset["id"], 2, ["local:lead", "MMR"])
    saved = await ada.put(path, json=fields | {"name": "Shorter"}, headers={"If-Match": created.headers["etag"]})
    assert (saved.status_code, saved.json()["version"], saved.json()["name"]) == (200, 2, "Shorter")
    late = await ada.put(path, json=fields, headers={"If-Match": created.headers["etag"]})
    assert (late.status_code, code_of(late)) == (412, "version-mismatch")
    copy = await ada.post(f"{path}/duplicate")
    assert (copy.status_code, copy.json()["name"]) == (201, "Copy of Shorter")
    assert (await ada.delete(path)).status_code == 204
    assert (await ada.get(path)).status_code == 404


async def test_a_content_in_use_names_the_presets_that_hold_it(ada: httpx.AsyncClient, fields: dict[str, Any]) -> None:
    preset = (await ada.post(PRESETS, json=fields)).json()
    answer = await ada.delete(f"/api/contents/{fields['instructions']}")
    assert (answer.status_code, code_of(answer)) == (409, "content-in-use")
    assert answer.json()["errors"] == [{"path": "presets", "message": preset["id"]}]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"inputs": []}, "inputs"),
    ({"inputs": ["x"] * 1_001}, "inputs"),
    ({"inputs": [7]}, "inputs[0]"),
    ({"generation": {}}, "generation.candidates"),
    ({"generation": {"candidates": []}}, "generation.candidates"),
    ({"generation": {"candidates": [{"model": "local:lead"}] * 21}}, "generation.candidates"),
    ({"generation": {"candidates": [{"model": "local:lead"}], "repeats": 11}}, "generation.repeats"),
    ({"generation": {"candidates": [{"model": "local:lead", "label": "l" * 101}]}}, "generation.candidates[0].label"),
    ({"generation": {"candidates": [{"model": "local:lead", "colour": 1}]}}, "generation.candidates[0].colour"),
    ({"scoring": {"judges": [{"model": "local:reader"}]}}, "scoring.criteria"),
    ({"scoring": {"judges": [], "criteria": "x"}}, "scoring.judges"),
    ({"scoring": {"judges": [{"model": "local:reader"}] * 11, "criteria": "x"}}, "scoring.judges"),
    ({"comparison": {"judges": [{"model": "local:reader", "weight": 0}]}}, "comparison.judges[0].weight"),
    ({"comparison": {"judges": [{"model": "local:reader", "weight": -1}]}}, "comparison.judges[0].weight"),
    ({"comparison": {"judges": [{"model": "local:reader"}], "finalists": 1}}, "comparison.finalists"),
    ({"limits": {"concurrency": 0}}, "limits.concurrency"),
    ({"limits": {"timeout_seconds": 0}}, "limits.timeout_seconds"),
    ({"limits": {"max_attempts": 11}}, "limits.max_attempts"),
    ({"limits": {"budget": True}}, "limits.budget"),
    ({"limits": {"budget": "-5"}}, "limits.budget"),
    ({"limits": {"budget": "0.0000001"}}, "limits.budget"),
    ({"billing": "cash"}, "billing"),
    ({"output": {"destination": "moon"}}, "output.destination"),
    ({"colour": "red"}, "colour"),
]
PARAMETERS: list[dict[str, Any]] = [
    {"temperature": -0.1},
    {"temperature": 2.1},
    {"top_p": 0},
    {"top_p": 1.1},
    {"max_output_tokens": 0},
    {"seed": -1},
    {"seed": 1 << 53},
    {"reasoning_effort": "heroic"},
    {"verbosity": "loud"},
    {"stop": []},
    {"stop": ["x"] * 17},
    {"extra": []},
    {"extra": {"note": "x" * 4_097}},
]
UNTAKEN: list[tuple[str, dict[str, Any], list[str]]] = [
    ("openai:gpt-5-pro", {"seed": 1, "stop": ["END"], "max_output_tokens": 9}, ["seed", "stop", "max_output_tokens"]),
    ("openai:gpt-6-luna", {"top_k": 3}, ["top_k"]),
    ("anthropic:claude-opus-5-5", {"seed": 1, "verbosity": "low"}, ["seed", "verbosity"]),
    ("anthropic:claude-opus-5-5", {"thinking_budget": 20_000}, ["thinking_budget"]),
    ("anthropic:claude-opus-5-5", {"extra": {"messages": []}}, ["extra.messages"]),
    ("google:gemini-3-pro", {"extra": {"generationConfig": {"topK": 3}}}, ["extra.generationConfig.topK"]),
    ("google:gemini-3-pro", {"reasoning_effort": "max"}, ["reasoning_effort"]),
]
"""What a provider has no word for, and what Carrel sets itself: by name, before anything is spent."""


async def test_bad_input_is_refused_at_its_place(ada: httpx.AsyncClient, fields: dict[str, Any]) -> None:
    for change, path in BAD:
        answer = await ada.post(PRESETS, json=fields | change)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), change
        assert [fault["path"] for fault in answer.json()["errors"]] == [path], change


async def test_what_a_provider_cannot_take_is_named_before_anything_is_spent(
    ada: httpx.AsyncClient, fields: dict[str, Any]
) -> None:
    for model, parameters, names in UNTAKEN:
        candidates = [{"model": model, "parameters": parameters}, {"model": "local:mmr"}]
        answer = await ada.post(PRESETS, json=fields | {"generation": {"candidates": candidates}})
        place = "generation.candidates[0].parameters"
        assert [fault["path"] for fault in answer.json()["errors"]] == [f"{place}.{name}" for name in names], model


async def test_parameters_have_bounds(ada: httpx.AsyncClient, fields: dict[str, Any]) -> None:
    for parameters in PARAMETERS:
        generation = {"candidates": [{"model": "local:lead", "parameters": parameters}, {"model": "local:mmr"}]}
        answer = await ada.post(PRESETS, json=fields | {"generation": generation})
        place = f"generation.candidates[0].parameters.{next(iter(parameters))}"
        assert [fault["path"] for fault in answer.json()["errors"]] == [place], parameters


async def test_a_model_that_cannot_combine_is_refused_at_its_place(
    ada: httpx.AsyncClient, fields: dict[str, Any]
) -> None:
    combination = {"candidates": [{"model": "local:lead"}]}
    answer = await ada.post(PRESETS, json=fields | {"combination": combination})
    assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    assert answer.json()["errors"][0]["path"] == "combination.candidates[0].model"
    combination = {"candidates": [{"model": "local:mmr"}]}
    assert (await ada.post(PRESETS, json=fields | {"combination": combination})).status_code == 201


async def test_another_users_presets_and_contents_do_not_exist(
    ada: httpx.AsyncClient, host: Host, fields: dict[str, Any]
) -> None:
    preset = (await ada.post(PRESETS, json=fields)).json()
    bob = await host.signed_in("bob")
    assert (await ada.get(f"{PRESETS}/{preset['id']}", headers=bob)).status_code == 404
    assert (await ada.get(PRESETS, headers=bob)).json()["items"] == []
    places = [fault["path"] for fault in (await ada.post(PRESETS, json=fields, headers=bob)).json()["errors"]]
    assert places == ["inputs[0]", "inputs[1]", "instructions", "scoring.criteria"]


async def test_free_members_read_and_delete_but_do_not_write(ada: httpx.AsyncClient, fields: dict[str, Any]) -> None:
    preset = (await ada.post(PRESETS, json=fields)).json()
    await ada.post("/api/users/ada/deactivate", headers=PLUGIN)
    path = f"{PRESETS}/{preset['id']}"
    for answer in (
        await ada.post(PRESETS, json=fields),
        await ada.put(path, json=fields),
        await ada.post(f"{path}/duplicate"),
    ):
        assert (answer.status_code, code_of(answer)) == (403, "membership-required")
    assert (await ada.get(path)).status_code == 200
    assert (await ada.delete(path)).status_code == 204

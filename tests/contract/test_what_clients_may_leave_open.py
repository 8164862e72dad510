"""Where nothing can be lost, clients may write as they like: no body, amounts as numbers, providers with capitals."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.host import ADMIN, PLUGIN, code_of

Json = dict[str, Any]
DOCUMENT: Json = json.loads(Path("openapi.json").read_text(encoding="utf-8"))
OPERATIONS = [
    (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def schema_of(operation: Json) -> Json | None:
    """The body of an operation; `None` if it takes none, or no JSON."""
    content = operation.get("requestBody", {}).get("content", {})
    schema: Json | None = content.get("application/json", {}).get("schema")
    for member in () if schema is None else schema.get("anyOf", ()):
        schema = member if "$ref" in member else schema
    if schema is not None and "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def test_a_body_is_required_exactly_where_one_of_its_fields_is() -> None:
    taken = [(path, operation, schema_of(operation)) for _, path, operation in OPERATIONS]
    found = {path: operation["requestBody"]["required"] for path, operation, schema in taken if schema is not None}
    # Without its body, a sign-out is that of the token, and runs are deleted by their state.
    needless = {"/api/auth/logout", "/api/runs/bulk"}
    assert found == {
        path: bool(schema["required"]) and path not in needless for path, _, schema in taken if schema is not None
    }
    optional = {path.rpartition("/")[2] for path, is_required in found.items() if not is_required}
    assert {"resolve", "reevaluate", "execute"} <= optional


EMPTY: list[Json | None] = [None, {}]


async def test_no_body_is_an_empty_object_wherever_none_is_required(ada: httpx.AsyncClient) -> None:
    compared = 0
    for method, path, operation in OPERATIONS:
        if method == "GET" or operation.get("requestBody", {"required": False})["required"]:
            continue
        answers = [
            # A host's own secret goes along, so that nobody signs out here.
            await ada.request(method, path.replace("{", "").replace("}", ""), headers=PLUGIN | ADMIN, json=body)
            for body in EMPTY
        ]
        told = [(answer.status_code, answer.is_error and code_of(answer)) for answer in answers]
        assert told[0] == told[1], (method, path)
        assert told[0][1] not in {"unexpected-body", "malformed", "unsupported-media-type"}, (method, path)
        compared += 1
    assert compared > 30


def named(schema: Json, inside: str = "") -> Iterator[str]:
    """The fields of a body that name a provider or a model, by their paths."""
    for field, value in schema.get("properties", {}).items():
        members = [value, *value.get("anyOf", ())]
        members += [member["items"] for member in members if "items" in member]
        if field in {"provider", "model", "default_candidates", "default_judges"}:
            yield f"{inside}{field}"
        for member in members:
            if "$ref" in member:
                yield from named(DOCUMENT["components"]["schemas"][member["$ref"].rpartition("/")[2]], f"{field}.")


TRIED = {
    *("DELETE /admin/system-keys/{provider}", "GET /admin/system-keys/{provider}", "POST /admin/system-keys provider"),
    *("DELETE /provider-keys/{provider}", "GET /provider-keys/{provider}", "POST /provider-keys provider"),
    *("GET /provider-keys/test/{provider}", "DELETE /rate-limits/{provider}", "PUT /rate-limits/{provider}"),
    *("DELETE /model-prices/{model}", "PUT /model-prices/{model}", "GET /models/{model}"),
    "GET /models/endings model",
    *("GET /evaluation/judges/{model}", "POST /evaluation/judges/check judge.model", "GET /metering/calls model"),
    "GET /evaluation/judges/check-cost model",
    *("POST /evaluation/compare judge.model", "POST /evaluation/score judge.model", "POST /generation model"),
    *("PUT /settings default_candidates", "PUT /settings default_judges", "GET /runs/{run_id}/ranking without_judge"),
    *("POST /presets candidates.model", "POST /presets judges.model", "POST /runs/{run_id}/reevaluate judges.model"),
    *("PUT /presets/{preset_id} candidates.model", "PUT /presets/{preset_id} judges.model"),
    *("POST /runs candidates.model", "POST /runs judges.model"),
    *("PUT /runs/{run_id} candidates.model", "PUT /runs/{run_id} judges.model"),
}


def test_no_route_takes_the_name_of_a_provider_that_is_not_tried_here() -> None:
    found = set()
    for method, path, operation in OPERATIONS:
        route = f"{method} {path.removeprefix('/api')}"
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in {"provider", "model", "without_judge"}:
                found.add(route if parameter["in"] == "path" else f"{route} {parameter['name']}")
        found |= {f"{route} {field}" for field in named(schema_of(operation) or {})}
    assert found == TRIED


@pytest.mark.parametrize(("path", "headers"), [("/api/provider-keys", {}), ("/api/admin/system-keys", ADMIN)])
async def test_a_key_is_its_providers_however_the_provider_is_written(
    ada: httpx.AsyncClient, path: str, headers: dict[str, str]
) -> None:
    stored = await ada.post(path, json={"provider": "OpenAI", "key": "sk-0123456789-WXYZ"}, headers=headers)
    assert (stored.status_code, stored.json()["provider"]) == (201, "openai")
    assert (await ada.get(f"{path}/OPENAI", headers=headers)).json() == stored.json()
    assert (await ada.get(path, headers=headers)).json()["items"] == [stored.json()]
    assert (await ada.delete(f"{path}/Openai", headers=headers)).status_code == 204
    assert (await ada.get(path, headers=headers)).json()["items"] == []


async def test_limits_and_prices_are_their_providers_however_it_is_written(ada: httpx.AsyncClient) -> None:
    limited = await ada.put("/api/rate-limits/OpenAI", json={"concurrency": 3})
    assert (limited.status_code, limited.json()["provider"]) == (200, "openai")
    assert (await ada.delete("/api/rate-limits/OPENAI")).status_code == 204
    price = {"input_per_million": 0.25, "output_per_million": 2}
    priced = await ada.put("/api/model-prices/OpenAI:My/Model", json=price)
    assert priced.status_code == 200
    assert {**priced.json(), "updated_at": ""} == {
        "model": "openai:My/Model", "input_per_million": "0.25", "output_per_million": "2", "updated_at": ""
    }  # fmt: skip
    assert (await ada.delete("/api/model-prices/OPENAI:my/model")).status_code == 404, "a model's name is as it is"
    assert (await ada.delete("/api/model-prices/OPENAI:My/Model")).status_code == 204


async def test_a_model_is_its_providers_however_the_provider_is_written(ada: httpx.AsyncClient) -> None:
    document = {"name": "d", "type": "input_document", "body": "One sentence. Another one. And a third about rain."}
    content_id = (await ada.post("/api/contents", json=document)).json()["id"]
    assert (await ada.get("/api/models/Local:lexrank")).json()["model"] == "local:lexrank"
    written = await ada.post("/api/generation", json={"model": "LOCAL:lexrank", "prompt": "A text. It is short."})
    assert (written.status_code, written.json()["model"]) == (200, "local:lexrank")
    for by in ("LOCAL:lexrank", "local:lexrank"):
        (call,) = (await ada.get("/api/metering/calls", params={"model": by})).json()["items"]
        assert call["model"] == "local:lexrank"
    judge = {"model": "Local:reader"}
    compared = {"judge": judge, "document": document["body"], "a": "Rain.", "b": "Another one."}
    assert (await ada.post("/api/evaluation/compare", json=compared)).status_code == 200
    criteria = "- name: Clear"
    scored = {"judge": judge, "document": document["body"], "answer": "Rain.", "criteria": criteria}
    assert (await ada.post("/api/evaluation/score", json=scored)).status_code == 200, scored
    passport = (await ada.post("/api/evaluation/judges/check", json={"judge": judge})).json()
    assert passport["model"] == "local:reader"
    assert (await ada.get("/api/evaluation/judges/LOCAL:reader")).json()["model"] == "local:reader"
    settings = {"default_candidates": ["Local:lexrank"], "default_judges": ["Local:reader"]}
    saved = (await ada.put("/api/settings", json=settings)).json()
    assert [saved[field] for field in settings] == [["local:lexrank"], ["local:reader"]]
    asked = {"name": "i", "type": "generation_instructions", "body": "Summarise."}
    preset = {
        "name": "p",
        "inputs": [content_id],
        "instructions": (await ada.post("/api/contents", json=asked)).json()["id"],
        "generation": {"candidates": [{"model": "Local:lexrank"}, {"model": "LOCAL:lead"}]},
        "comparison": {"judges": [{"model": "Local:reader"}]},
        "limits": {"budget": 0.1},
    }
    made = (await ada.post("/api/presets", json=preset)).json()
    assert [one["model"] for one in made["generation"]["candidates"]] == ["local:lexrank", "local:lead"]
    assert [one["model"] for one in made["comparison"]["judges"]] == ["local:reader"]
    assert made["limits"]["budget"] == "0.1"


def test_the_document_says_of_every_amount_that_it_may_be_a_number() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for schema, field in (
        ("AddIn", "amount"), ("ModelPriceIn", "input_per_million"), ("ModelPriceIn", "output_per_million"),
        ("RunLimits", "budget"),
    ):  # fmt: skip
        value = schemas[schema]["properties"][field]
        assert ["string", "number"] in [one.get("type") for one in (value, *value.get("anyOf", ()))], field

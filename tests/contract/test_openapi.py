"""`openapi.json`: committed, served, well-formed, and held against what the service does."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from carrel.app import create_app, openapi
from carrel.config import Settings
from carrel.contents.schemas import ContentIn
from carrel.http.requests.routing import Routes
from tests.support.clock import FakeClock

OPEN = {"/api/auth/program", "/api/health", "/api/health/ready", "/api/health/safe-to-restart", "/api/receipt-keys"}
Json = dict[str, Any]


@pytest.fixture
def described(settings: Settings, clock: FakeClock) -> Routes:
    """The application that a document describes."""
    return create_app(settings, clock=clock).app


@pytest.fixture(scope="module")
def document() -> Json:
    """The committed one, which is the present one."""
    made: Json = json.loads(Path("openapi.json").read_text(encoding="utf-8"))
    return made


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def every_dict(node: Any) -> Iterator[Json]:
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from every_dict(child)


def test_the_committed_document_is_the_present_one(described: Routes, settings: Settings) -> None:
    present = openapi.text(described, settings)
    assert Path("openapi.json").read_text(encoding="utf-8") == present, "run `make openapi`"


async def test_the_served_document_is_the_committed_one(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == Path("openapi.json").read_bytes()


async def test_the_page_shows_it_without_a_script_or_anything_from_outside(
    client: httpx.AsyncClient, document: Json
) -> None:
    answer = await client.get("/api/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    page = answer.text
    assert "<script" not in page
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)
    assert " style=" not in page
    for path, _, operation in operations(document):
        assert f"<code>{path}</code>" in page
        assert f'id="{operation["operationId"]}"' in page


def test_every_reference_leads_somewhere(document: Json) -> None:
    schemas = document["components"]["schemas"]
    for node in every_dict(document):
        if "$ref" in node:
            assert node["$ref"].removeprefix("#/components/schemas/") in schemas


def test_every_schema_has_a_plain_name_that_no_other_has(document: Json) -> None:
    schemas = document["components"]["schemas"]
    assert [name for name in schemas if not re.fullmatch(r"[A-Z][A-Za-z]+", name)] == []
    assert {name: schema["title"] for name, schema in schemas.items()} == {name: name for name in schemas}
    lowered = [name.lower() for name in schemas]
    assert len(set(lowered)) == len(lowered)


def test_times_and_ids_tell_their_formats(document: Json) -> None:
    fields: dict[tuple[str, str], set[str | None]] = {}
    for schema_name, schema in document["components"]["schemas"].items():
        for name, field in schema.get("properties", {}).items():
            fields[schema_name, name] = {
                member.get("format") for member in field.get("anyOf", [field]) if member.get("type") == "string"
            }
    times = {where: formats for where, formats in fields.items() if re.search(r"(^|_)at$", where[1])}
    assert len(times) > 40
    assert {where for where, formats in times.items() if formats != {"date-time"}} == set()
    made_elsewhere = {("Prices", "id"), ("CallRow", "price_id"), ("Refused", "id"), ("Problem", "request_id")}
    made_elsewhere.add(("DataSetRow", "id"))
    ids = {where: formats for where, formats in fields.items() if re.search(r"(^|_)id$", where[1])}
    assert len(ids) > 20
    assert {where for where, formats in ids.items() if formats != {"uuid"}} == made_elsewhere
    assert {found for where, formats in fields.items() if where[1] == "uuid" for found in formats} == {None}


def test_every_operation_has_a_name_of_its_own_a_sentence_and_a_group(document: Json) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(names)) == len(names)
    for _, _, operation in operations(document):
        assert operation["summary"].endswith("."), operation["operationId"]
        assert len(operation["tags"]) == 1, operation["operationId"]


def test_every_route_but_health_and_public_keys_asks_for_a_credential(document: Json) -> None:
    for path, _, operation in operations(document):
        schemes = {name for entry in operation["security"] for name in entry}
        assert (not schemes or {} in operation["security"]) == (path in OPEN), path
        assert schemes <= set(document["components"]["securitySchemes"])
        # A program's credential is its body.
        assert ("401" in operation["responses"]) == (bool(schemes) or path == "/api/auth/program")


def test_every_error_is_a_problem(document: Json) -> None:
    for path, _, operation in operations(document):
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                (content,) = answer["content"].items()
                assert content == ("application/problem+json", {"schema": {"$ref": "#/components/schemas/Problem"}})
        assert {"400", "500"} <= operation["responses"].keys(), path


def test_what_follows_from_a_signature_is_said(document: Json) -> None:
    for path, method, operation in operations(document):
        statuses = operation["responses"].keys()
        parameters = {(parameter["in"], parameter["name"]) for parameter in operation.get("parameters", ())}
        assert {name for place, name in parameters if place == "path"} == set(re.findall(r"{(\w+)}", path))
        assert not re.search(r"{(\w+)}", path) or "404" in statuses
        assert "requestBody" not in operation or {"413", "415"} <= statuses
        assert ("header", "If-Match") not in parameters or "412" in statuses
        assert ("header", "Idempotency-Key") not in parameters or "409" in statuses
        assert ("query", "cursor") not in parameters or ("query", "limit") in parameters
        assert method in {"get", "post", "put", "delete"}


def bodies(document: Json) -> Iterator[Json]:
    """Every schema of a request body, and every object within."""
    schemas = document["components"]["schemas"]
    pending = [
        operation["requestBody"]["content"]["application/json"]["schema"]
        for _, _, operation in operations(document)
        if "application/json" in operation.get("requestBody", {}).get("content", ())
    ]
    seen: set[str] = set()
    while pending:
        for node in every_dict(pending.pop()):
            name = node.get("$ref", "").removeprefix("#/components/schemas/")
            if name and name not in seen:
                seen.add(name)
                pending.append(schemas[name])
            if node.get("type") == "object":
                yield node


def test_bodies_refuse_unknown_fields(document: Json) -> None:
    found = list(bodies(document))
    assert found
    for schema in found:
        assert "properties" not in schema or schema["additionalProperties"] is False, schema.get("title")


def test_limits_of_the_settings_stand_in_the_document(settings: Settings, described: Routes) -> None:
    text = openapi.text(described, settings)
    assert "x-limit" not in text
    content = json.loads(text)["components"]["schemas"]["ContentIn"]["properties"]
    assert content["name"]["maxLength"] == settings.max_name_characters
    assert content["name"]["minLength"] == 1


def test_fields_stand_in_the_order_of_the_structs_and_docstrings_without_their_indentation(document: Json) -> None:
    schemas = document["components"]["schemas"]
    assert list(schemas) == sorted(schemas)
    assert list(schemas["ContentIn"]["properties"]) == list(ContentIn.__struct_fields__)
    assert [name for name, schema in schemas.items() if "\n    " in schema["description"]] == []


def test_an_answer_of_several_forms_is_told_by_its_status_and_its_media_type(document: Json) -> None:
    for path, created in (("/api/runs", "201"), ("/api/presets/{preset_id}/execute", "202")):
        responses = document["paths"][path]["post"]["responses"]
        shapes = {
            created: responses[created]["content"]["application/json"]["schema"]["$ref"] for created in ("200", created)
        }
        assert shapes == {"200": "#/components/schemas/DryRun", created: "#/components/schemas/Run"}
    answer = document["paths"]["/api/runs/{run_id}/generated/{generated_id}"]["get"]["responses"]["200"]["content"]
    assert answer["application/json"]["schema"] == {"$ref": "#/components/schemas/GeneratedDocument"}
    assert answer["text/markdown"]["schema"] == {"type": "string"}


def test_every_cost_and_budget_is_said_to_be_in_us_dollars(document: Json) -> None:
    costs = {"cost", "cost_per_answer", "likely_cost", "worst_cost", "budget"}
    found = [
        (schema, name, field)
        for schema, described in document["components"]["schemas"].items()
        for name, field in described.get("properties", {}).items()
        if name in costs
    ]
    assert {name for _, name, _ in found} == costs
    for schema, name, field in found:
        assert "US dollars" in json.dumps(field), f"{schema}.{name}"

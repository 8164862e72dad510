"""`If-None-Match` on every route that answers with an ETag, and what `openapi.json` says of it."""

import json
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.host import ADMIN, Host
from tests.support.web_runs import ended

DOCUMENT: dict[str, Any] = json.loads(Path("openapi.json").read_text(encoding="utf-8"))
READS = {path: methods["get"] for path, methods in DOCUMENT["paths"].items() if "get" in methods}
TAGGED = {path for path, operation in READS.items() if "304" in operation["responses"]}
# Streams do not end, GitHub is outside, and only documents with pages show them.
NOT_ASKED = {
    "/api/documents/{document_id}/pages/{number}",
    "/api/runs/{run_id}/events",
    "/api/runs/{run_id}/logs/tail",
    "/api/github-connections/{connection_id}/tree",
}
QUERIES = {
    "/api/presets/{preset_id}/alternatives": "?baseline=local:lead",
    "/api/runs/{run_id}/gate": "?baseline=local:lead",
    "/api/runs/{run_id}/replacement": "?baseline=local:lead&calls_per_month=1",
    "/api/models/endings": "?model=local:lead",
    "/api/evaluation/judges/check-cost": "?model=local:reader",
}
KEY = {"provider": "openai", "key": "sk-not-a-real-key"}


async def made(client: httpx.AsyncClient, path: str, credential: dict[str, str], **how: Any) -> dict[str, Any]:
    answer = await client.post(path, headers=credential, **how)
    assert answer.is_success, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.fixture
async def names(client: httpx.AsyncClient, host: Host) -> dict[str, str]:
    """One of each thing, by the name of its parameter; and the headers that open everything."""
    session = await host.signed_in("ada")
    run_id = await ended(client, session)
    run = (await client.get(f"/api/runs/{run_id}", headers=session)).json()
    await made(client, f"/api/runs/{run_id}/export", session)
    await made(client, "/api/provider-keys", session, json=KEY)
    await made(client, "/api/admin/system-keys", ADMIN, json=KEY)
    uploaded = await made(client, "/api/documents", session, files={"file": ("a.txt", b"A text.")})
    table = await made(client, "/api/data-sets", session, files={"file": ("a.csv", b"question\nWhy?\n")})
    preset = {"name": "A preset"} | {
        name: run["configuration"][name] for name in ("inputs", "instructions", "generation", "scoring")
    }
    connection = {"name": "Texts", "repository": "octocat/texts", "token": "github_pat_not_real"}
    draft_id = str(uuid.uuid4())
    draft = {"name": "A draft", "form": "preset", "body": {}}
    assert (await client.put(f"/api/preset-drafts/{draft_id}", json=draft, headers=session)).status_code == 200
    tasks = await client.get(f"/api/runs/{run_id}/tasks?kind=generate", headers=session)
    return {
        "uuid": "ada",
        "run_id": run_id,
        "content_id": uploaded["content_id"],
        "document_id": uploaded["id"],
        "data_set_id": table["id"],
        "preset_id": (await made(client, "/api/presets", session, json=preset))["id"],
        "draft_id": draft_id,
        "connection_id": (await made(client, "/api/github-connections", session, json=connection))["id"],
        "generated_id": tasks.json()["items"][0]["generated_id"],
        "share_id": (await made(client, f"/api/runs/{run_id}/share-logs", session))["share_id"],
        "provider": "openai",
        "model": "local:reader",
        "version": "1",
        "document": "1",
        "text_name": "d1",
    } | session


async def test_every_tag_is_documented_and_what_it_names_is_not_sent_again(
    client: httpx.AsyncClient, names: dict[str, str]
) -> None:
    credentials = {name: value for name, value in names.items() if name.startswith("X-")} | ADMIN
    asked = set()
    for path, operation in READS.items():
        if path in NOT_ASKED or path.startswith("/api/provider-keys/test/"):
            continue
        url = path.format_map(names) + QUERIES.get(path, "")
        answer = await client.get(url, headers=credentials)
        while path.endswith("/export") and answer.status_code == 409:
            answer = await client.get(url, headers=credentials)
        assert answer.status_code == 200, (path, answer.text)
        tag = answer.headers.get("etag")
        assert (tag is not None) == (path in TAGGED), path
        if tag is None:
            continue
        asked.add(path)
        assert "ETag" in operation["responses"]["200"]["headers"], path
        assert "If-None-Match" in {parameter["name"] for parameter in operation["parameters"]}, path
        same = await client.get(url, headers=credentials | {"If-None-Match": tag})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag), path
        # A length without the bytes makes a server give the connection up.
        assert not {"content-length", "content-type"} & set(same.headers), path
    assert asked == TAGGED

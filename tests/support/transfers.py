"""A workspace with something of everything, and its export as tests take it apart and put it together again."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import httpx
import msgspec

from tests.support.web_runs import Headers, content

SECRET = "sk-canary-Vermilion-0123456789-wxyz"
ZIP = {"Content-Type": "application/zip"}


async def furnished(client: httpx.AsyncClient, session: Headers) -> None:
    """Contents that link each other, forwards too, a preset that names all kinds of them, settings, a limit, a key."""
    fragment = await content(client, session, "fragment", "Old words.", "House style")
    made = await client.get(f"/api/contents/{fragment}", headers=session)
    kept = {name: made.json()[name] for name in ("name", "type", "tags", "description")}
    document = await content(client, session, "input_document", "The river rose. " * 20, "Chronicle / ünïcode")
    reference = await content(client, session, "reference_document", "It rose.", "Reference")
    existing = await content(client, session, "output_document", "It {{rose}}.", "Today's summary")
    instructions = {
        "name": "Summarise",
        "type": "generation_instructions",
        "body": "Summarise in {{STYLE}} for {{READER}}.",
        "variables": {"STYLE": fragment, "READER": None},
        "tags": ["house"],
    }
    asked = (await client.post("/api/contents", json=instructions, headers=session)).json()["id"]
    later = await content(client, session, "fragment", "plain words", "Later than what links to it")
    body = kept | {"body": "Few, {{WORDS}}.", "variables": {"WORDS": later}}
    assert (await client.put(f"/api/contents/{fragment}", json=body, headers=session)).status_code == 200
    judges = [{"model": "local:reader"}]
    preset = {
        "name": "Which is best?",
        "tags": ["weekly"],
        "inputs": [document],
        "references": {document: reference},
        "instructions": asked,
        "generation": {
            "candidates": [
                {"model": "local:lead", "instructions": asked},
                {"label": "today", "existing": {document: existing}},
            ]
        },
        "scoring": {"judges": judges, "criteria": await content(client, session, "criteria", "- name: Coverage\n")},
        "comparison": {"judges": judges},
    }
    answer = await client.post("/api/presets", json=preset, headers=session)
    assert answer.status_code == 201, answer.text
    settings = {"theme": "dark", "timezone": "Europe/Vienna", "default_judges": ["local:reader"]}
    assert (await client.put("/api/settings", json=settings, headers=session)).status_code == 200
    limit = {"requests_per_minute": 7}
    assert (await client.put("/api/rate-limits/openai", json=limit, headers=session)).status_code == 200
    key = {"provider": "openai", "key": SECRET}
    assert (await client.post("/api/provider-keys", json=key, headers=session)).status_code == 201


async def exported(client: httpx.AsyncClient, session: Headers) -> bytes:
    answer = await client.get("/api/users/me/export", headers=session)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    return answer.content


async def imported(client: httpx.AsyncClient, session: Headers, zipped: bytes) -> httpx.Response:
    return await client.post("/api/users/me/import", content=zipped, headers=session | ZIP)


async def everything(client: httpx.AsyncClient, session: Headers) -> dict[str, Any]:
    """All contents by name, presets by name with names for ids, and the settings: what a round trip has to keep."""
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    for summary in (await client.get("/api/contents?limit=200", headers=session)).json()["items"]:
        row = (await client.get(f"/api/contents/{summary['id']}", headers=session)).json()
        names[row["id"]] = row["name"]
        found[row["name"]] = row
    for summary in (await client.get("/api/presets", headers=session)).json()["items"]:
        found[summary["name"]] = (await client.get(f"/api/presets/{summary['id']}", headers=session)).json()
    for row in found.values():
        for changed in ("id", "version", "created_at", "updated_at"):
            del row[changed]
    text = msgspec.json.encode([found, (await client.get("/api/settings", headers=session)).json()]).decode()
    for content_id, name in names.items():
        text = text.replace(content_id, name)
    return dict(enumerate(msgspec.json.decode(text)))  # type: ignore[arg-type]  # numbered parts


def packed(entries: Mapping[str, bytes]) -> bytes:
    """A zip of these."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in entries.items():
            archive.writestr(name, body)
    return out.getvalue()

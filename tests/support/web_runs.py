"""Runs over HTTP with built-in models, for tests of what comes out of them."""

import asyncio
from typing import Any

import httpx

from tests.support.run_setup import text_of

Headers = dict[str, str]
ENDS = ("completed", "completed_with_errors", "failed", "cancelled")
CRITERIA = "- name: Coverage\n- name: Clarity\n"


async def content(client: httpx.AsyncClient, session: Headers, kind: str, body: str, name: str = "A content") -> str:
    answer = await client.post("/api/contents", json={"name": name, "type": kind, "body": body}, headers=session)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def planned(
    client: httpx.AsyncClient,
    session: Headers,
    *,
    documents: int = 2,
    models: tuple[str, ...] = ("local:lead", "local:lexrank"),
    labels: tuple[str, ...] | None = None,
    texts: tuple[str, ...] | None = None,
    document_name: str = "Chronicle",
    name: str = "A run",
    instructions: str = "Summarise.",
    compared: bool = True,
) -> str:
    """A pending run; its id."""
    bodies = texts or tuple(text_of(number) for number in range(1, documents + 1))
    judges = [{"model": "local:reader"}, {"model": "local:statistician"}]
    configuration: dict[str, Any] = {
        "inputs": [
            await content(client, session, "input_document", body, f"{document_name} {number}")
            for number, body in enumerate(bodies, 1)
        ],
        "instructions": await content(client, session, "generation_instructions", instructions),
        "generation": {
            "candidates": [
                {"model": model, "label": label} for model, label in zip(models, labels or models, strict=True)
            ]
        },
        "scoring": {"judges": judges, "criteria": await content(client, session, "criteria", CRITERIA)},
        "comparison": {"judges": judges},
    }
    if not compared:
        del configuration["comparison"]
    answer = await client.post("/api/runs", json={"name": name, "configuration": configuration}, headers=session)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def ended(client: httpx.AsyncClient, session: Headers, **how: Any) -> str:
    """A run taken to its end; its id."""
    run_id = await planned(client, session, **how)
    answer = await client.post(f"/api/runs/{run_id}/start", headers=session)
    assert answer.status_code in (200, 202), answer.text
    async with asyncio.timeout(60):
        while (await client.get(f"/api/runs/{run_id}", headers=session)).json()["state"] == "running":
            await asyncio.sleep(0.02)
    return run_id


async def carried_out(client: httpx.AsyncClient, configuration: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A run of this configuration, taken to its end: as it is then."""
    made = await client.post("/api/runs", json={"configuration": configuration} | changes)
    assert made.status_code == 201, made.text
    run: dict[str, Any] = made.json()
    await client.post(f"/api/runs/{run['id']}/start")
    async with asyncio.timeout(60):
        while run["state"] not in ENDS:
            await asyncio.sleep(0.02)
            run = (await client.get(f"/api/runs/{run['id']}")).json()
    return run


async def completed(client: httpx.AsyncClient, configuration: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The same of a run in which nothing fails."""
    run = await carried_out(client, configuration, **changes)
    assert run["state"] == "completed"
    return run


async def add_keys(client: httpx.AsyncClient, key: str, base_urls: dict[str, str]) -> None:
    """Keep the key of each of these providers, by name, with the address where it is served."""
    for provider, base_url in base_urls.items():
        body = {"provider": provider, "key": key, "base_url": base_url}
        assert (await client.post("/api/provider-keys", json=body)).status_code == 201

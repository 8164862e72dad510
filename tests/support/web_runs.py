"""Runs over HTTP with built-in models, for tests of what comes out of them."""

import asyncio
from typing import Any

import httpx

from tests.support.run_setup import text_of

Headers = dict[str, str]
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

"""`PUT /runs/{id}`: what its user calls a run, and whether it stays."""

import asyncio

import httpx
import pytest

from tests.support.clock import FakeClock
from tests.support.host import Host, code_of
from tests.support.web_runs import Headers, ended, planned

UNKNOWN = "01935f3c-0000-7000-8000-000000000000"


@pytest.fixture
async def session(host: Host) -> Headers:
    return await host.signed_in("ada")


async def test_a_run_takes_another_name_tags_and_a_pin(client: httpx.AsyncClient, session: Headers) -> None:
    run_id = await planned(client, session)
    path = f"/api/runs/{run_id}"
    before = await client.get(path, headers=session)
    change = {"name": "Spring", "tags": ["press", "2026", "press"], "pinned": True}
    answer = await client.put(path, json=change, headers=session | {"If-Match": before.headers["etag"]})
    assert answer.status_code == 200, answer.text
    changed = {"name": "Spring", "tags": ["press", "2026"], "pinned": True, "version": before.json()["version"] + 1}
    assert answer.json() == before.json() | changed
    read = await client.get(path, headers=session)
    assert (read.json(), read.headers["etag"]) == (answer.json(), answer.headers["etag"])
    listed = (await client.get("/api/runs?tag=press", headers=session)).json()["items"]
    assert [(item["id"], item["name"], item["pinned"]) for item in listed] == [(run_id, "Spring", True)]

    stale = await client.put(path, json=change, headers=session | {"If-Match": before.headers["etag"]})
    assert (stale.status_code, code_of(stale)) == (412, "version-mismatch")
    plain = (await client.put(path, json={"name": "Spring"}, headers=session)).json()
    assert (plain["tags"], plain["pinned"]) == ([], False)
    assert not (await client.get("/api/runs?tag=press", headers=session)).json()["items"]


async def test_what_cannot_be_is_refused(client: httpx.AsyncClient, host: Host, session: Headers) -> None:
    path = f"/api/runs/{await planned(client, session)}"
    for change in (
        {},
        {"name": ""},
        {"name": "x" * 201},
        {"name": "x", "state": "completed"},
        {"name": "x", "tags": [""]},
    ):
        answer = await client.put(path, json=change, headers=session)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), change
    missing = await client.put(f"/api/runs/{UNKNOWN}", json={"name": "x"}, headers=session)
    assert (missing.status_code, code_of(missing)) == (404, "not-found")
    free = await host.signed_in("eve", membership="free")
    answer = await client.put(path, json={"name": "x"}, headers=free)
    assert (answer.status_code, code_of(answer)) == (403, "membership-required")


async def test_a_pinned_run_stays_when_its_days_are_over(
    client: httpx.AsyncClient, host: Host, session: Headers, clock: FakeClock
) -> None:
    pinned, other = await ended(client, session), await ended(client, session)
    await client.put(f"/api/runs/{pinned}", json={"name": "Kept", "pinned": True}, headers=session)
    await client.put("/api/settings", json={"retention_days": 1}, headers=session)
    clock.advance(2 * 86_400)
    session = await host.signed_in("ada")
    async with asyncio.timeout(60):
        while (await client.get(f"/api/runs/{other}", headers=session)).status_code == 200:
            await asyncio.sleep(0.01)
    assert (await client.get(f"/api/runs/{pinned}", headers=session)).json()["name"] == "Kept"

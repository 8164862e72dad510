"""What `GET` answered can be sent back with `PUT`: read-only fields may be repeated, and not changed."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.support.host import Host
from tests.support.probe import faults_of
from tests.support.transfers import furnished
from tests.support.web_runs import ended

Headers = dict[str, str]


async def content(client: httpx.AsyncClient, session: Headers) -> str:
    made = await client.post("/api/contents", json={"name": "a", "type": "fragment", "body": "text"}, headers=session)
    return f"/api/contents/{made.json()['id']}"


async def preset(client: httpx.AsyncClient, session: Headers) -> str:
    await furnished(client, session)
    (item,) = (await client.get("/api/presets", headers=session)).json()["items"]
    return f"/api/presets/{item['id']}"


async def draft(client: httpx.AsyncClient, session: Headers) -> str:
    path = "/api/preset-drafts/0197a000-0000-7000-8000-000000000001"
    sent = {"name": "a", "form": "preset", "body": {"value": {}}}
    assert (await client.put(path, json=sent, headers=session)).status_code == 200
    return path


async def run(client: httpx.AsyncClient, session: Headers) -> str:
    return f"/api/runs/{await ended(client, session)}"


async def connection(client: httpx.AsyncClient, session: Headers) -> str:
    sent = {"name": "a", "repository": "someone/something", "token": "ghp_0123456789"}
    made = await client.post("/api/github-connections", json=sent, headers=session)
    return f"/api/github-connections/{made.json()['id']}"


Make = Callable[[httpx.AsyncClient, Headers], Awaitable[str]]
KEPT: dict[Make, set[str]] = {
    content: {"id", "version", "created_at", "updated_at"},
    preset: {"id", "version", "created_at", "updated_at"},
    draft: {"id", "version", "updated_at"},
    run: {
        *("id", "preset_id", "state", "pause_reason", "phase", "round", "progress", "spend", "verdict", "created_at"),
        *("started_at", "finished_at", "configuration", "quiesced", "version"),
    },
    connection: {"id", "hint", "version", "created_at", "updated_at", "last_test"},
}


def other(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, dict):
        return {name: other(inner) if name in ("total", "cost", "repeats") else inner for name, inner in value.items()}
    return f"{value}0"


@pytest.mark.parametrize("make", KEPT, ids=lambda make: make.__name__)
async def test_what_get_answers_can_be_put_back(client: httpx.AsyncClient, host: Host, make: Make) -> None:
    session = await host.signed_in("ada")
    path = await make(client, session)
    first = await client.get(path, headers=session)
    back = await client.put(path, json=first.json(), headers=session | {"If-Match": first.headers["etag"]})
    assert back.status_code == 200, back.text
    changing = {"version", "updated_at"}
    assert {name: value for name, value in back.json().items() if name not in changing} == {
        name: value for name, value in first.json().items() if name not in changing
    }


@pytest.mark.parametrize("make", KEPT, ids=lambda make: make.__name__)
async def test_a_read_only_field_that_differs_is_named(client: httpx.AsyncClient, host: Host, make: Make) -> None:
    session = await host.signed_in("ada")
    path = await make(client, session)
    first = await client.get(path, headers=session)
    stale = await client.put(path, json=first.json() | {"version": 77}, headers=session | {"If-Match": '"77.json"'})
    assert stale.status_code == 412
    named: set[str] = set()
    for name in KEPT[make]:
        value = first.json()[name]
        if name == "configuration":
            changed: Any = value | {"billing": "credits"}
        elif name in ("state", "phase", "pause_reason"):
            changed = {"state": "failed", "phase": "combine", "pause_reason": "user"}[name]
        elif name == "last_test":
            changed = {"ok": True, "at": "2026-11-22T00:00:00.000Z"}
        else:
            changed = other(value)
        answer = await client.put(path, json=first.json() | {name: changed}, headers=session)
        assert faults_of(answer) == {name: "is read-only and differs from what is stored"}, name
        named.add(name)
    assert named == KEPT[make]
    every = first.json() | {"id": "another", "version": 77}
    assert set(faults_of(await client.put(path, json=every, headers=session))) == {"id", "version"}
    assert (await client.get(path, headers=session)).json() == first.json()


async def test_a_run_is_renamed_without_a_read_only_field(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    path = await run(client, session)
    answer = await client.put(path, json={"name": "Another"}, headers=session)
    assert (answer.status_code, answer.json()["name"]) == (200, "Another")


async def test_settings_can_be_put_back(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    first = await client.get("/api/settings", headers=session)
    back = await client.put("/api/settings", json=first.json(), headers=session)
    assert (back.status_code, back.json()) == (200, first.json())

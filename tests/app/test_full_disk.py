"""A disk without a byte of room: users sign in, read and delete, and everything else answers 507."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.kit import reserve
from tests.datasets.test_routes import TABLE
from tests.presets.test_drafts import UNFINISHED
from tests.support import program_keys
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, Host, code_of, service
from tests.support.small_disk import SmallDisk, small_disk
from tests.support.web_runs import planned

NOTE = {"name": "A note", "type": "fragment", "body": "kept"}
PRICE = {"input_per_million": "1", "output_per_million": "2"}
UNDONE = {"/api/runs/{run_id}/votes/{vote_id}"}
"""What is no deletion of something that is there."""


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    monkeypatch.setattr(reserve, "RESERVE_BYTES", 16 * 1024 * 1024)
    with small_disk(tmp_path) as disk:
        yield disk


@asynccontextmanager
async def user_on(disk: SmallDisk, settings: Settings, clock: FakeClock) -> AsyncIterator[httpx.AsyncClient]:
    """The client of a service on the disk, with `ada` signed in."""
    async with service(replace(settings, data_dir=disk.path / "data"), clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        yield client


async def one_of_each(client: httpx.AsyncClient, clock: FakeClock) -> dict[str, str]:
    """What can be deleted: a path for each operation that deletes."""
    session = {"X-SVC-Session-Token": client.headers["X-SVC-Session-Token"]}

    async def made(path: str, **body: Any) -> str:
        answer = await client.post(f"/api{path}", **body)
        assert answer.status_code == 201, answer.text
        return f"/api{path}/{answer.json().get('id')}"

    async def put(path: str, body: object) -> str:
        answer = await client.put(f"/api{path}", json=body)
        assert answer.is_success, answer.text
        return f"/api{path}"

    def file(name: str, body: bytes) -> dict[str, tuple[str, bytes, str]]:
        return {"file": (name, body, "application/x")}

    run = await planned(client, session)
    await planned(client, session)
    preset = {"name": "A preset", **(await client.get(f"/api/runs/{run}")).json()["configuration"]}
    key = {"provider": "openai", "key": "sk-of-nobody-0123456789"}
    await made("/provider-keys", json=key)
    await made("/admin/system-keys", json=key, headers=ADMIN)
    connection = {"name": "Texts", "repository": "ada/texts", "token": "ghp_0123456789abcdefghij0123456789abcdef"}
    program = await program_keys.made(client, session)
    await Host(client).create("bob")
    (first,) = (await client.get("/api/users/me/sessions")).json()["items"]
    clock.advance(60)
    client.headers.update(await Host(client).signed_in("ada"))
    return {
        "/api/admin/system-keys/{provider}": "/api/admin/system-keys/openai",
        "/api/admin/users/{uuid}/sessions": "/api/admin/users/bob/sessions",
        "/api/contents/{content_id}": await made("/contents", json=NOTE),
        "/api/data-sets/{data_set_id}": await made("/data-sets", files=file("questions.csv", TABLE)),
        "/api/documents/{document_id}": await made("/documents", files=file("ships.txt", b"Ships." * 100_000)),
        "/api/github-connections/{connection_id}": await made("/github-connections", json=connection),
        "/api/model-prices/{model}": await put("/model-prices/openai:own", PRICE),
        "/api/preset-drafts/{draft_id}": await put(f"/preset-drafts/{uuid4()}", UNFINISHED),
        "/api/presets/{preset_id}": await made("/presets", json=preset),
        "/api/provider-keys/{provider}": "/api/provider-keys/openai",
        "/api/rate-limits/{provider}": await put("/rate-limits/openai", {"requests_per_minute": 1, "concurrency": 1}),
        "/api/runs/{run_id}": f"/api/runs/{run}",
        "/api/runs/bulk": "/api/runs/bulk?state=pending",
        "/api/users/me/program-keys/{program_key_id}": f"{program_keys.KEYS}/{program['id']}",
        "/api/users/me/sessions/{number}": f"/api/users/me/sessions/{first['session']}",
        "/api/users/{uuid}": "/api/users/bob",
    }


async def test_whatever_can_be_deleted_is_deleted(disk: SmallDisk, settings: Settings, clock: FakeClock) -> None:
    async with user_on(disk, settings, clock) as client:
        paths = await one_of_each(client, clock)
        operations = (await client.get("/api/openapi.json")).json()["paths"]
        assert {path for path, found in operations.items() if "delete" in found} - UNDONE == set(paths)
        for operation, path in paths.items():
            disk.fill()
            assert code_of(await client.post("/api/contents", json=NOTE)) == "storage-full", operation
            answer = await client.delete(path, headers=ADMIN if "/admin/" in path else PLUGIN)
            assert answer.is_success, (operation, answer.text)
        assert (await client.post("/api/auth/logout")).status_code == 204


async def test_users_sign_in_and_read_and_nothing_else_is_written(
    disk: SmallDisk, settings: Settings, clock: FakeClock
) -> None:
    async with user_on(disk, settings, clock) as client:
        session = {"X-SVC-Session-Token": client.headers["X-SVC-Session-Token"]}
        content = (await client.post("/api/contents", json=NOTE)).json()
        program = await program_keys.made(client, session)
        disk.fill()
    # Started anew on the full disk.
    async with service(replace(settings, data_dir=disk.path / "data"), clock) as client:
        disk.fill()
        program_session = await program_keys.signed_in(client, program["program_key"])
        for user in (program_session, await Host(client).signed_in("ada")):
            assert (await client.get(f"/api/contents/{content['id']}", headers=user)).json()["body"] == "kept"
        assert (await Host(client).refresh("ada")).status_code == 200
        assert (await client.get("/api/users/me/export", headers=user)).status_code == 200
        # What was lent for the entry of the audit came back but for some kilobytes.
        disk.fill()
        for refused in (
            await client.post("/api/contents", json=NOTE, headers=user),
            await client.put(f"/api/contents/{content['id']}", json=content, headers=user),
            await Host(client).create("bob"),
            await Host(client).rekey("ada", "second", "first"),
        ):
            assert code_of(refused) == "storage-full"


async def test_deletions_do_not_use_the_room_up(disk: SmallDisk, settings: Settings, clock: FakeClock) -> None:
    async with user_on(disk, settings, clock) as client:
        ids = [(await client.post("/api/contents", json=NOTE | {"name": str(n)})).json()["id"] for n in range(100)]
        for number, content in enumerate(ids):
            disk.fill()
            assert (await client.delete(f"/api/contents/{content}")).status_code == 204, number

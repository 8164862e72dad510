"""A host website's server as tests play it: it knows the plugin secret and its users' keys."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from carrel.accounts.slots import folder_of
from carrel.app import create_app
from carrel.config import Settings
from tests.support import begun
from tests.support.asgi import client_of, running
from tests.support.clock import FakeClock

PLUGIN = {"X-SVC-Plugin-Secret": "plugin-secret-for-tests-0123456789abcdef"}
ADMIN = {"X-SVC-Admin-Secret": "admin-secret-for-tests-0123456789abcdef"}


def key_of(uuid: str, password: str = "first") -> str:
    """A key in hex. Derived fast: the slow derivation is the SDK's and is tested there."""
    return hashlib.sha256(f"{uuid}:{password}".encode()).hexdigest()


def token(value: str) -> dict[str, str]:
    """The header that carries a session token."""
    return {"X-SVC-Session-Token": value}


def workspace_file(settings: Settings, uuid: str) -> Path:
    """Where the user's encrypted database is."""
    return folder_of(settings.data_dir, settings.service_key.reveal(), uuid) / "workspace.db"


@asynccontextmanager
async def service(settings: Settings, clock: FakeClock) -> AsyncIterator[httpx.AsyncClient]:
    """The service from start to stop, and a client of it."""
    begun.begin(settings)
    app = create_app(settings, clock=clock)
    async with running(app), client_of(app) as client:
        yield client


class Host:
    """What the host's server does; each call answers with the raw response."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def create(self, uuid: str, membership: str = "paid", **headers: str) -> httpx.Response:
        body = {"uuid": uuid, "membership": membership}
        return await self.client.post("/api/users", json=body, headers=PLUGIN | headers)

    async def login(self, uuid: str, password: str = "first") -> httpx.Response:
        body = {"uuid": uuid, "db_key_hex": key_of(uuid, password)}
        return await self.client.post("/api/auth/login", json=body, headers=PLUGIN)

    async def refresh(self, uuid: str) -> httpx.Response:
        return await self.client.post("/api/auth/refresh", json={"uuid": uuid}, headers=PLUGIN)

    async def rekey(self, uuid: str, new: str, old: str | None = None) -> httpx.Response:
        body: dict[str, Any] = {"uuid": uuid, "new_db_key_hex": key_of(uuid, new)}
        if old is not None:
            body["old_db_key_hex"] = key_of(uuid, old)
        return await self.client.post("/api/auth/rekey", json=body, headers=PLUGIN)

    async def delete(self, uuid: str) -> httpx.Response:
        return await self.client.delete(f"/api/users/{uuid}", headers=PLUGIN)

    async def signed_in(self, uuid: str, membership: str = "paid", password: str = "first") -> dict[str, str]:
        """Create the user if need be and log in; the header for the user's requests."""
        created = await self.create(uuid, membership)
        assert created.status_code in (201, 409), created.text
        answer = await self.login(uuid, password)
        assert answer.status_code == 200, answer.text
        return token(answer.json()["session_token"])


def code_of(answer: httpx.Response) -> str:
    """The stable code of an error; its shape is checked on the way."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert {"type", "title", "status", "detail", "code", "request_id"} <= set(problem) <= {
        "type", "title", "status", "detail", "code", "request_id", "errors"
    }, problem  # fmt: skip
    assert problem["status"] == answer.status_code
    return str(problem["code"])

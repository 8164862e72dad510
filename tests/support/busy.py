"""The whole service with models of a test's own, and runs of theirs over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from carrel.app import create_app, services
from carrel.config import Settings
from carrel.providers.registry import Registry
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import WorkspacePool
from tests.support import begun
from tests.support.asgi import client_of, running
from tests.support.clock import FakeClock
from tests.support.engine import WorkersHere
from tests.support.host import Host
from tests.support.models import TestModels

Json = dict[str, Any]


class Reader:
    """A signed-in user in a program of their own."""

    def __init__(self, client: httpx.AsyncClient, session: dict[str, str]) -> None:
        self._client = client
        self.session = session

    async def ask(self, method: str, path: str, body: object = None) -> httpx.Response:
        return await self._client.request(method, f"/api{path}", json=body, headers=self.session)

    async def get(self, path: str) -> Any:
        answer = await self.ask("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: object = None) -> Any:
        answer = await self.ask("POST", path, body)
        assert answer.status_code in (200, 201, 202), answer.text
        return answer.json()

    async def made(self, *, documents: int = 2, models: tuple[str, ...] = ("one", "two"), **changes: Any) -> str:
        """A pending run of `test:…` models whose answers are scored once; its id."""
        inputs = [await self.content("input_document", f"Document number {n}.") for n in range(1, documents + 1)]
        configuration = {
            "inputs": inputs,
            "instructions": await self.content("generation_instructions", "Summarise."),
            "generation": {
                "candidates": [{"model": f"test:{name}"} for name in models],
                "repeats": changes.pop("repeats", 1),
            },
            "scoring": {
                "judges": [{"model": "test:judge"}],
                "criteria": await self.content("criteria", "- name: Coverage\n- name: Clarity"),
            },
            "limits": {"concurrency": 2},
        } | changes
        return str((await self.post("/runs", {"configuration": configuration}))["id"])

    async def started(self, **changes: Any) -> str:
        run = await self.made(**changes)
        await self.post(f"/runs/{run}/start")
        return run

    async def run(self, run: str) -> Json:
        shown: Json = await self.get(f"/runs/{run}")
        return shown

    async def until(self, run: str, *states: str, quiesced: bool = True) -> Json:
        """The run once it is in one of these states, and at rest unless told otherwise."""
        async with asyncio.timeout(60):
            while True:
                shown = await self.run(run)
                if shown["state"] in states and (shown["quiesced"] or not quiesced):
                    return shown
                await asyncio.sleep(0.005)

    async def tasks(self, run: str, **only: str) -> list[Json]:
        query = "&".join(f"{name}={value}" for name, value in only.items())
        items: list[Json] = (await self.get(f"/runs/{run}/tasks?limit=200&{query}"))["items"]
        return items

    async def events(self, run: str) -> list[tuple[str, str | None]]:
        """The run's log, oldest first."""
        items = (await self.get(f"/runs/{run}/logs?limit=200"))["items"]
        return [(item["event"], item["code"]) for item in items[::-1]]

    async def content(self, kind: str, body: str) -> str:
        return str((await self.post("/contents", {"name": kind, "type": kind, "body": body}))["id"])


class Busy:
    """The running service; `models` are those of the reserved provider `test`."""

    def __init__(
        self, client: httpx.AsyncClient, pool: WorkspacePool, models: TestModels, stopping: asyncio.Event
    ) -> None:
        self.client = client
        self._pool = pool
        self.models = models
        self.stopping = stopping
        self.host = Host(client)

    async def reader(self, uuid: str = "ada", password: str = "first") -> Reader:
        return Reader(self.client, await self.host.signed_in(uuid, password=password))

    async def write(self, sql: str, *params: object, uuid: str = "ada") -> None:
        """Change rows past the service, as for a state that it does not reach here."""
        async with self._pool.leased(UserUuid(uuid)) as workspace:
            await workspace.write(lambda conn: conn.run(sql, *params))

    async def in_flight(self, reader: Reader, calls: int = 2, **changes: Any) -> str:
        """A run with so many calls in flight that end when the gate of the models is opened."""
        self.models.gate.clear()
        run = await reader.started(**changes)
        await self.models.until(in_flight=calls)
        return run


@asynccontextmanager
async def busy_service(
    settings: Settings, clock: FakeClock, models: TestModels, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Busy]:
    """The service from start to stop."""
    monkeypatch.setattr(services, "Registry", lambda own, *rest: Registry([*own, models], *rest))
    monkeypatch.setattr(services, "WorkerPool", WorkersHere)
    pools: list[WorkspacePool] = []

    def pool(*args: Any, **settings: Any) -> WorkspacePool:
        pools.append(WorkspacePool(*args, **settings))
        return pools[-1]

    monkeypatch.setattr(services, "WorkspacePool", pool)
    stopping = asyncio.Event()
    begun.begin(settings)
    app = create_app(settings, clock=clock, stopping=stopping)
    async with running(app), client_of(app) as client:
        yield Busy(client, pools[0], models, stopping)

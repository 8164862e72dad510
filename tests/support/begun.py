"""The data folder of a service that has started once. A copy spares a test the third of a start that makes things."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from carrel.app import create_app, services
from carrel.config import Secret, Settings
from tests.support.asgi import client_of, running
from tests.support.clock import FakeClock
from tests.support.lent_worker import LentWorkers

T = TypeVar("T")
PLUGIN_SECRET = "plugin-secret-for-tests-0123456789abcdef"
ADMIN_SECRET = "admin-secret-for-tests-0123456789abcdef"

_begun: dict[tuple[bytes, str], Path] = {}


def settings_in(folder: Path) -> Settings:
    """Those of the fixture `settings`."""
    return Settings(
        plugin_secret=(Secret(PLUGIN_SECRET.encode()),),
        admin_secret=Secret(ADMIN_SECRET.encode()),
        service_key=Secret(bytes(range(32))),
        data_dir=folder / "data",
    )


def left_by(settings: Settings, live: Callable[[httpx.AsyncClient], Awaitable[T]]) -> T:
    """Let a service live over its folder, from start to stop. What it leaves there may be copied for each test."""

    async def from_start_to_stop() -> T:
        app = create_app(settings, clock=FakeClock())
        async with running(app), client_of(app) as client:
            return await live(client)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "WorkerPool", LentWorkers)
        return asyncio.run(from_start_to_stop())


def make(settings: Settings) -> None:
    """Start a service on its new folder, and keep what it leaves there."""

    async def nothing(_: httpx.AsyncClient) -> None:
        return

    left_by(settings, nothing)
    _begun[settings.service_key.reveal(), settings.cipher] = settings.data_dir


def begin(settings: Settings) -> None:
    """Let a service with these settings find its folder as after a first start, unless there is one already."""
    begun = _begun.get((settings.service_key.reveal(), settings.cipher))
    if begun is not None and not settings.data_dir.exists():
        shutil.copytree(begun, settings.data_dir)

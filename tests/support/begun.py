"""The data folder of a service that has started once. A copy spares a test the third of a start that makes things."""

import asyncio
import shutil
from pathlib import Path

from carrel.app import create_app
from carrel.config import Settings
from tests.support.asgi import running
from tests.support.clock import FakeClock

_begun: dict[tuple[bytes, str], Path] = {}


def make(settings: Settings) -> None:
    """Start a service on its new folder, and keep what it leaves there."""

    async def start_and_stop() -> None:
        async with running(create_app(settings, clock=FakeClock())):
            pass

    asyncio.run(start_and_stop())
    _begun[settings.service_key.reveal(), settings.cipher] = settings.data_dir


def begin(settings: Settings) -> None:
    """Let a service with these settings find its folder as after a first start, unless there is one already."""
    begun = _begun.get((settings.service_key.reveal(), settings.cipher))
    if begun is not None and not settings.data_dir.exists():
        shutil.copytree(begun, settings.data_dir)

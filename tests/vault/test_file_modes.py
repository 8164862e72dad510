"""Who may read what the service writes, also where it is started with a careless umask."""

import os
from collections.abc import Iterator

import pytest

from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.host import Host, service


@pytest.fixture
def careless() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


async def test_files_and_folders_are_their_owners_alone(careless: None, settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        await Host(client).signed_in("ada")
        inside = [settings.data_dir, *settings.data_dir.rglob("*")]
        assert len(inside) > 5
        assert [path for path in inside if path.stat().st_mode & 0o077] == []

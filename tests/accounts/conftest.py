"""What tests of accounts need: a data folder, a service key, and the two kinds of sealed files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from carrel.accounts.accounts import Accounts
from carrel.accounts.service import ServiceDatabase
from carrel.kit.ids import uuid7_factory
from tests.support.clock import FakeClock

SERVICE_KEY = bytes(range(32))

MakeAccounts = Callable[..., Accounts]
MakeService = Callable[..., ServiceDatabase]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    return data


@pytest.fixture
def make_accounts(data: Path) -> Iterator[MakeAccounts]:
    made: list[Accounts] = []

    def make(service_key: bytes = SERVICE_KEY) -> Accounts:
        clock = FakeClock()
        made.append(Accounts(data, service_key, clock=clock, new_id=uuid7_factory(clock)))
        return made[-1]

    yield make
    for accounts in made:
        accounts.close()


@pytest.fixture
def accounts(make_accounts: MakeAccounts) -> Accounts:
    return make_accounts()


@pytest.fixture
def make_service(data: Path) -> Iterator[MakeService]:
    made: list[ServiceDatabase] = []

    def make(service_key: bytes = SERVICE_KEY) -> ServiceDatabase:
        clock = FakeClock()
        made.append(ServiceDatabase(data, service_key, clock=clock, new_id=uuid7_factory(clock)))
        return made[-1]

    yield make
    for service in made:
        service.close()

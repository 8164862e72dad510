"""One etcd for all tests of a module. Each test has a prefix of its own in it."""

import secrets
from collections.abc import AsyncIterator, Iterator

import pytest

from carrel.cluster.etcd import Etcd
from tests.support.etcd import EtcdServer, etcd_server


@pytest.fixture(scope="module")
def server() -> Iterator[EtcdServer]:
    with etcd_server() as server:
        yield server


@pytest.fixture
async def etcd(server: EtcdServer) -> AsyncIterator[Etcd]:
    # Far more than a call takes, because the machine may be busy.
    etcd = Etcd([server.url], call_seconds=20.0)
    yield etcd
    await etcd.close()


@pytest.fixture
def prefix() -> str:
    return f"carrel-{secrets.token_hex(4)}/"

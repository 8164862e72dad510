"""One real service for all tests of this folder: starting it costs a second, each test has users of its own."""

from collections.abc import Iterator

import pytest

from tests.support.service import Service


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    # Nobody listens there: what is called there is unreachable, and no test leaves this machine.
    hosts = {"CARREL_PROVIDER_HOSTS": "api.openai.com,127.0.0.1:9"}
    service = Service(tmp_path_factory.mktemp("service"), settings=hosts)
    service.start()
    yield service
    assert service.stop() == 0

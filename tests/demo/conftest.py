"""One real service for the tests of this folder, and a website of its own for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo.website import Browser, Website
from tests.support.service import Service


@pytest.fixture(autouse=True)
def quick_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow derivation is the SDK's and is tested there; here, on both sides of the wire, a key is a key."""
    monkeypatch.setattr("carrel_sdk.derive.ITERATIONS", 1)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("service"))
    service.start()
    yield service
    assert service.stop() == 0


@pytest.fixture
def website(tmp_path: Path, service: Service) -> Iterator[Website]:
    website = Website(tmp_path / "website", service)
    yield website
    website.wire.hang_up()


@pytest.fixture
def browser(website: Website) -> Browser:
    return website.browser()

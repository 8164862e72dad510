"""One real service for the tests of this folder, and a website of its own for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.carrel_website.website import Browser, Website
from tests.support.service import Service


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

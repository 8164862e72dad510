"""The service behaves as `openapi.json` says: what it forbids is refused, what it promises is kept, and no 500."""

from collections.abc import Iterator

import pytest

from tests.support import soak
from tests.support.generated_requests import MODES, OPERATIONS, behaves, every_secret
from tests.support.service import Service
from tests.support.soak import Figure


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("service"), settings={"CARREL_FREE_PLAN": "full"})
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def headers(service: Service) -> dict[str, str]:
    return every_secret(service, service.admin_secret)


@MODES
@pytest.mark.parametrize("label", OPERATIONS)
def test_the_operation_does_what_it_says(service: Service, headers: dict[str, str], label: str, mode: str) -> None:
    behaves(service, headers, label, mode, 3)


@pytest.mark.soak(campaign="contract")
@MODES
@pytest.mark.parametrize("label", OPERATIONS)
def test_the_operation_always_does_what_it_says(
    service: Service, headers: dict[str, str], label: str, mode: str, figure: Figure
) -> None:
    requests = behaves(service, headers, label, mode, soak.size(100))
    figure("requests generated from openapi.json", requests=requests, answers_of_500=0, undocumented_answers=0)

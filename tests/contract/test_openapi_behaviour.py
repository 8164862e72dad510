"""The service behaves as `openapi.json` says: what it forbids is refused, what it promises is kept, and no 500."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.errors import InvalidSchema
from schemathesis.core.result import Ok, Result
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support import soak
from tests.support.host import key_of
from tests.support.service import Service
from tests.support.soak import Figure

schemathesis.openapi.media_type("application/octet-stream", st.binary(max_size=1_000))


def without_secrets(schema: dict[str, Any]) -> dict[str, Any]:
    """Every request is sent with the right secrets, so a request whose only fault is in them is a good one."""
    del schema["components"]["securitySchemes"]
    for methods in schema["paths"].values():
        for operation in methods.values():
            operation.pop("security", None)
    return schema


SCHEMA = schemathesis.openapi.from_dict(without_secrets(json.loads(Path("openapi.json").read_text())))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


def read(result: Result[APIOperation[Any, Any, Any, Any], InvalidSchema]) -> APIOperation[Any, Any, Any, Any]:
    """The operation; a schema that is invalid ends here."""
    assert isinstance(result, Ok), result
    return result.ok()


OPERATIONS = {operation.label: operation for operation in map(read, SCHEMA.get_all_operations())}
# Documented for every route, but no input of a caller may bring one about.
UNAVOIDED = {500, 507}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("service"), settings={"CARREL_FREE_PLAN": "full"})
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def headers(service: Service) -> dict[str, str]:
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    with httpx.Client(base_url=service.url, headers=plugin, timeout=60) as host:
        host.post("/api/users", json={"uuid": "ada"}).raise_for_status()
        login = host.post("/api/auth/login", json={"uuid": "ada", "db_key_hex": key_of("ada")})
    token = login.json()["session_token"]
    return plugin | {"X-SVC-Admin-Secret": service.admin_secret, "X-SVC-Session-Token": token}


MODES = pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.name.lower()
)


def behaves(service: Service, headers: dict[str, str], label: str, mode: GenerationMode, examples: int) -> int:
    """Send so many generated requests, of the documented kind or against it; how many there were."""
    operation = OPERATIONS[label]
    bodies = {body.media_type for body in operation.body}
    if mode is GenerationMode.NEGATIVE and not operation.query and bodies <= {"application/octet-stream"}:
        # Nothing can be wrong with an absent body, or with bytes.
        return 0
    requests = 0

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def holds(case: Case[Any]) -> None:
        nonlocal requests
        requests += 1
        answer = case.call(base_url=service.url, headers=headers)
        assert answer.status_code not in UNAVOIDED
        case.validate_response(answer, checks=CHECKS)

    holds()
    return requests


@MODES
@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_the_operation_does_what_it_says(
    service: Service, headers: dict[str, str], label: str, mode: GenerationMode
) -> None:
    behaves(service, headers, label, mode, 3)


@pytest.mark.soak(campaign="contract")
@MODES
@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_the_operation_always_does_what_it_says(
    service: Service, headers: dict[str, str], label: str, mode: GenerationMode, figure: Figure
) -> None:
    requests = behaves(service, headers, label, mode, soak.size(100))
    figure("requests generated from openapi.json", requests=requests, answers_of_500=0, undocumented_answers=0)

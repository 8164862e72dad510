"""Requests that are generated from `openapi.json`, of the documented kind or against it, and their answers."""

import json
from pathlib import Path
from typing import Any, Final

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

from tests.support.host import key_of
from tests.support.steady_load import Asked

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
UNAVOIDED: Final = frozenset({500, 507})

MODES = pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.name.lower()
)


def behaves(
    service: Asked,
    headers: dict[str, str],
    label: str,
    mode: GenerationMode,
    examples: int,
    never: frozenset[int] = UNAVOIDED,
) -> int:
    """Send so many generated requests, of the documented kind or against it; how many there were.

    None of the answers has a status of `never`.
    """
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
        assert answer.status_code not in never, answer.text
        case.validate_response(answer, checks=CHECKS)

    holds()
    return requests


def every_secret(service: Asked, admin_secret: str) -> dict[str, str]:
    """The headers of a host, an operator and a user in one."""
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    with httpx.Client(base_url=service.url, headers=plugin, timeout=60) as host:
        host.post("/api/users", json={"uuid": "ada"}).raise_for_status()
        login = host.post("/api/auth/login", json={"uuid": "ada", "db_key_hex": key_of("ada")})
    token = login.json()["session_token"]
    return plugin | {"X-SVC-Admin-Secret": admin_secret, "X-SVC-Session-Token": token}

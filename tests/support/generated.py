"""What Schemathesis makes of `openapi.json`: a second of imports, for the tests that send its requests."""

import json
from pathlib import Path
from typing import Any

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


def send(service: Asked, headers: dict[str, str], label: str, named: str, examples: int, never: frozenset[int]) -> int:
    """Send so many requests; how many there were."""
    operation, mode = OPERATIONS[label], GenerationMode(named)
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

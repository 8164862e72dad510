"""Every query parameter of every route: what it must not be is refused, under the name that the caller sent."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.host import ADMIN, Host, code_of

PATHS: dict[str, Any] = json.loads(Path("openapi.json").read_text(encoding="utf-8"))["paths"]
ROUTES = [
    (method.upper(), path, parameter)
    for path, methods in PATHS.items()
    for method, operation in methods.items()
    for parameter in operation.get("parameters", ())
    if parameter["in"] == "query" and ("enum" in parameter["schema"] or parameter["schema"].get("type") != "string")
]


@pytest.mark.parametrize("wrong", ["canary", "null", "NULL", ""])
@pytest.mark.parametrize(
    ("method", "path", "parameter"), ROUTES, ids=lambda part: part["name"] if isinstance(part, dict) else part
)
async def test_a_wrong_value_is_refused_at_the_parameter_as_it_was_called(
    client: httpx.AsyncClient, host: Host, method: str, path: str, parameter: dict[str, Any], wrong: str
) -> None:
    headers = await host.signed_in("ada") | ADMIN
    url = re.sub(r"\{\w+\}", "nothing", path)
    body: dict[str, Any] | None = {} if PATHS[path][method.lower()].get("requestBody", {}).get("required") else None
    answer = await client.request(method, url, params={parameter["name"]: wrong}, json=body, headers=headers)
    assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    paths = [error["path"] for error in answer.json()["errors"]]
    assert [re.sub(r"\[\d+\]", "", found) for found in paths] == [parameter["name"]]
    assert "canary" not in answer.text
    # Nobody can send null in a query.
    assert "null" not in answer.text

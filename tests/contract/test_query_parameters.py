"""Every query parameter of every route: what it must not be is refused, under the name that the caller sent."""

import json
import re
from pathlib import Path
from typing import Any

import httpx

from tests.support.host import ADMIN, Host, code_of

PATHS: dict[str, Any] = json.loads(Path("openapi.json").read_text(encoding="utf-8"))["paths"]
ROUTES = [
    (method.upper(), path, parameter)
    for path, methods in PATHS.items()
    for method, operation in methods.items()
    for parameter in operation.get("parameters", ())
    if parameter["in"] == "query" and ("enum" in parameter["schema"] or parameter["schema"].get("type") != "string")
]


WRONG = ("canary", "null", "NULL", "")


async def test_every_wrong_value_is_refused_at_the_parameter_as_it_was_called(
    client: httpx.AsyncClient, host: Host
) -> None:
    headers = await host.signed_in("ada") | ADMIN
    assert len(ROUTES) >= 25
    faults = [
        f"{method} {path} {parameter['name']}={wrong!r}: {fault}"
        for method, path, parameter in ROUTES
        for wrong in WRONG
        if (fault := fault_of(await answer_to(client, headers, method, path, parameter["name"], wrong), parameter))
    ]
    assert not faults, "\n".join(faults)


async def answer_to(
    client: httpx.AsyncClient, headers: dict[str, str], method: str, path: str, name: str, value: str
) -> httpx.Response:
    whole = {one["name"] for one in PATHS[path][method.lower()]["parameters"] if one["schema"].get("type") == "integer"}
    url = re.sub(r"\{(\w+)\}", lambda found: "1" if found[1] in whole else "nothing", path)
    body: dict[str, Any] | None = {} if PATHS[path][method.lower()].get("requestBody", {}).get("required") else None
    parameters = PATHS[path][method.lower()].get("parameters", ())
    required = [one for one in parameters if one["in"] == "query" and one.get("required")]
    others = {one["name"]: "1" if one["schema"].get("type") == "integer" else "given" for one in required}
    return await client.request(method, url, params=others | {name: value}, json=body, headers=headers)


def fault_of(answer: httpx.Response, parameter: dict[str, Any]) -> str | None:
    """What is wrong with the refusal of a wrong value."""
    if (answer.status_code, code_of(answer) if answer.status_code >= 400 else "") != (400, "invalid-input"):
        return f"answered with {answer.status_code} {answer.text}"
    paths = [re.sub(r"\[\d+\]", "", error["path"]) for error in answer.json()["errors"]]
    if paths != [parameter["name"]]:
        return f"named {paths}"
    # Nobody can send null in a query.
    if "canary" in answer.text or "null" in answer.text:
        return f"shown in {answer.text}"
    return None

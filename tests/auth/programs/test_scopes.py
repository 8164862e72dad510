"""What programs may do: every operation of `openapi.json`, asked for by programs with each of the scopes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from carrel.auth.programs import scopes
from carrel.auth.programs.scopes import SCOPES, PersonRequired, ScopeMissing
from tests.support.host import Host, code_of
from tests.support.program_keys import made, signed_in
from tests.support.web_runs import content

DOCUMENT: dict[str, Any] = json.loads(Path("openapi.json").read_text(encoding="utf-8"))
NOTHING = "01890000-0000-7000-8000-000000000000"
VALUES = {"provider": "openai", "number": "1", "document": "1", "version": "1", "uuid": "nobody", "model": "local:lead"}
REFUSALS = {"scope-missing", "person-required"}


class Operation(NamedTuple):
    """`scope` is what the document says; `None` if no session token is taken."""

    method: str
    path: str
    scope: str | None
    is_of_sessions: bool

    @property
    def url(self) -> str:
        """The path with values that no row has."""
        path = self.path
        for parameter in path.split("{")[1:]:
            name = parameter.partition("}")[0]
            path = path.replace(f"{{{name}}}", VALUES.get(name, NOTHING))
        return path


def operations() -> Iterator[Operation]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            is_of_sessions = {"SessionToken": []} in operation["security"]
            yield Operation(method.upper(), path, operation.get("x-scope"), is_of_sessions)


def test_every_operation_of_a_session_says_which_scope_a_program_needs() -> None:
    assert not [one for one in operations() if one.is_of_sessions and one.scope not in (*SCOPES, "person")]
    assert not [one for one in operations() if not one.is_of_sessions and one.scope is not None]
    assert {one.scope for one in operations()} == {*SCOPES, "person", None}


def test_what_makes_other_credentials_or_ends_sessions_is_closed_to_programs() -> None:
    closed = {f"{one.method} {one.path.removeprefix('/api')}" for one in operations() if one.scope == "person"}
    assert closed == {
        "POST /auth/logout",
        "GET /users/me/sessions",
        "DELETE /users/me/sessions/{number}",
        "GET /users/me/program-keys",
        "POST /users/me/program-keys",
        "DELETE /users/me/program-keys/{program_key_id}",
        "POST /provider-keys",
        "DELETE /provider-keys/{provider}",
        "POST /github-connections",
        "PUT /github-connections/{connection_id}",
        "DELETE /github-connections/{connection_id}",
    }


async def test_every_operation_refuses_programs_without_its_scope_and_serves_those_with_it(
    client: httpx.AsyncClient, host: Host
) -> None:
    ada = await host.signed_in("ada")
    programs = {
        granted: await signed_in(client, (await made(client, ada, *granted))["program_key"])
        for granted in (*((scope,) for scope in SCOPES), SCOPES)
    }
    checked = 0
    for operation in operations():
        for granted, headers in programs.items():
            answer = await client.request(operation.method, operation.url, headers=headers)
            where = (operation, granted, answer.status_code)
            code = code_of(answer) if answer.status_code >= 400 else ""
            checked += 1
            if not operation.is_of_sessions:
                # With another credential, or with none at all: a program's token counts for nothing.
                assert code not in REFUSALS, where
                if operation.path.startswith(("/api/admin", "/api/users/{uuid}", "/api/auth/")):
                    assert answer.status_code in (400, 401), where
            elif operation.scope == "person":
                assert (answer.status_code, code) == (403, "person-required"), where
            elif operation.scope not in granted:
                assert (answer.status_code, code) == (403, "scope-missing"), where
            else:
                assert answer.status_code in (200, 201, 202, 204, 400, 404, 409), where
    assert checked == 4 * len([*operations()])
    # Nothing of all that ended the user's own session.
    assert (await client.get("/api/users/me", headers=ada)).status_code == 200


async def test_an_own_configuration_that_writes_elsewhere_needs_the_scope_write_too(
    client: httpx.AsyncClient, host: Host
) -> None:
    ada = await host.signed_in("ada")
    runs = await signed_in(client, (await made(client, ada, "run", "read"))["program_key"])
    both = await signed_in(client, (await made(client, ada, "run", "write"))["program_key"])
    configuration: dict[str, Any] = {
        "inputs": [await content(client, ada, "input_document", "The secret plan. It has two parts.")],
        "instructions": await content(client, ada, "generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": "local:lead"}]},
    }
    library = configuration | {"output": {"destination": "library", "answers": "all"}}
    output = {"destination": "github", "connection": NOTHING, "path": "x", "branch": "main"}
    github = configuration | {"output": output}

    async def asked(who: dict[str, str], path: str, body: object) -> tuple[int, str]:
        answer = await client.post(f"/api/{path}", json=body, headers=who | {"Idempotency-Key": "the-same"})
        return answer.status_code, code_of(answer) if answer.status_code >= 400 else ""

    missing = (403, "scope-missing")
    assert await asked(ada, "runs", {"configuration": library}) == (201, "")
    # Before anything that it names is looked up, and whether or not it is only tried, or was made by somebody else.
    for own in (library, github, library | {"inputs": [NOTHING]}):
        for more in ({}, {"trial": True}, {"preset_id": NOTHING}):
            for path in ("runs", "runs?dry_run=true"):
                assert await asked(runs, path, {"configuration": own} | more) == missing, (path, own, more)
    # A body that cannot be read is told first, and one with a fault comes to whoever may write.
    assert await asked(runs, "runs", {"configuration": library | {"nothing": 1}}) == (400, "invalid-input")
    assert (await asked(both, "runs?dry_run=true", {"configuration": github}))[0] == 400
    preset = await client.post("/api/presets", json={"name": "Deliver"} | library, headers=both)
    assert preset.status_code == 201
    # Where a preset delivers its answers was the word of somebody who may write.
    assert await asked(runs, f"presets/{preset.json()['id']}/execute", {}) == (202, "")
    answer = await client.post("/api/runs", json={"configuration": configuration}, headers=runs)
    assert answer.status_code == 201


@pytest.mark.parametrize("needed", [None, "person", "admin"])
def test_a_route_that_declares_no_scope_is_closed_to_programs(needed: str | None) -> None:
    with pytest.raises(PersonRequired):
        scopes.require(frozenset(SCOPES), needed)
    with pytest.raises(ScopeMissing):
        scopes.require(frozenset(), "read")

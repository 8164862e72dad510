"""Specification, section 4.2: each row of the route list, and the one shape of every error of every route."""

import httpx
import pytest

from tests.support.host import ADMIN, PLUGIN, Host, code_of
from tests.support.route_list import GROUPS, ROUTES, Route

MISSING = {"session": "session-token-missing", "plugin": "plugin-secret-missing", "admin": "admin-secret-missing"}


def name_of(route: Route) -> str:
    return f"{route.method} {route.template}"


async def credentials(host: Host, route: Route) -> dict[str, str]:
    match route.credential:
        case "session":
            return await host.signed_in("ada")
        case "plugin":
            return PLUGIN
        case "admin":
            return ADMIN
    return {}


@pytest.mark.parametrize("group", GROUPS)
async def test_every_route_of_the_group_is_there(client: httpx.AsyncClient, host: Host, group: str) -> None:
    for route in (route for route in ROUTES if route.group == group):
        answer = await client.request(route.method, route.path, headers=await credentials(host, route))
        assert answer.status_code != 405, name_of(route)
        assert answer.status_code < 500, (name_of(route), answer.text)
        if answer.status_code == 404:
            assert code_of(answer) != "route-unknown", name_of(route)


async def test_every_error_of_every_route_has_the_one_shape(client: httpx.AsyncClient, host: Host) -> None:
    faults = []
    for route in ROUTES:
        try:
            await check_errors(client, route, await credentials(host, route))
        except AssertionError as fault:
            faults.append(f"{name_of(route)}: {fault}")
    assert not faults, "\n".join(faults)


async def check_errors(client: httpx.AsyncClient, route: Route, good: dict[str, str]) -> None:
    """`code_of` checks status, media type and fields of each."""
    if route.credential != "none":
        missing = await client.request(route.method, route.path)
        assert (missing.status_code, code_of(missing)) == (401, MISSING[route.credential])
        wrong = await client.request(route.method, route.path, headers=dict.fromkeys(good, "wrong"))
        assert wrong.status_code == 401
        code_of(wrong)

    not_allowed = await client.request("PATCH", route.path, headers=good)
    assert (not_allowed.status_code, code_of(not_allowed)) == (405, "method-not-allowed")

    unknown = await client.request(route.method, f"{route.path}?surprise=canary", headers=good)
    assert unknown.status_code in (400, 415), unknown.text
    code_of(unknown)
    assert "canary" not in unknown.text

    if route.method in ("POST", "PUT"):
        for content, kind, statuses in (
            (b'{"surprise": "canary"}', "application/json", (400, 404, 409)),
            (b"{canary", "application/json", (400, 404, 409)),
            (b"\xff\xfe", "application/json", (400, 404, 409)),
            (b"[" * 100_000, "application/json", (400, 404, 409)),
            (b"canary", "text/plain", (404, 409, 415)),
            (b" " * (2 * 1024 * 1024 + 1), "application/json", (404, 409, 413)),
        ):
            headers = good | {"Content-Type": kind}
            answer = await client.request(route.method, route.path, content=content, headers=headers)
            # A route that takes no body refuses one of whatever type.
            assert answer.status_code in statuses or code_of(answer) == "unexpected-body", (content[:20], answer.text)
            code_of(answer)
            assert "canary" not in answer.text

    if "{" in route.template:
        nothing = await client.request(route.method, route.path, headers=good)
        assert nothing.status_code in (400, 404, 415), nothing.text
        code_of(nothing)


async def test_an_unknown_route_is_404_in_the_same_shape(client: httpx.AsyncClient) -> None:
    for path in ("/api", "/api/", "/api/nothing", "/api/contents/a/b/c", "/api/../etc/passwd", "/favicon.ico"):
        answer = await client.get(path)
        assert (answer.status_code, code_of(answer)) == (404, "route-unknown"), path

"""Programs as tests play them: a key that a user has made, and the exchange for a session token."""

from typing import Any

import httpx

from tests.support.host import token

KEYS = "/api/users/me/program-keys"


async def made(
    client: httpx.AsyncClient, user: dict[str, str], *scopes: str, days: int = 90, name: str = "nightly"
) -> dict[str, Any]:
    """A new key of the user with these headers; by default it may only read."""
    body = {"name": name, "scopes": list(scopes or ("read",)), "days": days}
    answer = await client.post(KEYS, json=body, headers=user)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def exchanged(client: httpx.AsyncClient, program_key: str) -> httpx.Response:
    """The answer to a program that presents this key."""
    return await client.post("/api/auth/program", json={"program_key": program_key})


async def signed_in(client: httpx.AsyncClient, program_key: str) -> dict[str, str]:
    """The header for the requests of a program."""
    answer = await exchanged(client, program_key)
    assert answer.status_code == 200, answer.text
    return token(answer.json()["session_token"])

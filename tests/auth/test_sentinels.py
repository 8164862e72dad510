"""Random secrets in every place of every operation's request, and in errors inside: none in logs, errors or metrics."""

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest

from carrel.config import Settings
from carrel.kit import logs
from carrel.vault.workspace import Workspace
from tests.support import soak
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, Host, service
from tests.support.soak import Figure

HEADERS = (
    *("X-SVC-Session-Token", "X-SVC-Plugin-Secret", "X-SVC-Admin-Secret", "Authorization", "Cookie", "Origin"),
    *("If-Match", "If-None-Match", "Idempotency-Key", "Accept", "Content-Type", "User-Agent"),
)
"""Not `X-Request-Id`: whoever sends one wants to find it again."""
OPERATIONS = [
    (method, path, operation)
    for path, methods in json.loads(Path("openapi.json").read_text())["paths"].items()
    for method, operation in methods.items()
]
PARTS = 4


def sentinel(chance: random.Random) -> str:
    """A secret of one of the shapes that secrets have; the last looks like nothing. As long as keys and tokens are.

    Shorter words that are sent as the name of a field are repeated in an error, to show what was misspelt.
    """
    letters = "".join(chance.choices("bcdfghjklmnpqrstvwxz", k=40))
    return chance.choice(
        [chance.randbytes(32).hex(), f"sk-{letters}", f"carrel_{letters}", f"{letters}.{letters}", letters]
    )


def spoiled(chance: random.Random, secret: str, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    """A request with the secret somewhere in it, at random."""
    request: dict[str, Any] = {"url": re.sub(r"\{[^}]+\}", "1", path), "params": {}, "headers": {}, "content": b""}
    place = chance.choice(["path", "query", "unknown query", "header", "body", "body", "no JSON", "text"])
    queries = [one["name"] for one in operation.get("parameters", []) if one.get("in") == "query"]
    match place:
        case "path":
            request["url"] = re.sub(r"\{[^}]+\}", secret, path) if "{" in path else f"{path}/{secret}"
        case "query" if queries:
            request["params"] = {chance.choice(queries): secret}
        case "query" | "unknown query":
            request["params"] = {secret: secret}
        case "header":
            request["headers"] = {chance.choice(HEADERS): secret}
        case "text":
            request |= {"content": secret.encode(), "headers": {"Content-Type": "text/plain"}}
        case _:
            body = chance.choice([secret, [secret], {secret: secret}, named(chance, secret), named(chance, secret)])
            text = json.dumps(body)
            request["content"] = (text[:-1] if place == "no JSON" else text).encode()
    return request


def named(chance: random.Random, secret: str) -> dict[str, Any]:
    """Fields that many bodies have, each with the secret in another shape."""
    shapes: list[Any] = [secret, [secret], {"a": secret}, {secret: 1}]
    names = "uuid db_key_hex new_db_key_hex old_db_key_hex name type body key provider base_url token configuration"
    return {name: chance.choice(shapes) for name in [*names.split(), "amount", "reason", "tags", "variables"]}


@contextmanager
def broken_inside(secret: str) -> Iterator[None]:
    """Every read of a workspace fails, by an error with the secret in its words."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError(secret, {"key": secret})

    with patch.object(Workspace, "read", fail), patch.object(Workspace, "write", fail):
        yield


async def leaks(
    settings: Settings, clock: FakeClock, capfd: pytest.CaptureFixture[str], seed: str, rounds: int
) -> tuple[int, list[str]]:
    """How many requests there were, and where a secret was found."""
    chance = random.Random(seed)
    secrets, found, requests = [], [], 0
    logs.configure("debug")
    try:
        async with service(settings, clock) as client:
            client.headers.update(PLUGIN | ADMIN | await Host(client).signed_in("ada"))
            for _ in range(rounds):
                for method, path, operation in OPERATIONS:
                    secret = sentinel(chance)
                    secrets.append(secret)
                    request = spoiled(chance, secret, path, operation)
                    if chance.random() < 0.1:
                        with broken_inside(secret):
                            answer = await sent(client, method, request)
                    else:
                        answer = await sent(client, method, request)
                    requests += 1
                    if answer.status_code >= 400 and secret in answer.text + str(answer.headers):
                        found.append(f"{answer.status_code} of {method} {path} {request} {answer.text}")
                client.headers.update(await Host(client).signed_in("ada"))
            metrics = (await client.get("/api/metrics", headers=ADMIN)).text
    finally:
        logs.configure("info")
    out, err = capfd.readouterr()
    assert '"status":' in err, "there was a log"
    found += [f"the log or metrics: {secret}" for secret in secrets if secret in out + err + metrics]
    return requests, found


async def sent(client: httpx.AsyncClient, method: str, request: dict[str, Any]) -> httpx.Response:
    return await client.request(method, **request)


async def test_no_random_secret_comes_out_anywhere(
    settings: Settings, clock: FakeClock, capfd: pytest.CaptureFixture[str]
) -> None:
    requests, found = await leaks(settings, clock, capfd, "short", 1)
    assert found == []
    assert requests == len(OPERATIONS)


@pytest.mark.soak(campaign="sentinels")
@pytest.mark.parametrize("part", range(PARTS))
async def test_none_of_many_random_secrets_comes_out_anywhere(
    settings: Settings, clock: FakeClock, capfd: pytest.CaptureFixture[str], part: int, figure: Figure
) -> None:
    requests, found = await leaks(settings, clock, capfd, f"{part}", soak.size(100))
    assert found == []
    figure("random secrets in every operation's request and errors", requests=requests, found_again=0)

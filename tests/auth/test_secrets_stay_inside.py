"""No key, token or secret in a log line, an error body, a header or a `repr`, whatever a host or an attacker sends."""

import inspect
import json
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from rich.pretty import pretty_repr
from starlette.types import ASGIApp

from carrel.auth import schemas
from carrel.auth.schemas import LoginIn, RekeyIn, SessionOut, key_from
from carrel.auth.sign_in import NotProvisioned
from carrel.config import Settings
from carrel.http.requests.schema import Hidden
from carrel.keys.store import ProviderKeyIn
from carrel.kit.sqlite.database import KeyRejected
from carrel.vault.keyring import UserUuid
from tests.support.auth_stack import auth_stack, key_of
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, Host, service, token

AUTH = ("/api/auth/login", "/api/auth/refresh", "/api/auth/rekey")


def shapes(secret: str) -> list[object]:
    """Bodies that a confused host could send with a secret in every place."""
    return [
        {"uuid": "ada", "db_key_hex": secret},
        {"uuid": "ada", "new_db_key_hex": secret},
        {"uuid": "ada", "new_db_key_hex": secret, "old_db_key_hex": secret[:-1]},
        {"uuid": "ada", "db_key_hex": secret + "x"},
        {"uuid": secret + "/", "db_key_hex": "x"},
        {"uuid": "ada", secret: 1},
        {"uuid": ["ada", secret]},
        {"uuid": {secret: secret}},
        [secret],
        secret,
    ]


async def test_no_secret_leaves_by_an_answer_or_a_log(
    settings: Settings, clock: FakeClock, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = secrets.token_hex(32)
    inside = [wrong, PLUGIN["X-SVC-Plugin-Secret"], ADMIN["X-SVC-Admin-Secret"], bytes(range(32)).hex()]
    answers: list[httpx.Response] = []
    async with service(settings, clock) as client:
        host = Host(client)
        session = (await host.signed_in("ada"))["X-SVC-Session-Token"]
        for path in AUTH:
            for body in shapes(wrong):
                answers.append(await client.post(path, json=body, headers=PLUGIN))
                answers.append(await client.post(path, content=json.dumps(body)[:-1], headers=PLUGIN))
            answers.append(await client.post(path, json={}, headers={"X-SVC-Plugin-Secret": wrong}))
            answers.append(await client.post(f"{path}?key={wrong}", json={"uuid": "ada"}, headers=PLUGIN))
        for header in ("X-SVC-Session-Token", "X-SVC-Plugin-Secret", "X-SVC-Admin-Secret", "Origin"):
            answers += [await client.get(path, headers={header: wrong}) for path in ("/api/users/me", "/api/admin/x")]
        for method, path in (("GET", f"/api/{wrong}"), ("DELETE", f"/api/users/{wrong}"), ("PATCH", f"/{wrong}")):
            answers.append(await client.request(method, path, headers=PLUGIN))
        answers.append(await client.get("/api/users/me", headers=token(session[:-1])))
        answers.append(await client.get(f"/api/users/me?token={session}", headers=token(session)))
    out, err = capfd.readouterr()
    assert '"status":401' in err, "there was a log"
    for secret in (*inside, session, session.partition(".")[2]):
        assert secret not in out + err
    for answer in answers:
        text = answer.text + str(answer.headers)
        assert not any(secret in text for secret in (*inside, session)), answer.request.url


def test_no_repr_and_no_pretty_printer_shows_what_a_request_holds() -> None:
    canary = "0123456789abcdef" * 4
    for struct in (
        LoginIn(uuid="ada", db_key_hex=canary),
        RekeyIn(uuid="ada", new_db_key_hex=canary, old_db_key_hex=canary),
        SessionOut(canary),
        ProviderKeyIn(provider="openai", key=canary, base_url=f"https://{canary}"),
    ):
        for shown in (repr(struct), str(struct), f"{struct}", pretty_repr(struct), pretty_repr([struct])):
            assert canary not in shown


def test_every_struct_of_the_auth_routes_that_holds_a_secret_hides_it() -> None:
    for name, struct in inspect.getmembers(schemas, inspect.isclass):
        if issubclass(struct, msgspec.Struct) and any("key" in f or "token" in f for f in struct.__struct_fields__):
            assert issubclass(struct, Hidden), name


def test_the_digits_of_a_key_are_overwritten_once_they_are_read() -> None:
    body = msgspec.json.encode({"uuid": "ada", "db_key_hex": "0123456789ABCDEFabcdef" + "7" * 42})
    data = msgspec.json.decode(body, type=LoginIn)
    key = key_from(data.db_key_hex)
    assert len(key) == 32
    assert data.db_key_hex == "*" * 64


async def test_a_key_is_overwritten_whatever_becomes_of_its_request(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        sign_in, keys = stack.sign_in, [key_of(*one) for one in (("ada",), ("ada", "new"), ("ada", "wrong"), ("bob",))]
        good, new, wrong, of_nobody = keys
        for uuid, key in (("ada", good), ("ada", wrong), ("bob", of_nobody)):
            with suppress(KeyRejected, NotProvisioned):
                await sign_in.login(UserUuid(uuid), key)
        old = key_of("ada")
        await sign_in.rekey(UserUuid("ada"), new, old)
    assert not any(map(any, (*keys, old)))


@pytest.mark.parametrize(
    ("path", "fields", "secret", "expected"),
    [
        ("/api/auth/login", '"uuid": "ada", "db_key_hex"', PLUGIN, 401),
        ("/api/auth/login", '"uuid": "ada", "unknown": 1, "db_key_hex"', PLUGIN, 400),
        ("/api/admin/system-keys", '"provider": "openai", "unknown": 1, "key"', ADMIN, 400),
    ],
)
async def test_the_body_in_which_a_key_came_is_overwritten_too(
    app: ASGIApp, path: str, fields: str, secret: dict[str, str], expected: int
) -> None:
    body = f'{{{fields}: "{secrets.token_hex(32)}"}}'.encode()
    status = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        status.append(message.get("status"))

    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(name.lower().encode(), value.encode()) for name, value in secret.items()]
    scope: Any = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode()}
    scope |= {"query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http", "root_path": ""}
    await app(scope | {"server": ("test", 80), "client": ("test", 1), "extensions": {}}, receive, send)
    assert status[0] == expected
    assert body == b"*" * len(body)

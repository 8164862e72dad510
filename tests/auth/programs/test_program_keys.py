"""Programs that sign in, through HTTP with real encrypted databases: what a key opens, and what ends it."""

import asyncio
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import httpx
import msgspec
import pytest

from carrel.accounts.accounts import Accounts
from carrel.accounts.program_keys import MAX_KEYS
from carrel.accounts.slots import file_key, folder_of
from carrel.auth import sign_out, tokens
from carrel.auth.programs.sign_in import SIGN_INS_PER_MINUTE
from carrel.config import Settings
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of, service, token
from tests.support.program_keys import KEYS, exchanged, made, signed_in

ME = "/api/users/me"
DAY = 86_400


@contextmanager
def account_of(settings: Settings, clock: FakeClock, uuid: str) -> Iterator[Connection]:
    """What somebody with the disk and the service key sees."""
    key = settings.service_key.reveal()
    connection = database.connect(
        folder_of(settings.data_dir, key, uuid) / "account.db",
        file_key(key, "account", uuid),
        clock=clock,
        new_id=uuid7_factory(clock),
    )
    try:
        yield connection
    finally:
        database.close(connection)


async def keys_in_memory(client: httpx.AsyncClient) -> int:
    return int((await client.get("/api/health/safe-to-restart", headers=PLUGIN)).json()["cached_keys"])


async def test_a_program_opens_the_workspace_of_a_user_who_is_away_and_lets_nobody_else_in(
    settings: Settings, clock: FakeClock
) -> None:
    async with service(settings, clock) as client:
        host = Host(client)
        ada = await host.signed_in("ada")
        content = {"name": "a", "type": "fragment", "body": "the text"}
        await client.post("/api/contents", json=content, headers=ada)
        key = await made(client, ada, "read", name="CI at night")
    async with service(settings, clock) as client:
        host = Host(client)
        assert await keys_in_memory(client) == 0
        answer = await exchanged(client, key["program_key"])
        session = answer.json()
        assert (session["uuid"], session["program"], session["scopes"]) == ("ada", key["id"], ["read"])
        assert session["expires_in"] == tokens.LIFETIME_SECONDS
        assert await keys_in_memory(client) == 1
        program = token(session["session_token"])
        (item,) = (await client.get("/api/contents", headers=program)).json()["items"]
        assert item["body_preview"] == "the text"
        # The key is there for the program alone: not for the user's earlier token, nor for the host.
        assert code_of(await client.get(ME, headers=ada)) == "key-not-cached"
        assert code_of(await host.refresh("ada")) == "key-not-cached"
        assert code_of(await host.rekey("ada", "second")) == "old-key-required"
        back = await host.signed_in("ada")
        for headers in (ada, back, program):
            assert (await client.get(ME, headers=headers)).status_code == 200
    async with service(settings, clock) as client:
        # As any token after a restart; the program exchanges its key again.
        assert code_of(await client.get(ME, headers=program)) == "key-not-cached"
        assert (await client.get(ME, headers=await signed_in(client, key["program_key"]))).status_code == 200


async def test_the_key_leaves_memory_when_the_session_of_the_program_is_over(
    settings: Settings, clock: FakeClock
) -> None:
    async with service(settings, clock) as client:
        key = await made(client, await Host(client).signed_in("ada"))
    with patch.object(sign_out, "LOOK_SECONDS", 0), patch.object(sign_out, "PROGRAM_LOOK_SECONDS", 0):
        async with service(settings, clock) as client:
            program = await signed_in(client, key["program_key"])
            clock.advance(3599)
            assert (await client.get(ME, headers=program)).status_code == 200
            assert await keys_in_memory(client) == 1
            # The creation of the user moved the first second of issue ahead of the clock.
            clock.advance(2)
            assert code_of(await client.get(ME, headers=program)) == "session-token-expired"
            async with asyncio.timeout(30):
                while await keys_in_memory(client):
                    await asyncio.sleep(0)
            assert (await client.get(ME, headers=await signed_in(client, key["program_key"]))).status_code == 200


async def test_a_key_is_shown_once_and_listed_with_its_last_use(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    ada = await host.signed_in("ada")
    key = await made(client, ada, "write", "read", days=7, name="Nightly ☾")
    clock.advance(90)
    program = await signed_in(client, key["program_key"])
    clock.advance(600)
    await client.get(ME, headers=program)
    answer = await client.get(KEYS, headers=ada)
    assert key["program_key"] not in answer.text
    listed = answer.json()
    assert (listed["allowed"], listed["most"]) == (True, MAX_KEYS)
    (shown,) = listed["items"]
    assert shown.pop("last_used_at") > key["created_at"]
    assert shown == {
        "id": key["id"],
        "name": "Nightly ☾",
        "scopes": ["read", "write"],
        "state": "active",
        "created_at": key["created_at"],
        "expires_at": key["expires_at"],
        "ended_at": None,
    }
    # A program shows up in the list of keys, not in that of the user's own sessions.
    assert len((await client.get("/api/users/me/sessions", headers=ada)).json()["items"]) == 1
    assert (await client.get(KEYS, headers=await host.signed_in("bob"))).json()["items"] == []


@pytest.mark.parametrize(
    ("end", "state"),
    [("revoke", "revoked"), ("rekey", "password-changed"), ("deactivate", "deactivated"), ("delete", None)],
)
async def test_what_ends_a_key_ends_its_sessions_too_at_once_and_for_good(
    settings: Settings, clock: FakeClock, end: str, state: str | None
) -> None:
    async with service(settings, clock) as client:
        host = Host(client)
        ada = await host.signed_in("ada")
        key, other = await made(client, ada, name="first"), await made(client, ada, name="second")
        program, second = await signed_in(client, key["program_key"]), await signed_in(client, other["program_key"])
        match end:
            case "revoke":
                assert (await client.delete(f"{KEYS}/{key['id']}", headers=ada)).status_code == 204
                assert code_of(await client.delete(f"{KEYS}/{key['id']}", headers=ada)) == "program-key-not-found"
                assert (await client.get(ME, headers=second)).status_code == 200
            case "rekey":
                ada = token((await host.rekey("ada", "second")).json()["session_token"])
            case "deactivate":
                assert (await client.post("/api/users/ada/deactivate", headers=PLUGIN)).status_code == 200
                await client.post("/api/users/ada/activate", headers=PLUGIN)
            case "delete":
                assert (await host.delete("ada")).status_code == 204
                ada = await host.signed_in("ada")
        assert code_of(await client.get(ME, headers=program)) == "session-token-revoked"
        assert code_of(await exchanged(client, key["program_key"])) == "program-key-revoked"
        if state is not None:
            listed = (await client.get(KEYS, headers=ada)).json()["items"]
            (shown,) = [one for one in listed if one["id"] == key["id"]]
            # With its name, also after the user's key has changed.
            assert (shown["name"], shown["state"]) == ("first", state)
            assert shown["ended_at"] is not None
            with account_of(settings, clock, "ada") as account:
                assert account.value("SELECT wrapped FROM program_key WHERE id = ?", key["id"]) is None
    async with service(settings, clock) as client:
        assert code_of(await exchanged(client, key["program_key"])) == "program-key-revoked"
        assert await keys_in_memory(client) == 0


async def test_a_sign_out_ends_the_sessions_of_programs_and_leaves_their_keys(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    ada = await host.signed_in("ada")
    key = await made(client, ada)
    program = await signed_in(client, key["program_key"])
    clock.advance(5)
    assert (await client.post("/api/auth/logout", headers=ada)).status_code == 204
    assert await keys_in_memory(client) == 0
    again = await signed_in(client, key["program_key"])
    assert code_of(await client.get(ME, headers=program)) == "session-token-revoked"
    assert (await client.get(ME, headers=again)).status_code == 200
    assert code_of(await host.refresh("ada")) == "key-not-cached"
    # A program can end neither the user's sessions nor its own.
    assert code_of(await client.post("/api/auth/logout", headers=again)) == "person-required"


async def test_a_key_expires_with_its_days_and_so_does_the_last_session(settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        ada = await Host(client).signed_in("ada")
        key = await made(client, ada, days=1)
        clock.advance(DAY - 60)
        answer = await exchanged(client, key["program_key"])
        assert answer.json()["expires_in"] == 60
        clock.advance(60)
        program = token(answer.json()["session_token"])
        assert code_of(await client.get(ME, headers=program)) == "session-token-expired"
        assert code_of(await exchanged(client, key["program_key"])) == "program-key-expired"
        ada = await Host(client).signed_in("ada")
        assert [one["state"] for one in (await client.get(KEYS, headers=ada)).json()["items"]] == ["expired"]
        assert code_of(await client.delete(f"{KEYS}/{key['id']}", headers=ada)) == "program-key-not-found"
        # The next key drops what the expired one wraps. A clock that is set back does not bring it back.
        await made(client, ada)
        with account_of(settings, clock, "ada") as account:
            assert account.value("SELECT wrapped FROM program_key WHERE id = ?", key["id"]) is None
        clock.set_back(600)
        assert code_of(await exchanged(client, key["program_key"])) == "program-key-expired"
        clock.advance(600 + 31 * DAY)
        ada = await Host(client).signed_in("ada")
        await made(client, ada)
        listed = (await client.get(KEYS, headers=ada)).json()["items"]
        assert key["id"] not in [one["id"] for one in listed]


async def test_a_key_that_was_never_issued_is_refused_without_a_look_at_any_file(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await host.signed_in("ada")
    await host.signed_in("bob")
    key = str((await made(client, ada))["program_key"])
    head, _, tail = key.partition(".")

    def refuse(*_: object) -> None:
        raise AssertionError("a file was looked at")

    monkeypatch.setattr(Accounts, "read", refuse)
    wrong = [
        *(f"{head}.{tail[:at]}{'0' if tail[at] != '0' else '1'}{tail[at + 1 :]}" for at in range(len(tail))),
        key.replace("_ada.", "_bob."),
        key.replace("_ada.", "_nobody."),
        key.upper(),
        *(key[:at] for at in (0, 10, 40, len(key) - 1)),
        f"{key}0",
        f"{key}\n",
        f" {key}",
        key.replace(".", "。"),
        "carrel_pk_",
        "\x01" * 140,
    ]
    for one in wrong:
        answer = await exchanged(client, one)
        assert (answer.status_code, code_of(answer)) == (401, "program-key-invalid"), one
    for body in (
        {},
        {"program_key": None},
        {"program_key": 7},
        {"program_key": "\0"},
        {"program_key": "x" * 513},
        {"key": key},
    ):
        assert code_of(await client.post("/api/auth/program", json=body)) == "invalid-input"
    # Anybody may send a body here, so it has to be a short one.
    long = await client.post("/api/auth/program", json={"program_key": "x" * 8 * 1024})
    assert (long.status_code, code_of(long)) == (413, "too-large")


async def test_neither_kind_of_token_passes_for_the_other(client: httpx.AsyncClient, host: Host) -> None:
    ada = await host.signed_in("ada")
    key = await made(client, ada)
    text = (await exchanged(client, key["program_key"])).json()["session_token"]
    unmarked = text.removeprefix("carrel_pt_")
    payload = unmarked.partition(".")[0]
    # A host that signs by the specification, with the same payload.
    decoded = urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    signed = tokens.signed(decoded, PLUGIN["X-SVC-Plugin-Secret"].encode())
    own = ada["X-SVC-Session-Token"]
    for forged in (unmarked, f"carrel_pt_{own}", f"carrel_pt_{signed}", signed, f"carrel_pt_{text}"):
        assert code_of(await client.get(ME, headers=token(forged))) == "session-token-invalid"
    assert code_of(await client.get(ME, headers=token(key["program_key"]))) == "session-token-invalid"


async def test_the_limits_of_a_key_and_of_their_number(client: httpx.AsyncClient, host: Host) -> None:
    ada = await host.signed_in("ada")
    for body in (
        {"name": "", "scopes": ["read"]},
        {"name": "n" * 101, "scopes": ["read"]},
        {"name": "n", "scopes": []},
        {"name": "n", "scopes": ["admin"]},
        {"name": "n", "scopes": ["read"], "days": 0},
        {"name": "n", "scopes": ["read"], "days": 366},
        {"name": "n"},
    ):
        assert code_of(await client.post(KEYS, json=body, headers=ada)) == "invalid-input", body
    keys = [await made(client, ada, "read", "read", name="n" * 100) for _ in range(MAX_KEYS)]
    assert keys[0]["scopes"] == ["read"]
    body = {"name": "n", "scopes": ["read"]}
    answer = await client.post(KEYS, json=body, headers=ada)
    assert (answer.status_code, code_of(answer)) == (409, "too-many-program-keys")
    await client.delete(f"{KEYS}/{keys[3]['id']}", headers=ada)
    await made(client, ada)
    free = await host.signed_in("eve", membership="free")
    assert code_of(await client.post(KEYS, json=body, headers=free)) == "membership-required"
    assert (await client.get(KEYS, headers=free)).status_code == 200


async def test_a_key_signs_in_so_many_times_a_minute_and_strangers_use_none_of_them_up(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    ada = await host.signed_in("ada")
    key, other = await made(client, ada), await made(client, ada)
    text = key["program_key"]
    for number in range(SIGN_INS_PER_MINUTE):
        assert (await exchanged(client, text)).status_code == 200
        assert code_of(await exchanged(client, f"{text[:-3]}{number:03}")) == "program-key-invalid"
    answer = await exchanged(client, text)
    assert (answer.status_code, code_of(answer)) == (429, "too-many-program-sign-ins")
    clock.advance(int(answer.headers["retry-after"]))
    assert (await exchanged(client, text)).status_code == 200
    assert (await exchanged(client, other["program_key"])).status_code == 200


async def test_an_operator_can_forbid_program_keys(settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        key = await made(client, await Host(client).signed_in("ada"))
    forbidding = msgspec.structs.replace(settings, program_keys="off")
    async with service(forbidding, clock) as client:
        ada = await Host(client).signed_in("ada")
        for answer in (
            await exchanged(client, key["program_key"]),
            await client.post(KEYS, json={"name": "n", "scopes": ["read"]}, headers=ada),
        ):
            assert (answer.status_code, code_of(answer)) == (403, "program-keys-disabled")
        listed = (await client.get(KEYS, headers=ada)).json()
        assert listed["allowed"] is False
        assert (await client.delete(f"{KEYS}/{listed['items'][0]['id']}", headers=ada)).status_code == 204


async def test_the_account_tells_neither_names_nor_keys_and_an_altered_row_opens_nothing(
    settings: Settings, clock: FakeClock
) -> None:
    async with service(settings, clock) as client:
        key = await made(client, await Host(client).signed_in("ada"), "read", name="Canary of the name")
    secret = key["program_key"].partition(".")[2][32:96]
    with account_of(settings, clock, "ada") as account:
        row = account.one("SELECT * FROM program_key")
        seen = repr(row)
        assert row is not None
        for value in (secret, bytes.fromhex(secret), "Canary", b"Canary"):
            assert all(value not in column for column in row if isinstance(column, type(value)))
        assert "Canary" not in seen
        # Somebody who has the disk and the service key gives the program more than its user gave it.
        account.run("UPDATE program_key SET scopes = 'read,run,write'")
    async with service(settings, clock) as client:
        assert code_of(await exchanged(client, key["program_key"])) == "database-damaged"
        assert await keys_in_memory(client) == 0

"""Specification, sections 4.1 and 5: one test for each row of their tables and each step of their lists."""

import base64
import json

import httpx
import pytest
from msgspec.structs import replace

from carrel.auth import tokens
from carrel.config import Secret, Settings
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, PLUGIN, Host, code_of, key_of, service, token, workspace_file

ME = "/api/users/me"
GATED = [
    ("POST", "/api/auth/login"),
    ("POST", "/api/auth/refresh"),
    ("POST", "/api/auth/rekey"),
    ("POST", "/api/users"),
    ("POST", "/api/users/ada/activate"),
    ("POST", "/api/users/ada/deactivate"),
    ("POST", "/api/credits/add"),
]


# 4.1 POST /auth/login ----------------------------------------------------


@pytest.mark.parametrize(("method", "path"), GATED)
async def test_the_plugin_secret_is_required_on_every_gated_route(
    client: httpx.AsyncClient, method: str, path: str
) -> None:
    missing = await client.request(method, path, json={})
    assert (missing.status_code, code_of(missing)) == (401, "plugin-secret-missing")
    for wrong in ("x", PLUGIN["X-SVC-Plugin-Secret"] + "x", PLUGIN["X-SVC-Plugin-Secret"][:-1], "ä" * 40):
        refused = await client.request(method, path, json={}, headers={b"X-SVC-Plugin-Secret": wrong.encode()})
        assert (refused.status_code, code_of(refused)) == (401, "plugin-secret-invalid")
    session_is_no_substitute = await client.request(method, path, json={}, headers=token("x"))
    assert code_of(session_is_no_substitute) == "plugin-secret-missing"


async def test_login_takes_uuid_and_db_key_hex_and_answers_with_a_session_token(host: Host) -> None:
    await host.create("ada")
    answer = await host.login("ada")
    assert answer.status_code == 200
    assert answer.json().keys() == {"session_token", "expires_in"}


async def test_login_takes_hex_digits_of_either_case(client: httpx.AsyncClient, host: Host) -> None:
    await host.create("ada")
    await host.login("ada")
    body = {"uuid": "ada", "db_key_hex": key_of("ada").upper()}
    assert (await client.post("/api/auth/login", json=body, headers=PLUGIN)).status_code == 200


@pytest.mark.parametrize(
    "digits", ["", "0" * 63, "0" * 65, "g" * 64, "0" * 62, "0x" + "0" * 62, "٠" * 64, "0" * 64 + "\n", 7, None]
)
async def test_a_db_key_hex_that_is_not_64_hex_digits_is_400_naming_the_field(
    client: httpx.AsyncClient, host: Host, digits: object
) -> None:
    await host.create("ada")
    answer = await client.post("/api/auth/login", json={"uuid": "ada", "db_key_hex": digits}, headers=PLUGIN)
    assert answer.status_code == 400
    assert [error["path"] for error in answer.json()["errors"]] == ["db_key_hex"]


@pytest.mark.parametrize(
    "uuid", ["", "a/b", "../x", "a b", "ä", "a" * 65, "ada\n", "-a", "_a", "a.b", "a\x00", "*", 7, None]
)
async def test_a_bad_uuid_is_400_naming_the_field_and_never_the_value(client: httpx.AsyncClient, uuid: object) -> None:
    for path, body in (
        ("/api/auth/login", {"uuid": uuid, "db_key_hex": "0" * 64}),
        ("/api/auth/refresh", {"uuid": uuid}),
        ("/api/auth/rekey", {"uuid": uuid, "new_db_key_hex": "0" * 64}),
        ("/api/users", {"uuid": uuid}),
        ("/api/credits/add", {"uuid": uuid, "amount": "1"}),
    ):
        answer = await client.post(path, json=body, headers=PLUGIN)
        assert answer.status_code == 400, (path, answer.text)
        assert [error["path"] for error in answer.json()["errors"]] == ["uuid"]


async def test_a_key_that_does_not_open_the_database_is_401_and_evicted(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    assert code_of(await host.login("ada", "wrong")) == "key-rejected"
    assert code_of(await client.get(ME, headers=session)) == "key-not-cached"


async def test_an_unknown_user_cannot_log_in_or_rekey(host: Host) -> None:
    assert code_of(await host.login("nobody")) == "user-not-provisioned"
    assert code_of(await host.rekey("nobody", "new", "old")) == "user-not-provisioned"
    assert code_of(await host.refresh("nobody")) == "key-not-cached"


async def test_step_4_the_token_of_a_login_is_issued_after_the_database_opened(settings: Settings, host: Host) -> None:
    await host.create("ada")
    assert not workspace_file(settings, "ada").exists(), "the first login makes the database"
    await host.login("ada")
    assert not workspace_file(settings, "ada").read_bytes().startswith(b"SQLite format 3")


# 4.1 POST /auth/refresh, /auth/rekey ----------------------------------------------------


async def test_refresh_answers_with_a_token_and_expires_in_3600(host: Host) -> None:
    await host.signed_in("ada")
    answer = (await host.refresh("ada")).json()
    assert answer.keys() == {"session_token", "expires_in"}
    assert answer["expires_in"] == 3600
    assert type(answer["expires_in"]) is int


async def test_rekey_keeps_every_row_and_only_the_new_key_opens_it(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    body = {"name": "Note", "type": "input_document", "body": "kept"}
    created = await client.post("/api/contents", json=body, headers=session)
    assert created.status_code == 201, created.text
    answer = await host.rekey("ada", "second")
    assert answer.status_code == 200
    renewed = token(answer.json()["session_token"])
    read = await client.get(f"/api/contents/{created.json()['id']}", headers=renewed)
    assert read.json()["body"] == "kept"
    assert code_of(await host.login("ada", "first")) == "key-rejected"
    assert (await host.login("ada", "second")).status_code == 200


async def test_rekey_ends_every_earlier_session_also_after_the_next_login(
    client: httpx.AsyncClient, host: Host
) -> None:
    old = await host.signed_in("ada")
    await host.rekey("ada", "second")
    assert code_of(await client.get(ME, headers=old)) == "session-token-revoked"
    await host.login("ada", "second")
    assert code_of(await client.get(ME, headers=old)) == "session-token-revoked"


async def test_rekey_without_any_old_key_is_409_and_with_a_wrong_one_401(settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        await Host(client).signed_in("ada")
    async with service(settings, clock) as client:
        host = Host(client)
        assert code_of(await host.rekey("ada", "second")) == "old-key-required"
        assert code_of(await host.rekey("ada", "second", old="wrong")) == "key-rejected"
        assert (await host.rekey("ada", "second", old="first")).status_code == 200
        assert (await host.login("ada", "second")).status_code == 200


# 5 Two credentials, and what is gated by which ----------------------------------------------------


async def test_the_session_token_identifies_the_user_on_each_call(client: httpx.AsyncClient, host: Host) -> None:
    ada, bob = await host.signed_in("ada"), await host.signed_in("bob")
    assert (await client.get(ME, headers=ada)).json()["uuid"] == "ada"
    assert (await client.get(ME, headers=bob)).json()["uuid"] == "bob"


async def test_during_a_rotation_both_secrets_are_accepted_and_the_first_signs(
    settings: Settings, clock: FakeClock
) -> None:
    new = "another-plugin-secret-0123456789abcdefgh"
    async with service(settings, clock) as client:
        old_token = await Host(client).signed_in("ada")
    rotated = replace(settings, plugin_secret=(Secret(new.encode()), *settings.plugin_secret))
    async with service(rotated, clock) as client:
        assert (await Host(client).login("ada")).status_code == 200
        body = {"uuid": "ada"}
        answer = await client.post("/api/auth/refresh", json=body, headers={"X-SVC-Plugin-Secret": new})
        new_token = answer.json()["session_token"]
        tokens.verify(new_token.encode(), (new.encode(),), clock.now())
        assert (await client.get(ME, headers=old_token)).status_code == 200
        assert (await client.get(ME, headers=token(new_token))).status_code == 200


async def test_admin_routes_take_the_admin_secret_and_nothing_else(
    settings: Settings, clock: FakeClock, client: httpx.AsyncClient
) -> None:
    path = "/api/admin/system-keys"
    assert code_of(await client.get(path)) == "admin-secret-missing"
    assert code_of(await client.get(path, headers=PLUGIN)) == "admin-secret-missing"
    assert code_of(await client.get(path, headers={"X-SVC-Admin-Secret": "wrong"})) == "admin-secret-invalid"
    assert (await client.get(path, headers=ADMIN)).status_code == 200


async def test_without_an_admin_secret_the_admin_routes_are_off(settings: Settings, clock: FakeClock) -> None:
    async with service(replace(settings, admin_secret=None), clock) as client:
        # Nobody is asked for a secret that there is not.
        for headers in (ADMIN, {"X-SVC-Admin-Secret": "wrong"}, {}):
            answer = await client.get("/api/admin/system-keys", headers=headers)
            assert (answer.status_code, code_of(answer)) == (403, "admin-disabled")


# 5.3 Token format ----------------------------------------------------


async def test_the_payload_holds_uuid_an_end_3600_seconds_ahead_and_version_1(clock: FakeClock, host: Host) -> None:
    await host.create("ada")
    clock.advance(10)
    answer = (await host.login("ada")).json()
    payload, _, _ = answer["session_token"].partition(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert claims == {"uuid": "ada", "exp": int(clock.now()) + 3600, "v": 1}


# 5.4 The five checks, in their order ----------------------------------------------------


async def test_check_1_a_checked_token_is_believed_for_5_minutes_and_not_longer_than_it_lives(
    clock: FakeClock, client: httpx.AsyncClient, host: Host
) -> None:
    await host.create("ada")
    clock.advance(1)
    session = await host.signed_in("ada")
    clock.advance(3500)
    assert (await client.get(ME, headers=session)).status_code == 200
    clock.advance(99)
    assert (await client.get(ME, headers=session)).status_code == 200
    clock.advance(1)
    assert code_of(await client.get(ME, headers=session)) == "session-token-expired"


async def test_check_1_the_cache_lives_on_the_monotonic_clock(
    clock: FakeClock, client: httpx.AsyncClient, host: Host
) -> None:
    session = await host.signed_in("ada")
    assert (await client.get(ME, headers=session)).status_code == 200
    clock.set_back(86_400)
    clock.advance(301)
    assert (await client.get(ME, headers=session)).status_code == 200, "verified again, its end still ahead"


async def test_check_2_missing_malformed_tampered_foreign_and_oversized_tokens_are_401(
    client: httpx.AsyncClient, host: Host
) -> None:
    session = (await host.signed_in("ada"))["X-SVC-Session-Token"]
    missing = await client.get(ME)
    assert (missing.status_code, code_of(missing)) == (401, "session-token-missing")
    foreign = tokens.issue("ada", 1_800_000_000, b"some-other-plugin-secret-0123456789")
    payload, _, signature = session.partition(".")
    for bad in ("x", ".", "a.b", session + "=", session[:-1], f"{payload}x.{signature}", foreign, "x" * 10_000, "ü.ü"):
        answer = await client.get(ME, headers={b"X-SVC-Session-Token": bad.encode()})
        assert (answer.status_code, code_of(answer)) == (401, "session-token-invalid"), bad[:20]


@pytest.mark.parametrize(
    ("path", "header", "code"),
    [
        (ME, "X-SVC-Session-Token", "session-token-missing"),
        ("/api/health/ready", "X-SVC-Plugin-Secret", None),
        ("/api/admin/system-keys", "X-SVC-Admin-Secret", "admin-secret-missing"),
    ],
)
async def test_a_credential_that_is_sent_twice_counts_as_none(
    client: httpx.AsyncClient, host: Host, path: str, header: str, code: str | None
) -> None:
    good = PLUGIN | ADMIN | await host.signed_in("ada")
    once = [(name, value) for name, value in good.items() if name == header]
    assert (await client.get(path, headers=once)).status_code == 200
    if code is not None:
        twice = await client.get(path, headers=[*once, *once])
        assert (twice.status_code, code_of(twice)) == (401, code)
    if header == "X-SVC-Plugin-Secret":
        twice = await client.post("/api/auth/refresh", json={"uuid": "ada"}, headers=[*once, *once])
        assert (twice.status_code, code_of(twice)) == (401, "plugin-secret-missing")


async def test_check_3_without_a_cached_key_the_message_says_that_the_server_restarted(
    client: httpx.AsyncClient, host: Host
) -> None:
    session = await host.signed_in("ada")
    await host.login("ada", "wrong")
    answer = await client.get(ME, headers=session)
    assert (answer.status_code, code_of(answer)) == (401, "key-not-cached")
    assert "server restarted" in answer.json()["detail"]
    assert "log in again" in answer.json()["detail"]


async def test_check_4_a_database_that_is_not_the_users_is_not_read(settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        host = Host(client)
        await host.signed_in("ada")
        await host.signed_in("bob")
    first, second = workspace_file(settings, "ada"), workspace_file(settings, "bob")
    swapped = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(swapped)
    async with service(settings, clock) as client:
        for uuid in ("ada", "bob"):
            assert (await Host(client).login(uuid)).status_code == 401


async def test_check_5_the_user_is_uuid_and_membership(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada", membership="free")
    me = (await client.get(ME, headers=session)).json()
    assert (me["uuid"], me["membership"]) == ("ada", "free")
    await client.post("/api/users/ada/activate", headers=PLUGIN)
    assert (await client.get(ME, headers=session)).json()["membership"] == "paid", "the cached check ended"


# 5.5 What the host depends on ----------------------------------------------------


async def test_a_host_that_refreshes_each_55_minutes_always_holds_a_valid_token(
    clock: FakeClock, client: httpx.AsyncClient, host: Host
) -> None:
    session = await host.signed_in("ada")
    for _ in range(4):
        clock.advance(55 * 60)
        assert (await client.get(ME, headers=session)).status_code == 200
        session = token((await host.refresh("ada")).json()["session_token"])

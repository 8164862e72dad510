"""Sign-out and the list of sessions: what ends at once, what the user's work may keep, and what survives a restart."""

import asyncio
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest

from carrel.auth import sign_out, tokens
from carrel.auth.known_sessions import MAX_KNOWN
from carrel.auth.sign_out import SessionUnknown
from carrel.auth.tokens import TokenInvalid, TokenRevoked
from carrel.config import Settings
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import KeyNotCached
from tests.support.auth_stack import SECRETS, AuthStack, auth_stack
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of, service, token

ADA, BOB = UserUuid("ada"), UserUuid("bob")


async def logout(client: httpx.AsyncClient, headers: dict[str, str], uuid: str | None = None) -> httpx.Response:
    if uuid is None:
        return await client.post("/api/auth/logout", headers=headers)
    return await client.post("/api/auth/logout", headers=headers, json={"uuid": uuid})


async def keys_in_memory(client: httpx.AsyncClient) -> int:
    return int((await client.get("/api/health/safe-to-restart", headers=PLUGIN)).json()["cached_keys"])


@pytest.mark.parametrize("by_host", [False, True])
async def test_a_sign_out_ends_every_session_and_evicts_the_key(
    client: httpx.AsyncClient, host: Host, clock: FakeClock, by_host: bool
) -> None:
    first, stranger = await host.signed_in("ada"), await host.signed_in("bob")
    clock.advance(5)
    second = token((await host.refresh("ada")).json()["session_token"])
    answer = await (logout(client, PLUGIN, "ada") if by_host else logout(client, second))
    assert (answer.status_code, answer.content) == (204, b"")
    assert await keys_in_memory(client) == 1
    assert code_of(await host.refresh("ada")) == "key-not-cached"
    await host.login("ada")
    for ended in (first, second):
        assert code_of(await client.get("/api/users/me", headers=ended)) == "session-token-revoked"
    assert (await client.get("/api/users/me", headers=await host.signed_in("ada"))).status_code == 200
    assert (await client.get("/api/users/me", headers=stranger)).status_code == 200


async def test_a_user_signs_out_also_while_no_key_is_in_memory(settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        session = await Host(client).signed_in("ada")
    clock.advance(5)
    async with service(settings, clock) as client:
        assert code_of(await client.get("/api/users/me", headers=session)) == "key-not-cached"
        assert (await logout(client, session)).status_code == 204
        assert code_of(await logout(client, session)) == "session-token-revoked"
        await Host(client).login("ada")
        assert code_of(await client.get("/api/users/me", headers=session)) == "session-token-revoked"


async def test_a_sign_out_is_refused_to_whoever_may_not_ask(
    client: httpx.AsyncClient, host: Host, clock: FakeClock
) -> None:
    session = await host.signed_in("ada")
    assert code_of(await logout(client, {})) == "session-token-missing"
    assert code_of(await logout(client, {"X-SVC-Plugin-Secret": "wrong"}, "ada")) == "plugin-secret-invalid"
    assert code_of(await logout(client, token("wrong"))) == "session-token-invalid"
    for uuid in ("*", "../ada", "a" * 65):
        answer = await logout(client, token(tokens.issue(uuid, int(clock.now()), SECRETS[0])))
        assert (answer.status_code, code_of(answer)) == (401, "session-token-invalid")
    assert code_of(await logout(client, session, "bob")) == "invalid-input"
    assert code_of(await logout(client, PLUGIN)) == "invalid-input"
    assert code_of(await logout(client, PLUGIN, "nobody")) == "user-not-found"
    await host.create("eve")
    assert (await logout(client, PLUGIN, "eve")).status_code == 204
    assert (await client.get("/api/users/me", headers=session)).status_code == 200
    await host.delete("ada")
    assert code_of(await logout(client, session)) == "session-token-revoked"


async def several_looks() -> None:
    """With `LOOK_SECONDS` 0, whoever looks does so in every step of the loop."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_work_in_progress_keeps_the_key_until_it_ends_and_nobody_else_gets_in_with_it(stack: AuthStack) -> None:
    old = await stack.login(ADA)
    with patch.object(sign_out, "LOOK_SECONDS", 0):
        async with stack.pool.leased(ADA):
            await stack.sign_out.end_all(ADA)
            await several_looks()
            assert ADA in stack.pool.keyring
            with pytest.raises(TokenRevoked):
                await stack.ask(old)
            with pytest.raises(KeyNotCached):
                await stack.refresh(ADA)
        async with asyncio.timeout(30):
            while ADA in stack.pool.keyring:
                await asyncio.sleep(0)
    assert stack.sessions.sizes["signed_out"] == 0


async def test_work_that_rests_for_a_moment_keeps_the_key(stack: AuthStack) -> None:
    await stack.login(ADA)
    looks = iter([True, False, True, False, False, False])
    is_leased = patch.object(stack.pool, "is_leased", lambda _: next(looks, False))
    with patch.object(sign_out, "LOOK_SECONDS", 0), is_leased:
        await stack.sign_out.end_all(ADA)
        async with asyncio.timeout(30):
            while ADA in stack.pool.keyring:
                await asyncio.sleep(0)
    assert next(looks, None) is None


async def test_a_sign_in_during_the_work_keeps_the_key(stack: AuthStack) -> None:
    await stack.login(ADA)
    with patch.object(sign_out, "LOOK_SECONDS", 0):
        async with stack.pool.leased(ADA):
            await stack.sign_out.end_all(ADA)
            new = await stack.login(ADA)
        await several_looks()
    assert (await stack.ask(new)).uuid == ADA


async def test_a_stop_does_not_wait_for_the_work_of_users_who_signed_out(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path / "data", clock) as stack:
        await stack.create(ADA)
        await stack.login(ADA)
        await stack.pool.lease(ADA)
        await stack.sign_out.end_all(ADA)
    assert len(stack.pool.keyring) == 0


# The list ---------------------------------------------------------------------------------------------------------


async def test_a_user_sees_the_sessions_and_ends_one_for_good(settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        host = Host(client)
        first = await host.signed_in("ada")
        clock.advance(600)
        second = token((await host.login("ada")).json()["session_token"])
        clock.advance(90)
        await client.get("/api/users/me", headers=first)
        clock.advance(61)
        shown = (await client.get("/api/users/me/sessions", headers=second)).json()
        assert shown["complete"] is False
        this_one, other = shown["items"]
        assert (this_one["is_this_one"], other["is_this_one"]) == (True, False)
        assert this_one["session"] - other["session"] in (599, 600)
        assert this_one["issued_at"] > other["issued_at"]
        assert other["last_used_at"].endswith(":00.000Z")
        assert other["issued_at"] < other["last_used_at"] < this_one["last_used_at"]
        path = f"/api/users/me/sessions/{other['session']}"
        stranger = await host.signed_in("bob")
        assert code_of(await client.delete(path, headers=stranger)) == "session-not-found"
        assert (await client.delete(path, headers=second)).status_code == 204
        assert code_of(await client.delete(path, headers=second)) == "session-not-found"
        assert code_of(await client.get("/api/users/me", headers=first)) == "session-token-revoked"
        assert len((await client.get("/api/users/me/sessions", headers=second)).json()["items"]) == 1
    async with service(settings, clock) as client:
        await Host(client).login("ada")
        assert code_of(await client.get("/api/users/me", headers=first)) == "session-token-revoked"
        assert (await client.get("/api/users/me", headers=second)).status_code == 200
        listed = (await client.get("/api/users/me/sessions", headers=second)).json()
        assert [one["session"] for one in listed["items"]][-1] == this_one["session"]


async def test_a_rekey_leaves_its_own_session_alone_in_the_list(stack: AuthStack) -> None:
    for _ in range(3):
        await stack.login(ADA)
        stack.clock.advance(2)
    before = {known.issued_at for known in stack.sessions.known.of(ADA)}
    assert len(before) == 3
    await stack.rekey(ADA, "second")
    (known,) = stack.sessions.known.of(ADA)
    assert known.issued_at not in before


async def test_a_login_in_the_second_of_an_ended_session_is_another_session(stack: AuthStack) -> None:
    old = await stack.login(ADA)
    (known,) = stack.sessions.known.of(ADA)
    await stack.sign_out.end_one(ADA, known.issued_at)
    new = await stack.login(ADA)
    with pytest.raises(TokenRevoked):
        await stack.ask(old)
    assert (await stack.ask(new)).uuid == ADA
    with pytest.raises(SessionUnknown):
        await stack.sign_out.end_one(ADA, known.issued_at)


async def test_the_list_is_bounded_and_says_when_it_is_whole(stack: AuthStack) -> None:
    await stack.login(ADA)
    known = stack.sessions.known
    assert not known.is_complete(ADA)
    stack.clock.advance(3600)
    for _ in range(MAX_KNOWN - 1):
        stack.clock.advance(1)
        await stack.refresh(ADA)
    assert len(known.of(ADA)) == MAX_KNOWN - 1
    assert known.is_complete(ADA)
    for _ in range(5):
        stack.clock.advance(1)
        await stack.refresh(ADA)
    assert len(known) == MAX_KNOWN
    assert not known.is_complete(ADA)
    stack.clock.advance(3600)
    assert known.of(ADA) == []
    assert len(known) == 0


# More ends than seconds have passed -------------------------------------------------------------------------------


async def test_sixty_sign_outs_in_one_second_leave_the_next_session_good_over_a_restart(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with auth_stack(tmp_path / "data", clock) as stack:
        await stack.create(ADA)
        for _ in range(65):
            token = await stack.login(ADA)
            await stack.sign_out.end_all(ADA)
        token = await stack.login(ADA)
        assert (await stack.ask(token)).uuid == ADA
    async with auth_stack(tmp_path / "data", clock) as stack:
        with pytest.raises(KeyNotCached):
            await stack.ask(token)
        # As a sign-out without a key does.
        await stack.sessions.require_in_force(stack.sessions.claims_of(token))
        await stack.login(ADA)
        assert (await stack.ask(token)).uuid == ADA


async def test_sixty_sessions_that_end_one_by_one_in_one_second_leave_the_next_one_good(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with auth_stack(tmp_path / "data", clock) as stack:
        await stack.create(ADA)
        for _ in range(65):
            await stack.login(ADA)
            (known,) = stack.sessions.known.of(ADA)
            await stack.sign_out.end_one(ADA, known.issued_at)
        token = await stack.login(ADA)
        assert (await stack.ask(token)).uuid == ADA
    async with auth_stack(tmp_path / "data", clock) as stack:
        await stack.login(ADA)
        assert (await stack.ask(token)).uuid == ADA


# Tokens that the service never issued -------------------------------------------------------------------------------


async def test_a_token_with_a_far_end_is_refused_before_and_after_a_rekey_and_a_new_creation(stack: AuthStack) -> None:
    now = int(stack.clock.now())
    await stack.login(ADA)
    ten_years = tokens.issue(ADA, now + 10 * 365 * 86_400, SECRETS[0]).encode()
    too_far = tokens.issue(ADA, now + 62, SECRETS[0]).encode()
    for ended in (ten_years, too_far):
        with pytest.raises(TokenInvalid):
            await stack.ask(ended)
    await stack.rekey(ADA, "second")
    with pytest.raises(TokenInvalid):
        await stack.ask(ten_years)
    await stack.delete(ADA)
    await stack.create(ADA)
    await stack.login(ADA)
    with pytest.raises(TokenInvalid):
        await stack.ask(ten_years)
    assert (await stack.ask(tokens.issue(ADA, now + 60, SECRETS[0]).encode())).uuid == ADA


async def test_a_clock_that_was_set_back_ends_no_session(stack: AuthStack) -> None:
    stack.clock.advance(7200)
    old = await stack.login(ADA)
    stack.clock.set_back(7200)
    assert (await stack.ask(old)).uuid == ADA
    for number in range(70):
        new = await stack.rekey(ADA, f"{number}")
    assert (await stack.ask(new)).uuid == ADA

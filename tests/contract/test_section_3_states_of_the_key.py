"""Specification, section 3: one test for each row of the table of states of a user's key."""

import httpx

from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.host import Host, code_of, service, token, workspace_file

ME = "/api/users/me"


async def test_absent_login_with_the_right_key_caches_it_and_returns_a_token(
    client: httpx.AsyncClient, host: Host
) -> None:
    await host.create("ada")
    answer = await host.login("ada")
    assert answer.status_code == 200
    me = await client.get(ME, headers=token(answer.json()["session_token"]))
    assert me.json()["uuid"] == "ada"


async def test_absent_login_with_a_wrong_key_stays_absent_with_401(settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        await Host(client).signed_in("ada")
    async with service(settings, clock) as client:
        host = Host(client)
        rejected = await host.login("ada", "wrong")
        assert (rejected.status_code, code_of(rejected)) == (401, "key-rejected")
        assert code_of(await host.refresh("ada")) == "key-not-cached"


async def test_cached_login_with_a_wrong_key_evicts_the_good_one_with_401(
    client: httpx.AsyncClient, host: Host
) -> None:
    session = await host.signed_in("ada")
    rejected = await host.login("ada", "wrong")
    assert (rejected.status_code, code_of(rejected)) == (401, "key-rejected")
    answer = await client.get(ME, headers=session)
    assert (answer.status_code, code_of(answer)) == (401, "key-not-cached")
    assert "The server restarted" in answer.json()["detail"]
    assert (await host.login("ada")).status_code == 200


async def test_cached_refresh_issues_a_new_token_without_opening_the_database(
    settings: Settings, clock: FakeClock, client: httpx.AsyncClient, host: Host
) -> None:
    await host.signed_in("ada")
    workspace = workspace_file(settings, "ada")
    before = workspace.stat().st_atime_ns, workspace.stat().st_mtime_ns
    clock.advance(10)
    answer = await host.refresh("ada")
    assert answer.status_code == 200
    assert (workspace.stat().st_atime_ns, workspace.stat().st_mtime_ns) == before
    assert (await client.get(ME, headers=token(answer.json()["session_token"]))).status_code == 200


async def test_absent_refresh_is_401_and_the_user_must_log_in_again(host: Host) -> None:
    await host.create("ada")
    answer = await host.refresh("ada")
    assert (answer.status_code, code_of(answer)) == (401, "key-not-cached")
    assert "log in again on the host site" in answer.json()["detail"]


async def test_cached_service_restart_loses_all_keys(settings: Settings, clock: FakeClock) -> None:
    async with service(settings, clock) as client:
        session = await Host(client).signed_in("ada")
    async with service(settings, clock) as client:
        answer = await client.get(ME, headers=session)
        assert (answer.status_code, code_of(answer)) == (401, "key-not-cached")
        assert (await Host(client).login("ada")).status_code == 200
        assert (await client.get(ME, headers=session)).status_code == 200, "a restart revokes no token"


async def test_a_token_is_valid_while_its_signature_verifies_its_version_is_1_and_its_end_is_ahead(
    clock: FakeClock, client: httpx.AsyncClient, host: Host
) -> None:
    await host.create("ada")
    clock.advance(1)
    session = await host.signed_in("ada")
    clock.advance(3599)
    assert (await client.get(ME, headers=session)).status_code == 200
    clock.advance(1)
    assert code_of(await client.get(ME, headers=session)) == "session-token-expired"

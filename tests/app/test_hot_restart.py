"""What users notice when one service hands over to another: nothing, and nothing that had ended begins again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from msgspec.structs import replace

from carrel.app import services
from carrel.app.hot_restart import HotRestart
from carrel.auth import sign_out
from carrel.config import Settings
from tests.support import program_keys
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of, service
from tests.support.program_keys import signed_in


class Relay:
    """Services, each of which takes what the one before it left."""

    def __init__(self, settings: Settings, clock: FakeClock) -> None:
        self.settings = settings
        self.clock = clock
        self._last = HotRestart()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[httpx.AsyncClient]:
        before, self._last = self._last.left, HotRestart(self._last.left)
        async with service(self.settings, self.clock, self._last) as client:
            if before is not None:
                before.keys.wipe()
            yield client
            self._last.reserve()
            await self._last.finish_work()


@pytest.fixture
def relay(settings: Settings, clock: FakeClock) -> Relay:
    return Relay(settings, clock)


async def keys_in_memory(client: httpx.AsyncClient) -> int:
    return int((await client.get("/api/health/safe-to-restart", headers=PLUGIN)).json()["cached_keys"])


async def test_sessions_go_on_over_several_services(relay: Relay) -> None:
    async with relay.next() as client:
        ada = await Host(client).signed_in("ada")
        bob = await Host(client).signed_in("bob", "free")
    for _ in range(2):
        async with relay.next() as client:
            assert [(await client.get("/api/users/me", headers=one)).status_code for one in (ada, bob)] == [200, 200]
            assert (await Host(client).refresh("ada")).status_code == 200
            assert (await Host(client).refresh("unknown")).status_code == 401


async def test_what_ends_a_session_ends_it_after_the_hand_over_as_well(relay: Relay) -> None:
    async with relay.next() as client:
        host = Host(client)
        users = {name: await host.signed_in(name) for name in ("ada", "bob", "cyd", "dan")}
        ended = await host.signed_in("eve")
        relay.clock.advance(5)
        assert (await client.post("/api/auth/logout", headers=ended)).status_code == 204
    relay.clock.advance(5)
    async with relay.next() as client:
        host = Host(client)
        assert await keys_in_memory(client) == 4
        assert code_of(await client.get("/api/users/me", headers=ended)) == "key-not-cached"
        # Before any request of theirs.
        assert (await client.post("/api/auth/logout", headers=users["ada"])).status_code == 204
        assert (await host.login("bob", "wrong")).status_code == 401
        assert (await host.rekey("cyd", "second")).status_code == 200
        assert (await host.delete("dan")).status_code == 204
        codes = {name: code_of(await client.get("/api/users/me", headers=users[name])) for name in users}
        assert codes == {
            "ada": "key-not-cached",
            "bob": "key-not-cached",
            "cyd": "session-token-revoked",
            "dan": "key-not-cached",
        }
        assert await keys_in_memory(client) == 1


async def test_a_key_that_serves_programs_only_still_does(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_out, "LOOK_SECONDS", 0.005)
    monkeypatch.setattr(sign_out, "PROGRAM_LOOK_SECONDS", 0.005)
    async with relay.next() as client:
        user = await Host(client).signed_in("ada")
        key = (await program_keys.made(client, user))["program_key"]
        relay.clock.advance(5)
        await client.post("/api/auth/logout", headers=user)
        program = await signed_in(client, key)
    async with relay.next() as client:
        assert (await client.get("/api/users/me", headers=program)).status_code == 200
        assert code_of(await Host(client).refresh("ada")) == "key-not-cached"
        assert await keys_in_memory(client) == 1
        relay.clock.advance(3_601)
        async with asyncio.timeout(60):
            while await keys_in_memory(client):
                await asyncio.sleep(0.005)


async def test_idleness_counts_over_both(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "IDLE_CHECK_SECONDS", 0.005)
    relay.settings = replace(relay.settings, key_idle_minutes=10)
    async with relay.next() as client:
        await Host(client).signed_in("ada")
        relay.clock.advance(400)
        await Host(client).signed_in("bob")
    async with relay.next() as client:
        relay.clock.advance(300)
        async with asyncio.timeout(60):
            while await keys_in_memory(client) != 1:
                await asyncio.sleep(0.005)
        assert (await Host(client).refresh("bob")).status_code == 200


async def test_a_change_of_membership_before_the_users_first_request_counts(relay: Relay) -> None:
    async with relay.next() as client:
        ada = await Host(client).signed_in("ada")
    async with relay.next() as client:
        assert (await client.post("/api/users/ada/deactivate", headers=PLUGIN)).status_code == 200
        assert (await client.get("/api/users/me", headers=ada)).json()["membership"] == "free"
        made = await client.post("/api/contents", json={"name": "n", "type": "fragment", "body": "b"}, headers=ada)
        assert code_of(made) == "membership-required"

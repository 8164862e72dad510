"""Specification, sections 7 and 8: one test for each row of the tables of errors and limits."""

import base64
import json

import httpx
from carrel_sdk import derive

from carrel.auth import sessions, tokens
from carrel.kit.sqlite.database import KEY_BYTES
from tests.support.clock import FakeClock
from tests.support.host import Host, code_of


def end_of(session_token: str) -> int:
    payload = session_token.partition(".")[0]
    return int(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"])


# 7 Errors ----------------------------------------------------

# A login with a wrong key, a refresh and a token without a key are rows of section 3, and their tests are there.


# 8 Limits ----------------------------------------------------


async def test_a_session_token_lives_3600_seconds(clock: FakeClock, client: httpx.AsyncClient, host: Host) -> None:
    await host.create("ada")
    clock.advance(5)
    session = (await host.login("ada")).json()["session_token"]
    assert end_of(session) - int(clock.now()) == 3600


async def test_expires_in_of_a_refresh_is_3600(host: Host) -> None:
    await host.signed_in("ada")
    assert (await host.refresh("ada")).json()["expires_in"] == 3600


def test_an_entry_of_the_authentication_cache_lives_5_minutes() -> None:
    assert sessions.CACHE_SECONDS == 5 * 60


def test_the_host_renews_at_55_minutes_inside_the_tokens_hour() -> None:
    assert 55 * 60 < tokens.LIFETIME_SECONDS == 3600


def test_a_database_key_has_32_bytes() -> None:
    assert KEY_BYTES == 32


async def test_auth_routes_are_not_rate_limited(client: httpx.AsyncClient, host: Host) -> None:
    await host.signed_in("ada")
    for _ in range(300):
        assert (await host.refresh("ada")).status_code == 200
    for _ in range(30):
        assert code_of(await host.login("ada", "wrong")) == "key-rejected"
    assert (await host.login("ada")).status_code == 200


def test_the_key_is_derived_with_600000_iterations() -> None:
    assert derive.ITERATIONS == 600_000

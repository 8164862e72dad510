"""What a caller can make the front door remember: nothing by bad tokens, and not more than its bounds by good ones."""

import base64
import hashlib
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path

import psutil
import pytest

from carrel.auth import sessions, tokens
from carrel.auth.tokens import TokenInvalid
from carrel.errors import Unauthorized
from carrel.vault.pool import KeyNotCached
from tests.support.clock import FakeClock
from tests.support.front_door import SECRETS, ProxyInFront, front_door

BAD_TOKENS = 200_000
MEGABYTE = 1 << 20


def bad_tokens(good: bytes) -> Iterator[bytes]:
    """Distinct ones of every kind: noise, forged, cut, too long, signed by somebody else."""
    payload, _, signature = good.partition(b".")
    foreign = [tokens.issue(f"ada-{number}", 1_800_000_000, b"another secret").encode() for number in range(100)]
    for number in count():
        noise = base64.urlsafe_b64encode(hashlib.sha256(b"%d" % number).digest()).rstrip(b"=")
        yield from (
            noise,
            payload + b"." + noise,
            noise + b"." + signature,
            good + b"%d" % number,
            b"%d" % number * 200,
            foreign[number % 100] + b"%d" % number,
        )


def remembered(door: ProxyInFront) -> dict[str, int]:
    """How many entries stand in everything that the front door keeps."""
    return door.sessions.sizes


async def test_bad_tokens_leave_nothing(tmp_path: Path, clock: FakeClock) -> None:
    async with front_door(tmp_path, clock) as door:
        await door.create("ada")
        stream = bad_tokens(await door.login("ada"))
        process = psutil.Process()

        async def refuse(number: int) -> None:
            for token in islice(stream, number):
                try:
                    await door.sessions.authenticate(token)
                except TokenInvalid:
                    continue
                raise AssertionError("it was accepted")

        await refuse(20_000)
        before, size = remembered(door), process.memory_info().rss
        await refuse(BAD_TOKENS - 20_000)
        assert remembered(door) == before
        assert process.memory_info().rss - size < 2 * MEGABYTE


async def test_good_tokens_of_nobody_leave_nothing(tmp_path: Path, clock: FakeClock) -> None:
    """A token of a user who was deleted since, or whose key is not here, is well signed all the same."""
    async with front_door(tmp_path, clock) as door:
        before = remembered(door)
        for number in range(1_000):
            token = tokens.issue(f"nobody-{number}", int(clock.now()), SECRETS[0]).encode()
            with pytest.raises(KeyNotCached):
                await door.ask(token)
        assert remembered(door) == before


async def test_the_cache_of_checked_tokens_has_a_bound(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CACHE_ENTRIES", 50)
    async with front_door(tmp_path, clock) as door:
        await door.create("ada")
        await door.login("ada")
        issued = []
        for _ in range(200):
            clock.advance(1)
            issued.append(await door.refresh("ada"))
            await door.ask(issued[-1])
        assert door.sessions.sizes["checked_tokens"] == 50
        for token in islice(cycle(issued), 300):
            await door.ask(token)
        assert door.sessions.sizes["checked_tokens"] == 50


async def test_a_refused_token_is_not_remembered_as_refused(tmp_path: Path, clock: FakeClock) -> None:
    async with front_door(tmp_path, clock) as door:
        await door.create("ada")
        token = await door.login("ada")
        await door.pool.evict("ada")  # type: ignore[arg-type]
        with pytest.raises(Unauthorized):
            await door.ask(token)
        await door.login("ada")
        assert (await door.ask(token)).uuid == "ada"

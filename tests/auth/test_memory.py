"""What a caller can make the front stack remember: nothing by bad tokens, and not more than its bounds by good ones."""

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
from tests.support.auth_stack import SECRETS, AuthStack, auth_stack
from tests.support.clock import FakeClock

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


def remembered(stack: AuthStack) -> dict[str, int]:
    """How many entries stand in everything that the front stack keeps."""
    return stack.sessions.sizes


async def test_bad_tokens_leave_nothing(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        stream = bad_tokens(await stack.login("ada"))
        process = psutil.Process()

        async def refuse(number: int) -> None:
            for token in islice(stream, number):
                try:
                    await stack.sessions.authenticate(token)
                except TokenInvalid:
                    continue
                raise AssertionError("it was accepted")

        await refuse(20_000)
        before, size = remembered(stack), process.memory_info().rss
        await refuse(BAD_TOKENS - 20_000)
        assert remembered(stack) == before
        assert process.memory_info().rss - size < 2 * MEGABYTE


async def test_good_tokens_of_nobody_leave_nothing(tmp_path: Path, clock: FakeClock) -> None:
    """A token of a user who was deleted since, or whose key is not here, is well signed all the same."""
    async with auth_stack(tmp_path, clock) as stack:
        before = remembered(stack)
        for number in range(1_000):
            token = tokens.issue(f"nobody-{number}", int(clock.now()), SECRETS[0]).encode()
            with pytest.raises(KeyNotCached):
                await stack.ask(token)
        assert remembered(stack) == before


async def test_the_cache_of_checked_tokens_has_a_bound(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "CACHE_ENTRIES", 50)
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        await stack.login("ada")
        issued = []
        for _ in range(200):
            clock.advance(1)
            issued.append(await stack.refresh("ada"))
            await stack.ask(issued[-1])
        assert stack.sessions.sizes["checked_tokens"] == 50
        for token in islice(cycle(issued), 300):
            await stack.ask(token)
        assert stack.sessions.sizes["checked_tokens"] == 50


async def test_a_refused_token_is_not_remembered_as_refused(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        token = await stack.login("ada")
        await stack.pool.evict("ada")  # type: ignore[arg-type]
        with pytest.raises(Unauthorized):
            await stack.ask(token)
        await stack.login("ada")
        assert (await stack.ask(token)).uuid == "ada"

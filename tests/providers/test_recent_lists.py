"""Lists of models that are remembered for a while."""

import tracemalloc
from typing import cast

from carrel.config import Secret
from carrel.providers.base import Access, Offer, ProviderError
from carrel.providers.recent_lists import RecentLists
from carrel.providers.remote import Remote
from tests.support.clock import FakeClock

MINE = Access(Secret(b"key-of-mine"), "http://localhost:11434/v1")
OTHERS = Access(Secret(b"key-of-another"), "http://localhost:11434/v1")


class Long:
    """A server with as many models as are shown, of long names that nobody else has."""

    def __init__(self) -> None:
        self.asked = 0

    async def offered(self, _: Access, *, timeout_seconds: float) -> Offer:
        self.asked += 1
        return Offer(tuple(f"{self.asked}-{number}-".ljust(200, "😀") for number in range(2_000)), 1)


class Counting:
    """A server that lists how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.here = True

    async def offered(self, _: Access, *, timeout_seconds: float) -> Offer:
        assert timeout_seconds <= 2
        self.asked += 1
        if not self.here:
            raise ProviderError("provider-unreachable", retryable=True)
        return Offer((f"model-{self.asked}",), 1)


async def test_a_list_is_asked_for_once_in_half_a_minute() -> None:
    clock, server = FakeClock(), Counting()
    recent, remote = RecentLists(clock), cast(Remote, server)
    assert await recent.models(remote, MINE) == await recent.models(remote, MINE) == ("model-1",)
    clock.advance(31)
    assert await recent.models(remote, MINE) == ("model-2",)


async def test_what_one_key_may_see_is_not_shown_to_another() -> None:
    server = Counting()
    recent, remote = RecentLists(FakeClock()), cast(Remote, server)
    assert await recent.models(remote, MINE) == ("model-1",)
    assert await recent.models(remote, OTHERS) == ("model-2",)
    assert "key-of" not in repr(vars(recent))


async def test_a_server_that_does_not_answer_is_not_asked_again_at_once() -> None:
    clock, server = FakeClock(), Counting()
    server.here = False
    recent, remote = RecentLists(clock), cast(Remote, server)
    assert await recent.models(remote, MINE) == await recent.models(remote, MINE) == ()
    assert server.asked == 1
    clock.advance(31)
    server.here = True
    assert await recent.models(remote, MINE) == ("model-2",)


async def test_the_lists_of_many_keys_take_no_more_than_a_few_megabytes() -> None:
    recent, remote = RecentLists(FakeClock()), cast(Remote, Long())
    tracemalloc.start()
    try:
        for number in range(30):
            await recent.models(remote, Access(Secret(b"key-%d" % number), "http://localhost:11434/v1"))
        assert tracemalloc.get_traced_memory()[1] < 16_000_000
    finally:
        tracemalloc.stop()

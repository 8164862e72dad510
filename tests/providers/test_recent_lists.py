"""Lists of models that are remembered for a while."""

from typing import cast

from carrel.config import Secret
from carrel.providers.base import Access, Offer, ProviderError
from carrel.providers.recent_lists import RecentLists
from carrel.providers.remote import Remote
from tests.support.clock import FakeClock

MINE = Access(Secret(b"key-of-mine"), "http://localhost:11434/v1")
OTHERS = Access(Secret(b"key-of-another"), "http://localhost:11434/v1")


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

"""Sending that fails for a reason that may pass: it is tried again, for a while, and never makes two commits."""

import asyncio
from collections.abc import Callable

import httpx
import pytest

from carrel.app import services
from carrel.config import Settings
from carrel.runs.publishing.deliveries import Deliveries
from tests.github.test_deliveries import NOT_SENT, SENT, begun, id_of, told
from tests.support.clock import FakeClock
from tests.support.host import Host, service
from tests.support.strict_github import REPOSITORY, TOKEN, GitHub, refusal

_SECONDS = 30
HEAD = "/git/ref/heads/main"


class Timers:
    """What is to be done later, done when a test says so: the last that was set and not cancelled."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._set: list[tuple[float, Callable[[], None], asyncio.TimerHandle]] = []

    def later(self, seconds: float, do: Callable[[], None]) -> asyncio.TimerHandle:
        handle = asyncio.get_running_loop().call_later(3_600, do)
        self._set.append((seconds, do, handle))
        return handle

    @property
    def planned(self) -> list[float]:
        return [seconds for seconds, _, handle in self._set if not handle.cancelled()]

    async def wait(self) -> float:
        """Seconds until the one thing that is planned."""
        async with asyncio.timeout(_SECONDS):
            while not self.planned:
                await asyncio.sleep(0.01)
        (seconds,) = self.planned
        return seconds

    async def fire(self) -> float:
        """Let so much time pass, and do it."""
        seconds = await self.wait()
        self._clock.advance(seconds)
        (do,) = [do for _, do, handle in self._set if not handle.cancelled()]
        for *_, handle in self._set:
            handle.cancel()
        do()
        return seconds


@pytest.fixture
def timers(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Timers:
    timers = Timers(clock)
    monkeypatch.setattr(services, "Deliveries", lambda pool, github, _: Deliveries(pool, github, timers.later))
    return timers


@pytest.fixture
def settings(settings: Settings, timers: Timers) -> Settings:
    # The timers are there before the service is.
    return settings


@pytest.mark.parametrize("status", [500, 502, 429])
async def test_what_may_pass_is_tried_again_and_sent(
    ada: httpx.AsyncClient, connection: str, github: GitHub, timers: Timers, status: int
) -> None:
    github.refuse[HEAD] = [refusal(status), refusal(status)]
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    assert 60 <= await timers.fire() < 80
    assert 300 <= await timers.fire() < 380
    assert await told(ada, run) == [(SENT, "info", None)]
    assert len(github.commits) == 2
    assert timers.planned == []


async def test_the_time_that_github_asks_for_is_waited(
    ada: httpx.AsyncClient, connection: str, github: GitHub, timers: Timers
) -> None:
    # A secondary limit: a refusal with a time.
    github.refuse[HEAD] = [refusal(403, {"Retry-After": "4000"})]
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    assert 4_000 <= await timers.fire() < 4_002
    ada.headers.update(await Host(ada).signed_in("ada"))
    assert await told(ada, run) == [(SENT, "info", None)]


async def test_in_the_end_it_is_given_up_and_every_delay_was_told(
    ada: httpx.AsyncClient, connection: str, github: GitHub, timers: Timers
) -> None:
    github.refuse[HEAD] = [refusal(503) for _ in range(20)]
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    waits = [await timers.fire() for _ in range(5)]
    ada.headers.update(await Host(ada).signed_in("ada"))
    assert waits == sorted(waits)
    assert await told(ada, run) == [(NOT_SENT, "warning", "github-unavailable")]
    said = (await ada.get(f"{run}/logs?level=warning")).json()["items"]
    assert [(entry["event"], entry["attempt"]) for entry in said] == [
        (NOT_SENT, 6),
        *(("answers-delayed", attempt) for attempt in (5, 4, 3, 2, 1)),
    ]
    assert {entry["code"] for entry in said} == {"github-unavailable"}
    assert len(github.refuse[HEAD]) == 14
    assert timers.planned == []


async def test_a_branch_that_moved_meanwhile_is_tried_once_more(
    ada: httpx.AsyncClient, connection: str, github: GitHub, timers: Timers
) -> None:
    github.meanwhile = {"main": github.commit({"theirs.md": b"Theirs."}, [github.refs["main"]])}
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    await timers.fire()
    assert await told(ada, run) == [(SENT, "info", None)]
    assert len(github.files()) == 7
    assert "theirs.md" in github.files()


async def test_a_commit_whose_answer_was_lost_is_not_made_again(
    ada: httpx.AsyncClient, connection: str, github: GitHub, timers: Timers
) -> None:
    github.unheard = ["PATCH /repos/octo/texts/git/refs/heads/main"]
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    await timers.wait()
    # Somebody takes the answers away again before the next attempt: that is their good right.
    theirs = github.commit({"README.md": b"Tidied."}, [github.refs["main"]])
    github.refs["main"] = theirs
    await timers.fire()
    assert await told(ada, run) == [(SENT, "info", None)]
    assert github.refs["main"] == theirs


async def test_a_commit_that_was_made_and_never_shown_is_made_again(
    ada: httpx.AsyncClient, connection: str, github: GitHub, timers: Timers
) -> None:
    github.refuse["PATCH /repos/octo/texts/git/refs/heads/main"] = [refusal(502)]
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    await timers.fire()
    assert await told(ada, run) == [(SENT, "info", None)]
    assert len(github.files()) == 7


async def test_a_restart_forgets_neither_the_delivery_nor_when_it_is_due(
    settings: Settings, github: GitHub, clock: FakeClock, timers: Timers
) -> None:
    github.refuse[HEAD] = [refusal(500), refusal(500)]
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        body = {"name": "Texts", "repository": REPOSITORY, "token": TOKEN, "base_url": github.base_url}
        made = (await client.post("/api/github-connections", json=body)).json()
        run = await begun(client, {"connection": made["id"], "answers": "all"})
        first = await timers.wait()
    assert timers.planned == []
    clock.advance(20)
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        assert await timers.wait() == pytest.approx(first - 20, abs=1)
        await timers.fire()
        await timers.wait()
        # A wrong password evicts the key, and nothing is planned for a user whose workspace nobody could open.
        assert (await Host(client).login("ada", "wrong")).status_code == 401
        assert timers.planned == []
        client.headers.update(await Host(client).signed_in("ada"))
        await timers.fire()
        assert await told(client, run) == [(SENT, "info", None)]
    assert len(github.commits) == 2


async def test_a_clock_that_was_set_back_holds_nothing_up_for_years(
    settings: Settings, github: GitHub, clock: FakeClock, timers: Timers
) -> None:
    github.refuse[HEAD] = [refusal(500)]
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        body = {"name": "Texts", "repository": REPOSITORY, "token": TOKEN, "base_url": github.base_url}
        made = (await client.post("/api/github-connections", json=body)).json()
        run = await begun(client, {"connection": made["id"], "answers": "all"})
        await timers.wait()
    clock.set_back(10 * 86_400)
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        assert await told(client, run) == [(SENT, "info", None)]


async def test_a_run_whose_days_are_over_stays_until_its_answers_are_sent(
    ada: httpx.AsyncClient, connection: str, github: GitHub, timers: Timers, clock: FakeClock
) -> None:
    github.refuse[HEAD] = [refusal(500), refusal(500)]
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    await timers.wait()
    assert (await ada.put("/api/settings", json={"retention_days": 1})).is_success
    # Nobody signs in for days.
    assert (await Host(ada).login("ada", "wrong")).status_code == 401
    clock.advance(3 * 86_400)
    ada.headers.update(await Host(ada).signed_in("ada"))
    await timers.fire()
    assert await told(ada, run) == [(SENT, "info", None)]
    assert len(github.files()) == 7
    ada.headers.update(await Host(ada).signed_in("ada"))
    async with asyncio.timeout(_SECONDS):
        while (await ada.get(run)).status_code != 404:
            await asyncio.sleep(0.02)

"""Webhooks over HTTP, against a real server: what the host is told, when it is told again, and what it never sees."""

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from carrel.accounts import roster
from carrel.accounts.service import ServiceDatabase
from carrel.config import Secret, Settings
from carrel.kit.ids import uuid7_factory
from carrel.providers.answer_room import AnswerMemory
from carrel.providers.base import ProviderError
from carrel.webhooks import outbox, sender
from carrel.webhooks.outbox import Event
from tests.support.clock import FakeClock
from tests.support.credit_runs import execute, system_key, top_up, until
from tests.support.host import ADMIN, Host, service
from tests.support.model_server import Running, model_server
from tests.support.network import transport
from tests.support.service import free_port
from tests.support.webhook_host import KEY, Received, webhook_host


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with model_server(models=("gpt-5-mini",)) as server:
        yield server


def told_at(url: str, settings: Settings) -> Settings:
    return replace(settings, webhook_url=url, webhook_secret=(Secret(bytes(32)), Secret(KEY)), low_credits=Decimal(2))


async def arrive(received: Received, count: int) -> None:
    async with asyncio.timeout(60):
        while len(received.events) < count:
            received.came.clear()
            await asyncio.to_thread(received.came.wait, 60)


async def test_the_host_is_told_in_ids_what_happened_to_a_user_and_each_thing_once(
    settings: Settings, clock: FakeClock, server: Running
) -> None:
    with webhook_host() as received:
        settings = replace(told_at(received.url, settings), provider_hosts=(server.host,))
        async with service(settings, clock) as ada:
            ada.headers.update(await Host(ada).signed_in("ada"))
            await system_key(ada, server)
            await top_up(ada, "1")
            runs = [(await execute(ada, documents=2)).json()["id"] for _ in range(2)]
            for run in runs:
                await until(ada, run, "completed")
            await arrive(received, 3)
            for _ in range(2):
                await ada.post("/api/admin/users/ada/suspend", headers=ADMIN)
            await arrive(received, 4)
        # A second process finds the same runs, and that they were told of.
        async with service(settings, clock) as ada:
            await ada.post("/api/admin/users/ada/reinstate", headers=ADMIN)
            ada.headers.update(await Host(ada).signed_in("ada"))
            clock.advance(1)
            await ada.post("/api/admin/users/ada/suspend", headers=ADMIN)
            await arrive(received, 5)
    told = [(one["type"], one["data"]) for one in received.events.values()]
    assert sorted(map(repr, told)) == sorted(
        [
            repr(("credits.low", {"user": "ada"})),
            *(repr(("run.ended", {"user": "ada", "run": run, "state": "completed"})) for run in runs),
            *[repr(("user.suspended", {"user": "ada"}))] * 2,
        ]
    )
    assert not [raw for raw in received.raw if b"Document" in raw or b"Summarise" in raw or b"Paid" in raw]


async def test_what_the_host_did_not_take_is_sent_again_after_a_restart(settings: Settings, clock: FakeClock) -> None:
    port = free_port()
    settings = told_at(f"http://127.0.0.1:{port}/", settings)
    async with service(settings, clock) as client:
        await Host(client).create("ada")
        await client.post("/api/admin/users/ada/suspend", headers=ADMIN)
        assert (await client.get("/api/health")).status_code == 200
    clock.advance(outbox.WAITS_SECONDS[0] + 1)
    with webhook_host(port) as received:
        async with service(settings, clock):
            await arrive(received, 1)
    assert [one["data"] for one in received.events.values()] == [{"user": "ada"}]


async def test_an_event_is_tried_seven_times_within_a_day_and_forgotten_in_the_end(
    tmp_path: Path, clock: FakeClock
) -> None:
    database = ServiceDatabase(tmp_path, bytes(32), clock=clock, new_id=uuid7_factory(clock))
    database.open()
    for owner, uuid in (("0001/a", "ada"), ("0002/b", "bob")):
        await database.run(roster.add, owner, uuid)
    ended = [Event("run.ended", f"{number}", {"run": f"{number}"}) for number in range(1_200)]
    assert await database.run(outbox.add, "0001/a", ended) == 1_200
    assert await database.run(outbox.add, "0002/b", ended[:1]) == 1
    assert await database.run(outbox.add, "0002/b", ended[:1]) == 0, "each is told once"
    first = await database.run(outbox.due)
    assert sorted((one.uuid, one.data["run"]) for one in first) == [("ada", "200"), ("bob", "0")], "the newest thousand"
    begun, given_up, attempts = clock.now(), False, 0
    while not given_up:
        mine = [one for one in await database.run(outbox.due) if one.uuid == "bob"]
        if mine:
            given_up = await database.run(outbox.settle, mine[0], delivered=False)
            attempts += 1
        clock.advance(30)
    assert (attempts, clock.now() - begun < 86_400) == (7, True)
    assert await database.run(outbox.add, "0002/b", ended[:1]) == 0, "it is remembered"
    clock.advance(outbox.KEPT_SECONDS)
    (other,) = await database.run(outbox.due)
    assert not await database.run(outbox.settle, other, delivered=True)
    assert await database.run(outbox.add, "0002/b", ended[:1]) == 1, "and not for ever"
    database.close()


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "https://[fe80::1]/", "https://0.0.0.0/", "https://[64:ff9b::a9fe:a9fe]/"]
)
async def test_nothing_is_sent_to_an_address_that_no_provider_may_have_either(url: str) -> None:
    async with transport(sender.rule_of(url)) as made:
        with pytest.raises(ProviderError) as refused:
            await made.send("POST", url, {}, b"{}", timeout_seconds=10, place=AnswerMemory("ada"))
    assert refused.value.code == "provider-host-not-allowed"

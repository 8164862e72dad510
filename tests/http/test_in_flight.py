"""Requests under way and answers that nobody reads: what one user may hold, and what all users may."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest

from carrel.config import Settings
from carrel.http import in_flight
from carrel.http.in_flight import InFlight
from carrel.http.requests import envelope
from tests.support.clock import FakeClock
from tests.support.host import Host, code_of
from tests.support.live_server import live_server


class Unread:
    """A request whose answer waits."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def read(self) -> bytes:
        return await self.reader.read()


class Site:
    """A running service, and users with one long content each."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.host = Host(client)

    async def user(self, name: str) -> tuple[dict[str, str], str]:
        session = await self.host.signed_in(name)
        body = {"name": "Long", "type": "fragment", "body": "x" * 1_000_000}
        made = await self.client.post("/api/contents", json=body, headers=session)
        assert made.status_code == 201, made.text
        return session, f"/api/contents/{made.json()['id']}"

    @asynccontextmanager
    async def unread(self, session: dict[str, str], path: str) -> AsyncIterator[Unread]:
        """An answer of which only the head is read."""
        small = socket.socket()
        # Else the kernel takes megabytes for a client that does not read.
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        small.setblocking(False)
        await asyncio.get_running_loop().sock_connect(small, ("127.0.0.1", self.client.base_url.port or 0))
        reader, writer = await asyncio.open_connection(sock=small, limit=1024)
        (token,) = session.values()
        head = f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-SVC-Session-Token: {token}\r\n\r\n"
        writer.write(head.encode())
        await reader.readuntil(b"\r\n")
        try:
            yield Unread(reader, writer)
        finally:
            writer.close()


@pytest.fixture
async def site(settings: Settings, clock: FakeClock) -> AsyncIterator[Site]:
    async with live_server(settings, clock) as client, asyncio.timeout(60):
        yield Site(client)


async def until(status: int, client: httpx.AsyncClient, path: str, session: dict[str, str]) -> httpx.Response:
    while True:
        answer = await client.get(path, headers=session)
        if answer.status_code == status:
            return answer
        await asyncio.sleep(0.01)


async def test_unread_answers_of_one_user_are_bounded_and_others_get_theirs(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, hers = await site.user("ada")
    bob, his = await site.user("bob")
    monkeypatch.setattr(in_flight, "MAX_BYTES", 2_500_000)
    async with site.unread(ada, hers) as first, site.unread(ada, hers):
        refused = await site.client.get(hers, headers=ada)
        assert (refused.status_code, code_of(refused)) == (429, "too-much-in-flight")
        assert refused.headers["retry-after"] == "1"
        # Nothing new begins, however small, but everything of others does.
        assert code_of(await site.client.get("/api/users/me", headers=ada)) == "too-much-in-flight"
        assert (await site.client.get(his, headers=bob)).status_code == 200
        assert len(await first.read()) > 1_000_000
        await until(200, site.client, hers, ada)
    # A client that leaves gives back what it held.
    await until(200, site.client, hers, ada)


async def test_refusals_wait_so_that_asking_again_and_again_takes_nothing_from_others(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, hers = await site.user("ada")
    bob, his = await site.user("bob")
    monkeypatch.setattr(in_flight, "MAX_BYTES", 1_500_000)
    moment = asyncio.Event()
    monkeypatch.setattr(InFlight, "pause", staticmethod(moment.wait))
    async with site.unread(ada, hers):
        refused = asyncio.create_task(site.client.get("/api/users/me", headers=ada))
        for _ in range(3):
            assert (await site.client.get(his, headers=bob)).status_code == 200
        assert not refused.done()
        moment.set()
        assert code_of(await refused) == "too-much-in-flight"


async def test_a_failure_that_took_work_waits_and_one_that_took_none_does_not(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, _ = await site.user("ada")
    moment = asyncio.Event()
    monkeypatch.setattr(InFlight, "pause", staticmethod(moment.wait))
    assert (await site.client.get("/api/contents/none", headers=ada)).status_code == 404
    monkeypatch.setattr(envelope, "WORKED_SECONDS", -1.0)
    late = asyncio.create_task(site.client.get("/api/contents/none", headers=ada))
    for _ in range(3):
        assert (await site.client.get("/api/contents", headers=ada)).status_code == 200
    assert not late.done()
    moment.set()
    assert (await late).status_code == 404


async def test_of_all_unread_answers_those_of_the_greediest_are_given_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, hers = await site.user("ada")
    bob, his = await site.user("bob")
    monkeypatch.setattr(in_flight, "MAX_ALL_BYTES", 3_500_000)
    async with AsyncExitStack() as stack:
        waiting = [await stack.enter_async_context(site.unread(ada, hers)) for _ in range(3)]
        assert (await site.client.get(his, headers=bob)).status_code == 200
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await waiting[0].reader.readexactly(1_000_000)
        for kept in waiting[1:]:
            assert len(await kept.read()) > 1_000_000


async def test_bodies_count_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, hers = await site.user("ada")
    monkeypatch.setattr(in_flight, "MAX_BYTES", 2_200_000)

    async def in_chunks() -> AsyncIterator[bytes]:
        yield b"{}"

    async with site.unread(ada, hers):
        body = {"name": "Long", "type": "fragment", "body": "x" * 1_000_000}
        assert (await site.client.post("/api/contents", json=body, headers=ada)).status_code == 201
        # Without a length it may be as long as any.
        headers = ada | {"Content-Type": "application/json"}
        refused = await site.client.post("/api/contents", content=in_chunks(), headers=headers)
        assert (refused.status_code, code_of(refused)) == (429, "too-much-in-flight")


async def test_a_single_answer_may_be_longer_than_several(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, hers = await site.user("ada")
    monkeypatch.setattr(in_flight, "MAX_BYTES", 500_000)
    monkeypatch.setattr(in_flight, "MAX_ALL_BYTES", 500_000)
    for _ in range(2):
        assert len((await site.client.get(hers, headers=ada)).content) > 1_000_000


async def test_requests_of_one_user_are_bounded(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, hers = await site.user("ada")
    monkeypatch.setattr(in_flight, "MAX_REQUESTS", 2)
    async with site.unread(ada, hers):
        assert (await site.client.get("/api/users/me", headers=ada)).status_code == 200
        async with site.unread(ada, hers):
            refused = await site.client.get("/api/users/me", headers=ada)
            assert (refused.status_code, code_of(refused)) == (429, "too-many-requests")
    await until(200, site.client, "/api/users/me", ada)


async def test_a_user_s_reads_wait_for_each_other_in_order() -> None:
    under_way = in_flight.InFlight()
    passages = [under_way.enter("ada", None) for _ in range(in_flight.MAX_READING + 4)]
    for passage in passages[: in_flight.MAX_READING]:
        await passage.begin_to_read()
    given_up, too_late, second, third = (
        asyncio.create_task(one.begin_to_read()) for one in passages[in_flight.MAX_READING :]
    )
    await under_way.enter("bob", None).begin_to_read()
    await asyncio.sleep(0)
    given_up.cancel()
    passages[0].begin_answer()
    # Its turn has come, and goes on to the next one.
    too_late.cancel()
    await asyncio.wait_for(second, 60)
    assert given_up.cancelled()
    assert too_late.cancelled()
    assert not third.done()
    passages[1].end()
    await asyncio.wait_for(third, 60)
    for passage in passages[2:]:
        passage.end()
    await under_way.enter("ada", None).begin_to_read()


async def test_a_read_that_waited_begins_nothing_once_the_user_holds_much() -> None:
    under_way = in_flight.InFlight()
    passages = [under_way.enter("ada", None) for _ in range(in_flight.MAX_READING + 1)]
    for passage in passages[:-1]:
        await passage.begin_to_read()
    waiting = asyncio.create_task(passages[-1].begin_to_read())
    await asyncio.sleep(0)
    passages[0].answer(in_flight.MAX_BYTES, may_refuse=True)
    passages[0].begin_answer()
    with pytest.raises(in_flight.TooMuchInFlight):
        await waiting

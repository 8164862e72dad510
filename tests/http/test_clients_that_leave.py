"""Work for a client that has left is stopped."""

import asyncio
import threading

import pytest

from carrel.config import Settings
from carrel.contents import search
from carrel.kit.sqlite.database import Connection
from tests.support.clock import FakeClock
from tests.support.host import Host
from tests.support.live_server import live_server


async def test_a_search_ends_when_its_client_leaves(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def search_for_ever(conn: Connection, *_: object) -> None:
        begun.set()
        try:
            while True:
                conn.one("SELECT 1")
        finally:
            ended.set()

    async with live_server(settings, clock) as client, asyncio.timeout(60):
        session = await Host(client).signed_in("ada")
        (token,) = session.values()
        monkeypatch.setattr(search, "find", search_for_ever)
        _, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
        head = f"GET /api/contents?q=a HTTP/1.1\r\nHost: a\r\nX-SVC-Session-Token: {token}\r\n\r\n"
        writer.write(head.encode())
        assert await asyncio.to_thread(begun.wait, 60)
        assert not ended.is_set()
        writer.close()
        assert await asyncio.to_thread(ended.wait, 60)
        assert (await client.get("/api/users/me", headers=session)).status_code == 200

"""The service behind a real socket in this event loop: for answers that come bit by bit, and clients that go away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn

from carrel.app import create_app
from carrel.config import Settings
from carrel.http.server.protocol import Protocol
from tests.support import begun
from tests.support.clock import FakeClock


@asynccontextmanager
async def live_server(settings: Settings, clock: FakeClock) -> AsyncIterator[httpx.AsyncClient]:
    """The service from start to stop, and a client that reaches it over TCP."""
    stopping = asyncio.Event()
    begun.begin(settings)
    app = create_app(settings, clock=clock, stopping=stopping)
    config = uvicorn.Config(app, port=0, http=Protocol, ws="none", lifespan="on", log_config=None, access_log=False)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    async with asyncio.timeout(60):
        while not server.started:
            await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            yield client
    finally:
        stopping.set()
        server.should_exit = True
        await serving

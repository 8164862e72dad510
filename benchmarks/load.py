"""The load: raw HTTP/1.1 on kept-alive loopback connections, so that the client never is the bottleneck."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import uvloop

WARM_UP = 0.2
"""The share of requests that is sent before anything is measured."""


class Request(NamedTuple):
    """One request as bytes go over the wire."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def encode(self) -> bytes:
        head = [f"{self.method} {self.path} HTTP/1.1", "Host: 127.0.0.1"]
        head += [f"{name}: {value}" for name, value in self.headers]
        if self.body or self.method == "POST":
            head += ["Content-Type: application/json", f"Content-Length: {len(self.body)}"]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + self.body


class Served(Protocol):
    """A server under load."""

    @property
    def port(self) -> int: ...
    @property
    def pid(self) -> int: ...


class Measured(NamedTuple):
    """What one load did: CPU is the server's, user and system, of the whole process."""

    requests: int
    wall_seconds: float
    cpu_seconds: float
    median_ms: float
    p99_ms: float

    @property
    def cpu_ms(self) -> float:
        """CPU per request in milliseconds."""
        return 1000 * self.cpu_seconds / self.requests

    @property
    def per_cpu_second(self) -> float:
        """Requests that one core serves in a second."""
        return self.requests / self.cpu_seconds

    @property
    def per_second(self) -> float:
        """Requests that were served in a second of wall time."""
        return self.requests / self.wall_seconds


class Connection:
    """One kept-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, encoded: bytes) -> tuple[int, bytes]:
        """The status and the body of one answer."""
        self._writer.write(encoded)
        head = await self._reader.readuntil(b"\r\n\r\n")
        status = int(head[9:12])
        at = head.lower().find(b"content-length:")
        length = int(head[at + 15 : head.find(b"\r\n", at)]) if at >= 0 else 0
        return status, await self._reader.readexactly(length) if length else b""

    def close(self) -> None:
        self._writer.close()


async def connect(port: int) -> Connection:
    """Open one connection to the loopback."""
    return Connection(*await asyncio.open_connection("127.0.0.1", port))


def call(port: int, request: Request, expect: int = 200) -> dict[str, object]:
    """One request outside any measurement; the answer's JSON."""

    async def once() -> tuple[int, bytes]:
        connection = await connect(port)
        try:
            return await connection.send(request.encode())
        finally:
            connection.close()

    status, body = uvloop.run(once())
    if status != expect:
        raise RuntimeError(f"{request.method} answered {status}: {body[:300]!r}")
    return json.loads(body) if body else {}


def always(request: Request) -> Callable[[int], Request]:
    """The same request on every connection."""
    return lambda _: request


def run(port: int, pid: int, request: Callable[[int], Request], *, requests: int, connections: int) -> Measured:
    """Send `requests` requests over `connections` connections; `request(i)` makes the one of connection i."""
    return uvloop.run(_run(port, pid, request, requests, connections))


def side_by_side(loads: list[tuple[Served, Request]], *, requests: int, connections: int) -> list[Measured]:
    """The same number of requests to each server, all at the same time."""

    async def run() -> list[Measured]:
        return await asyncio.gather(
            *(_run(one.port, one.pid, always(request), requests, connections) for one, request in loads)
        )

    return uvloop.run(run())


def each(port: int, pid: int, requests: list[Request]) -> Measured:
    """Send every request once, one after the other, over one connection."""
    return uvloop.run(_each(port, pid, [request.encode() for request in requests]))


async def _each(port: int, pid: int, encoded: list[bytes]) -> Measured:
    connection = await connect(port)
    times = []
    cpu, wall = _cpu(pid), time.perf_counter()
    for request in encoded:
        started = time.perf_counter()
        status, body = await connection.send(request)
        times.append(time.perf_counter() - started)
        if status != 200:
            raise RuntimeError(f"answered {status}: {body[:300]!r}")
    wall, cpu = time.perf_counter() - wall, _cpu(pid) - cpu
    connection.close()
    return _measured(times, wall, cpu)


def _measured(times: list[float], wall: float, cpu: float) -> Measured:
    times.sort()
    return Measured(len(times), wall, cpu, 1000 * times[len(times) // 2], 1000 * times[int(len(times) * 0.99)])


async def _run(port: int, pid: int, request: Callable[[int], Request], requests: int, connections: int) -> Measured:
    opened = [await connect(port) for _ in range(connections)]
    encoded = [request(i).encode() for i in range(connections)]
    times: list[float] = []

    async def drive(index: int, count: int) -> None:
        for _ in range(count):
            started = time.perf_counter()
            status, body = await opened[index].send(encoded[index])
            times.append(time.perf_counter() - started)
            if status not in (200, 201):
                raise RuntimeError(f"answered {status}: {body[:300]!r}")

    share = requests // connections
    await asyncio.gather(*(drive(i, max(1, int(share * WARM_UP))) for i in range(connections)))
    times.clear()
    cpu, wall = _cpu(pid), time.perf_counter()
    await asyncio.gather(*(drive(i, share) for i in range(connections)))
    wall, cpu = time.perf_counter() - wall, _cpu(pid) - cpu
    for connection in opened:
        connection.close()
    return _measured(times, wall, cpu)


def _cpu(pid: int) -> float:
    # Linux' clock of another process, see clock_getcpuclockid(3): /proc counts in steps of 10 ms, this in nanoseconds.
    return time.clock_gettime((~pid << 3) | 2)

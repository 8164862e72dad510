"""Floods of bad tokens, slow clients and huge bodies against the real program: its memory stays, and others go on."""

import asyncio
import json
import random
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path

import httpx
import pytest

from tests.campaigns.stranger import MAX_MS, MAX_P99_MS
from tests.support import soak
from tests.support.host import key_of
from tests.support.kills import ROOT
from tests.support.service import Service
from tests.support.soak import Figure

CONNECTIONS = 8
AT_ONCE = 16
WARM = 20_000
"""So many bad tokens are before the first look: by then every buffer has the size that it keeps."""
MOST_GROWTH_MB = 5.0
BLOCKS = 10
REQUESTS_OF_A_BLOCK = 3_000
"""Half a second: the first moments of an attack, when everybody connects, are no more than a hundredth of them."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    service.start()
    yield service
    service.stop()


@pytest.fixture
def session(service: Service) -> str:
    return signed_in(service, "ada")


def signed_in(service: Service, uuid: str) -> str:
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    with httpx.Client(base_url=service.url, headers=plugin, timeout=60) as host:
        host.post("/api/users", json={"uuid": uuid, "membership": "paid"}).raise_for_status()
        login = host.post("/api/auth/login", json={"uuid": uuid, "db_key_hex": key_of(uuid)})
    return str(login.raise_for_status().json()["session_token"])


class Forger:
    """Distinct bad tokens: near misses of a good one, well-formed ones of users who are and are not, and rubbish."""

    def __init__(self, good: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self._good = good
        self._numbers = count(1)

    def forge(self) -> str:
        number = next(self._numbers)
        match self.chance.randrange(4):
            case 0:
                segment, _, signature = self._good.partition(".")
                return f"{segment}.{self._text(len(signature) - 12)}{number:012d}"
            case 1:
                uuid = self.chance.choice(("ada", f"user-{number}"))
                payload = json.dumps({"uuid": uuid, "exp": 1_900_000_000 + number, "v": 1}, separators=(",", ":"))
                return f"{urlsafe_b64encode(payload.encode()).decode().rstrip('=')}.{self._text(43)}"
            case 2:
                return f"{number}.{self._text(self.chance.randrange(900))}"
            case _:
                return f"{self._text(self.chance.randrange(1, 60))}{number}"

    def _text(self, length: int) -> str:
        return urlsafe_b64encode(self.chance.randbytes(length + 3)).decode()[:length].replace("=", "A")


async def flood(port: int, forger: Forger, tokens: int) -> None:
    """Send so many bad tokens, several at once on each connection; every answer must be 401."""
    left = count(0, -AT_ONCE)

    async def one_connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while tokens + next(left) > 0:
            heads = (
                f"GET /api/users/me HTTP/1.1\r\nhost: a\r\nX-SVC-Session-Token: {forger.forge()}\r\n\r\n"
                for _ in range(AT_ONCE)
            )
            writer.write("".join(heads).encode())
            for _ in range(AT_ONCE):
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 401 "), head
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                await reader.readexactly(length)
        writer.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(one_connection())


def megabytes(pid: int) -> float:
    """What the process holds of the machine's memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def grown(service: Service, session: str, warm: int, tokens: int) -> float:
    """By how many megabytes the service grows while it refuses so many tokens after the first ones."""
    forger = Forger(session, 1)
    asyncio.run(flood(service.port, forger, warm))
    before = megabytes(service.pid)
    asyncio.run(flood(service.port, forger, tokens))
    return megabytes(service.pid) - before


def test_bad_tokens_leave_nothing_in_memory(service: Service, session: str) -> None:
    assert grown(service, session, 4_000, 4_000) < MOST_GROWTH_MB
    me = httpx.get(f"{service.url}/api/users/me", headers={"X-SVC-Session-Token": session}, timeout=60)
    assert me.status_code == 200


@pytest.mark.soak(campaign="flood")
def test_a_million_bad_tokens_leave_nothing_in_memory(service: Service, session: str, figure: Figure) -> None:
    tokens = soak.size(1_000_000)
    growth = grown(service, session, WARM, tokens)
    figure("distinct bad tokens refused", tokens=tokens, accepted=0, megabytes_grown=growth)
    assert growth < MOST_GROWTH_MB


# What others notice ---------------------------------------------------------------------------------------------------


@contextmanager
def attackers(kind: str, port: int, token: str) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.support.attackers", kind, str(port), token]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"all have come\n"
            yield
        finally:
            process.kill()


def waits(port: int, session: str, requests: int) -> list[float]:
    """How many seconds somebody's requests took, one after the other on one connection. Each must be answered."""
    took = []
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection):
        for _ in range(requests):
            began = time.perf_counter()
            connection.request("GET", "/api/users/me", headers={"X-SVC-Session-Token": session})
            answer = connection.getresponse()
            answer.read()
            took.append(time.perf_counter() - began)
            assert answer.status == 200
    return took


@pytest.mark.parametrize("kind", ["slow", "huge", "ahead"])
def test_somebody_else_is_served_beside_attackers(service: Service, session: str, kind: str) -> None:
    """Counted, not timed: on a busy machine everybody waits. `tests/cli/test_protocol.py` tells who has turns when."""
    with attackers(kind, service.port, signed_in(service, "mallory")):
        assert len(waits(service.port, session, 100)) == 100
    assert megabytes(service.pid) < 300


@pytest.mark.soak(campaign="flood", alone=True)
@pytest.mark.parametrize("kind", ["slow", "huge", "ahead"])
def test_others_wait_no_longer_than_promised(service: Service, session: str, kind: str, figure: Figure) -> None:
    """By blocks, since a machine is not the same all the time; the median of their 99th percentiles counts."""
    mallory = signed_in(service, "mallory")
    waits(service.port, session, 1_000)
    p99s, slowest = [], 0.0
    for _ in range(BLOCKS):
        with attackers(kind, service.port, mallory):
            took = sorted(waits(service.port, session, REQUESTS_OF_A_BLOCK))
        p99s.append(took[int(REQUESTS_OF_A_BLOCK * 0.99)] * 1000)
        slowest = max(slowest, took[-1] * 1000)
    p99 = sorted(p99s)[BLOCKS // 2]
    figure(f"somebody's waits among {kind}", p99_ms=p99, slowest_ms=slowest, megabytes=megabytes(service.pid))
    assert p99 <= MAX_P99_MS
    assert slowest <= MAX_MS

"""The measured rows: each starts its servers, loads them one after the other, and says what came out."""

import hashlib
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

import psutil

from benchmarks import load
from benchmarks.load import Measured, Request
from benchmarks.servers import floor
from benchmarks.servers.tokens import token_of

SERVER_CORE, LOAD_CORE = 0, 1
"""One core for the server, the other for the load."""
BODY_1KB = (floor.BODY)[:1000]


class Figure(NamedTuple):
    """One measured value with its goal; `met` is None where the row only states."""

    row: str
    what: str
    value: str
    goal: str
    met: bool | None


class Server(NamedTuple):
    """A running server under load."""

    port: int
    pid: int
    plugin_secret: str = ""


@contextmanager
def running(
    command: list[str], port: int, path: str, environ: dict[str, str] | None = None, *, pinned: bool = True
) -> Iterator[Server]:
    """Start a server on its own core and wait until it answers."""
    # As on an operator's machine, where the compiled modules are kept.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, env={**inherited, **(environ or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        if pinned:
            psutil.Process(process.pid).cpu_affinity([SERVER_CORE])
        deadline = time.monotonic() + 30
        while not _answers(port, path):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"{command} did not start")
            time.sleep(0.02)
        yield Server(port, _at_work(process.pid), (environ or {}).get("CARREL_PLUGIN_SECRET", ""))
    finally:
        process.terminate()
        process.wait(30)


def _at_work(pid: int) -> int:
    """The process that serves: a child that runs the same program, if there is one."""
    command = psutil.Process(pid).cmdline()
    return next((child.pid for child in psutil.Process(pid).children() if child.cmdline() == command), pid)


def _answers(port: int, path: str) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=1):
            return True
    except (URLError, ConnectionError, TimeoutError) as error:
        return "401" in str(error) or "404" in str(error) or "422" in str(error)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fresh_secrets() -> dict[str, str]:
    """What `carrel serve` needs in its environment."""
    return {
        "CARREL_PLUGIN_SECRET": secrets.token_urlsafe(36),
        "CARREL_SERVICE_KEY": secrets.token_hex(32),
        "CARREL_FREE_PLAN": "full",
    }


@contextmanager
def carrel(
    folder: Path,
    *,
    encrypted: bool = True,
    environ: dict[str, str] | None = None,
    pinned: bool = True,
    program: list[str] | None = None,
) -> Iterator[Server]:
    """`carrel serve`, or the same program on unencrypted files; `program` starts it in another way."""
    port = free_port()
    started = program or [str(Path(sys.executable).with_name("carrel"))]
    if not encrypted:
        started = [sys.executable, "-m", "benchmarks.servers.unencrypted"]
    command = [*started, "serve", "--port", str(port), "--data-dir", str(folder / "data")]
    with running(command, port, "/api/health", environ or fresh_secrets(), pinned=pinned) as server:
        yield server


def sign_in(server: Server, uuid: str) -> str:
    """A session token of a user, created if need be."""
    secret = (("X-SVC-Plugin-Secret", server.plugin_secret),)
    load.call(server.port, Request("POST", "/api/users", secret, json.dumps({"uuid": uuid}).encode()), 201)
    return str(load.call(server.port, login_request(server, uuid))["session_token"])


def login_request(server: Server, uuid: str) -> Request:
    """The login of a user."""
    body = {"uuid": uuid, "db_key_hex": hashlib.sha256(uuid.encode()).hexdigest()}
    secret = (("X-SVC-Plugin-Secret", server.plugin_secret),)
    return Request("POST", "/api/auth/login", secret, json.dumps(body).encode())


def content_request(token: str) -> Request:
    """A new content of 1 kB."""
    body = json.dumps({"name": "A note", "type": "input_document", "body": BODY_1KB}).encode()
    return Request("POST", "/api/contents", (("X-SVC-Session-Token", token),), body)


def median(measured: list[Measured]) -> Measured:
    """The run whose CPU per request is the median."""
    return sorted(measured, key=lambda one: one.cpu_ms)[len(measured) // 2]


# Row 1 ------------------------------------------------------------


def reads(folder: Path, rounds: int = 3) -> list[Figure]:
    """Authenticated `GET /api/contents/{id}` of 1 kB: the floor, Carrel and the customary server, turn by turn."""
    floors, ours, theirs = [], [], []
    floor_port, customary_port = free_port(), free_port()
    floor_command = [sys.executable, "-m", "benchmarks.servers.floor", str(floor_port), str(_made(folder / "floor"))]
    customary_command = [
        *(sys.executable, "-m", "benchmarks.servers.customary"),
        *(str(customary_port), str(_made(folder / "customary"))),
    ]
    with (
        running(floor_command, floor_port, "/api/contents/c1") as bare,
        carrel(folder / "carrel") as own,
        running(customary_command, customary_port, "/docs") as other,
    ):
        bare_read = _read("c1", floor.TOKEN.decode())
        other_read = _read("c1", token_of("user0"))
        ours_read = own_read(own)
        for _ in range(rounds):
            floors.append(load.run(bare.port, bare.pid, lambda _: bare_read, requests=16_000, connections=8))
            ours.append(load.run(own.port, own.pid, lambda _: ours_read, requests=8_000, connections=8))
            theirs.append(load.run(other.port, other.pid, lambda _: other_read, requests=1_600, connections=8))
    bare_rate, own_rate, other_rate = (median(runs).per_cpu_second for runs in (floors, ours, theirs))
    what = "GET /api/contents/{id}, 1 kB, requests per CPU second"
    return [
        Figure("1", f"{what}: bare ASGI floor", f"{bare_rate:,.0f}", "", None),
        Figure("1", f"{what}: Carrel", f"{own_rate:,.0f}", "", None),
        Figure("1", f"{what}: FastAPI + SQLAlchemy + SQLCipher", f"{other_rate:,.0f}", "", None),
        at_least("1", "Carrel over the floor", own_rate / bare_rate, 0.33),
        at_least("1", "Carrel over the customary server", own_rate / other_rate, 2.5),
    ]


def own_read(server: Server, uuid: str = "reader") -> Request:
    """The read of a content of 1 kB, which is made first."""
    token = sign_in(server, uuid)
    created = load.call(server.port, content_request(token), 201)
    return _read(str(created["id"]), token)


def _read(content_id: str, token: str) -> Request:
    return Request("GET", f"/api/contents/{content_id}", (("X-SVC-Session-Token", token),))


# Row 4 ------------------------------------------------------------


def logins(folder: Path, users: int = 200, rounds: int = 5) -> list[Figure]:
    """`POST /auth/login` on closed databases after a restart, and `/auth/refresh`.

    The goals are milliseconds and not ratios, and what else goes on in the machine only ever adds to those: so the best
    of the rounds counts, and the median stands beside it.
    """
    own = folder / "carrel"
    secrets_of = fresh_secrets()
    with carrel(own, environ=secrets_of) as server:
        for i in range(users):
            sign_in(server, f"user{i}")
    measured = [_logins_after_restart(own, secrets_of, users) for _ in range(rounds)]
    logins, refreshes = ([one.cpu_ms for one in kind] for kind in zip(*measured, strict=True))
    return [
        at_most("4", "POST /auth/login on a closed database, CPU ms, best of five", min(logins), 3.0),
        Figure("4", "the same, median of the five", f"{statistics.median(logins):.2f}", "", None),
        at_most("4", "POST /auth/refresh, CPU ms, best of five", min(refreshes), 0.3),
        Figure("4", "the same, median of the five", f"{statistics.median(refreshes):.2f}", "", None),
    ]


def _logins_after_restart(own: Path, secrets_of: dict[str, str], users: int) -> tuple[Measured, Measured]:
    with carrel(own, environ=secrets_of) as server:
        # The first logins import and cache what the rest does not pay for again.
        for i in range(20):
            load.call(server.port, login_request(server, f"user{i}"))
        asked = [login_request(server, f"user{i}") for i in range(20, users)]
        cold = load.each(server.port, server.pid, asked)
        body = json.dumps({"uuid": "user0"}).encode()
        refresh = Request("POST", "/api/auth/refresh", (("X-SVC-Plugin-Secret", server.plugin_secret),), body)
        return cold, load.run(server.port, server.pid, lambda _: refresh, requests=2_000, connections=4)


# Row 5 ------------------------------------------------------------


def encryption(folder: Path, rounds: int = 3) -> list[Figure]:
    """Rows 1 to 3 on Carrel with and without encryption, in CPU per request."""
    with carrel(folder / "keyed") as keyed, carrel(folder / "plain", encrypted=False) as plain:
        figures = []
        prepared = {server: (own_read(server), sign_in(server, "writer")) for server in (keyed, plain)}
        for server, (_, token) in prepared.items():
            for _ in range(60):
                load.call(server.port, content_request(token), 201)
        kinds: dict[str, Callable[[Server], tuple[Request, int]]] = {
            "GET /api/contents/{id}": lambda server: (prepared[server][0], 6_000),
            "GET /api/contents?limit=50": lambda server: (_list(prepared[server][1]), 1_200),
            "POST /api/contents": lambda server: (content_request(prepared[server][1]), 1_600),
        }
        for name, kind in kinds.items():
            cost: dict[Server, list[Measured]] = {keyed: [], plain: []}
            for _ in range(rounds):
                for server, runs in cost.items():
                    request, count = kind(server)
                    runs.append(load.run(server.port, server.pid, load.always(request), requests=count, connections=8))
            ratio = median(cost[keyed]).cpu_ms / median(cost[plain]).cpu_ms
            figures.append(at_most("5", f"encrypted over unencrypted, CPU: {name}", ratio, 1.3))
    return figures


def _list(token: str) -> Request:
    return Request("GET", "/api/contents?limit=50", (("X-SVC-Session-Token", token),))


# Row 12 ------------------------------------------------------------


def start(folder: Path, rounds: int = 5) -> list[Figure]:
    """Start of `carrel serve` to its first 200, in seconds of wall time."""
    times = []
    environ = fresh_secrets()
    for _ in range(rounds):
        started = time.perf_counter()
        with carrel(folder / "carrel", environ=environ, pinned=False):
            times.append(time.perf_counter() - started)
    return [at_most("12", "start of carrel serve to the first 200, seconds", statistics.median(times), 1.0)]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def at_least(row: str, what: str, ratio: float, goal: float) -> Figure:
    """A figure that should not be below its goal."""
    return Figure(row, what, f"{ratio:.2f}", f"≥ {goal}", ratio >= goal)


def at_most(row: str, what: str, value: float, goal: float) -> Figure:
    """A figure that should not be above its goal."""
    return Figure(row, what, f"{value:.2f}", f"≤ {goal}", value <= goal)


def stated(row: str, what: str, value: str) -> Figure:
    """A figure without a goal."""
    return Figure(row, what, value, "", None)

"""Row 6: many users on the disk, thousands of open workspaces, and what each of those who work costs."""

import asyncio
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import uvloop

from benchmarks import load, rows
from benchmarks.load import Request
from benchmarks.rows import Figure, Server
from carrel.accounts import slots

REGISTERED, OPEN, FEW = 100_000, 5_000, 10
ACTIVE = (100, 1_000, 3_000, 5_000)
"""So many people sign in at a fresh start, then each writes and searches now and then; then the service is stopped."""
PACE_SECONDS = 30
"""In so long, each of them writes once and searches once."""
_FIRST = 300
"""First sign-ins that are measured, the last of all."""
_CONNECTIONS = 8
_ROUNDS = 3


def many(folder: Path) -> list[Figure]:
    """A service that 100,000 users have folders in: its start, its memory and its reads with 10 and with 5,000 open.

    The 5,000 sign up and in as users do. Of the others there is what the disk sees: a folder each, an account in it.
    """
    environ = {**rows.fresh_secrets(), "CARREL_MAX_OPEN_WORKSPACES": str(OPEN + FEW)}
    service_key = bytes.fromhex(environ["CARREL_SERVICE_KEY"])
    with rows.carrel(folder, environ=environ, pinned=False) as server:
        first = _first_sign_ins(server)
    empty = sum(file.stat().st_size for file in slots.folder_of(folder / "data", service_key, "user0").iterdir())
    _stock(folder / "data", service_key)
    began = time.perf_counter()
    with rows.carrel(folder, environ=environ) as server:
        started = time.perf_counter() - began
        process = psutil.Process(server.pid)
        # What the first requests import and cache is not the cost of a workspace.
        few = _signed_in(server, FEW)
        _read(server, few)
        with_few, before = _read(server, few), process.memory_info().rss
        everyone = _signed_in(server, OPEN)
        kilobytes = (process.memory_info().rss - before) / (OPEN - FEW) / 1000
        with_all = _read(server, everyone)
    what = f"{REGISTERED:,} users on the disk"
    return [
        rows.at_most("6", f"start of carrel serve, {what}, seconds", started, 2.0),
        rows.stated("6", f"GET /api/contents?limit=50, {FEW} workspaces open, p50 ms", f"{with_few:.2f}"),
        rows.stated("6", f"the same, {OPEN:,} open", f"{with_all:.2f}"),
        rows.at_most("6", f"{OPEN:,} open over {FEW}", with_all / with_few, 2.0),
        rows.at_most("6", "memory of an open workspace, kB", kilobytes, 700.0),
        rows.at_most("6", f"first sign-in, of the last of {OPEN:,}, CPU ms", first, 15.0),
        rows.stated("6", "disk of an account with an empty workspace, kB", f"{empty / 1000:.0f}"),
        *(figure for count in ACTIVE for figure in _active(folder, environ, count)),
    ]


def _first_sign_ins(server: Server) -> float:
    """Sign everybody up and in; the processor time of each of the last ones' first sign-in, in milliseconds."""
    users = [*_users(OPEN)]
    measured = min(_FIRST, OPEN // 2)
    both = [[_sign_up(server, uuid), rows.login_request(server, uuid)] for uuid in users]
    uvloop.run(_all(server, both[:-measured]))
    uvloop.run(_all(server, [requests[:1] for requests in both[-measured:]]))
    logins = [requests[1] for requests in both[-measured:]]
    return load.each(server.port, server.pid, logins).cpu_ms


def _active(folder: Path, environ: dict[str, str], count: int) -> list[Figure]:
    """People who sign in after a start, twice write a content and search for it; then SIGTERM."""
    with rows.carrel(folder, environ=environ) as server:
        process = psutil.Process(server.pid)
        _work(server, _signed_in(server, FEW), 0)
        before, descriptors = process.memory_info().rss, process.num_fds()
        began = time.perf_counter()
        asked = _signed_in(server, count)[FEW:]
        sign_ins = count / (time.perf_counter() - began)
        for _ in range(2):
            _work(server, asked, PACE_SECONDS)
        kilobytes = (process.memory_info().rss - before) / len(asked) / 1000
        descriptors = process.num_fds() - descriptors
        stopped = time.perf_counter()
    stopped = time.perf_counter() - stopped
    who = f"{count:,} people who write and search"
    return [
        rows.stated("6", f"{who}: cold sign-ins a second, eight at once", f"{sign_ins:.0f}"),
        rows.at_most("6", f"{who}: memory of each, kB", kilobytes, 600.0),
        rows.at_most("6", f"{who}: descriptors of each", descriptors / len(asked), 4.0),
        rows.at_most("6", f"{who}: SIGTERM to the end, seconds", stopped, 6.0),
    ]


def _work(server: Server, asked: list[Request], seconds: float) -> None:
    """Each of these users writes a content and searches for it, one after the other, in so long."""
    own = [request.headers[0][1] for request in asked]
    found = [Request("GET", "/api/contents?q=river", request.headers) for request in asked]
    both = [[rows.content_request(token), search] for token, search in zip(own, found, strict=True)]
    uvloop.run(_all(server, both, seconds))


def _users(count: int) -> Iterator[str]:
    return (f"user{number}" for number in range(count))


def _sign_up(server: Server, uuid: str) -> Request:
    secret = (("X-SVC-Plugin-Secret", server.plugin_secret),)
    return Request("POST", "/api/users", secret, json.dumps({"uuid": uuid}).encode())


def _stock(data: Path, service_key: bytes) -> None:
    """Folders of as many users as are missing."""
    account = slots.folder_of(data, service_key, "user0") / "account.db"
    for number in range(OPEN, REGISTERED):
        folder = slots.folder_of(data, service_key, f"user{number}")
        folder.mkdir(parents=True)
        shutil.copyfile(account, folder / account.name)


def _signed_in(server: Server, count: int) -> list[Request]:
    """A list of each user's contents to ask for, with every workspace open."""
    answers = uvloop.run(_all(server, [[rows.login_request(server, uuid)] for uuid in _users(count)]))
    tokens = [str(json.loads(answer)["session_token"]) for answer in answers]
    return [Request("GET", "/api/contents?limit=50", (("X-SVC-Session-Token", token),)) for token in tokens]


def _read(server: Server, asked: list[Request]) -> float:
    """The median wait in milliseconds when users take turns, each of whom was seen before."""
    turns = [asked[number % len(asked)] for number in range(OPEN)]
    load.each(server.port, server.pid, turns)
    return min(load.each(server.port, server.pid, turns).median_ms for _ in range(_ROUNDS))


async def _all(server: Server, asked: list[list[Request]], seconds: float = 0) -> list[bytes]:
    """The last answer to each sequence of requests, over a few connections at once, spread over so long."""
    answers = [b""] * len(asked)
    waiting = iter(enumerate(asked))
    began = time.perf_counter()

    async def work() -> None:
        connection = await load.connect(server.port)
        for at, sequence in waiting:
            await asyncio.sleep(began + seconds * at / len(asked) - time.perf_counter())
            for request in sequence:
                status, answers[at] = await connection.send(request.encode())
                if status not in (200, 201):
                    raise RuntimeError(f"{request.path} answered {status}: {answers[at][:300]!r}")
        connection.close()

    await asyncio.gather(*(work() for _ in range(_CONNECTIONS)))
    return answers

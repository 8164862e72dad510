"""Row 9: what two runs at full speed do to everybody else."""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from benchmarks import load, rows
from benchmarks.load import Request
from benchmarks.rows import Figure, Server

DOCUMENTS, MODELS = 500, 5
_READS_PER_SECOND = 200
WARM_UP_SECONDS = 1.0
SECONDS = 5.0
LONE_TASKS = 10


class Plan(NamedTuple):
    """What a run is made of: documents × models × repeats answers, each scored once."""

    documents: int
    models: int
    repeats: int = 1
    concurrency: int = 64

    @property
    def tasks(self) -> int:
        """How many tasks that is."""
        return self.documents * self.models * self.repeats * 2


@contextmanager
def instant(folder: Path) -> Iterator[Server]:
    """Carrel with models that answer at once."""
    port = rows.free_port()
    command = [sys.executable, "-m", "benchmarks.servers.instant", "serve", "--port", str(port)]
    command += ["--data-dir", str(folder / "data"), "--log-level", "warning"]
    with rows.running(command, port, "/api/health", rows.fresh_secrets()) as server:
        load.call(port, Request("GET", "/watch"))
        yield server


def prepare(server: Server, token: str, plan: Plan) -> str:
    """A pending run; its id."""
    headers = (("X-SVC-Session-Token", token),)

    def post(path: str, body: dict[str, Any], expect: int = 201) -> str:
        return str(load.call(server.port, Request("POST", path, headers, json.dumps(body).encode()), expect)["id"])

    def content(kind: str, text: str) -> str:
        return post("/api/contents", {"name": kind, "type": kind, "body": text})

    texts = [f"Document {number}. {rows.BODY_1KB}" for number in range(plan.documents)]
    configuration: dict[str, Any] = {
        "inputs": [content("input_document", text) for text in texts],
        "instructions": content("generation_instructions", "Summarise."),
        "generation": {
            "candidates": [{"model": f"test:m{number}"} for number in range(1, plan.models + 1)],
            "repeats": plan.repeats,
        },
        "scoring": {
            "judges": [{"model": "test:judge"}],
            "criteria": content("criteria", "- name: Coverage\n- name: Clarity"),
        },
        "limits": {"concurrency": plan.concurrency},
    }
    return post("/api/runs", {"configuration": configuration})


def fairness(folder: Path, rounds: int = 3) -> list[Figure]:
    """Reads and single tasks of other users, on an idle service and while two runs of 10,000 tasks are under way."""
    with instant(folder) as server:
        seen = [_round(server, f"round{number}") for number in range(rounds)]
    idle, loaded = zip(*seen, strict=True)
    ratio = statistics.median(busy.p99_ms / quiet.p99_ms for quiet, busy in seen)
    per_second = statistics.median(one.calls_per_second for one in loaded)
    what = "two runs of 10,000 tasks under way"
    return [
        Figure("9", f"{what}: their calls per second", f"{per_second:,.0f}", "", None),
        Figure("9", "a single task of a third user, idle, ms from start to its result", _ms(idle), "", None),
        Figure("9", f"a single task of a third user, {what}", _ms(loaded), "", None),
        Figure("9", "reads of a fourth user, idle, p50 and p99 ms", _pair(idle), "", None),
        Figure("9", f"reads of a fourth user, {what}", _pair(loaded), "", None),
        rows.at_most("9", "their p99 over the idle p99, median of three rounds", ratio, 3.0),
        rows.at_most("9", "longest stall of the event loop, ms", max(one.stall_ms for one in loaded), 20.0),
        Figure(
            "9",
            "of which the loop itself computed at most, ms",
            f"{max(one.computed_ms for one in loaded):.1f}",
            "",
            None,
        ),
    ]


def _round(server: Server, name: str) -> "tuple[_Seen, _Seen]":
    """What the others see on the idle service, and then beside two runs."""
    plan = Plan(DOCUMENTS, MODELS, repeats=2)
    busy = [rows.sign_in(server, f"{name}-busy{number}") for number in (1, 2)]
    runs = [prepare(server, token, plan) for token in busy]
    alone = rows.sign_in(server, f"{name}-alone")
    single = [prepare(server, alone, Plan(1, 1)) for _ in range(2 * LONE_TASKS)]
    reader = rows.sign_in(server, f"{name}-reader")
    content = str(load.call(server.port, rows.content_request(reader), 201)["id"])
    read = Request("GET", f"/api/contents/{content}", (("X-SVC-Session-Token", reader),))
    idle = uvloop.run(_observe(server, read, alone, single[:LONE_TASKS]))
    for token, run in zip(busy, runs, strict=True):
        start = Request("POST", f"/api/runs/{run}/start", (("X-SVC-Session-Token", token),))
        load.call(server.port, start, 202)
    loaded = uvloop.run(_observe(server, read, alone, single[LONE_TASKS:]))
    for token, run in zip(busy, runs, strict=True):
        cancel = Request("POST", f"/api/runs/{run}/cancel", (("X-SVC-Session-Token", token),))
        load.call(server.port, cancel)
    return idle, loaded


class _Seen(NamedTuple):
    """What a reader and the owner of single tasks saw. `waits` are milliseconds, sorted."""

    p50_ms: float
    p99_ms: float
    waits: list[float]
    calls_per_second: float
    stall_ms: float
    computed_ms: float


async def _observe(server: Server, read: Request, alone: str, single: list[str]) -> _Seen:
    await asyncio.sleep(WARM_UP_SECONDS)
    before = await _watch(server)
    began = time.perf_counter()
    waits, times = await asyncio.gather(_lone_tasks(server, alone, single), _reads(server, read))
    after, seconds = await _watch(server), time.perf_counter() - began
    return _Seen(
        1000 * times[len(times) // 2],
        1000 * times[int(len(times) * 0.99)],
        sorted(waits),
        (after["answered"] - before["answered"]) / seconds,
        after["longest_ms"],
        after["longest_of_loop_ms"],
    )


async def _reads(server: Server, read: Request) -> list[float]:
    """Reads at a steady rate, whatever the last one took; seconds, sorted."""
    connection = await load.connect(server.port)
    encoded, times = read.encode(), []
    began = time.perf_counter()
    for number in range(int(SECONDS * _READS_PER_SECOND)):
        due = began + number / _READS_PER_SECOND
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        asked = time.perf_counter()
        status, _ = await connection.send(encoded)
        times.append(time.perf_counter() - asked)
        if status != 200:
            raise RuntimeError(f"a read answered {status}")
    connection.close()
    return sorted(times)


async def _lone_tasks(server: Server, token: str, runs: list[str]) -> list[float]:
    """Start runs of one task, one after the other; milliseconds from each start to its stored result."""
    connection = await load.connect(server.port)
    headers, waits = (("X-SVC-Session-Token", token),), []
    for run in runs:
        began = time.perf_counter()
        await connection.send(Request("POST", f"/api/runs/{run}/start", headers).encode())
        done = 0
        while not done:
            await asyncio.sleep(0.002)
            _, body = await connection.send(Request("GET", f"/api/runs/{run}", headers).encode())
            done = json.loads(body)["progress"]["succeeded"]
        waits.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(SECONDS / (2 * len(runs)))
    connection.close()
    return waits


async def _watch(server: Server) -> dict[str, float]:
    connection = await load.connect(server.port)
    _, body = await connection.send(Request("GET", "/watch").encode())
    connection.close()
    found: dict[str, float] = json.loads(body)
    return found


def _ms(seen: Sequence[_Seen]) -> str:
    waits = sorted(wait for one in seen for wait in one.waits)
    return f"{waits[len(waits) // 2]:.1f} (at most {waits[-1]:.1f})"


def _pair(seen: Sequence[_Seen]) -> str:
    p50, p99 = (statistics.median(values) for values in zip(*((one.p50_ms, one.p99_ms) for one in seen), strict=True))
    return f"{p50:.2f} {p99:.2f}"

"""Row 8: what a task costs in a long run, against one in a short run."""

import json
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks import fairness, load, rows
from benchmarks.fairness import Plan
from benchmarks.load import Request
from benchmarks.rows import Figure, Server

SHORT = Plan(100, 5)
LONG = Plan(1_000, 10, repeats=5)
WARM_UP = Plan(50, 2)
_POLL_SECONDS = 0.2


class _Cost(NamedTuple):
    """What a run took: CPU per task in milliseconds, and the most memory that the process held, in MB."""

    cpu_ms: float
    memory_mb: float


def size(folder: Path, rounds: int = 3) -> list[Figure]:
    """A run of 100,000 tasks against runs of 1,000, each in a service of its own."""
    short = sorted((_cost(folder / f"short{number}", SHORT) for number in range(rounds)), key=lambda cost: cost.cpu_ms)
    usual, long = short[rounds // 2], _cost(folder / "long", LONG)
    return [
        Figure("8", f"a run of {SHORT.tasks:,} tasks, CPU ms per task (peak memory)", _shown(usual), "", None),
        Figure("8", f"a run of {LONG.tasks:,} tasks, CPU ms per task (peak memory)", _shown(long), "", None),
        rows.at_most("8", "CPU per task, long over short", long.cpu_ms / usual.cpu_ms, 1.1),
        rows.at_most("8", "peak memory, long over short", long.memory_mb / usual.memory_mb, 1.5),
    ]


def _cost(folder: Path, plan: Plan) -> _Cost:
    with fairness.instant(folder) as server:
        token = rows.sign_in(server, "user")
        # What is imported, compiled and started for the first run is not the cost of its tasks.
        _through(server, token, WARM_UP)
        return _through(server, token, plan)


def _through(server: Server, token: str, plan: Plan) -> _Cost:
    """A run from its start to its end. The worker's time is not counted: it ranks once, when the tasks are done."""
    run = fairness.prepare(server, token, plan)
    process, headers, memory = psutil.Process(server.pid), (("X-SVC-Session-Token", token),), 0.0
    before = sum(process.cpu_times()[:2])
    load.call(server.port, Request("POST", f"/api/runs/{run}/start", headers), 202)
    while _is_running(server, Request("GET", f"/api/runs/{run}", headers)):
        memory = max(memory, process.memory_info().rss / 1e6)
        time.sleep(_POLL_SECONDS)
    return _Cost(1000 * (sum(process.cpu_times()[:2]) - before) / plan.tasks, memory)


def _is_running(server: Server, read: Request) -> bool:
    run = load.call(server.port, read)
    if run["state"] not in ("running", "completed"):
        raise RuntimeError(json.dumps(run)[:300])
    return run["state"] == "running"


def _shown(cost: _Cost) -> str:
    return f"{cost.cpu_ms:.2f} ({cost.memory_mb:.0f} MB)"

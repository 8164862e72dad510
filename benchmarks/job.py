"""Rows 7 and 11: the evaluation job, 900 calls to models over real HTTP, and what is made of its results.

100 documents × 3 models, every answer scored by 2 judges. The models are a local OpenAI-compatible server on the other
core. What the job costs a client that keeps nothing and checks nothing is the floor.
"""

import json
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from benchmarks import load, rows
from benchmarks.load import Request
from benchmarks.rows import Figure, Server
from tests.support.model_server import Running, model_server

DOCUMENTS, CONCURRENCY = 100, 64
GENERATORS = ("alpha", "beta", "gamma")
JUDGES = ("judge-one", "judge-two")
CALLS = DOCUMENTS * len(GENERATORS) * (1 + len(JUDGES))
PROMPTFOO_CPU_SECONDS = 10.1
"""Of promptfoo on this job, measured on two cores before Carrel was written; `make bench-peers` measures it anew."""
_DOCUMENT = (
    "The harbour of the old town kept its own ledger of ships, storms and wages, and this is what it says. " * 12
)
_ENDED = ("completed", "completed_with_errors", "failed")


class Job(NamedTuple):
    """What one job took. `first_seconds` is the time from the start to the first result that was stored."""

    cpu_seconds: float
    wall_seconds: float
    first_seconds: float
    peak_mb: float


def evaluation_job(folder: Path, rounds: int = 3) -> list[Figure]:
    """Row 7: the job at no latency, the median of some rounds, and at 200 ms once."""
    with model_server() as models:
        floor = min(_floor(models)[0] for _ in range(rounds))
        jobs = [_whole_job(folder / f"job{number}", models) for number in range(rounds)]
        job = sorted(jobs)[rounds // 2]
        models.latency(200)
        slow = _whole_job(folder / "slow", models)
        _, floor_wall = _floor(models)
    ideal = -(-DOCUMENTS * len(GENERATORS) // CONCURRENCY) * 0.2
    ideal += -(-DOCUMENTS * len(GENERATORS) * len(JUDGES) // CONCURRENCY) * 0.2
    return [
        rows.stated("7", f"{CALLS} calls, a bare client that keeps nothing: CPU seconds", f"{floor:.2f}"),
        rows.at_most("7", f"{CALLS} calls, every result durable: CPU seconds", job.cpu_seconds, 1.5),
        rows.at_most("7", "the same over promptfoo's 10.1 CPU seconds", job.cpu_seconds / PROMPTFOO_CPU_SECONDS, 0.15),
        rows.stated("7", "the same over the bare client", f"{job.cpu_seconds / floor:.2f}"),
        rows.stated("7", "wall seconds at no latency", f"{job.wall_seconds:.2f}"),
        rows.stated("7", "wall seconds at 200 ms: the bare client", f"{floor_wall:.2f}"),
        rows.at_most("7", f"wall at 200 ms over the ideal {ideal:.1f} s", slow.wall_seconds / ideal, 1.3),
        rows.at_most("7", "peak memory, MB", max(one.peak_mb for one in jobs), 150),
        rows.at_most("7", "first result stored after the start, seconds", job.first_seconds, 0.5),
    ]


def results(folder: Path) -> list[Figure]:
    """Row 11: report and export of the job."""
    with model_server() as models, service(folder, models) as (server, token):
        run_id = make_run(server, token)
        start(server, token, run_id)
        until_ended(server, token, run_id)
        process = psutil.Process(server.pid)
        path = f"/api/runs/{run_id}/report?format=html"
        first, *others = [_cpu_of(process, lambda: _status(server, token, path)) for _ in range(4)]
        before = peak_mb(server.pid)
        load.call(server.port, _post(token, f"/api/runs/{run_id}/export"), 202)
        while _status(server, token, f"/api/runs/{run_id}/export") != 200:
            time.sleep(0.02)
        grown = peak_mb(server.pid) - before
    return [
        rows.at_most("11", f"report of a run of {CALLS} calls, CPU ms", 1000 * statistics.median(others), 300),
        rows.stated("11", "the first report of a process, which compiles the page, CPU ms", f"{1000 * first:.0f}"),
        rows.stated("11", "growth of the service's peak memory by its export, MB", f"{grown:.1f}"),
    ]


# One job ------------------------------------------------------------------------------------------------------------


@contextmanager
def service(folder: Path, models: Running, *, program: list[str] | None = None) -> Iterator[tuple[Server, str]]:
    """The service with one user, who has a key for the models; the server and the user's token."""
    environ = rows.fresh_secrets() | {"CARREL_PROVIDER_HOSTS": models.host}
    with rows.carrel(folder, environ=environ, program=program) as server:
        token = rows.sign_in(server, "user")
        key = {"provider": "openai", "key": models.key, "base_url": models.base_url}
        load.call(server.port, _post(token, "/api/provider-keys", key), 201)
        yield server, token


def make_run(server: Server, token: str) -> str:
    """The documents, the texts and the run, which is not started; its id."""
    inputs = [_content(server, token, "input_document", f"{number}. {_DOCUMENT}") for number in range(DOCUMENTS)]
    criteria = _content(server, token, "criteria", "- name: faithful\n  description: Says what the document says.\n")
    configuration = {
        "inputs": inputs,
        "instructions": _content(server, token, "generation_instructions", "Sum it up in three sentences."),
        "generation": {"candidates": [{"label": name, "model": f"openai:{name}"} for name in GENERATORS]},
        "scoring": {"judges": [{"model": f"openai:{name}"} for name in JUDGES], "criteria": criteria},
        "limits": {"concurrency": CONCURRENCY},
    }
    made = load.call(server.port, _post(token, "/api/runs", {"configuration": configuration}), 201)
    return str(made["id"])


def _whole_job(folder: Path, models: Running) -> Job:
    with service(folder, models) as (server, token):
        run_id = make_run(server, token)
        # The first call of a process imports the client and opens the connections.
        cpu, started = _cpu(server.pid), time.perf_counter()
        start(server, token, run_id)
        while not load.call(server.port, _get(token, f"/api/runs/{run_id}"))["progress"]["succeeded"]:  # type: ignore[index]
            time.sleep(0.01)
        first = time.perf_counter() - started
        state = until_ended(server, token, run_id)
        wall, cpu = time.perf_counter() - started, _cpu(server.pid) - cpu
        if state != "completed":
            raise RuntimeError(f"the job is {state}")
        return Job(cpu, wall, first, peak_mb(server.pid))


def start(server: Server, token: str, run_id: str) -> None:
    """Start a run that is pending."""
    load.call(server.port, _post(token, f"/api/runs/{run_id}/start"), 202)


def until_ended(server: Server, token: str, run_id: str) -> str:
    """Wait for the end of a run; its state then."""
    while True:
        state = str(load.call(server.port, _get(token, f"/api/runs/{run_id}"))["state"])
        if state in _ENDED:
            return state
        time.sleep(0.1)


def _floor(models: Running) -> tuple[float, float]:
    program = [
        sys.executable,
        "-m",
        "benchmarks.servers.bare_client",
        models.base_url,
        models.key,
        str(DOCUMENTS * len(GENERATORS)),
    ]
    shown = subprocess.run(program, check=True, capture_output=True, text=True, preexec_fn=_on_the_servers_core)
    told: dict[str, float] = json.loads(shown.stdout)
    return told["cpu_seconds"], told["wall_seconds"]


def _on_the_servers_core() -> None:
    psutil.Process().cpu_affinity([rows.SERVER_CORE])


def _cpu(pid: int) -> float:
    """Of the service and of its worker."""
    process = psutil.Process(pid)
    times = [one.cpu_times() for one in (process, *process.children(recursive=True))]
    return float(sum(one.user + one.system for one in times))


def _cpu_of(process: psutil.Process, work: Callable[[], object]) -> float:
    before = _cpu(process.pid)
    work()
    return _cpu(process.pid) - before


def peak_mb(pid: int) -> float:
    """The most memory that the process ever held."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _status(server: Server, token: str, path: str) -> int:
    """Read an answer that may be streamed, to its end."""
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", headers={"X-SVC-Session-Token": token})
    try:
        with urllib.request.urlopen(request) as answer:
            while answer.read(1 << 16):
                pass
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        return refusal.code


def _content(server: Server, token: str, kind: str, body: str) -> str:
    made = load.call(server.port, _post(token, "/api/contents", {"name": "A text", "type": kind, "body": body}), 201)
    return str(made["id"])


def _post(token: str, path: str, data: dict[str, Any] | None = None) -> Request:
    body = json.dumps(data).encode() if data is not None else b""
    return Request("POST", path, (("X-SVC-Session-Token", token),), body)


def _get(token: str, path: str) -> Request:
    return Request("GET", path, (("X-SVC-Session-Token", token),))

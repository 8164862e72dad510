"""Row 2: pages of long lists, against a bare function that asks a copy of the same file the same, and nothing else."""

import hashlib
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import load, rows
from benchmarks.load import Measured, Request
from benchmarks.rows import Figure, Server
from carrel.accounts import slots
from carrel.kit.clock import SystemClock
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, transaction

USUAL = 10_000
SIZES = (100, USUAL, 100_000)
"""How many rows lie behind the page that is read."""
LISTS = ("contents", "runs")
_ROUNDS = 3
_REQUESTS = 2_400
_NEW_ID = "lower(hex(randomblob(16)))"


class Case(NamedTuple):
    """A list of a user who has so many rows; `size` 0 is the floor."""

    name: str
    size: int


def lists(folder: Path) -> list[Figure]:
    """The first pages of contents and of runs, of users who have few, many and very many."""
    own, environ = folder / "carrel", rows.fresh_secrets()
    with rows.carrel(own, environ=environ) as server:
        for size in SIZES:
            _one_of_each(server, rows.sign_in(server, _uuid(size)))
    paths = {size: _workspace(own / "data", bytes.fromhex(environ["CARREL_SERVICE_KEY"]), size) for size in SIZES}
    for size, path in paths.items():
        _fill(path, size)
    copy = shutil.copy(paths[USUAL], folder / "copy.db")
    port = rows.free_port()
    command = [sys.executable, "-m", "benchmarks.servers.floor", str(port), str(folder), str(copy), _key(USUAL).hex()]
    with rows.carrel(own, environ=environ) as server, rows.running(command, port, "/api/contents/c1") as bare:
        return _figures(_measured(server, bare))


def _figures(measured: dict[Case, Measured]) -> list[Figure]:
    figures = []
    for name in LISTS:
        bare, short, usual, long = (measured[Case(name, size)] for size in (0, *SIZES))
        what = f"GET /api/{name}?limit=50"
        figures += [
            rows.stated("2", f"{what}, requests per CPU second: bare ASGI floor", f"{bare.per_cpu_second:,.0f}"),
            rows.stated("2", f"{what}: Carrel, {USUAL:,} rows", f"{usual.per_cpu_second:,.0f}"),
            rows.at_least("2", f"{what}: Carrel over the floor", usual.per_cpu_second / bare.per_cpu_second, 0.5),
            rows.at_most("2", f"{what}: CPU, {SIZES[-1]:,} rows over {SIZES[0]}", long.cpu_ms / short.cpu_ms, 1.1),
        ]
    return figures


def _measured(own: Server, bare: Server) -> dict[Case, Measured]:
    """The median of every case, measured turn by turn."""
    asked = {
        Case(name, size): Request("GET", f"/api/{name}?limit=50", (("X-SVC-Session-Token", token),))
        for size, token in [(0, "floor-token"), *((size, _sign_in(own, size)) for size in SIZES)]
        for name in LISTS
    }
    seen: dict[Case, list[Measured]] = {case: [] for case in asked}
    for _ in range(_ROUNDS):
        for case, request in asked.items():
            server = own if case.size else bare
            seen[case].append(
                load.run(server.port, server.pid, load.always(request), requests=_REQUESTS, connections=8)
            )
    return {case: rows.median(runs) for case, runs in seen.items()}


def _uuid(size: int) -> str:
    return f"has{size}"


def _sign_in(server: Server, size: int) -> str:
    return str(load.call(server.port, rows.login_request(server, _uuid(size)))["session_token"])


# What the lists consist of ------------------------------------------------------------


def _one_of_each(server: Server, token: str) -> None:
    """Make contents and a finished run."""
    headers = (("X-SVC-Session-Token", token),)

    def post(path: str, body: dict[str, Any], expect: int = 201) -> str:
        return str(load.call(server.port, Request("POST", path, headers, json.dumps(body).encode()), expect)["id"])

    def content(kind: str, text: str) -> str:
        return post("/api/contents", {"name": kind, "type": kind, "body": text})

    configuration = {
        "instructions": content("generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": "local:lead"}, {"model": "local:random"}]},
        "scoring": {
            "judges": [{"model": "local:reader"}],
            "criteria": content("criteria", "- name: Coverage\n- name: Clarity"),
        },
        "inputs": [content("input_document", rows.BODY_1KB) for _ in range(3)],
    }
    run = post("/api/runs", {"configuration": configuration})
    load.call(server.port, Request("POST", f"/api/runs/{run}/start", headers), 202)
    read = Request("GET", f"/api/runs/{run}", headers)
    while load.call(server.port, read)["state"] == "running":
        time.sleep(0.1)


def _workspace(data: Path, service_key: bytes, size: int) -> Path:
    return slots.folder_of(data, service_key, _uuid(size)) / "workspace.db"


def _key(size: int) -> bytes:
    return hashlib.sha256(_uuid(size).encode()).digest()


def _fill(path: Path, size: int) -> None:
    """Copy the newest content and run of a closed workspace until there are `size` of each."""
    connection = database.connect(path, _key(size), clock=SystemClock(), new_id=lambda: "id")
    try:
        with transaction(connection):
            for name in LISTS:
                (present,) = connection.one(f"SELECT count(*) FROM {name}") or (0,)
                _copy(connection, name, size - present)
            last = "(SELECT max(run) FROM run_rounds)"
            columns = ", ".join(name for name in _columns(connection, "run_rounds") if name != "run")
            connection.execute(
                f"INSERT INTO run_rounds (run, {columns}) SELECT copy, {columns}"
                f" FROM (SELECT seq AS copy FROM runs WHERE seq > {last}),"
                f" (SELECT * FROM run_rounds WHERE run = {last})"
            )
    finally:
        database.close(connection)


def _copy(connection: Connection, table: str, times: int) -> None:
    columns = [name for name in _columns(connection, table) if name not in ("seq", "id")]
    connection.execute(
        f"WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ?)"
        f" INSERT INTO {table} (id, {', '.join(columns)}) SELECT {_NEW_ID}, {', '.join(columns)}"
        f" FROM copies, (SELECT * FROM {table} ORDER BY seq DESC LIMIT 1)",
        (times,),
    )


def _columns(connection: Connection, table: str) -> list[str]:
    return [row[1] for row in connection.all(f"PRAGMA table_info({table})")]

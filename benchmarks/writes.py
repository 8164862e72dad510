"""Row 3: durable writes, against bare loops that make the same rows durable and do nothing else."""

import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks import load, rows
from benchmarks.load import Measured
from benchmarks.rows import BODY_1KB, Figure
from benchmarks.servers import floor
from benchmarks.servers.tokens import token_of
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from carrel.vault import files
from carrel.vault.files import Format
from carrel.vault.keyring import UserUuid

USERS = 32
_ROUNDS = 3
WRITES = 1_600
_CLOCK = SystemClock()
_FORM = Format(_CLOCK, uuid7_factory(_CLOCK))
_COLUMNS = "id, name, type, body, variables, description, tags, version, created_at, updated_at, body_bytes"
_CONTENT = f"INSERT INTO contents ({_COLUMNS}, body_preview) VALUES (?, ?, ?, ?, '{{}}', '', '[]', 1, ?, ?, ?, ?)"


class Rate(NamedTuple):
    """How often in a second, and the CPU of each."""

    per_second: float
    cpu_ms: float


def writes(folder: Path) -> list[Figure]:
    """Durable `POST /api/contents`: 32 users at once, then 32 writers in one workspace, each beside its floor."""
    port = rows.free_port()
    peer = folder / "customary"
    peer.mkdir()
    command = [sys.executable, "-m", "benchmarks.servers.customary", str(port), str(peer)]
    seen: dict[str, list[Rate]] = {}
    with (
        ExitStack() as opened,
        rows.carrel(folder / "carrel") as own,
        rows.running(command, port, "/docs") as other,
    ):
        tokens = [rows.sign_in(own, f"writer{i}") for i in range(USERS)]
        their_tokens = [token_of(f"user{i}") for i in range(USERS)]
        workspaces = [_workspace(folder, number, opened) for number in range(USERS + 1)]
        plain = _plain_table(folder, opened)
        for _ in range(_ROUNDS):
            measured = {
                "bare, 32 files": _bare_contents(workspaces[:USERS]),
                "32 users": _posts(own, tokens),
                "bare, one file": _bare_contents(workspaces[USERS:]),
                "one workspace": _posts(own, tokens[:1]),
                "customary, 32 users": _posts(other, their_tokens),
                "customary, one": _posts(other, their_tokens[:1]),
                "plain": _bare_rows(plain),
            }
            for name, rate in measured.items():
                seen.setdefault(name, []).append(rate)
    return _figures(seen)


def _figures(seen: dict[str, list[Rate]]) -> list[Figure]:
    def stated(what: str, name: str) -> Figure:
        rate, cpu_ms = (statistics.median(column) for column in zip(*seen[name], strict=True))
        return rows.stated("3", what, f"{rate:,.0f} ({cpu_ms:.2f} ms)")

    def over(what: str, name: str, base: str, goal: float) -> Figure:
        # In CPU, which is what limits both on a disk that is fast enough; of each round by itself.
        ratios = [other.cpu_ms / one.cpu_ms for one, other in zip(seen[name], seen[base], strict=True)]
        return rows.at_least("3", what, statistics.median(ratios), goal)

    return [
        stated("a bare loop of the same inserts, 32 files in turn, per second (CPU ms each)", "bare, 32 files"),
        stated("a bare loop of the same inserts, one file", "bare, one file"),
        stated("a bare loop of inserts into a table without indexes and search", "plain"),
        stated("POST /api/contents, 32 users", "32 users"),
        stated("POST /api/contents, 32 writers in one workspace", "one workspace"),
        stated("the customary server, 32 users", "customary, 32 users"),
        stated("the customary server, one database", "customary, one"),
        over("32 users over the bare loop over 32 files, per CPU second", "32 users", "bare, 32 files", 0.4),
        over("one workspace over the bare loop over one file, per CPU second", "one workspace", "bare, one file", 0.4),
        over("32 users over the customary server, per CPU second", "32 users", "customary, 32 users", 2.0),
        over("one workspace over the customary server, per CPU second", "one workspace", "customary, one", 2.0),
    ]


def _posts(server: rows.Server, tokens: list[str]) -> Rate:
    asked = [rows.content_request(tokens[i % len(tokens)]) for i in range(USERS)]
    measured: Measured = load.run(server.port, server.pid, asked.__getitem__, requests=WRITES, connections=USERS)
    return Rate(measured.per_second, measured.cpu_ms)


def _bare_contents(connections: list[Connection]) -> Rate:
    """Contents as Carrel stores them, a commit each, in one file after the other."""

    def insert(number: int) -> None:
        connection = connections[number % len(connections)]
        now = connection.now()
        values = (connection.new_id(), "A note", "input_document", BODY_1KB, now, now, len(BODY_1KB), BODY_1KB[:200])
        connection.execute(_CONTENT, values)

    return _timed(insert)


def _bare_rows(connection: Connection) -> Rate:
    """The same texts in the simplest table there is."""
    sql = "INSERT INTO contents (name, type, body) VALUES (?, ?, ?)"
    return _timed(lambda _: connection.execute(sql, ("A note", "input_document", BODY_1KB)))


def _timed(insert: Callable[[int], object]) -> Rate:
    for number in range(int(WRITES * load.WARM_UP)):
        insert(number)
    wall, cpu = time.perf_counter(), time.process_time()
    for number in range(WRITES):
        insert(number)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Rate(WRITES / wall, 1000 * cpu / WRITES)


def _workspace(folder: Path, number: int, opened: ExitStack) -> Connection:
    path, uuid = folder / f"workspace{number}.db", UserUuid(f"bare{number}")
    files.create(path, floor.KEY, uuid, _FORM)
    connection = files.open_workspace(path, floor.KEY, uuid, _FORM, readonly=False)
    opened.callback(database.discard, connection)
    return connection


def _plain_table(folder: Path, opened: ExitStack) -> Connection:
    connection = database.create(folder / "plain.db", floor.KEY, clock=_CLOCK, new_id=_FORM.new_id)
    opened.callback(database.discard, connection)
    connection.execute("CREATE TABLE contents (id INTEGER PRIMARY KEY, name TEXT, type TEXT, body TEXT) STRICT")
    return connection

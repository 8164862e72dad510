"""A process that works on a run over many rows with checks alone: `python -m tests.crash.rows_operations`.

It dies by SIGKILL at its commit of a given number, or prints what the run came to, as one digest.
"""

import asyncio
import hashlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from carrel.datasets import store as data_sets
from carrel.kit.sqlite.database import Connection, transaction
from carrel.presets.configuration import Configuration
from carrel.runs.creation import snapshot
from carrel.runs.engine import commands
from carrel.runs.model.schemas import RunIn
from carrel.vault import write_queue
from tests.support.engine import engine_harness
from tests.support.models import TestModels
from tests.support.tables import uploaded
from tests.support.workspace import SETTINGS

CHECKS: list[dict[str, Any]] = [{"kind": "contains"}, {"kind": "length", "most": 20}, {"kind": "json"}]
CANDIDATES = ("one", "two", "three")
TABLES = (
    "SELECT key, state, error, cost_micros FROM tasks ORDER BY seq",
    "SELECT key, body, finish_reason, delivered FROM generated JOIN tasks ON tasks.seq = task ORDER BY key",
    "SELECT key, passes, marks FROM check_marks JOIN generated ON generated.seq = generated"
    " JOIN tasks ON tasks.seq = task ORDER BY key",
    "SELECT round, ranking, checks, verdict FROM run_rankings",
    "SELECT state, round, phase, verdict, cost_micros FROM runs",
)


def table(rows: int) -> bytes:
    """Questions with an expected output, and three finished answers to each."""
    lines = ["id,question,expected,one,two,three"]
    for n in range(rows):
        answer = f"{n * 7},The answer to number {n} is {n * 7}.,It is {n * 7 + (n % 3 == 0)},"
        lines.append(f'{n},Question {n} of the many about ships and towns,{answer}"{{""answer"": {n * 7}}}"')
    return "\n".join(lines).encode()


async def prepare(folder: Path, rows: int) -> None:
    """Make the run, without starting it."""
    roles: dict[str, Any] = {"id": "id", "question": "variable", "expected": "expected"}
    roles |= dict.fromkeys(CANDIDATES, "metadata")
    async with engine_harness(folder, TestModels()) as harness:
        made = await harness.write(data_sets.create, *uploaded(table(rows), roles, name="Many"))
        configuration = msgspec.convert(
            {
                "rows": {"data_set": made.id},
                "generation": {"candidates": [{"label": name, "column": name} for name in CANDIDATES]},
                "checks": CHECKS,
            },
            Configuration,
        )
        await harness.write(snapshot.create, RunIn(configuration=configuration), harness.registry, SETTINGS)


async def work(folder: Path, dies_at: int) -> None:
    """Work on the run, and die at that commit; with 0, work to its end and print the digest."""
    if dies_at:
        write_queue.transaction = _dying(dies_at)  # type: ignore[attr-defined]  # as tests patch it
    async with engine_harness(folder, TestModels()) as harness:
        [(run_id, state)] = await harness.rows("SELECT id, state FROM runs")
        if state == "pending":
            await harness.write(commands.start, run_id)
        while harness.engine.active_runs:
            await asyncio.sleep(0.05)
        print(await harness.read(_digest))


def _digest(conn: Connection) -> str:
    digest = hashlib.sha256()
    for sql in TABLES:
        for row in conn.each(sql):
            digest.update(repr(row).encode())
    return digest.hexdigest()


def _dying(at: int) -> Any:
    commits = 0

    @contextmanager
    def dying(connection: Connection) -> Iterator[Connection]:
        nonlocal commits
        commits += 1
        with transaction(connection):
            yield connection
            if commits == at:
                os.kill(os.getpid(), signal.SIGKILL)

    return dying


if __name__ == "__main__":
    where, number = Path(sys.argv[2]), int(sys.argv[3])
    asyncio.run(prepare(where, number) if sys.argv[1] == "prepare" else work(where, number))

"""Exports as rows: made once, made anew, interrupted, given up."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from carrel.errors import CarrelError, DiskFull, NotFound
from carrel.kit.processes.jobs import WorkerTimedOut
from carrel.kit.sqlite.database import Connection
from carrel.providers.base import Answer, GenerateMatter, ModelRequest
from carrel.reports import archive, export_parts
from carrel.reports import export_store as rows
from carrel.reports.archive import ExportTooLarge
from carrel.reports.export_store import Export, ExportNotReady
from carrel.reports.exports import Exports
from carrel.runs.engine import reevaluate
from carrel.runs.model.schemas import ReevaluateIn
from carrel.runs.model.setup import RunId
from carrel.runs.progress import store
from tests.support.engine import UUID, EngineHarness, WorkerHere, engine_harness
from tests.support.models import TestModels, fails, honest, said
from tests.support.workspace import SETTINGS, workspace_database
from tests.support.zips import entries, table

FORMULA = "=HYPERLINK(1)"


class Copier:
    """A bench that can export."""

    def __init__(self, harness: EngineHarness) -> None:
        self.harness = harness
        self.exports = self.open()

    def open(self) -> Exports:
        self.exports = Exports(self.harness.pool, self.harness.workers)
        self.harness.pool.subscribe(self.exports)
        return self.exports

    async def want(self, run_id: RunId) -> Export:
        async with self.harness.workspace() as workspace:
            return await self.exports.want(workspace, run_id)

    async def settled(self) -> None:
        await self.exports.settled()

    async def zipped(self, run_id: RunId) -> bytes:
        await self.settled()
        return await self.harness.read(whole, run_id)

    async def made(self, run_id: RunId) -> bytes:
        await self.want(run_id)
        return await self.zipped(run_id)


def whole(conn: Connection, run_id: RunId) -> bytes:
    ready = rows.ready(conn, run_id)
    count = -(-ready.bytes // archive.PIECE_BYTES)
    found = b"".join(rows.piece(conn, ready, ordinal) for ordinal in range(count))
    assert len(found) == ready.bytes
    return found


@asynccontextmanager
async def copier(folder: Path, models: TestModels | None = None) -> AsyncIterator[Copier]:
    async with engine_harness(folder, models or TestModels()) as harness:
        made = Copier(harness)
        try:
            yield made
        finally:
            await made.exports.stop()


def writes_formulas(request: ModelRequest) -> Answer:
    return said(FORMULA) if isinstance(request.matter, GenerateMatter) else honest(request)


def two_fails(request: ModelRequest) -> Answer:
    if isinstance(request.matter, GenerateMatter) and request.model == "two":
        fails("provider-refused", retryable=False)
    return honest(request)


async def test_an_export_holds_everything_of_a_run(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        run = await harness.harness.finished(documents=2)
        found = entries(await harness.made(run.id))
        assert {name for name in found if "/" not in name} == {
            "README.txt", "report.html", "report.json", "configuration.json", "answers.csv", "checks.csv",
            "scores.csv", "comparisons.csv", "votes.csv", "notes.csv", "calls.csv", "logs.jsonl",
        }  # fmt: skip
        told = found.pop("README.txt").decode()
        assert all(name.split("/")[0] in told for name in found)
        assert found["documents/d1-Document-1.md"] == b"Document number 1 says something."
        assert found["generated/d2-Document-2/c1-test-one.md"].startswith(b"What one makes of")
        assert msgspec.json.decode(found["report.json"])["run"]["id"] == run.id
        assert b"<!doctype html>" in found["report.html"]
        written = json.loads(found["configuration.json"])
        assert written["as_executed"] == msgspec.to_builtins(run.configuration)
        assert written["instructions"] == ["Summarise this.\n\n{{document}}"]
        answers = table(found["answers.csv"])
        assert len(answers) == 4
        assert {row["file"] for row in answers} <= found.keys()
        scores = table(found["scores.csv"])
        assert len(scores) == 2 * 2 * 2
        assert {row["criterion"] for row in scores} == {"Coverage", "Clarity"}
        comparisons = table(found["comparisons.csv"])
        assert len(comparisons) == 4
        assert {row["shown_first"] for row in comparisons} == {"test:one", "test:two"}
        assert all(row["winner"] in ("test:one", "test:two") for row in comparisons)
        assert len(table(found["calls.csv"])) == run.progress.total
        log = [json.loads(line) for line in found["logs.jsonl"].splitlines()]
        assert log[0]["event"] == "run-created"
        assert log[-1]["event"] == "run-finished"


async def test_the_same_run_gives_the_same_bytes_and_is_not_made_twice(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        first = await harness.made(run_id)
        again = await harness.want(run_id)
        assert (again.state, again.bytes) == ("ready", len(first))
        await harness.harness.write(lambda conn: conn.run("DELETE FROM run_exports"))
        assert await harness.made(run_id) == first


async def test_a_new_round_replaces_the_export(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        first = await harness.made(run_id)
        await harness.harness.write(reevaluate.reevaluate, run_id, ReevaluateIn(), harness.harness.registry, SETTINGS)
        await harness.harness.ended(run_id)
        assert await harness.harness.read(whole, run_id) == first
        assert (await harness.want(run_id)).state == "building"
        second = entries(await harness.zipped(run_id))
        assert {row["round"] for row in table(second["scores.csv"])} == {"1", "2"}
        assert json.loads(second["report.json"])["round"] == 2


async def test_what_failed_is_in_the_tables(tmp_path: Path) -> None:
    async with copier(tmp_path, TestModels(two_fails)) as harness:
        run_id = await harness.harness.start()
        await harness.harness.ended(run_id)
        found = entries(await harness.made(run_id))
        failed = [row for row in table(found["answers.csv"]) if row["candidate"] == "test:two"]
        assert {(row["state"], row["error"], row["file"]) for row in failed} == {("failed", "provider-refused", "")}
        assert {row["fate"] for row in table(found["scores.csv"]) if row["candidate"] == "test:two"} == {"missing"}
        assert {row["outcome"] for row in table(found["comparisons.csv"])} == {"missing"}


async def test_no_text_becomes_a_formula(tmp_path: Path) -> None:
    async with copier(tmp_path, TestModels(writes_formulas)) as harness:
        generation = {"candidates": [{"model": "test:one", "label": FORMULA}, {"model": "test:two", "label": "@two"}]}
        run_id = (await harness.harness.finished(generation=generation)).id
        found = entries(await harness.made(run_id))
        cells = [cell for name in found if name.endswith(".csv") for row in table(found[name]) for cell in row.values()]
        assert f"'{FORMULA}" in cells
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
        assert found["generated/d1-Document-1/c1-HYPERLINK-1.md"].decode() == FORMULA


async def test_candidates_and_documents_of_one_name_keep_apart(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        generation = {"candidates": [{"model": "test:one", "label": "a/b"}, {"model": "test:two", "label": "a?b"}]}
        found = entries(await harness.made((await harness.harness.finished(generation=generation)).id))
        assert {"generated/d1-Document-1/c1-a-b.md", "generated/d1-Document-1/c2-a-b.md"} <= found.keys()


async def test_answers_of_one_candidate_keep_apart(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        found = entries(await harness.made((await harness.harness.finished(repeats=2)).id))
        assert {f"generated/d1-Document-1/c1-test-one-s{repeat}.md" for repeat in (1, 2)} <= found.keys()


async def test_small_steps_make_the_same_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished(documents=4)).id
        at_once = await harness.made(run_id)
        await harness.harness.write(lambda conn: conn.run("DELETE FROM run_exports"))
        monkeypatch.setattr(export_parts, "STEP_BYTES", 1)
        monkeypatch.setattr(export_parts, "LOG_ROWS", 2)
        monkeypatch.setattr(archive, "PIECE_BYTES", 512)
        assert await harness.made(run_id) == at_once


async def test_a_run_under_way_can_be_exported(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        run_id = await harness.harness.make()
        found = entries(await harness.made(run_id))
        assert {row["state"] for row in table(found["answers.csv"])} == {"pending"}
        assert json.loads(found["report.json"])["finished"] is False


async def test_an_export_that_was_interrupted_is_made_after_the_next_login(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        await harness.want(run_id)
        await harness.exports.stop()
        await harness.harness.die()
        harness.harness.open()
        harness.open()
        await harness.harness.sign_in()
        assert "report.html" in entries(await harness.zipped(run_id))


async def test_an_eviction_ends_the_work_and_gives_the_lease_back(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        await harness.want(run_id)
        async with asyncio.timeout(60):
            await harness.harness.pool.evict(UUID)
        assert not harness.harness.pool.is_leased(UUID)
        await harness.harness.sign_in()
        assert "report.html" in entries(await harness.zipped(run_id))


async def test_what_is_too_large_is_said_so_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_BYTES", 1_000)
    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        with pytest.raises(ExportTooLarge):
            await harness.made(run_id)
        assert await harness.harness.rows("SELECT * FROM run_export_pieces") == []
        monkeypatch.setattr(rows, "MAX_BYTES", 10_000_000)
        assert await harness.made(run_id)


async def test_a_report_that_is_too_much_for_its_process_ends_the_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def overdue(*_: Any, **__: Any) -> None:
        raise WorkerTimedOut

    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        monkeypatch.setattr(WorkerHere, "run", overdue)
        with pytest.raises(ExportTooLarge):
            await harness.made(run_id)


async def test_a_full_disk_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise DiskFull

    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        monkeypatch.setattr(rows, "complete", full)
        with pytest.raises(DiskFull):
            await harness.made(run_id)
        assert await harness.harness.rows("SELECT * FROM run_export_pieces") == []


async def test_a_fault_of_ours_is_no_export_that_never_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        monkeypatch.setattr(rows, "complete", broken)
        with pytest.raises(CarrelError) as raised:
            await harness.made(run_id)
        assert raised.value.code == "internal"


async def test_a_run_that_is_deleted_takes_its_export_along(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        await harness.want(run_id)
        await harness.harness.write(lambda conn: conn.run("DELETE FROM runs"))
        await harness.settled()
        assert await harness.harness.rows("SELECT * FROM run_exports") == []
        assert await harness.harness.rows("SELECT * FROM run_export_pieces") == []
        with pytest.raises(NotFound):
            await harness.want(run_id)


async def test_what_was_not_asked_for_is_not_ready(tmp_path: Path) -> None:
    async with copier(tmp_path) as harness:
        run_id = (await harness.harness.finished()).id
        with pytest.raises(ExportNotReady):
            await harness.harness.read(rows.ready, run_id)
        assert await harness.harness.read(store.get, run_id)


def test_the_export_of_a_run_reads_no_tasks_of_other_runs(tmp_path: Path) -> None:
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    with workspace_database(tmp_path) as conn:
        conn.execute(
            "INSERT INTO runs (id, name, state, phase, tags, created_at)"
            " SELECT value, value, 'completed', 'generate', '[]', '' FROM json_each('[\"small\", \"large\"]');"
            " WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5000)"
            " INSERT INTO tasks (run, round, key, kind, state, document, candidate, repeat)"
            " SELECT 1 + (x > 2), 1, 't' || x, 'generate', 'succeeded', 1, 1, 1 FROM n"
        ).fetchall()
        conn.set_progress_handler(count, 1)
        small = export_parts.ExportedRun(1, RunId("small"))
        assert export_parts.advance(conn, small, archive.Archive(), export_parts.ExportPlace()) is None
    assert steps < 5_000

"""What an answer of a candidate costs over several runs: with its sources, the calls of others, and what is unknown."""

from pathlib import Path

import pytest

from carrel.kit.sqlite.database import Connection
from carrel.runs.findings import board_figures, finished_runs
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels
from tests.support.workspace import write

COMBINATION = {"candidates": [{"model": "test:four", "label": "merged"}]}
DEAR = "UPDATE tasks SET cost_micros = 10 * candidate WHERE judge IS NULL AND reused IS NULL"

TAKEN = (
    "UPDATE tasks SET cost_micros = 0, reused = (SELECT seq FROM tasks AS t WHERE t.run = 1 AND t.key = tasks.key)"
    " WHERE run = 2 AND kind = 'generate'"
)


async def costs(harness: EngineHarness) -> dict[str, str | None]:
    def gather(conn: Connection) -> dict[str, str | None]:
        found = finished_runs.alike(conn, None)
        assert found is not None
        return {one.candidate: one.cost_per_answer for one in board_figures.of(conn, found)}

    return await harness.read(gather)


async def test_a_combined_answer_costs_its_sources_too(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        await harness.finished(documents=2, combination=COMBINATION)
        await harness.write(lambda conn: conn.run(DEAR))
        assert await costs(harness) == {"test:one": "0.00001", "test:two": "0.00002", "merged": "0.00006"}
        await harness.write(lambda conn: conn.run("UPDATE tasks SET cost_micros = NULL WHERE candidate = 1"))
        assert await costs(harness) == {"test:one": None, "test:two": "0.00002", "merged": None}


async def test_an_answer_of_an_earlier_run_costs_what_its_call_cost(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        first = await harness.finished(documents=2, judges=("test:jury",))
        await harness.write(lambda conn: conn.run(DEAR))
        # Free answers are never taken from an earlier run, so the rows say what those of a dear model would.
        await harness.finished(documents=2)
        await harness.write(lambda conn: conn.run(TAKEN))
        assert await costs(harness) == {"test:one": "0.00001", "test:two": "0.00002"}
        # With the run that made the call, what it cost is gone.
        await harness.write(lambda conn: conn.run("DELETE FROM runs WHERE id = ?", first.id))
        assert await costs(harness) == {"test:one": None, "test:two": None}


async def test_what_existed_before_has_no_known_cost(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        source = await harness.write(write, "A document.", kind="input_document")
        today = await harness.write(write, "What is used today.", kind="output_document")
        candidates = [{"label": "today", "existing": {source.id: today.id}}, {"model": "test:one"}]
        await harness.finished(inputs=[source.id], generation={"candidates": candidates})
        assert await costs(harness) == {"today": None, "test:one": "0"}


async def test_only_as_many_documents_are_read_as_one_request_may_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        runs = [await harness.finished(documents=1) for _ in range(3)]

        def shown(conn: Connection) -> tuple[list[str], int]:
            found = finished_runs.alike(conn, None)
            assert found is not None
            return [run.member.id for run in (*found.chosen, *found.left)], found.left_out

        assert await harness.read(shown) == ([run.id for run in runs[::-1]], 0)
        monkeypatch.setattr(finished_runs, "MOST_DOCUMENTS", 2)
        assert await harness.read(shown) == ([run.id for run in runs[:0:-1]], 1)

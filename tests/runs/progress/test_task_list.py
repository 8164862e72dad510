"""The tasks of a run page by page: in the order of the plan under every filter, and no page reads the whole run."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Paging, decode
from carrel.runs.model.plan import Kind
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import TaskState
from carrel.runs.progress import task_list
from carrel.runs.progress.task_list import TaskFilters
from tests.support.workspace import workspace_database

MOST_STEPS = 15_000
"""Of the engine's virtual machine, for a page of 50. To sort the larger run took 470,000."""
AT = "'2026-11-01T10:00:00.000Z'"
RUNS = {"first": 300, "second": 10_000}
"""How many tasks the runs have, of which those of the smaller one are among the others."""
RUNS_OF = f"""
    INSERT INTO runs (id, name, state, phase, tags, created_at)
    SELECT value, value, 'running', 'generate', '[]', {AT} FROM json_each('["first", "second"]');
    INSERT INTO run_rounds (run, number, criteria) VALUES (1, 1, '[]'), (1, 2, '[]'), (2, 1, '[]'), (2, 2, '[]');
    INSERT INTO run_texts VALUES (1, 1, x'01', '[]', 'Ahoy!'), (2, 2, x'01', '[]', 'Ahoy!');
    INSERT INTO run_documents (run, ordinal, content_id, name, text)
    SELECT runs.seq, value, 'c', 'Ships', runs.seq FROM runs, json_each('[1, 2, 3]');
    INSERT INTO run_candidates (run, ordinal, label, parameters, repeats) SELECT seq, 1, 'A', '{{}}', 1 FROM runs;
"""
MIXED = f"""
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {sum(RUNS.values())})
    INSERT INTO tasks (run, round, key, kind, state, document, candidate, repeat)
    SELECT iif(x % 20 = 0 AND x <= 20 * {RUNS["first"]}, 1, 2), 1 + (x % 7 = 0), 't' || x,
        CASE x * 7 % 11 % 4 WHEN 0 THEN 'generate' WHEN 1 THEN 'score' WHEN 2 THEN 'compare' ELSE 'combine' END,
        CASE x * 5 % 13 % 6 WHEN 0 THEN 'pending' WHEN 1 THEN 'running' WHEN 2 THEN 'succeeded'
            WHEN 3 THEN 'failed' WHEN 4 THEN 'skipped' ELSE 'cancelled' END,
        1 + x % 3, 1, 1 FROM n
"""


@pytest.fixture(scope="module")
def conn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    folder: Path = tmp_path_factory.mktemp("tasks")
    with workspace_database(folder) as connection:
        connection.execute(RUNS_OF).fetchall()
        connection.run(MIXED)
        yield connection


def keys(conn: Connection, run: str, filters: TaskFilters, limit: int) -> list[str]:
    """The keys on all pages."""
    found: list[str] = []
    after: int | None = None
    while True:
        page = task_list.page(conn, RunId(run), filters, Paging(limit, after))
        found += [task.key for task in page.items]
        if page.next_cursor is None:
            return found
        after = decode(page.next_cursor)


def expected(conn: Connection, run: str, filters: TaskFilters) -> list[str]:
    wanted = {name: value for name, value in filters._asdict().items() if value is not None}
    where = "".join(f" AND {name} = ?" for name in wanted)
    number = list(RUNS).index(run) + 1
    return conn.column(f"SELECT key FROM tasks WHERE run = ?{where} ORDER BY seq", number, *wanted.values())


STATES: tuple[TaskState | None, ...] = (None, *get_args(TaskState))
KINDS: tuple[Kind | None, ...] = (None, *get_args(Kind))


@pytest.mark.parametrize(("number", "document"), [(None, None), (2, None), (None, 3), (1, 2), (9, None)])
def test_every_filter_gives_its_tasks_in_the_order_of_the_plan(
    conn: Connection, number: int | None, document: int | None
) -> None:
    for state, kind in product(STATES, KINDS):
        filters = TaskFilters(state, kind, number, document)
        assert keys(conn, "first", filters, 7) == expected(conn, "first", filters), filters
    assert keys(conn, "second", TaskFilters(round=number), 200) == expected(conn, "second", TaskFilters(round=number))


def steps_of(conn: Connection, run: str, filters: TaskFilters, after: int | None) -> int:
    """How many steps of the engine's virtual machine a page takes."""
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    conn.set_progress_handler(count, 1)
    task_list.page(conn, RunId(run), filters, Paging(50, after))
    conn.set_progress_handler(None)
    return steps


def test_a_page_takes_no_more_work_in_a_larger_run(conn: Connection) -> None:
    for state, kind, after in product(STATES, KINDS, (None, 5_000)):
        steps = [steps_of(conn, run, TaskFilters(state, kind), after) for run in RUNS]
        assert max(steps) < MOST_STEPS, (state, kind, after, steps)


def test_no_page_is_sorted(conn: Connection) -> None:
    asked: list[tuple[str, Any]] = []

    def note(_: object, sql: str, params: Any) -> bool:
        asked.append((sql, params))
        return True

    for state, kind in product(STATES, KINDS):
        conn.exec_trace = note
        task_list.page(conn, RunId("second"), TaskFilters(state, kind), Paging(50, 100))
        conn.exec_trace = None
        sql, params = asked[-1]
        plan = [row[3] for row in conn.all(f"EXPLAIN QUERY PLAN {sql}", *params)]
        assert not [step for step in plan if "TEMP B-TREE" in step or step.startswith("SCAN tasks")], (state, kind)

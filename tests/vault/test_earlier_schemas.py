"""Today's program opens the workspaces of every earlier one, and finds in them what was there."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from carrel.contents import search
from carrel.contents import store as contents
from carrel.contents.search import ContentFilters
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Paging
from carrel.metering import store as metering
from carrel.presets import store as presets
from carrel.providers.hosts import UNKNOWN
from carrel.runs.model import setup as setups
from carrel.runs.model.states import PauseReason, State
from carrel.runs.progress import store as runs
from carrel.runs.progress import task_list
from carrel.vault.ids import ContentId
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import WorkspacePool
from tests.support.earlier_schemas import ROWS, WORKSPACE, earlier, faults, leave, numbers, still_there
from tests.support.vault import ALICE, key_of

PathOf = Callable[[UserUuid], Path]


@pytest.mark.parametrize("number", earlier(WORKSPACE))
async def test_a_workspace_of_every_earlier_schema_is_migrated_with_its_rows(
    pool: WorkspacePool, path_of: PathOf, number: int
) -> None:
    left = leave(path_of(ALICE), key_of(ALICE), WORKSPACE, number)
    await pool.admit(ALICE, key_of(ALICE), create=False)
    async with pool.leased(ALICE) as workspace:
        assert workspace.read(lambda conn: conn.value("PRAGMA user_version")) == numbers(WORKSPACE)[-1]
        assert workspace.read(still_there, left) == left
        assert workspace.read(faults) == []
        runs_table = workspace.read(lambda conn: conn.value("SELECT sql FROM sqlite_schema WHERE name = 'runs'"))
        allowed = (*get_args(State), *get_args(PauseReason))
        assert [word for word in allowed if f"'{word}'" not in runs_table] == [], "the table takes each of them"


@pytest.mark.parametrize(
    ("before", "host"),
    [
        ("SELECT 1", None),
        ("UPDATE provider_key SET base_url = 'https://llm.example.org/v1'", UNKNOWN),
        ("UPDATE provider_key SET updated_at = '2026-11-22T06:00:00.001Z'", UNKNOWN),
        ("DELETE FROM provider_key", UNKNOWN),
        ("UPDATE run_snapshots SET configuration = json_set(configuration, '$.billing', 'credits')", UNKNOWN),
    ],
)
async def test_who_answered_before_hosts_were_recorded_is_known_only_where_no_other_key_can_have_been_used(
    pool: WorkspacePool, path_of: PathOf, monkeypatch: pytest.MonkeyPatch, before: str, host: str | None
) -> None:
    rows = f"""
        {ROWS[WORKSPACE][35]}; {before};
        UPDATE run_candidates SET model = 'openai:gpt-5' WHERE ordinal = 1;
        UPDATE run_judges SET model = 'openai:gpt-5', name = 'openai:gpt-5';
        UPDATE judge_checks SET model = 'openai:gpt-5';
    """
    monkeypatch.setitem(ROWS[WORKSPACE], 35, rows)
    leave(path_of(ALICE), key_of(ALICE), WORKSPACE, 35)
    await pool.admit(ALICE, key_of(ALICE), create=False)
    async with pool.leased(ALICE) as workspace:

        def known(conn: Connection) -> list[tuple[object, ...]]:
            return conn.all("SELECT host FROM run_candidates WHERE ordinal = 1 UNION ALL SELECT host FROM run_judges")

        assert workspace.read(known) == [(host,), (host,)]
        checked = workspace.read(lambda conn: conn.value("SELECT host FROM judge_checks"))
        assert (checked is None) == (host is None or "billing" in before)
        run = workspace.read(lambda conn: runs.get(conn, conn.value("SELECT id FROM runs")))
        assert run.hosts == ({} if host is None else {"openai:gpt-5": UNKNOWN})
        (judge,) = workspace.read(lambda conn: setups.require(conn, run.id)).round.judges
        assert (judge.name, judge.host) == ("openai:gpt-5", host), "its ranking is kept under that name"
        calls = await workspace.scan(metering.calls, Paging(), None, None)
        assert {call.host for call in calls.items} == {UNKNOWN}


def test_there_are_rows_for_every_table(path_of: PathOf) -> None:
    left = leave(path_of(ALICE), key_of(ALICE), WORKSPACE, numbers(WORKSPACE)[-1])
    assert [table for table, rows in left.items() if not rows] == []


async def test_what_an_earlier_program_kept_can_be_read_found_and_changed(pool: WorkspacePool, path_of: PathOf) -> None:
    leave(path_of(ALICE), key_of(ALICE), WORKSPACE, 7)
    await pool.admit(ALICE, key_of(ALICE), create=False)
    async with pool.leased(ALICE) as workspace:
        found = workspace.read(search.find, ContentFilters(words="ahoy"), Paging())
        assert [content.name for content in found.items] == ["Ships"]
        assert workspace.read(contents.get, ContentId("c2")).variables == {"SHIPS": "c1"}
        (preset,) = workspace.read(presets.find, Paging()).items
        assert (preset.name, preset.candidate_labels) == ("Mine", ["A"])
        (summary,) = workspace.read(runs.find, Paging(), None, "sea").items
        assert (summary.name, summary.progress.succeeded, summary.verdict) == ("First", 3, "A leads.")
        run = workspace.read(runs.get, summary.id)
        assert run.configuration.inputs == ["c1"]
        tasks = await workspace.scan(task_list.page, summary.id, task_list.TaskFilters(), Paging())
        assert [task.state for task in tasks.items] == ["succeeded"] * 3
        await workspace.write(contents.link, ContentId("c2"), {"SHIPS": None})
        assert workspace.read(contents.get, ContentId("c2")).variables == {"SHIPS": None}

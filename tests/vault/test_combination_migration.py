"""A desk from before answers could be combined: its runs stay what they were."""

from pathlib import Path

from carrel.kit import database
from carrel.kit.migrate import load, migrate
from tests.support.clock import FakeClock

PACKAGE = "carrel.vault.migrations"
BEFORE = 45


def test_runs_and_tasks_of_an_older_desk_keep_phase_kind_and_version(tmp_path: Path) -> None:
    conn = database.create(tmp_path / "workspace.db", bytes(32), clock=FakeClock(), new_id=lambda: "id")
    for number, sql in load(PACKAGE):
        if number <= BEFORE:
            conn.execute(sql).fetchall()
    conn.execute(f"PRAGMA user_version = {BEFORE}").fetchall()
    for number, phase in enumerate((None, "generate", "compare"), start=1):
        conn.run(
            "INSERT INTO runs (seq, id, name, state, phase, tags, created_at)"
            " VALUES (?, ?, 'n', 'completed', ?, '[]', '')",
            *(number, f"run-{number}", phase),
        )
    conn.run("INSERT INTO run_rounds (run, number, criteria) VALUES (1, 1, '[]')")
    for number, kind in enumerate(("generate", "score", "compare"), start=1):
        conn.run(
            "INSERT INTO tasks (seq, run, round, key, kind, state, document, candidate, repeat)"
            " VALUES (?, 1, 1, ?, ?, 'succeeded', 1, 1, 1)",
            *(number, f"key-{number}", kind),
        )
    before = conn.all("SELECT seq, phase, version FROM runs ORDER BY seq")
    migrate(conn, PACKAGE)
    assert conn.all("SELECT seq, phase, version FROM runs ORDER BY seq") == before
    assert conn.all("SELECT kind FROM tasks ORDER BY seq") == [("generate",), ("score",), ("compare",)]
    conn.run("UPDATE runs SET phase = 'combine' WHERE seq = 1")
    conn.run("UPDATE tasks SET kind = 'combine' WHERE seq = 1")
    assert conn.all("SELECT version > ? FROM runs WHERE seq = 1", before[0][2]) == [(1,)]
    assert conn.all("PRAGMA integrity_check") == [("ok",)]
    assert conn.all("PRAGMA foreign_key_check") == []
    database.close(conn)

"""A migration may make a table anew: no row of any table is lost, and one that fails or is killed changes nothing."""

import os
import re
import shutil
import signal
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from carrel.errors import CarrelError
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.migrate import load, migrate
from tests.support.clock import FakeClock
from tests.support.disk import Disk, every_failure, failing
from tests.support.earlier_schemas import (
    ACCOUNT,
    SERVICE,
    WORKSPACE,
    Rows,
    faults,
    leave,
    migrate_to,
    numbers,
    still_there,
)
from tests.support.kills import ForkServer, Mark, Run

KEY = bytes(range(32))
PACKAGES = (WORKSPACE, ACCOUNT, SERVICE)
KILLS = 40
COLUMN = "colour TEXT NOT NULL DEFAULT 'blue'"
STATE = "'failed', 'cancelled')"
NEW_STATE = "'failed', 'cancelled', 'archived')"


class Change(NamedTuple):
    """A migration of `table`, as the guide describes it; `shows` finds it in the schema."""

    table: str
    sql: str
    shows: str


Prepared = Callable[[str], str]


def definition(table: str) -> str:
    """The statement that makes a table today."""
    conn = apsw.Connection(":memory:")
    for _, sql in load(WORKSPACE):
        conn.execute(sql)
    found = conn.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchall()
    conn.close()
    return str(found[0][0])


def columns(table: str) -> str:
    conn = apsw.Connection(":memory:")
    conn.execute(definition(table))
    found = ", ".join(name for (name,) in conn.execute("SELECT name FROM pragma_table_info(?)", (table,)))
    conn.close()
    return found


def rebuilt(table: str, before: str, after: str, condition: str = "true") -> str:
    """The table made anew, with `after` for `before` in its definition."""
    made = definition(table).replace(f"CREATE TABLE {table}", f"CREATE TABLE {table}_rebuilt", 1)
    made = made.replace(f'CREATE TABLE "{table}"', f"CREATE TABLE {table}_rebuilt", 1)
    assert before in made
    names = columns(table)
    copied = f"INSERT INTO {table}_rebuilt ({names}) SELECT {names} FROM {table} WHERE {condition}"
    return f"{made.replace(before, after)};\n{copied};\n"


CHANGES = {
    "a column before the text of contents": Change(
        "contents", rebuilt("contents", "body TEXT", f"{COLUMN}, body TEXT"), f"{COLUMN}, body TEXT"
    ),
    "a column before the configuration of presets": Change(
        "presets", rebuilt("presets", "configuration TEXT", f"{COLUMN}, configuration TEXT"), COLUMN
    ),
    "a state of runs, in a table made anew": Change("runs", rebuilt("runs", STATE, NEW_STATE), NEW_STATE),
    "a state of runs, in place": Change(
        "runs",
        "PRAGMA writable_schema = ON;\n"
        "UPDATE sqlite_schema SET sql = replace(sql, '''cancelled'')', '''cancelled'', ''archived'')')\n"
        "    WHERE type = 'table' AND name = 'runs';\n"
        "PRAGMA writable_schema = RESET;\n",
        NEW_STATE,
    ),
}


@pytest.fixture(params=CHANGES)
def change(request: pytest.FixtureRequest) -> Change:
    return CHANGES[request.param]


@pytest.fixture
def left(tmp_path: Path) -> Rows:
    """The rows of the workspace that a program of today has left, some in every table."""
    rows = leave(tmp_path / "workspace.db", KEY, WORKSPACE, numbers(WORKSPACE)[-1])
    assert all(rows.values())
    return rows


@pytest.fixture
def with_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    """Makes a package of today's migrations of a workspace and one more, with this SQL; its name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return lambda sql: packaged(tmp_path, sql)


def packaged(folder: Path, sql: str) -> str:
    package = folder / f"migrations_of_{re.sub('[^a-z0-9]', '_', folder.name)}"
    shutil.copytree(str(resources.files(WORKSPACE)), package, dirs_exist_ok=True)
    (package / "0900_change.sql").write_text(sql)
    return package.name


def opened(folder: Path) -> Connection:
    clock = FakeClock()
    return database.connect(folder / "workspace.db", KEY, clock=clock, new_id=uuid7_factory(clock))


def schema(conn: Connection, *, but: str = "") -> list[tuple[Any, ...]]:
    """Every table, index and trigger, but the statement of one table."""
    return conn.all("SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name <> ? ORDER BY 1, 2", but)


def pragmas(conn: Connection) -> list[object]:
    return [conn.pragma(name) for name in ("foreign_keys", "legacy_alter_table", "writable_schema", "max_page_count")]


def migrate_and_die(mark: Mark, folder: str, package: str, steps: int) -> None:
    """Kill this process after so many steps of the engine; without steps, mark how many it takes."""
    sys.path.insert(0, folder)
    conn, taken = opened(Path(folder)), 0

    def step() -> bool:
        nonlocal taken
        taken += 1
        if taken == steps:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    conn.set_progress_handler(step, 1)
    migrate(conn, package)
    mark(str(taken))


def test_no_row_of_any_table_is_lost(tmp_path: Path, left: Rows, with_migration: Prepared, change: Change) -> None:
    conn = opened(tmp_path)
    before, numbering, set_up = schema(conn, but=change.table), still_numbered(conn), pragmas(conn)
    migrate(conn, with_migration(change.sql))
    assert conn.value("PRAGMA user_version") == 900
    assert change.shows in conn.value("SELECT sql FROM sqlite_schema WHERE name = ?", change.table)
    assert (still_there(conn, left), schema(conn, but=change.table), still_numbered(conn)) == (left, before, numbering)
    assert (faults(conn), pragmas(conn)) == ([], set_up)
    # What refers to the table refers to the new one.
    conn.run("DELETE FROM preset_contents")
    conn.run("DELETE FROM content_links")
    conn.run(f"DELETE FROM {change.table}")
    assert (faults(conn), conn.value("SELECT count(*) FROM run_log") > 0) == ([], change.table != "runs")
    database.close(conn)


def still_numbered(conn: Connection) -> list[tuple[Any, ...]]:
    """The highest numbers that were ever given; one of them above what is in its table."""
    conn.run("UPDATE sqlite_sequence SET seq = 77 WHERE name IN ('contents', 'presets', 'runs')")
    return conn.all("SELECT name, seq FROM sqlite_sequence ORDER BY name")


def test_a_numbering_goes_on_in_a_table_that_is_empty(tmp_path: Path, left: Rows, with_migration: Prepared) -> None:
    conn = opened(tmp_path)
    conn.run("DELETE FROM presets")
    conn.run("UPDATE sqlite_sequence SET seq = 77 WHERE name = 'presets'")
    migrate(conn, with_migration(CHANGES["a column before the configuration of presets"].sql))
    assert conn.one("SELECT seq FROM sqlite_sequence WHERE name = 'presets'") == (77,)
    database.close(conn)


@pytest.mark.parametrize(
    "sql",
    [
        rebuilt("runs", STATE, NEW_STATE, "false"),
        rebuilt("contents", "body TEXT", f"{COLUMN}, body TEXT", "id <> 'c1'"),
        CHANGES["a state of runs, in a table made anew"].sql + "INSERT INTO nowhere VALUES (1);",
        "DROP TABLE tasks;\n" + CHANGES["a state of runs, in a table made anew"].sql,
        rebuilt("runs", STATE, "'failed')"),
        CHANGES["a state of runs, in place"].sql.replace("''archived''", "archived"),
        CHANGES["a state of runs, in place"].sql.replace("''archived'')", "''archived''"),
        "CREATE TABLE nothing_rebuilt (x) STRICT;",
    ],
)
def test_one_that_fails_leaves_the_database_as_it_was(
    tmp_path: Path, left: Rows, with_migration: Prepared, sql: str
) -> None:
    conn = opened(tmp_path)
    # A state that one of these would no longer take.
    conn.run("UPDATE runs SET state = 'cancelled'")
    left = {head: conn.all(f"SELECT {head.partition('(')[2][:-1]} FROM {head.partition(' ')[0]}") for head in left}
    before, set_up = schema(conn), pragmas(conn)
    with pytest.raises(apsw.Error):
        migrate(conn, with_migration(sql))
    assert (conn.in_transaction, schema(conn), faults(conn)) == (False, before, [])
    assert conn.value("PRAGMA user_version") == numbers(WORKSPACE)[-1]
    assert {head: sorted(rows, key=repr) for head, rows in left.items()} == still_there(conn, left)
    assert pragmas(conn) == set_up
    database.close(conn)


def test_a_disk_that_fails_at_any_write_leaves_it_too(tmp_path: Path, left: Rows, with_migration: Prepared) -> None:
    package, path = with_migration(CHANGES["a column before the text of contents"].sql), tmp_path / "workspace.db"
    original = path.read_bytes()

    def work(disk: Disk) -> None:
        for file in tmp_path.glob("workspace.db*"):
            file.unlink()
        path.write_bytes(original)
        with failing(disk):
            try:
                with database.translated():
                    conn = opened(tmp_path)
                    try:
                        migrate(conn, package)
                    finally:
                        database.close(conn)
            except CarrelError:
                disk.heal()
            look(tmp_path, left)

    assert every_failure(work) > 100


def look(folder: Path, left: Rows) -> int:
    """The version that is there, whole."""
    conn = opened(folder)
    version = int(conn.value("PRAGMA user_version"))
    assert version in (numbers(WORKSPACE)[-1], 900)
    assert (still_there(conn, left), faults(conn)) == (left, [])
    assert (COLUMN in conn.value("SELECT sql FROM sqlite_schema WHERE name = 'contents'")) == (version == 900)
    database.close(conn)
    return version


def test_one_that_is_killed_leaves_it_too(tmp_path: Path, left: Rows, with_migration: Prepared) -> None:
    package, path = with_migration(CHANGES["a column before the text of contents"].sql), tmp_path / "workspace.db"
    original, versions = path.read_bytes(), []
    with ForkServer("tests.vault.test_rebuilds") as server:

        def died(steps: int) -> Run:
            for file in tmp_path.glob("workspace.db*"):
                file.unlink()
            path.write_bytes(original)
            return server.run("migrate_and_die", str(tmp_path), package, steps)

        all_steps = int(died(0).marks[-1])
        for steps in range(1, all_steps + 1, all_steps // KILLS):
            assert died(steps).killed
            versions.append(look(tmp_path, left))
    assert len(versions) >= KILLS
    assert sorted(versions) == versions


def test_a_workspace_that_is_full_is_rebuilt_and_no_larger_afterwards(
    tmp_path: Path, left: Rows, with_migration: Prepared
) -> None:
    conn = opened(tmp_path)
    names = columns("contents").replace("seq, id, ", "")
    copy = f"INSERT INTO contents (id, {names}) SELECT ?, {names} FROM contents WHERE id = 'c1'"
    for number in range(100):
        conn.run(copy.replace(", body FROM", ", ? FROM"), f"long-{number}", f"{number} " * 20_000)
    pages = conn.value("PRAGMA page_count")
    assert conn.value(f"PRAGMA max_page_count = {pages}") == pages
    migrate(conn, with_migration(CHANGES["a column before the text of contents"].sql))
    assert conn.value("SELECT count(*) FROM contents WHERE length(body) >= 40000") == 100
    assert conn.value("PRAGMA page_count") <= 1.01 * pages
    assert conn.value("PRAGMA max_page_count") <= 1.01 * pages
    database.close(conn)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_migration_drops_what_it_should_not(tmp_path: Path, package: str) -> None:
    """A table that others refer to, or an index or a trigger that it does not name."""
    clock = FakeClock()
    conn = database.create(tmp_path / "some.db", KEY, clock=clock, new_id=uuid7_factory(clock))
    for number, sql in load(package):
        before, referred = things(conn), conn.column(REFERRED_TO)
        assert not {*referred} & {*re.findall(r"DROP TABLE (?:IF EXISTS )?(\w+)", sql)}, number
        migrate_to(conn, package, number)
        gone = before - things(conn)
        assert [name for kind, name in gone if f"DROP {kind.upper()} {name}" not in sql] == [], number
    database.close(conn)


REFERRED_TO = """
    SELECT DISTINCT keys."table" FROM pragma_table_list AS tables, pragma_foreign_key_list(tables.name) AS keys
    WHERE tables.schema = 'main'
"""


def things(conn: Connection) -> set[tuple[Any, ...]]:
    return {*conn.all("SELECT type, name FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL")}

"""Migrations: one transaction, recorded, refused when the file is newer than the program."""

from pathlib import Path

import apsw
import pytest

from carrel.accounts import accounts, service
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.migrate import NewerDatabase, is_current, load, migrate
from carrel.vault.files import MIGRATIONS as WORKSPACES
from tests.support.clock import FakeClock

KEY = bytes(range(32))
CLOCK = FakeClock()
NEW_ID = uuid7_factory(CLOCK)


@pytest.fixture
def conn(tmp_path: Path) -> Connection:
    return database.create(tmp_path / "some.db", KEY, clock=CLOCK, new_id=NEW_ID)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An importable folder of migrations, of which the second comes with a gap."""
    name = f"migrations_of_{tmp_path.name}".replace("-", "_")
    folder = tmp_path / "packages" / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "0010_b.sql").write_text("INSERT INTO a VALUES (2); CREATE TABLE b (x);")
    (folder / "0001_a.sql").write_text("CREATE TABLE a (x);\nINSERT INTO a VALUES (1);\n")
    (folder / "notes.txt").write_text("not a migration")
    monkeypatch.syspath_prepend(str(folder.parent))
    return name


def test_migrations_run_in_the_order_of_their_numbers(conn: Connection, package: str) -> None:
    assert [number for number, _ in load(package)] == [1, 10]
    assert not is_current(conn, package)
    migrate(conn, package)
    assert conn.all("SELECT x FROM a") == [(1,), (2,)]
    assert conn.one("PRAGMA user_version") == (10,)
    assert is_current(conn, package)
    conn.close()


@pytest.mark.parametrize("package", [WORKSPACES, accounts.MIGRATIONS, service.MIGRATIONS])
def test_a_new_database_is_what_its_migrations_make_one_by_one(
    conn: Connection, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(conn, package)
    monkeypatch.setattr("carrel.kit.sqlite.migrate.all_at_once", lambda _: "")
    other = database.create(tmp_path / "step-by-step.db", KEY, clock=CLOCK, new_id=NEW_ID)
    migrate(other, package)
    schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
    assert conn.all(schema) == other.all(schema)
    assert conn.pragma("user_version") == other.pragma("user_version")
    tables = conn.column("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence'")
    assert all(conn.all(f"SELECT * FROM {name}") == other.all(f"SELECT * FROM {name}") for name in tables)


def test_only_what_is_new_runs(conn: Connection, package: str) -> None:
    migrate(conn, package)
    conn.run("PRAGMA user_version = 1")
    conn.run("DROP TABLE b")
    migrate(conn, package)
    assert conn.all("SELECT x FROM a") == [(1,), (2,), (2,)]
    migrate(conn, package)
    assert conn.all("SELECT x FROM a") == [(1,), (2,), (2,)]
    conn.close()


def test_a_migration_that_fails_takes_all_of_them_back(conn: Connection, package: str, tmp_path: Path) -> None:
    (tmp_path / "packages" / package / "0011_c.sql").write_text("CREATE TABLE c (x); INSERT INTO nowhere VALUES (1);")
    with pytest.raises(apsw.SQLError):
        migrate(conn, package)
    assert conn.one("SELECT count(*) FROM sqlite_schema") == (0,)
    assert conn.one("PRAGMA user_version") == (0,)
    assert not conn.in_transaction
    conn.close()


def test_a_newer_database_is_refused_and_left_alone(conn: Connection, package: str, tmp_path: Path) -> None:
    migrate(conn, package)
    conn.run("PRAGMA user_version = 11")
    database.close(conn)
    path = tmp_path / "some.db"
    before = path.read_bytes()
    conn = database.connect(path, KEY, clock=CLOCK, new_id=NEW_ID)
    with pytest.raises(NewerDatabase):
        migrate(conn, package)
    assert not is_current(conn, package)
    database.close(conn)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "package",
    ["carrel.vault.migrations", "carrel.accounts.account_migrations", "carrel.accounts.service_migrations"],
)
def test_every_table_of_ours_is_strict(conn: Connection, package: str) -> None:
    migrate(conn, package)
    lax = conn.all("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict")
    assert [name for (name,) in lax if not name.startswith("sqlite_")] == []
    assert conn.one("PRAGMA foreign_key_check") is None
    conn.close()

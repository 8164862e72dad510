"""Creation and re-encryption of a workspace file: before or after, never in between, whatever the disk does."""

import itertools
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from carrel.errors import DiskFull, Unavailable
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Cipher, Connection, Damaged, KeyRejected, Missing
from carrel.kit.sqlite.migrate import NewerDatabase, migrate
from carrel.vault import files
from carrel.vault.files import Blank, Format
from tests.support.disk import Disk, every_failure, failing
from tests.support.vault import ALICE, BOB, add_row, add_table, contents, key_of, look_inside, make_workspace, rows

OLD = key_of("old")
NEW = key_of("new")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    return folder / "workspace.db"


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


# Creation -------------------------------------------------------------------------------------------------------------


def test_a_new_workspace_names_its_user_and_is_not_plain_text(path: Path, form: Format) -> None:
    files.create(path, OLD, ALICE, form)
    assert names(path) == ["workspace.db"]
    assert not path.read_bytes().startswith(b"SQLite format 3")
    assert b"alice" not in path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    conn = files.open_workspace(path, OLD, ALICE, form, readonly=True)
    assert conn.all("SELECT uuid, created_at FROM user_meta") == [("alice", "2027-01-15T08:00:00.000Z")]
    assert conn.one("PRAGMA journal_mode") == ("wal",)
    conn.close()


def test_a_copy_of_the_blank_is_what_the_migrations_make(path: Path, form: Format) -> None:
    files.create(path, OLD, ALICE, form)
    with closing(Blank(form)) as blank:
        for number, uuid in enumerate((ALICE, BOB)):
            other = path.with_name(f"{number}.db")
            files.create(other, NEW, uuid, form, blank)
            found = [
                files.open_workspace(one, key, who, form, readonly=False)
                for one, key, who in ((path, OLD, ALICE), (other, NEW, uuid))
            ]
            for asked in (
                "SELECT * FROM sqlite_schema",
                "PRAGMA user_version",
                "PRAGMA journal_mode",
                "PRAGMA auto_vacuum",
                "PRAGMA integrity_check",
            ):
                assert found[0].all(asked) == found[1].all(asked)
            for conn in found:
                database.close(conn)
    assert names(path) == ["0.db", "1.db", "workspace.db"]


def test_a_workspace_that_is_there_is_not_made_again(path: Path, form: Format) -> None:
    make_workspace(path, OLD, ALICE, form)
    before = contents(path.parent)
    files.create(path, NEW, ALICE, form)
    assert contents(path.parent) == before


def test_what_a_killed_creation_left_is_replaced(path: Path, form: Format) -> None:
    for name in ("workspace.db.new", "workspace.db.new-wal", "workspace.db.new-journal", "workspace.db.new-shm"):
        path.with_name(name).write_bytes(b"left by a crash")
    files.create(path, OLD, ALICE, form)
    assert names(path) == ["workspace.db"]
    assert look_inside(path, OLD, ALICE, form) == []


def test_creation_survives_every_failure_of_the_disk(tmp_path: Path, small: Format) -> None:
    turns = itertools.count()

    def create(disk: Disk) -> None:
        path = tmp_path / str(next(turns)) / "workspace.db"
        path.parent.mkdir()
        blank = Blank(small)
        with failing(disk), closing(blank):
            try:
                files.create(path, OLD, ALICE, small, blank)
            except DiskFull:
                assert disk.trouble == "full"
            except Unavailable:
                assert disk.trouble == "broken"
            disk.heal()
            # There is nothing or a whole workspace, and the next login with the same key goes on.
            assert not path.exists() or look_inside(path, OLD, ALICE, small) == []
            files.create(path, OLD, ALICE, small, blank)
            assert look_inside(path, OLD, ALICE, small) == []
        assert names(path) == ["workspace.db"]

    assert every_failure(create) > 100


# Opening --------------------------------------------------------------------------------------------------------------


def test_a_file_put_in_another_users_place_does_not_open_even_with_its_key(path: Path, form: Format) -> None:
    make_workspace(path, OLD, BOB, form)
    before = contents(path.parent)
    for readonly in (True, False):
        with pytest.raises(Damaged):
            files.open_workspace(path, OLD, ALICE, form, readonly=readonly)
    assert contents(path.parent) == before


def test_a_database_without_a_user_does_not_open(path: Path, form: Format) -> None:
    conn = database.create(path, OLD, clock=form.clock, new_id=form.new_id)
    add_table(conn)
    database.complete(conn)
    with pytest.raises(Damaged):
        files.open_workspace(path, OLD, ALICE, form, readonly=True)
    conn = database.connect(path, OLD, clock=form.clock, new_id=form.new_id)
    migrate(conn, form.migrations)
    database.close(conn)
    with pytest.raises(Damaged):
        files.open_workspace(path, OLD, ALICE, form, readonly=True)


def test_a_missing_workspace_is_not_replaced_by_an_empty_one(path: Path, form: Format) -> None:
    with pytest.raises(Missing):
        files.open_workspace(path, OLD, ALICE, form, readonly=False)
    assert names(path) == []


def test_a_users_share_of_the_disk_is_bounded(path: Path, form: Format) -> None:
    make_workspace(path, OLD, ALICE, form)
    conn = files.open_workspace(path, OLD, ALICE, form._replace(max_megabytes=1), readonly=False)
    with pytest.raises(apsw.FullError):
        conn.run("INSERT INTO t VALUES (1000, hex(zeroblob(1048576)))")
    assert len(rows(conn)) == 20
    conn.close()


def test_an_older_copy_of_the_whole_file_is_taken_for_the_present_one(path: Path, form: Format) -> None:
    """The known limit of every such cipher, told in the security guide: rows cannot be forged, but time turned back."""
    make_workspace(path, OLD, ALICE, form, count=1)
    older = path.read_bytes()
    conn = files.open_workspace(path, OLD, ALICE, form, readonly=False)
    add_row(conn, 1000)
    database.close(conn)
    path.write_bytes(older)
    assert look_inside(path, OLD, ALICE, form) == [0]


# Re-encryption --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cipher", ["chacha20", "sqlcipher"])
def test_a_rekey_keeps_every_row_and_ends_the_old_key(path: Path, form: Format, cipher: Cipher) -> None:
    form = form._replace(cipher=cipher)
    make_workspace(path, OLD, ALICE, form, count=500, text="words " * 50)
    calls: list[str] = []
    files.rekey(path, OLD, NEW, ALICE, form, lambda: calls.append("before"))
    assert calls == ["before"]
    assert names(path) == ["workspace.db"]
    assert look_inside(path, OLD, ALICE, form) is None
    assert look_inside(path, NEW, ALICE, form) == list(range(500))
    conn = files.open_workspace(path, NEW, ALICE, form, readonly=False)
    assert conn.one("PRAGMA journal_mode") == ("wal",)
    assert conn.one("PRAGMA auto_vacuum") == (2,)
    assert conn.one("PRAGMA quick_check") == ("ok",)
    conn.close()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_rekey_takes_along_what_is_only_in_the_log(path: Path, form: Format, tmp_path: Path) -> None:
    make_workspace(path, OLD, ALICE, form)
    conn = files.open_workspace(path, OLD, ALICE, form, readonly=False)
    add_row(conn, 1000)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for file in path.parent.iterdir():
        if not file.name.endswith("-shm"):
            shutil.copy(file, crashed)
    conn.close()
    files.rekey(crashed / path.name, OLD, NEW, ALICE, form, lambda: None)
    assert look_inside(crashed / path.name, NEW, ALICE, form) == [*range(20), 1000]


def test_a_rekey_with_a_wrong_old_key_changes_nothing(path: Path, form: Format) -> None:
    make_workspace(path, OLD, ALICE, form)
    before = contents(path.parent)
    calls: list[str] = []
    with pytest.raises(KeyRejected):
        files.rekey(path, key_of("wrong"), NEW, ALICE, form, lambda: calls.append("before"))
    assert contents(path.parent) == before
    assert calls == []


def test_a_rekey_to_something_that_is_no_key_changes_nothing(path: Path, form: Format) -> None:
    make_workspace(path, OLD, ALICE, form)
    before = contents(path.parent)
    with pytest.raises(KeyRejected):
        files.rekey(path, OLD, NEW[:31], ALICE, form, lambda: None)
    assert contents(path.parent) == before


def test_a_rekey_whose_last_word_fails_changes_nothing(path: Path, form: Format) -> None:
    make_workspace(path, OLD, ALICE, form)
    before = contents(path.parent)

    def fail() -> None:
        raise DiskFull

    with pytest.raises(DiskFull):
        files.rekey(path, OLD, NEW, ALICE, form, fail)
    assert contents(path.parent) == before


def test_a_rekey_of_a_damaged_database_changes_nothing(path: Path, form: Format) -> None:
    make_workspace(path, OLD, ALICE, form, count=500, text="words " * 50)
    bad = bytearray(path.read_bytes())
    bad[-2000] ^= 1
    path.write_bytes(bad)
    with pytest.raises(Damaged):
        files.rekey(path, OLD, NEW, ALICE, form, lambda: None)
    assert contents(path.parent) == {path.name: bytes(bad)}


def test_a_log_that_cannot_be_emptied_stops_a_rekey(path: Path, form: Format, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 10)
    make_workspace(path, OLD, ALICE, form)
    straggler = files.open_workspace(path, OLD, ALICE, form, readonly=False)
    straggler.execute("BEGIN")
    rows(straggler)
    other = files.open_workspace(path, OLD, ALICE, form, readonly=False)
    add_row(other, 1000)
    database.discard(other)
    with pytest.raises(Unavailable):
        files.rekey(path, OLD, NEW, ALICE, form, lambda: None)
    database.discard(straggler)
    assert look_inside(path, OLD, ALICE, form) == [*range(20), 1000]


def test_a_rekey_survives_every_failure_of_the_disk(tmp_path: Path, small: Format) -> None:
    original = tmp_path / "original" / "workspace.db"
    make_workspace(original, OLD, ALICE, small, count=40, text="words " * 100)
    everything = list(range(40))
    turns = itertools.count()

    def rekey(disk: Disk) -> None:
        path = tmp_path / str(next(turns)) / "workspace.db"
        path.parent.mkdir()
        shutil.copy(original, path)
        done = False
        with failing(disk):
            try:
                files.rekey(path, OLD, NEW, ALICE, small, lambda: None)
                done = True
            except DiskFull:
                assert disk.trouble == "full"
            except Unavailable:
                assert disk.trouble == "broken"
            disk.heal()
            opened = {name: look_inside(path, key, ALICE, small) for name, key in (("old", OLD), ("new", NEW))}
        assert sorted(opened.values(), key=bool) == [None, everything], (disk, opened)
        if done:
            assert opened["old"] is None
        files.sweep(path)
        assert names(path) == ["workspace.db"]

    assert every_failure(rekey) > 100


# Versions -------------------------------------------------------------------------------------------------------------


def test_a_newer_workspace_is_refused_and_left_alone(path: Path, form: Format) -> None:
    make_workspace(path, OLD, ALICE, form)
    conn = files.open_workspace(path, OLD, ALICE, form, readonly=False)
    conn.run("PRAGMA user_version = 9999")
    database.close(conn)
    before = contents(path.parent)
    conn = files.open_workspace(path, OLD, ALICE, form, readonly=False)
    with pytest.raises(NewerDatabase):
        migrate(conn, form.migrations)
    database.close(conn)
    assert contents(path.parent) == before


def test_a_connection_holds_time_and_ids(path: Path, form: Format) -> None:
    make_workspace(path, OLD, ALICE, form)
    conn: Connection = files.open_workspace(path, OLD, ALICE, form, readonly=True)
    assert conn.clock is form.clock
    assert conn.new_id is form.new_id
    conn.close()

"""How encrypted files are opened: each test is a trap of the engine (SQLite3 Multiple Ciphers 2.6.1) that was met."""

import errno
import random
import re
import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from carrel.errors import CarrelError, DiskFull, Unavailable
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Cipher, Connection, Damaged, KeyRejected, Missing
from tests.support import soak
from tests.support.clock import FakeClock
from tests.support.soak import Figure

KEY = bytes(range(100, 132))
OTHER_KEY = bytes(range(200, 232))
CLOCK = FakeClock()
NEW_ID = uuid7_factory(CLOCK)


def connect(path: Path, key: bytes = KEY, cipher: Cipher = "chacha20") -> Connection:
    return database.connect(path, key, clock=CLOCK, new_id=NEW_ID, cipher=cipher)


def create(path: Path, key: bytes = KEY, cipher: Cipher = "chacha20") -> Connection:
    return database.create(path, key, clock=CLOCK, new_id=NEW_ID, cipher=cipher)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the shared-memory index, which is rebuilt from the log and holds no data."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if not file.name.endswith("-shm")}


@pytest.fixture(params=["chacha20", "sqlcipher"])
def cipher(request: pytest.FixtureRequest) -> Cipher:
    name: Cipher = request.param
    return name


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed database with 200 rows over several pages."""
    path = tmp_path / "some.db"
    fill(path)
    return path


def fill(path: Path, cipher: Cipher = "chacha20") -> None:
    path.unlink(missing_ok=True)
    conn = create(path, cipher=cipher)
    conn.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT) STRICT")
    with database.transaction(conn):
        for number in range(200):
            conn.run("INSERT INTO t VALUES (?, ?)", number, "plain words " * 8)
    database.close(conn)


@pytest.fixture
def hot(path: Path, tmp_path: Path) -> Path:
    """A copy of a database as a crash leaves it: the last committed row is only in the log."""
    conn = connect(path)
    conn.run("INSERT INTO t VALUES (1000, 'in the log')")
    folder = tmp_path / "hot"
    folder.mkdir()
    for file in (path, path.with_name("some.db-wal")):
        (folder / file.name).write_bytes(file.read_bytes())
    database.close(conn)
    return folder / path.name


# Keys ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_a_key_that_has_not_32_bytes_is_refused_as_the_engine_would_take_it_for_a_passphrase(
    path: Path, length: int
) -> None:
    before = contents(path.parent)
    with pytest.raises(KeyRejected):
        connect(path, bytes(length))
    with pytest.raises(KeyRejected):
        create(path.with_name("new.db"), bytes(length))
    assert contents(path.parent) == before


def test_the_key_is_used_raw_and_not_stretched_from_a_passphrase(path: Path) -> None:
    raw = apsw.Connection(str(path))
    raw.execute("PRAGMA cipher = chacha20").fetchall()
    raw.execute(f"PRAGMA hexkey = '{KEY.hex()}'").fetchall()
    with pytest.raises(apsw.NotADBError):
        raw.execute("SELECT count(*) FROM t").fetchall()
    raw.close()


def test_a_wrong_key_leaves_the_file_as_it_was(path: Path, cipher: Cipher) -> None:
    path = path.with_name("ciphered.db")
    conn = create(path, cipher=cipher)
    conn.run("CREATE TABLE t (a)")
    database.close(conn)
    before = contents(path.parent)
    with pytest.raises(KeyRejected):
        connect(path, OTHER_KEY, cipher)
    assert contents(path.parent) == before
    database.close(connect(path, cipher=cipher))


def test_a_wrong_key_leaves_a_hot_log_as_it_was(hot: Path) -> None:
    before = contents(hot.parent)
    assert hot.with_name("some.db-wal").stat().st_size > 0
    for _ in range(3):
        with pytest.raises(KeyRejected):
            connect(hot, OTHER_KEY)
    assert contents(hot.parent) == before
    conn = connect(hot)
    assert conn.one("SELECT b FROM t WHERE a = 1000") == ("in the log",)
    conn.close()


def test_the_statement_cache_does_not_keep_the_key(path: Path) -> None:
    for conn in (connect(path), create(path.with_name("new.db"))):
        conn.one("SELECT 1")
        entries = str(conn.cache_stats(include_entries=True)).lower()
        assert "select 1" in entries
        assert "pragma key" not in entries
        assert KEY.hex() not in entries
        conn.close()


def test_no_tracing_hook_sees_the_statements_of_a_keyed_connection(path: Path) -> None:
    conn = connect(path)
    assert conn.exec_trace is None
    assert conn.row_trace is None
    assert conn.cursor().exec_trace is None
    conn.close()


@pytest.mark.parametrize(
    "trap",
    [
        r"apsw\.Connection\((?!\))",  # a keyless look at a file can make uncommitted data permanent
        r"\bATTACH\b",  # with an empty key it copies to plain text
        r"\.serialize\(",  # gives plain text
        r"VACUUM INTO",  # takes the key from a file name
        r"PRAGMA rekey\s*=",  # can lose both keys under SIGKILL
        r"hexkey",  # a malformed one becomes a passphrase
        r"(exec_trace|trace_v2|row_trace|set_profile|SQLITE_CONFIG_LOG)",  # show the statement that sets the key
    ],
)
def test_what_leaks_or_loses_is_used_nowhere(trap: str) -> None:
    root = Path(database.__file__).parents[1]
    users = [path.name for path in sorted(root.rglob("*.py")) if re.search(trap, path.read_text(encoding="utf-8"))]
    assert users == []


def test_a_process_is_copied_only_before_it_has_opened_anything() -> None:
    """Open databases do not survive it."""
    root = Path(database.__file__).parents[2]
    users = [path.name for path in sorted(root.rglob("*.py")) if "os.fork" in path.read_text(encoding="utf-8")]
    assert users == ["private_memory.py"]


def test_no_hook_of_the_library_runs_on_every_new_connection() -> None:
    assert apsw.connection_hooks == []


@pytest.mark.parametrize("key", [OTHER_KEY, KEY[:31]])
def test_an_error_tells_nothing_of_the_key(path: Path, key: bytes) -> None:
    with pytest.raises(KeyRejected) as caught:
        connect(path, key)
    shown = repr(caught.value) + "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=False).format()
    )
    assert key.hex()[:16] not in shown
    assert repr(key) not in shown


def test_a_failing_key_pragma_does_not_show_its_text(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(database.CIPHER_PRAGMAS, "chacha20", "PRAGMA cipher = chacha20; SELECT no_such_function()")
    with pytest.raises((CarrelError, apsw.Error)) as caught:
        connect(path)
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert KEY.hex() not in shown


# Files that are not what they should be -----------------------------------------------------------------------------


def make_empty(path: Path) -> None:
    path.write_bytes(b"")


def make_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def make_one_byte_short_of_a_page(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4095])


def make_plaintext(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as conn:
        conn.execute("CREATE TABLE t (a, b)")
        conn.execute("INSERT INTO t VALUES (1, randomblob(9000))")
    conn.close()


def make_truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: 2 * 4096])


def make_truncated_within_a_page(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: 2 * 4096 + 700])


@pytest.mark.parametrize(
    "spoil",
    [
        make_empty,
        make_short,
        make_one_byte_short_of_a_page,
        make_plaintext,
        make_truncated,
        make_truncated_within_a_page,
    ],
)
def test_a_file_that_no_key_opens_is_named_damaged_and_left_alone(path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(path)
    before = contents(path.parent)
    with pytest.raises(Damaged):
        connect(path)
    assert contents(path.parent) == before


def test_a_foreign_file_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(5 * 4096))
    before = contents(path.parent)
    with pytest.raises(KeyRejected):
        connect(path)
    assert contents(path.parent) == before


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(Missing):
        connect(tmp_path / "gone.db")
    with pytest.raises(Missing):
        connect(tmp_path / "no folder" / "gone.db")
    assert list(tmp_path.iterdir()) == []


def test_something_that_is_not_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(Unavailable):
        connect(tmp_path / "folder.db")


def test_a_new_file_does_not_replace_one_that_is_there(path: Path) -> None:
    before = contents(path.parent)
    with pytest.raises(FileExistsError):
        create(path)
    assert contents(path.parent) == before


def flips(path: Path, bits: list[int], cipher: Cipher = "chacha20") -> list[int]:
    """Those of `bits` that may be flipped without anybody noticing when the database is read in full."""
    good = path.read_bytes()
    unnoticed = []
    for bit in bits:
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bad)
        try:
            conn = connect(path, cipher=cipher)
        except (Damaged, KeyRejected):
            pass
        else:
            try:
                conn.all("SELECT * FROM t")
                if conn.one("PRAGMA integrity_check") == ("ok",):
                    unnoticed.append(bit)
            except (apsw.CorruptError, apsw.NotADBError, apsw.IOError):
                pass
            finally:
                conn.close(True)
        assert path.read_bytes() == bad, "the damaged file was touched"
    path.write_bytes(good)
    return unnoticed


def test_a_flipped_bit_is_noticed(path: Path) -> None:
    size = path.stat().st_size * 8
    bits = random.Random(7).sample(range(size), 400)
    assert flips(path, bits) == []


PARTS = 8


@pytest.mark.soak(campaign="bits")
@pytest.mark.parametrize("part", range(PARTS))
def test_every_flipped_bit_of_the_first_three_pages_is_noticed(path: Path, part: int, figure: Figure) -> None:
    bits = list(range(part, 3 * 4096 * 8, PARTS))[: soak.size(3 * 4096 * 8 // PARTS)]
    assert flips(path, bits) == []
    figure("every bit of pages 1 to 3 flipped, the database read in full", flips=len(bits), unnoticed=0)


@pytest.mark.soak(campaign="bits")
@pytest.mark.parametrize("part", range(PARTS))
def test_random_flipped_bits_are_noticed(path: Path, cipher: Cipher, part: int, figure: Figure) -> None:
    fill(path, cipher)
    chance = random.Random(f"{cipher} {part}")
    bits = [chance.randrange(path.stat().st_size * 8) for _ in range(soak.size(50_000 // PARTS))]
    assert flips(path, bits, cipher) == []
    figure("random bits of a database flipped, with both ciphers, read in full", flips=len(bits), unnoticed=0)


# What a file is made like -------------------------------------------------------------------------------------------


def test_a_new_file_is_encrypted_in_wal_mode_and_private(tmp_path: Path, cipher: Cipher) -> None:
    path = tmp_path / "new.db"
    conn = create(path, cipher=cipher)
    conn.run("CREATE TABLE t (a TEXT)")
    conn.run("INSERT INTO t VALUES ('plain words')")
    assert conn.one("PRAGMA journal_mode") == ("wal",)
    assert conn.one("PRAGMA auto_vacuum") == (2,)
    for file in tmp_path.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file.name
        assert b"plain words" not in file.read_bytes()
    database.close(conn)
    assert not path.read_bytes().startswith(b"SQLite format 3")
    assert [file.name for file in tmp_path.iterdir()] == ["new.db"]


def test_every_connection_keeps_temporary_tables_in_memory_and_syncs_every_commit(path: Path) -> None:
    for conn in (connect(path), create(path.with_name("new.db"))):
        assert conn.one("PRAGMA temp_store") == (2,)
        assert conn.one("PRAGMA synchronous") == (2,)
        assert conn.one("PRAGMA foreign_keys") == (1,)
        assert conn.one("PRAGMA trusted_schema") == (0,)
        assert conn.one("PRAGMA journal_mode") == ("wal",)
        assert conn.one("PRAGMA cipher") == ("chacha20",)
        conn.close()


def test_a_read_only_connection_cannot_write(path: Path) -> None:
    conn = database.connect(path, KEY, clock=CLOCK, new_id=NEW_ID, readonly=True)
    with pytest.raises(apsw.ReadOnlyError):
        conn.run("DELETE FROM t")
    conn.close()


def test_a_connection_carries_time_and_ids(path: Path) -> None:
    conn = connect(path)
    assert conn.now() == "2027-01-15T08:00:00.000Z"
    assert conn.new_id() != conn.new_id()
    conn.close()


# Closing and errors -------------------------------------------------------------------------------------------------


def test_closing_empties_the_log(path: Path) -> None:
    conn = connect(path)
    conn.run("INSERT INTO t VALUES (1000, 'x')")
    assert path.with_name("some.db-wal").stat().st_size > 0
    database.close(conn)
    assert [file.name for file in path.parent.iterdir()] == ["some.db"]


def test_closing_goes_through_although_a_reader_holds_the_checkpoint_up(path: Path) -> None:
    reader = connect(path)
    reader.execute("BEGIN")
    reader.all("SELECT * FROM t")
    writer = connect(path)
    writer.set_busy_timeout(1)
    writer.run("INSERT INTO t VALUES (1000, 'x')")
    database.close(writer)
    reader.close(True)
    conn = connect(path)
    assert conn.one("SELECT count(*) FROM t") == (201,)
    conn.close()


def test_a_new_file_whose_log_cannot_be_emptied_is_not_called_complete(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    conn = create(path)
    conn.run("CREATE TABLE t (a)")
    reader = connect(path)
    reader.execute("BEGIN")
    reader.all("SELECT * FROM t")
    conn.run("INSERT INTO t VALUES (1)")
    conn.set_busy_timeout(1)
    with pytest.raises(Unavailable):
        database.complete(conn)
    reader.close(True)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (apsw.FullError("the disk"), DiskFull),
        (apsw.exception_for(apsw.SQLITE_IOERR_SHMSIZE), DiskFull),
        (apsw.exception_for(apsw.SQLITE_IOERR_FSYNC), Unavailable),
        (OSError(errno.ENOSPC, "no space"), DiskFull),
        (OSError(errno.EDQUOT, "quota"), DiskFull),
        (apsw.IOError("disk"), Unavailable),
        (apsw.CantOpenError("x"), Unavailable),
        (apsw.BusyError("x"), Unavailable),
        (OSError(errno.EIO, "disk"), Unavailable),
        (PermissionError(errno.EACCES, "x"), Unavailable),
        (apsw.CorruptError("x"), Damaged),
        (apsw.NotADBError("x"), Damaged),
    ],
)
def test_errors_of_disk_and_engine_become_ours(raised: Exception, expected: type[CarrelError]) -> None:
    with pytest.raises(CarrelError) as caught, database.translated():
        raise raised
    assert type(caught.value) is expected
    assert caught.value.__suppress_context__


def empty_and_repeat_a_key(conn: Connection) -> None:
    with database.transaction(conn):
        conn.run("DELETE FROM t WHERE a > 0")
        conn.run("INSERT INTO t VALUES (0, 'twice')")


def test_a_transaction_is_all_or_nothing(path: Path) -> None:
    conn = connect(path)
    with pytest.raises(apsw.ConstraintError):
        empty_and_repeat_a_key(conn)
    assert conn.one("SELECT count(*) FROM t") == (200,)
    with database.transaction(conn):
        conn.run("DELETE FROM t WHERE a < 10")
    assert conn.one("SELECT count(*) FROM t") == (190,)
    conn.close()

"""One way to open an encrypted SQLite file, and a connection that carries time and ids.

SQLite3 Multiple Ciphers silently turns a malformed raw key into a passphrase and opens an empty file with any key,
so every file goes through `create` or `connect`, which rule both out.
"""

import ctypes
import errno
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import apsw

from carrel.errors import CarrelError, DiskFull, Unavailable
from carrel.kit.clock import Clock, rfc3339
from carrel.kit.ids import NewId

Cipher = Literal["chacha20", "sqlcipher"]
"""The ciphers on offer: both authenticate every page."""

Row = tuple[Any, ...]
"""One row as SQLite gives it; stores turn it into a struct before it leaves their module."""

KEY_BYTES = 32
_PAGE_BYTES = 4096

# Nobody reads the engine's count of its memory, and keeping it costs a global lock at every allocation.
apsw.shutdown()
apsw.config(apsw.SQLITE_CONFIG_MEMSTATUS, False)
apsw.initialize()

CIPHER_PRAGMAS: dict[Cipher, str] = {
    "chacha20": "PRAGMA cipher = chacha20",
    "sqlcipher": "PRAGMA cipher = sqlcipher; PRAGMA legacy = 4",
}
SETUP = (
    "PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; "
    "PRAGMA trusted_schema = OFF; PRAGMA secure_delete = FAST"
)
BUSY_MILLISECONDS = 5_000
_COPIED_PAGES = 1024
_LARGE_CACHE_KIB = 8 * 1024
PROGRESS_STEPS = 10_000
"""Steps of the engine's virtual machine between two looks at whether a statement may go on: half a millisecond."""
VFS = "multipleciphers-unix-excl"
"""Between connections of one process: the log's index is in memory, not in a shared file. Opening takes two thirds."""
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_SPACE_IN_ENGINE = (apsw.SQLITE_IOERR_SHMSIZE,)
"""Besides `SQLITE_FULL`: opening a database on a full disk, where its shared-memory index cannot grow."""
_HEADER_BYTES = {str: sys.getsizeof("") - 1, bytes: sys.getsizeof(b"") - 1}
"""Where the characters of an ASCII `str`, or `bytes`, start, so that what held a key can be wiped."""


class KeyRejected(CarrelError):
    """The key does not open this file. The file is unchanged."""

    status = 401
    code = "key-rejected"
    detail = "The key does not open this database."


class Damaged(Unavailable):
    """The file is empty, truncated, foreign or fails its checksums. It was not touched."""

    code = "database-damaged"
    detail = "The database file is damaged; it was left untouched. The operator has to restore it."


class Missing(Unavailable):
    """The file is not there although it should be. It is never replaced by an empty one."""

    code = "workspace-missing"
    detail = "The database file is missing; the operator has to restore it."


class ReadTooLong(Unavailable):
    """The read has taken all the processor time that a request may."""

    code = "read-too-long"
    detail = "This takes more processor time than a request may; ask for less, or delete what you no longer need."


class Connection(apsw.Connection):
    """A keyed connection. Store functions take it first and find rows, time and ids on it."""

    clock: Clock
    new_id: NewId
    stopped = False
    """Set by another thread that interrupts: an interrupt between two statements has no effect of its own."""
    pause: Callable[[], None] | None = None
    """Waits while it is another user's turn; set for each piece of work."""
    cpu_clock = time.CLOCK_THREAD_CPUTIME_ID
    """Counts the processor time of the thread that works here; by default of the one that asks."""
    until = math.inf
    """What `cpu_clock` shows when the present work has to end."""
    query_only = False
    """Whether the engine refuses every change; see `set_query_only`."""

    def set_query_only(self, *, on: bool) -> None:
        """Let the engine refuse every change from now on, or take them."""
        self.execute(f"PRAGMA query_only = {'ON' if on else 'OFF'}").fetchall()
        self.query_only = on

    def take_turns(self) -> None:
        """Take turns in the middle of long statements, too, and not only before each."""
        self.set_progress_handler(self._is_over, PROGRESS_STEPS)

    def _take_turn(self) -> None:
        """Before a statement: let others have their turn, or end here because nobody waits for the result.

        Raises:
            apsw.InterruptError: the work was stopped, or has taken its processor time.
        """
        if self.stopped or (self.pause is not None and self._is_over()):
            raise apsw.InterruptError

    def _is_over(self) -> bool:
        if self.pause is not None:
            self.pause()
        return self.stopped or self.is_too_long()

    def is_too_long(self) -> bool:
        """Whether the present work has taken its processor time."""
        return time.clock_gettime(self.cpu_clock) > self.until

    @contextmanager
    def large_cache(self) -> Iterator[None]:
        """In the block, the engine keeps 8 MB of pages and not 2: for many thousand rows at random places of an index.

        A page that it does not keep is encrypted, written, read and decrypted each time.
        """
        (before,) = self.execute("PRAGMA cache_size").fetchall()[0]
        self.execute(f"PRAGMA cache_size = -{_LARGE_CACHE_KIB}").fetchall()
        try:
            yield
        finally:
            self.execute(f"PRAGMA cache_size = {before}").fetchall()

    def one(self, sql: str, *params: Any) -> Row | None:
        """The first row, or `None`."""
        self._take_turn()
        for row in self.execute(sql, params):
            return row  # type: ignore[no-any-return]  # apsw's rows are tuples
        return None

    def all(self, sql: str, *params: Any) -> list[Row]:
        """Every row; the caller's SQL bounds their number."""
        self._take_turn()
        return self.execute(sql, params).fetchall()

    def each(self, sql: str, *params: Any) -> Iterator[Row]:
        """The rows one by one, for a caller that may stop early."""
        self._take_turn()
        return self.execute(sql, params)

    def value(self, sql: str, *params: Any) -> Any:
        """The first column of the first row; `None` also if there is no row."""
        row = self.one(sql, *params)
        return None if row is None else row[0]

    def column(self, sql: str, *params: Any) -> list[Any]:
        """The first column of every row; the caller's SQL bounds their number."""
        return [row[0] for row in self.all(sql, *params)]

    def run(self, sql: str, *params: Any) -> int:
        """Execute one statement; the number of rows it changed."""
        self._take_turn()
        self.execute(sql, params).fetchall()
        return self.changes()

    def now(self) -> str:
        """The present moment as it is stored: RFC 3339, UTC, milliseconds."""
        return rfc3339(self.clock.now())


def wipe(text: str | bytes) -> None:
    """Overwrite an ASCII `str`, or `bytes`, that held a key and that nothing else refers to."""
    # Of a single character there is one object for everybody.
    if len(text) > 1 and (isinstance(text, bytes) or text.isascii()):
        ctypes.memset(id(text) + _HEADER_BYTES[type(text)], 0x2A, len(text))


def present_key(connection: apsw.Connection, key: bytes | bytearray | memoryview, cipher: Cipher) -> None:
    digits = key.hex()
    pragma = f"PRAGMA key = \"x'{digits}'\""
    try:
        connection.execute(CIPHER_PRAGMAS[cipher]).fetchall()
        # Not cached: the statement's text is the key.
        connection.execute(pragma, can_cache=False).fetchall()
    finally:
        wipe(digits)
        wipe(pragma)


def _open(path: Path, clock: Clock, new_id: NewId, *, still: bool = False) -> Connection:
    # A cursor that reports its own statement's SQL would report the key's, so no tracing hooks, ever.
    name = f"{path.absolute().as_uri()}?immutable=1" if still else str(path)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI if still else apsw.SQLITE_OPEN_READWRITE
    # With the engine's lock, although a page of rows takes 9 % more with it: a cursor that an error left open is let go
    # in the thread that the error went to, perhaps while the next one works here.
    connection = Connection(name, flags=flags, vfs=VFS, statementcachesize=200)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    # Plans do not depend on the values that are bound. Otherwise SQLite prepares `LIMIT ?` anew at each execution.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.clock = clock
    connection.new_id = new_id
    return connection


def connect(
    path: Path,
    key: bytes | bytearray | memoryview,
    *,
    clock: Clock,
    new_id: NewId,
    cipher: Cipher = "chacha20",
    proof: str = "SELECT count(*) FROM sqlite_schema",
    readonly: bool = False,
    alone: bool = False,
) -> Connection:
    """Open an existing file and prove the key by running `proof` on it.

    `alone`: the caller sees to it that nobody else has the file open meanwhile. The connection then needs no shared
    memory, and one that only reads needs no log either unless there is one: it opens in a third of the time.

    Raises:
        Missing: there is no file.
        Damaged: the file is empty, or no key could open it.
        KeyRejected: the key is not this file's.
    """
    _refuse_what_is_no_key(key)
    with translated():
        refuse_what_no_key_opens(path)
        still = alone and readonly and not os.path.exists(f"{path}-wal")
        connection = _open(path, clock, new_id, still=still)
        with ExitStack() as undo:
            undo.callback(discard, connection)
            present_key(connection, key, cipher)
            if alone and not still:
                connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            _prove(connection, proof)
            connection.execute(SETUP).fetchall()
            if readonly:
                connection.set_query_only(on=True)
            undo.pop_all()
    return connection


def _prove(connection: Connection, proof: str) -> None:
    try:
        connection.execute(proof).fetchall()
    except apsw.NotADBError:
        raise KeyRejected from None


def _refuse_what_is_no_key(key: bytes | bytearray | memoryview) -> None:
    # The engine would stretch it like a passphrase.
    if len(key) != KEY_BYTES:
        raise KeyRejected


def refuse_what_no_key_opens(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        raise Missing from None
    try:
        head = os.read(descriptor, _PAGE_BYTES)
    finally:
        os.close(descriptor)
    # SQLite would take an empty file for a new database and open it with any key.
    if len(head) < _PAGE_BYTES or head.startswith(b"SQLite format 3"):
        raise Damaged


def create(
    path: Path, key: bytes | bytearray | memoryview, *, clock: Clock, new_id: NewId, cipher: Cipher = "chacha20"
) -> Connection:
    """Make a new, empty, keyed file in WAL mode. The caller fills it, completes it and gives it its final name.

    Raises:
        FileExistsError: there is a file already; it is untouched.
        KeyRejected: this is no key; nothing was made.
    """
    _refuse_what_is_no_key(key)
    # Made here and not by SQLite, so that neither it nor its log is ever readable to others.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = _open(path, clock, new_id)
    with ExitStack() as undo:
        undo.callback(discard, connection)
        present_key(connection, key, cipher)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL").fetchall()
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute(SETUP).fetchall()
        undo.pop_all()
    return connection


def complete(connection: Connection) -> None:
    """Close a new file so that all of it is in the file itself: it may take its final name.

    Raises:
        DiskFull, Unavailable: something is left in the log; the file is worthless.
    """
    try:
        with translated():
            if connection.one("PRAGMA wal_checkpoint(TRUNCATE)") != (0, 0, 0):
                raise Unavailable
    finally:
        discard(connection)


def close(connection: apsw.Connection) -> None:
    """Checkpoint and close. A checkpoint that fails is left to the next opening: the WAL still holds every commit."""
    with suppress(apsw.Error):
        # A flipped bit in a WAL drops committed rows unseen, so the log is emptied whenever a file is closed.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    discard(connection)


def leave(connection: Connection) -> None:
    """Close, and leave the log and the file as they are, as after a kill."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    discard(connection)


def discard(connection: apsw.Connection) -> None:
    """Close a connection that has nothing to checkpoint, or whose file is given up."""
    # A failing disk shows here even when asked not to; the connection is closed and its key gone all the same.
    with suppress(apsw.Error):
        connection.close(True)


def copy_under_another_key(source: Connection, target: Connection) -> None:
    """Copy a whole database into a new one, whose key stays its own. Only a finished copy is worth anything."""
    # So the copy needs no journal of its own.
    target.execute("PRAGMA journal_mode = OFF").fetchall()
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(_COPIED_PAGES)


def replace(path: Path, new: Path, *, before: Callable[[], None] = lambda: None) -> None:
    """Put a closed, proven copy in the place of `path`, so that after a power cut one of the two is there, whole.

    `before` runs when the copy is durable, just before the rename.

    Raises:
        Unavailable: one of the files still has a log, which SQLite would replay into the file that is here then.
    """
    for file in (path, new):
        log = file.with_name(file.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise Unavailable
    sync_file(new)
    # The old log is gone for good before the new file can be found: after a power cut it must not be there again.
    sync_folder(path.parent)
    before()
    new.rename(path)
    sync_folder(path.parent)


def write_file(path: Path, content: bytes) -> None:
    """Write a small file anew. After a power cut the old one or the new one is there, whole."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content)
    sync_file(new)
    new.rename(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and deletions in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: Path) -> None:
    """Make the content of `path` durable."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def translated() -> Iterator[None]:
    """Turn the engine's and the system's errors into ours: a full disk is 507, a failing one or a damaged page 503."""
    try:
        yield
    except apsw.FullError:
        raise DiskFull from None
    except (apsw.NotADBError, apsw.CorruptError):
        raise Damaged from None
    except apsw.IOError as error:
        raise (DiskFull if getattr(error, "extendedresult", 0) in _NO_SPACE_IN_ENGINE else Unavailable) from None
    except (apsw.CantOpenError, apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError):
        raise Unavailable from None
    except OSError as error:
        raise (DiskFull if error.errno in _NO_SPACE else Unavailable) from None


@contextmanager
def transaction(connection: Connection) -> Iterator[Connection]:
    """One immediate transaction: committed on leaving, rolled back when anything is raised."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")

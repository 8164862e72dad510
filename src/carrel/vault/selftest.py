"""The start-up self-test: the service serves nobody unless encryption, memory and process pass every check."""

import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import apsw

from carrel.errors import CarrelError
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import KEY_BYTES, Cipher, Connection, Damaged, KeyRejected, translated
from carrel.vault import process
from carrel.vault.keyring import Keyring, UserUuid, zero

LEAST_VERSION = (2, 6, 1)
"""The version of SQLite3 Multiple Ciphers that is tested here; older ones repeated nonces after a fork."""

_NAME = "self-test.db"
_CANARY = "a sentence that must not be readable on the disk"
_PLAINTEXT = b"SQLite format 3"
_NOBODY = UserUuid("self-test")


class SelfTestFailed(CarrelError):
    """A check failed; `detail` is a constant sentence that names it."""

    code = "self-test-failed"
    detail = "The start-up self-test failed."


def run_self_test(data: Path, cipher: Cipher) -> None:
    """Check everything that keeps keys and data from being read, in a few milliseconds; `data` is writable and locked.

    Raises:
        SelfTestFailed: the first check that failed.
        DiskFull, Unavailable: the data folder cannot be written to.
    """
    _check_version(apsw.mc_version)  # type: ignore[attr-defined]  # the stubs are those of plain apsw
    _check_process()
    _check_keyring(Keyring())
    _check_database(data / _NAME, cipher)


def _fail(sentence: str) -> NoReturn:
    raise SelfTestFailed(detail=f"The self-test failed: {sentence}")


def _check_version(reported: str) -> None:
    digits = reported.rpartition(" ")[2].split(".")
    if not all(part.isdigit() for part in digits) or tuple(map(int, digits)) < LEAST_VERSION:
        _fail("SQLite3 Multiple Ciphers is older than 2.6.1.")


def _check_process() -> None:
    if process.can_dump_core():
        _fail("core dumps are on.")
    if process.can_be_read():
        _fail("other processes may read this one's memory.")
    if process.keeps_freed_memory():
        _fail("freed memory is not overwritten.")


def _check_keyring(keyring: Keyring) -> None:
    key = bytearray(secrets.token_bytes(KEY_BYTES))
    keyring.put(_NOBODY, key)
    if not keyring.locked:
        _fail("memory for keys cannot be locked; raise the limit of locked memory (RLIMIT_MEMLOCK).")
    if not keyring.matches(_NOBODY, key):
        _fail("the keyring does not keep a key.")
    keyring.evict(_NOBODY)
    zero(key)
    if any(key) or not keyring.is_wiped():
        _fail("a key is not wiped.")


def _check_database(path: Path, cipher: Cipher) -> None:
    clock = SystemClock()
    new_id = uuid7_factory(clock)
    key = bytearray(secrets.token_bytes(KEY_BYTES))

    def connect(key: bytearray) -> Connection:
        return database.connect(path, key, clock=clock, new_id=new_id, cipher=cipher)

    with translated(), ExitStack() as undo:
        _remove(path)
        undo.callback(_remove, path)
        connection = database.create(path, key, clock=clock, new_id=new_id, cipher=cipher)
        undo.callback(database.discard, connection)
        connection.run("CREATE TABLE canary (word TEXT) STRICT")
        connection.run("INSERT INTO canary VALUES (?)", _CANARY)
        _check_settings(connection, cipher)
        _check_bytes(path)
        database.complete(connection)
        _check_bytes(path)
        try:
            database.discard(connect(bytearray(secrets.token_bytes(KEY_BYTES))))
        except KeyRejected:
            pass
        else:
            _fail("a wrong key opens a database.")
        connection = connect(key)
        undo.callback(database.discard, connection)
        if connection.one("SELECT word FROM canary") != (_CANARY,):
            _fail("a row is not read back.")
        database.discard(connection)
        flip_a_bit(path)
        try:
            connection = connect(key)
            undo.callback(database.discard, connection)
            connection.all("SELECT word FROM canary")
        except (KeyRejected, Damaged, apsw.CorruptError, apsw.NotADBError):
            pass
        else:
            _fail("a changed byte on the disk goes unnoticed.")


def _check_settings(connection: Connection, cipher: Cipher) -> None:
    if connection.one("PRAGMA cipher") != (cipher,):
        _fail("the cipher is not the one that is set.")
    if connection.one("PRAGMA journal_mode") != ("wal",):
        _fail("the write-ahead log is off.")
    if connection.one("PRAGMA temp_store") != (2,):
        _fail("temporary tables are not kept in memory.")


def _check_bytes(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        content = file.read_bytes()
        if content.startswith(_PLAINTEXT) or _CANARY.encode() in content:
            _fail("a new database is not encrypted.")


def flip_a_bit(path: Path) -> None:
    # A byte of the last page: only the cipher's own authentication tag can detect the change.
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def _remove(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink(missing_ok=True)

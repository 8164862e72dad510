"""The start-up self-test: green in a hardened process, and red for each thing that it is there to notice."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from carrel.errors import DiskFull, Unavailable
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Cipher
from carrel.vault import keyring, process, selftest
from carrel.vault.selftest import SelfTestFailed, run_self_test
from tests.support.disk import Disk, failing

PROGRAM = """
import sys
from pathlib import Path
from carrel.vault import process
from carrel.vault.selftest import run_self_test
process.harden()
run_self_test(Path(sys.argv[1]), sys.argv[2])
print("passed")
"""


@pytest.fixture
def hardened(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a hardened process, without making this one so."""
    monkeypatch.setattr(process, "can_dump_core", lambda: False)
    monkeypatch.setattr(process, "can_be_read", lambda: False)
    monkeypatch.setattr(process, "keeps_freed_memory", lambda: False)


@pytest.mark.parametrize("cipher", ["chacha20", "sqlcipher"])
def test_a_hardened_process_passes_and_leaves_nothing_behind(tmp_path: Path, cipher: Cipher) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), cipher], capture_output=True, text=True, check=True
    )
    assert done.stdout == "passed\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("hardened")
def test_what_an_earlier_start_left_is_removed(tmp_path: Path) -> None:
    for name in ("self-test.db", "self-test.db-wal"):
        (tmp_path / name).write_bytes(b"left by a crash")
    run_self_test(tmp_path, "chacha20")
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_may_dump_its_core_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "can_be_read", lambda: False)
    monkeypatch.setattr(process, "can_dump_core", lambda: True)
    expect("core dumps are on", tmp_path)


def test_a_process_that_keeps_what_it_frees_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "can_dump_core", lambda: False)
    monkeypatch.setattr(process, "can_be_read", lambda: False)
    monkeypatch.setattr(process, "keeps_freed_memory", lambda: True)
    expect("freed memory is not overwritten", tmp_path)


def test_a_process_that_can_be_read_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "can_dump_core", lambda: False)
    monkeypatch.setattr(process, "can_be_read", lambda: True)
    expect("other processes may read", tmp_path)


def without_encryption(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "present_key", lambda *_: None)


def with_another_cipher(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(database.CIPHER_PRAGMAS, "chacha20", "PRAGMA cipher = aes256cbc")


def without_wal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SETUP", database.SETUP + "; PRAGMA journal_mode = DELETE")


def with_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SETUP", database.SETUP.replace("temp_store = MEMORY", "temp_store = FILE"))


def with_plain_bytes_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"SQLite format 3\0")


def with_any_key_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    presented = database.present_key

    def ignore_the_key(connection: apsw.Connection, _: Any, cipher: Cipher) -> None:
        presented(connection, bytes(32), cipher)

    monkeypatch.setattr(database, "present_key", ignore_the_key)


def without_authentication(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "flip_a_bit", lambda _: None)


def with_an_old_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "mc_version", "SQLite3 Multiple Ciphers 2.6.0")


def with_an_unknown_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "mc_version", "SQLite3 Multiple Ciphers 2.7rc1")


def without_locked_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring.LockedPage, "__init__", _unlocked(keyring.LockedPage.__init__))


def _unlocked(init: Callable[[Any], None]) -> Callable[[Any], None]:
    def make(page: Any) -> None:
        init(page)
        page.locked = False

    return make


def with_keys_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring.Keyring, "is_wiped", lambda _: False)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (without_encryption, "not encrypted"),
        (with_another_cipher, "the cipher is not the one"),
        (without_wal, "the write-ahead log is off"),
        (with_temporary_files, "temporary tables"),
        (with_plain_bytes_on_the_disk, "not encrypted"),
        (with_any_key_accepted, "a wrong key opens"),
        (without_authentication, "a changed byte"),
        (with_an_old_engine, "older than 2.6.1"),
        (with_an_unknown_engine, "older than 2.6.1"),
        (without_locked_memory, "cannot be locked"),
        (with_keys_that_stay, "not wiped"),
    ],
)
@pytest.mark.usefixtures("hardened")
def test_each_missing_protection_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[pytest.MonkeyPatch], None], sentence: str
) -> None:
    with monkeypatch.context() as patched:
        spoil(patched)
        expect(sentence, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("trouble", "error"), [("full", DiskFull), ("broken", Unavailable)])
@pytest.mark.usefixtures("hardened")
def test_a_disk_that_cannot_be_written_is_no_failed_check(tmp_path: Path, trouble: Any, error: Any) -> None:
    with failing(Disk(trouble, fail_at=5)), pytest.raises(error):
        run_self_test(tmp_path, "chacha20")
    assert list(tmp_path.iterdir()) == []


def expect(sentence: str, folder: Path) -> None:
    with pytest.raises(SelfTestFailed) as caught:
        run_self_test(folder, "chacha20")
    assert sentence in caught.value.detail
    assert caught.value.code == "self-test-failed"

"""The look at a stolen disk finds what is there to be found."""

import sqlite3
from pathlib import Path

import pytest

from carrel.cli.demonstration import at_rest

TEXT = "# Title\n\nA sentence that is long enough to be told from any other one. Short. `code` here."


def test_sentences_that_tell_a_document_are_whole_and_long() -> None:
    assert at_rest.telling_sentences([TEXT]) == [b"A sentence that is long enough to be told from any other one."]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    folder = tmp_path / "disk" / "deep"
    folder.mkdir(parents=True)
    (folder / "workspace.db").write_bytes(bytes(range(256)) * 32)
    return tmp_path / "disk"


def test_noise_is_unreadable(disk: Path, tmp_path: Path) -> None:
    seen = at_rest.look(disk, [b"canary"], tmp_path)
    assert (seen.files, seen.databases, seen.readable) == (1, 1, [])


def test_a_sentence_in_any_file_is_found(disk: Path, tmp_path: Path) -> None:
    (disk / "service.log").write_text("a canary sang")
    assert at_rest.look(disk, [b"canary"], tmp_path).readable == ["service.log"]


def test_a_plain_database_is_found(disk: Path, tmp_path: Path) -> None:
    conn = sqlite3.connect(disk / "plain.db")
    conn.execute("CREATE TABLE t (x)")
    conn.commit()
    conn.close()
    assert at_rest.look(disk, [], tmp_path).readable == ["plain.db"]


def test_an_empty_database_file_opens_without_a_key_and_is_found(disk: Path, tmp_path: Path) -> None:
    (disk / "empty.db").touch()
    assert at_rest.look(disk, [], tmp_path).readable == ["empty.db"]

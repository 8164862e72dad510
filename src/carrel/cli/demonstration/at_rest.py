"""Searches a folder as a thief of the disk would, and reports what can be read."""

import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

_PLAIN_HEADER = b"SQLite format 3\x00"
_SENTENCE = re.compile(r"[A-Z][^.!?\n|`#]{40,200}[.!?]")
_SENTENCES_OF_EACH = 3


class AtRest(NamedTuple):
    """The result of a search. `readable` names the files in which something could be read."""

    files: int
    databases: int
    size_bytes: int
    sought: int
    readable: list[str]


def telling_sentences(documents: Iterable[str]) -> list[bytes]:
    """Some long sentences of each document, to search for."""
    found: list[bytes] = []
    for document in documents:
        found += [sentence.encode() for sentence in _SENTENCE.findall(document)[:_SENTENCES_OF_EACH]]
    return found


def look(folder: Path, sought: list[bytes], scratch: Path) -> AtRest:
    """Search every file for the texts in `sought`, and try to open every database without a key.

    It opens copies in `scratch`, so that the originals stay as they are.
    """
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    databases = [path for path in files if path.suffix == ".db"]
    readable = []
    for path in files:
        content = path.read_bytes()
        opened = path in databases and (content.startswith(_PLAIN_HEADER) or _opens(content, scratch / path.name))
        if opened or any(text in content for text in sought):
            readable.append(path.name)
    size = sum(path.stat().st_size for path in files)
    return AtRest(len(files), len(databases), size, len(sought), readable)


def _opens(content: bytes, copy: Path) -> bool:
    copy.write_bytes(content)
    conn = sqlite3.connect(copy)
    try:
        conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        return False
    finally:
        conn.close()
        copy.unlink(missing_ok=True)
    return True

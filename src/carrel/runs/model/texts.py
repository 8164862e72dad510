"""The texts of a run's snapshot. Each text is stored once."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from carrel.contents.resolve import Slot
from carrel.errors import CarrelError
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.model.prompts import Instructions


class _KeptText(NamedTuple):
    body: str
    slots: list[Slot]


_texts = Select(_KeptText)


def keep(conn: Connection, run: int, text: str, slots: list[Slot] | None = None) -> int:
    """Store `text` unless it is stored already, and return its number."""
    places = msgspec.json.encode(slots or [])
    return _keep(conn, run, [(_digest(places, text), places.decode(), text)])[0]


def keep_all(conn: Connection, run: int, texts: Sequence[str]) -> list[int]:
    """The same for some hundred texts without placeholders, with fewer statements."""
    return _keep(conn, run, [(_digest(b"[]", text), "[]", text) for text in texts])


def _keep(conn: Connection, run: int, kept: list[tuple[bytes, str, str]]) -> list[int]:
    sql = f"INSERT INTO run_texts (run, digest, slots, body) VALUES ({run}, ?, ?, ?) ON CONFLICT DO NOTHING"
    found: dict[bytes, int] = dict(conn.executemany(f"{sql} RETURNING digest, seq", kept))
    digests = [digest for digest, _, _ in kept]
    before = [digest for digest in digests if digest not in found]
    if before:
        wanted = ",".join("?" * len(before))
        rows = conn.all(f"SELECT digest, seq FROM run_texts WHERE run = ? AND digest IN ({wanted})", run, *before)
        found.update(rows)
    return [found[digest] for digest in digests]


def _digest(places: bytes, text: str) -> bytes:
    return hashlib.sha256(places + b"\n" + text.encode()).digest()


def read(conn: Connection, number: int) -> str:
    """The text that has this number."""
    return _kept(conn, number).body


def digest(conn: Connection, number: int) -> bytes:
    """What tells the text that has this number from all others, also from those of other runs."""
    found: list[bytes] = conn.column("SELECT digest FROM run_texts WHERE seq = ?", number)
    if not found:
        raise CarrelError
    return found[0]


def read_instructions(conn: Connection, number: int | None) -> Instructions | None:
    """Instructions with the positions of their placeholders; `None` if there are none."""
    if number is None:
        return None
    kept = _kept(conn, number)
    return Instructions(kept.body, kept.slots)


def digests(conn: Connection, run: int) -> list[bytes]:
    """The digests of all texts of a run, in the order in which they were stored."""
    return conn.column("SELECT digest FROM run_texts WHERE run = ? ORDER BY seq", run)


def _kept(conn: Connection, number: int) -> _KeptText:
    found = _texts.one(conn, "FROM run_texts WHERE seq = ?", number)
    if found is None:
        raise CarrelError
    return found

"""The texts of a run's snapshot, each kept once."""

import hashlib

import msgspec

from carrel.contents.resolve import Slot
from carrel.errors import CarrelError
from carrel.generation.prompts import Instructions
from carrel.kit.sqlite.database import Connection


def keep(conn: Connection, run: int, text: str, slots: list[Slot] | None = None) -> int:
    """The number under which `text` is kept, also if it is there already."""
    places = msgspec.json.encode(slots or [])
    digest = hashlib.sha256(places + b"\n" + text.encode()).digest()
    conn.run(
        "INSERT INTO run_texts (run, digest, slots, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *(run, digest, places.decode(), text),
    )
    row = conn.one("SELECT seq FROM run_texts WHERE run = ? AND digest = ?", run, digest)
    if row is None:
        raise CarrelError
    number: int = row[0]
    return number


def read(conn: Connection, number: int) -> str:
    """The text that `keep` gave this number."""
    return _row(conn, number)[0]


def read_instructions(conn: Connection, number: int | None) -> Instructions | None:
    """Instructions with the places where the input goes; `None` if there are none."""
    if number is None:
        return None
    body, slots = _row(conn, number)
    return Instructions(body, msgspec.json.decode(slots, type=list[Slot]))


def digests(conn: Connection, run: int) -> list[bytes]:
    """The digests of all texts of a run, in the order in which they were kept."""
    return [digest for (digest,) in conn.all("SELECT digest FROM run_texts WHERE run = ? ORDER BY seq", run)]


def _row(conn: Connection, number: int) -> tuple[str, str]:
    row = conn.one("SELECT body, slots FROM run_texts WHERE seq = ?", number)
    if row is None:
        raise CarrelError
    return row[0], row[1]

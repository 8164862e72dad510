"""The audit files: what the host and the operator ordered, an entry a line, before it is done.

    DATA/audit/<number of the first entry>.jsonl

Each entry holds the HMAC of itself and of the entry before, under a random key that `service.db` keeps together with
the last entry's number and HMAC. So whoever has the files, without the service key, cannot change, insert, remove or
reorder one unseen, nor cut the end off. An entry holds no text, no secret, and of a uuid its end alone.
"""

import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from carrel.kit import logs
from carrel.kit.clock import rfc3339
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select

FOLDER: Final = "audit"
MOST_BYTES: Final = 8 * 1024 * 1024
"""Of a file: some forty thousand entries."""
MOST_FILES: Final = 25
"""The oldest go. A file that was copied elsewhere can be verified there together with those that follow it."""
_KEY_BYTES: Final = 32
_MAC: Final = re.compile(rb',"mac":"([0-9a-f]{64})"\}\n')
_MAC_BYTES: Final = len(',"mac":""}\n') + 64


class AuditEntry(msgspec.Struct, frozen=True):
    """Who ordered what. `secret` tells two secrets apart during a rotation; `user` is the end of a uuid, or empty."""

    by: Literal["host", "operator"]
    secret: str
    what: str
    user: str
    request_id: str


class AuditBroken(Exception):
    """The files are not as the service wrote them; the text says where."""


class _Stand(msgspec.Struct, frozen=True):
    """The one row of `audit`."""

    key: bytes
    seq: int
    mac: str
    file: str
    bytes: int


class _Line(msgspec.Struct):
    seq: int
    at: str
    prev: str = ""


_stand = Select(_Stand)


def append(conn: Connection, data: Path, entry: AuditEntry) -> None:
    """Write an entry, durably. What it tells of is done afterwards, or refused.

    Raises:
        OSError: it cannot be written.
    """
    stand = _stand.one(conn, "FROM audit") or _begin(conn)
    folder = data / FOLDER
    path = folder / stand.file
    is_whole = stand.file != "" and path.is_file() and path.stat().st_size >= stand.bytes
    if stand.file and not is_whole:
        logs.error("audit-broken", reason=f"{FOLDER}/{stand.file} is shorter than it was")
    opens = not is_whole or stand.bytes >= MOST_BYTES
    if opens:
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{stand.seq + 1:012d}.jsonl"
    body = {"seq": stand.seq + 1, "at": rfc3339(conn.clock.now()), **msgspec.structs.asdict(entry)}
    line, mac = _line(stand.key, stand.mac, body | ({"prev": stand.mac} if opens else {}))
    with path.open("r+b" if path.exists() else "wb") as file:
        # What goes beyond is an entry of which the process died before anything was done.
        start = 0 if opens else stand.bytes
        file.truncate(start)
        file.seek(start)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    if opens:
        _forget_oldest(folder)
        database.sync_folder(folder)
    conn.run("UPDATE audit SET seq = seq + 1, mac = ?, file = ?, bytes = ?", mac, path.name, start + len(line))


def verify(conn: Connection, data: Path) -> tuple[int, str]:
    """Read all files. How many entries there are, and when the last one was written.

    Raises:
        AuditBroken: an entry was changed, or is missing.
    """
    stand = _stand.one(conn, "FROM audit")
    count, seq, mac, at = 0, 0, "", ""
    files = sorted((data / FOLDER).glob("*.jsonl"))
    for path in files:
        is_newest = stand is not None and path.name == stand.file
        for number, line in enumerate(_lines(path, stand.bytes if stand and is_newest else None)):
            found = _read(line)
            where = f"{FOLDER}/{path.name}, line {number + 1}"
            if stand is None or found is None or (count and found.seq != seq + 1):
                raise AuditBroken(f"The audit was changed at {where}.")
            before = found.prev if count == 0 else mac
            if count == 0 and found.seq != 1 and len(files) < MOST_FILES:
                raise AuditBroken(f"The audit begins with entry {found.seq:,}; earlier files are missing.")
            end = _MAC.search(line[-_MAC_BYTES:])
            made = hmac.digest(stand.key, before.encode() + line[:-_MAC_BYTES], "sha256").hex()
            if end is None or end[1].decode() != made or (number == 0 and found.prev != before):
                raise AuditBroken(f"The audit was changed at {where}.")
            count, seq, mac, at = count + 1, found.seq, made, found.at
    if stand is not None and (seq, mac) != (stand.seq, stand.mac):
        raise AuditBroken(f"The audit ends with entry {seq:,}, and the service wrote {stand.seq:,}.")
    return count, at


def _begin(conn: Connection) -> _Stand:
    fresh = _Stand(secrets.token_bytes(_KEY_BYTES), 0, "", "", 0)
    conn.run("INSERT INTO audit VALUES (1, ?, 0, '', '', 0)", fresh.key)
    return fresh


def _line(key: bytes, before: str, body: dict[str, object]) -> tuple[bytes, str]:
    head = json.dumps(body, separators=(",", ":"), ensure_ascii=True).encode()[:-1]
    mac = hmac.digest(key, before.encode() + head, "sha256").hex()
    return head + f',"mac":"{mac}"}}\n'.encode(), mac


def _lines(path: Path, size: int | None) -> Iterator[bytes]:
    with path.open("rb") as file:
        while (size is None or file.tell() < size) and (line := file.readline()):
            yield line


def _read(line: bytes) -> _Line | None:
    try:
        return msgspec.json.decode(line, type=_Line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _forget_oldest(folder: Path) -> None:
    for path in sorted(folder.glob("*.jsonl"))[:-MOST_FILES]:
        path.unlink()

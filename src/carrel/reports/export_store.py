"""Exports as rows: which is wanted, the pieces that are there, and whether they are all."""

from typing import Literal

import msgspec

from carrel.errors import CarrelError, Conflict, DiskFull, NotFound
from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.sqlite.database import Connection
from carrel.reports.archive import MAX_BYTES, ExportTooLarge
from carrel.reports.export_parts import Exported
from carrel.runs.model import run_transitions
from carrel.runs.model.setup import RunId

_FAILURES: dict[str, type[CarrelError]] = {ExportTooLarge.code: ExportTooLarge, DiskFull.code: DiskFull}


class ExportNotReady(Conflict):
    """There is no export, or it is still being made."""

    code = "export-not-ready"
    detail = "There is no export yet: ask for one, and come again in a moment."


class Export(msgspec.Struct, frozen=True):
    """The export of a run; `bytes` is the size of the zip once it is ready."""

    run_id: RunId
    state: Literal["building", "ready"]
    bytes: int
    created_at: Time


class Build(msgspec.Struct, frozen=True):
    """One making of an export; `id` tells it from a later one of the same run."""

    id: Id
    run: Exported


class Ready(msgspec.Struct, frozen=True):
    """An export to be read."""

    run: int
    build: str
    basis: int
    bytes: int


def want(conn: Connection, run_id: RunId) -> Export:
    """The run's export: as it is if nothing happened since it was made or begun, else to be made anew.

    Raises:
        NotFound: there is no such run.
    """
    seq = run_transitions.present(conn, run_id).seq
    basis = _last_row(conn, seq)
    row = conn.one("SELECT state, bytes, created_at, basis FROM run_exports WHERE run = ?", seq)
    if row is not None and row[0] != "failed" and row[3] == basis:
        return Export(run_id, *row[:3])
    now = conn.now()
    conn.run("DELETE FROM run_exports WHERE run = ?", seq)
    conn.run(
        "INSERT INTO run_exports (run, build, basis, state, created_at) VALUES (?, ?, ?, 'building', ?)",
        *(seq, conn.new_id(), basis, now),
    )
    return Export(run_id, "building", 0, now)


def wanted(conn: Connection) -> list[Build]:
    """Every export that is to be made."""
    rows = conn.all(
        "SELECT build, seq, id FROM run_exports JOIN runs ON seq = run"
        " WHERE run_exports.state = 'building' ORDER BY seq"
    )
    return [Build(build, Exported(seq, run_id)) for build, seq, run_id in rows]


def clear(conn: Connection, build: Build) -> None:
    """Forget the pieces of an attempt that was interrupted."""
    _require(conn, build)
    conn.run("DELETE FROM run_export_pieces WHERE run = ?", build.run.seq)
    conn.run("UPDATE run_exports SET bytes = 0 WHERE run = ?", build.run.seq)


def put(conn: Connection, build: Build, ordinal: int, body: bytes) -> None:
    """Keep a piece.

    Raises:
        NotFound: nobody wants this build any more.
        ExportTooLarge: it is one too many.
    """
    _require(conn, build)
    conn.run("INSERT INTO run_export_pieces (run, ordinal, body) VALUES (?, ?, ?)", build.run.seq, ordinal, body)
    conn.run("UPDATE run_exports SET bytes = bytes + ? WHERE run = ?", len(body), build.run.seq)
    row = conn.one("SELECT bytes FROM run_exports WHERE run = ?", build.run.seq)
    if row is not None and row[0] > MAX_BYTES:
        raise ExportTooLarge


def complete(conn: Connection, build: Build) -> None:
    """All pieces are there.

    Raises:
        NotFound: nobody wants this build any more.
    """
    _require(conn, build)
    conn.run("UPDATE run_exports SET state = 'ready' WHERE run = ?", build.run.seq)


def fail(conn: Connection, build: Build, code: str) -> None:
    """It cannot be made; what there is of it goes.

    Raises:
        NotFound: nobody wants this build any more.
    """
    clear(conn, build)
    conn.run("UPDATE run_exports SET state = 'failed', code = ? WHERE run = ?", code, build.run.seq)


def ready(conn: Connection, run_id: RunId) -> Ready:
    """The export that can be read.

    Raises:
        NotFound: there is no such run.
        ExportNotReady: there is none, or it is still being made.
        ExportTooLarge, DiskFull: it could not be made.
    """
    seq = run_transitions.present(conn, run_id).seq
    row = conn.one("SELECT state, code, build, basis, bytes FROM run_exports WHERE run = ?", seq)
    if row is None or row[0] == "building":
        raise ExportNotReady
    if row[0] == "failed":
        raise _FAILURES.get(row[1], CarrelError)
    return Ready(seq, *row[2:])


def piece(conn: Connection, export: Ready, ordinal: int) -> bytes:
    """A piece of an export. Up to a megabyte: to be scanned.

    Raises:
        NotFound: another build has taken its place.
    """
    row = conn.one(
        "SELECT body FROM run_export_pieces JOIN run_exports USING (run) WHERE run = ? AND ordinal = ? AND build = ?",
        *(export.run, ordinal, export.build),
    )
    if row is None:
        raise NotFound
    body: bytes = row[0]
    return body


def _require(conn: Connection, build: Build) -> None:
    wanted = conn.one(
        "SELECT 1 FROM run_exports WHERE run = ? AND build = ? AND state = 'building'", build.run.seq, build.id
    )
    if wanted is None:
        raise NotFound


def _last_row(conn: Connection, seq: int) -> int:
    row = conn.one("SELECT max(seq) FROM run_log WHERE run = ?", seq)
    return row[0] or 0 if row else 0

"""The rows of exports: which exports users want, the pieces that exist, and whether they are complete."""

from typing import Literal, NamedTuple

import msgspec

from carrel.errors import CarrelError, Conflict, DiskFull, NotFound
from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.reports.archive import MAX_BYTES, ExportTooLarge
from carrel.reports.export_parts import ExportedRun
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


class _Row(NamedTuple):
    state: Literal["building", "ready", "failed"]
    code: str | None
    build: str
    basis: int
    bytes: int
    created_at: str


_rows = Select(_Row)


class Build(msgspec.Struct, frozen=True):
    """One build of an export; `id` distinguishes it from a later build of the same run."""

    id: Id
    run: ExportedRun


class StoredExport(msgspec.Struct, frozen=True):
    """An export that a client can read."""

    run: int
    build: str
    basis: int
    bytes: int


def want(conn: Connection, run_id: RunId) -> Export:
    """Return the run's export. If something happened since it was made or begun, it is to be made anew.

    Raises:
        NotFound: there is no such run.
    """
    seq = run_transitions.present(conn, run_id).seq
    basis = _last_row(conn, seq)
    row = _rows.one(conn, "FROM run_exports WHERE run = ?", seq)
    if row is not None and row.state != "failed" and row.basis == basis:
        return Export(run_id, row.state, row.bytes, row.created_at)
    now = conn.now()
    conn.run("DELETE FROM run_exports WHERE run = ?", seq)
    conn.run(
        "INSERT INTO run_exports (run, build, basis, state, created_at) VALUES (?, ?, ?, 'building', ?)",
        *(seq, conn.new_id(), basis, now),
    )
    return Export(run_id, "building", 0, now)


def wanted(conn: Connection) -> list[Build]:
    """Every export that is still to be made."""
    rows = conn.all(
        "SELECT build, seq, id FROM run_exports JOIN runs ON seq = run"
        " WHERE run_exports.state = 'building' ORDER BY seq"
    )
    return [Build(build, ExportedRun(seq, run_id)) for build, seq, run_id in rows]


def clear(conn: Connection, build: Build) -> None:
    """Delete the pieces of a build that was interrupted."""
    _require(conn, build)
    conn.run("DELETE FROM run_export_pieces WHERE run = ?", build.run.seq)
    conn.run("UPDATE run_exports SET bytes = 0 WHERE run = ?", build.run.seq)


def put(conn: Connection, build: Build, ordinal: int, body: bytes) -> None:
    """Store a piece.

    Raises:
        NotFound: nobody wants this build any more.
        ExportTooLarge: it is one too many.
    """
    _require(conn, build)
    conn.run("INSERT INTO run_export_pieces (run, ordinal, body) VALUES (?, ?, ?)", build.run.seq, ordinal, body)
    conn.run("UPDATE run_exports SET bytes = bytes + ? WHERE run = ?", len(body), build.run.seq)
    if conn.value("SELECT bytes FROM run_exports WHERE run = ?", build.run.seq) > MAX_BYTES:
        raise ExportTooLarge


def complete(conn: Connection, build: Build) -> None:
    """Mark the export as ready, because all its pieces are stored.

    Raises:
        NotFound: nobody wants this build any more.
    """
    _require(conn, build)
    conn.run("UPDATE run_exports SET state = 'ready' WHERE run = ?", build.run.seq)


def fail(conn: Connection, build: Build, code: str) -> None:
    """Mark the export as failed, and delete its pieces.

    Raises:
        NotFound: nobody wants this build any more.
    """
    clear(conn, build)
    conn.run("UPDATE run_exports SET state = 'failed', code = ? WHERE run = ?", code, build.run.seq)


def ready(conn: Connection, run_id: RunId) -> StoredExport:
    """Return the export that a client can read.

    Raises:
        NotFound: there is no such run.
        ExportNotReady: there is none, or it is still being made.
        ExportTooLarge, DiskFull: it could not be made.
    """
    seq = run_transitions.present(conn, run_id).seq
    row = _rows.one(conn, "FROM run_exports WHERE run = ?", seq)
    if row is None or row.state == "building":
        raise ExportNotReady
    if row.state == "failed":
        raise _FAILURES.get(row.code or "", CarrelError)
    return StoredExport(seq, row.build, row.basis, row.bytes)


def piece(conn: Connection, export: StoredExport, ordinal: int) -> bytes:
    """Return a piece of an export. It holds up to a megabyte: to be scanned.

    Raises:
        NotFound: another build has taken its place.
    """
    body: bytes | None = conn.value(
        "SELECT body FROM run_export_pieces JOIN run_exports USING (run) WHERE run = ? AND ordinal = ? AND build = ?",
        *(export.run, ordinal, export.build),
    )
    if body is None:
        raise NotFound
    return body


def _require(conn: Connection, build: Build) -> None:
    wanted = conn.one(
        "SELECT 1 FROM run_exports WHERE run = ? AND build = ? AND state = 'building'", build.run.seq, build.id
    )
    if wanted is None:
        raise NotFound


def _last_row(conn: Connection, seq: int) -> int:
    last: int = conn.value("SELECT coalesce(max(seq), 0) FROM run_log WHERE run = ?", seq)
    return last

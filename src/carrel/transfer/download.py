"""The download of an export. It is packed piece by piece while the client reads it, and is never whole in memory."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from carrel.errors import NotFound, Unavailable
from carrel.kit.processes.pool import WorkerPool
from carrel.reports import rendering
from carrel.reports.archive import Archive
from carrel.reports.export_parts import START, ExportedRun, ExportPlace, Place, advance
from carrel.reports.rendering import ReportRequest
from carrel.transfer import outgoing
from carrel.transfer.outgoing import NextRun, Outgoing
from carrel.vault.workspace import Workspace

MEDIA_TYPE: Final = "application/zip"
_ROOM: Final = 1 << 50
"""The workspace has a limit of its own, so its export needs none."""


async def pieces(workspace: Workspace, workers: WorkerPool) -> AsyncGenerator[bytes, None]:
    """The zip in pieces of a megabyte; the last one is shorter. Only the list of file names grows in memory."""
    archive = Archive(_ROOM)
    state = Outgoing(archive)
    outgoing.begin(archive)
    for step in outgoing.STEPS:
        place: Place | None = START
        while place is not None:
            place = await workspace.scan(step, state, place)
            for piece in archive.pieces():
                yield piece
    found = await workspace.scan(outgoing.next_run, 0)
    while found is not None:
        async for piece in _run(workspace, workers, archive, found):
            yield piece
        found = await workspace.scan(outgoing.next_run, found.run.seq)
    await asyncio.to_thread(archive.close)
    for piece in archive.pieces():
        yield piece


async def _run(
    workspace: Workspace, workers: WorkerPool, archive: Archive, found: NextRun
) -> AsyncGenerator[bytes, None]:
    archive.folder = found.folder
    try:
        reportable = await workspace.scan(outgoing.run_head, found.run, archive)
    except NotFound:
        # The run was deleted since it was found.
        return
    if reportable:
        await _report(workspace, workers, archive, found.run)
    at: ExportPlace | None = ExportPlace()
    while at is not None:
        at = await workspace.scan(advance, found.run, archive, at)
        for piece in archive.pieces():
            yield piece


async def _report(workspace: Workspace, workers: WorkerPool, archive: Archive, run: ExportedRun) -> None:
    """Add the run's report. If it cannot be made in time, the export continues without it."""
    try:
        page = await rendering.made(workspace, workers, ReportRequest(run.id), rendering.as_page)
    except (NotFound, Unavailable):
        return
    await asyncio.to_thread(archive.add, "report.html", page)

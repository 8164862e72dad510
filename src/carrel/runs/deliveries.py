"""`output: github`: when a round ends, rows say what is to be sent, and whoever opens the workspace sends it.

A run that has ended stays as it ended, whatever becomes of it: its log says how sending went. After a kill it is sent
again, which makes no second commit.
"""

import asyncio
from contextlib import suppress
from typing import Literal, NamedTuple

import msgspec

from carrel.errors import CarrelError
from carrel.github.client import Github
from carrel.github.schemas import ConnectionId
from carrel.kit import logs
from carrel.kit.database import Connection
from carrel.kit.logs import tail
from carrel.kit.patience import cancel
from carrel.presets.configuration import Output
from carrel.runs import github_export, log
from carrel.runs.github_schemas import ExportIn
from carrel.runs.setup import RunId, Setup
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspacePool
from carrel.vault.workspace import Workspace

_MESSAGE = "Add the answers of a run from Carrel"


class Delivery(NamedTuple):
    """What is to be sent, and where to."""

    run: int
    round: int
    run_id: RunId
    connection_id: ConnectionId
    answers: Literal["best", "all"]
    path: str
    branch: str | None


class _Wish(msgspec.Struct, frozen=True):
    output: Output = Output()


def want(conn: Connection, setup: Setup) -> None:
    """Note that this round's answers are to be sent, if the run was asked to; in the transaction that ends it."""
    row = conn.one("SELECT configuration FROM run_snapshots WHERE run = ?", setup.seq)
    output = Output() if row is None else msgspec.json.decode(row[0], type=_Wish).output
    if output.destination == "github":
        conn.run(
            "INSERT INTO run_deliveries (run, round, connection_id, answers, path, branch, state)"
            " VALUES (?, ?, ?, ?, ?, ?, 'wanted')",
            *(setup.seq, setup.round.number, output.connection, output.answers, output.path, output.branch),
        )


def _next(conn: Connection) -> Delivery | None:
    row = conn.one(
        "SELECT run, d.round, id, connection_id, answers, path, branch FROM run_deliveries AS d"
        " JOIN runs ON seq = run WHERE d.state = 'wanted' ORDER BY run LIMIT 1"
    )
    return None if row is None else Delivery(*row)


def _settle(conn: Connection, delivery: Delivery, code: str | None) -> None:
    conn.run(
        "UPDATE run_deliveries SET state = ? WHERE run = ? AND round = ?",
        *("done" if code is None else "failed", delivery.run, delivery.round),
    )
    if conn.one("SELECT 1 FROM runs WHERE seq = ?", delivery.run) is None:
        return
    if code is None:
        log.write(conn, delivery.run, "answers-sent")
    else:
        log.write(conn, delivery.run, "answers-not-sent", level="warning", code=code)


def _any_wanted(workspace: Workspace) -> bool:
    # One that is damaged or closes says so to whoever asks for something.
    with suppress(CarrelError):
        return workspace.read(_next) is not None
    return False


class Deliveries:
    """What this process is sending; a listener of the pool. Owned by the event loop."""

    def __init__(self, pool: WorkspacePool, github: Github) -> None:
        self._pool = pool
        self._github = github
        self._tasks: dict[UserUuid, asyncio.Task[None]] = {}

    def look(self, uuid: UserUuid) -> None:
        """Send what there is to send; the task that is at it looks again by itself."""
        under_way = self._tasks.get(uuid)
        if under_way is not None and not under_way.done():
            return
        workspace = self._pool.try_lease(uuid)
        if workspace is None:
            # It is being closed: whoever opens it again looks at the same rows.
            return
        if not _any_wanted(workspace):
            self._pool.give_back(workspace)
            return
        task = asyncio.create_task(self._send_all(workspace))
        self._tasks[uuid] = task
        # A callback, because a task that is cancelled before its first step runs none of its own clean-up.
        task.add_done_callback(lambda done: self._ended(workspace, done))

    async def opened(self, uuid: UserUuid) -> None:
        """Go on with what was interrupted."""
        self.look(uuid)

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop; the rows still say what is wanted."""
        if uuid in self._tasks:
            await cancel([self._tasks[uuid]])

    async def stop(self) -> None:
        """Stop everything, because the process is about to end."""
        await cancel(self._tasks.values())

    def _ended(self, workspace: Workspace, task: asyncio.Task[None]) -> None:
        if self._tasks.get(workspace.uuid) is task:
            del self._tasks[workspace.uuid]
        self._pool.give_back(workspace)
        if not task.cancelled() and (error := task.exception()) is not None:
            logs.error("delivery-broke-down", user=tail(workspace.uuid), kind=type(error).__name__)

    async def _send_all(self, workspace: Workspace) -> None:
        # A workspace that closes on the way says so, and keeps the rows.
        with suppress(CarrelError):
            while (delivery := workspace.read(_next)) is not None:
                await workspace.write(_settle, delivery, await self._send(workspace, delivery))

    async def _send(self, workspace: Workspace, delivery: Delivery) -> str | None:
        """The code of what went wrong; `None` if nothing did."""
        wanted = ExportIn(
            run=delivery.run_id,
            answers=delivery.answers,
            path=delivery.path,
            branch=delivery.branch,
            message=_MESSAGE,
        )
        try:
            await github_export.send(self._github, workspace, delivery.connection_id, wanted)
        except CarrelError as error:
            return error.code
        return None

"""`output: github`: rows that the end of a round writes say what to send.

Whichever process opens the workspace sends it.

A run that has ended stays as it ended, whatever happens to the delivery: its log says how sending went. If a delivery
fails for a reason that may pass, Carrel tries it again after longer and longer waits. The rows hold the time of the
next try, so a restart or a sign-out loses nothing. After a kill, or an answer that never came, no second commit is
made.
"""

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Literal, NamedTuple

import msgspec

from carrel.errors import CarrelError
from carrel.github.client import Github
from carrel.github.commits import Memory
from carrel.github.refusals import GithubConflict, GithubRateLimited, GithubUnavailable
from carrel.github.schemas import ConnectionId
from carrel.kit import logs
from carrel.kit.concurrency.cancellation import cancel
from carrel.kit.logs import tail
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.presets.configuration import Output
from carrel.runs.model import log
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.publishing import github_export
from carrel.runs.publishing.github_schemas import ExportIn
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspaceBusy, WorkspacePool
from carrel.vault.workspace import Workspace

_MESSAGE = "Add the answers of a run from Carrel"
_WAITS_SECONDS: Final = (60, 300, 1_800, 7_200, 21_600)
"""The waits after the first failure, the second, and so on. After the last wait Carrel gives up."""
_ATTEMPTS: Final = {
    GithubUnavailable.code: len(_WAITS_SECONDS) + 1,
    GithubRateLimited.code: len(_WAITS_SECONDS) + 1,
    # The next try includes a commit that came in between. A protected branch stays protected.
    GithubConflict.code: 2,
}
"""How often Carrel tries after these errors. Every other error would come again, so it ends the delivery."""
_LONGEST_WAIT_SECONDS: Final = 2 * 86_400
"""A row that is due later than this was written before the clock was set back."""
_SOON_SECONDS: Final = 30.0

CallLater = Callable[[float, Callable[[], None]], asyncio.TimerHandle]
"""Calls a function after this many seconds."""


class Delivery(NamedTuple):
    """A delivery: what is sent where, how often Carrel tried, and the commit that it made last."""

    run: int
    round: int
    run_id: RunId
    connection_id: ConnectionId
    answers: Literal["best", "all"]
    path: str
    branch: str | None
    attempts: int
    made: str | None


_deliveries = Select(Delivery, round="d.round", run_id="id")


class _Wish(msgspec.Struct, frozen=True):
    output: Output = Output()


def want(conn: Connection, setup: Setup) -> None:
    """Record that this round's answers are to be sent, if the run's output says so; in the transaction that ends it."""
    configuration = conn.value("SELECT configuration FROM run_snapshots WHERE run = ?", setup.seq)
    output = Output() if configuration is None else msgspec.json.decode(configuration, type=_Wish).output
    if output.destination == "github":
        conn.run(
            "INSERT INTO run_deliveries (run, round, connection_id, answers, path, branch, state)"
            " VALUES (?, ?, ?, ?, ?, ?, 'wanted')"
            # A round that was retried ends again, and sends again.
            " ON CONFLICT DO UPDATE SET state = 'wanted', attempts = 0, due_at = 0, made = NULL",
            *(setup.seq, setup.round.number, output.connection, output.answers, output.path, output.branch),
        )


def _wait(conn: Connection) -> float | None:
    """Seconds until the next delivery is due, 0 if one is due now; `None` if there is none."""
    now = conn.clock.now()
    wait: float | None = conn.value("SELECT min(max(due_at - ?, 0)) FROM run_deliveries WHERE state = 'wanted'", now)
    return 0.0 if wait is not None and wait > _LONGEST_WAIT_SECONDS else wait


def _next(conn: Connection) -> Delivery | None:
    now = conn.clock.now()
    return _deliveries.one(
        conn,
        "FROM run_deliveries AS d JOIN runs ON seq = run"
        " WHERE d.state = 'wanted' AND (due_at <= ? OR due_at > ?) ORDER BY run LIMIT 1",
        *(now, now + _LONGEST_WAIT_SECONDS),
    )


def _made(conn: Connection, delivery: Delivery, sha: str) -> None:
    conn.run("UPDATE run_deliveries SET made = ? WHERE run = ? AND round = ?", sha, delivery.run, delivery.round)


def _settle(conn: Connection, delivery: Delivery, error: CarrelError | None) -> None:
    """Record how an attempt ended: the delivery is over, or due again."""
    attempts = delivery.attempts + 1
    if error is not None and attempts < _ATTEMPTS.get(error.code, 1):
        due_at = conn.clock.now() + max(error.retry_after_seconds or 0, _backoff_seconds(delivery))
        conn.run(
            "UPDATE run_deliveries SET attempts = ?, due_at = ? WHERE run = ? AND round = ?",
            *(attempts, int(due_at) + 1, delivery.run, delivery.round),
        )
        _log(conn, delivery, "answers-delayed", attempts, error)
        return
    conn.run(
        "UPDATE run_deliveries SET state = ?, attempts = ? WHERE run = ? AND round = ?",
        *("done" if error is None else "failed", attempts, delivery.run, delivery.round),
    )
    _log(conn, delivery, "answers-sent" if error is None else "answers-not-sent", attempts, error)


def _log(conn: Connection, delivery: Delivery, event: log.Event, attempts: int, error: CarrelError | None) -> None:
    """Write the event into the run's log, unless the run was deleted meanwhile."""
    if conn.one("SELECT 1 FROM runs WHERE seq = ?", delivery.run) is None:
        return
    level: log.Level = "info" if error is None else "warning"
    log.write(conn, delivery.run, event, level=level, code=None if error is None else error.code, attempt=attempts)


def _backoff_seconds(delivery: Delivery) -> float:
    """The wait, up to a quarter longer than planned: after GitHub was away, not all deliveries come back at once."""
    lot = hashlib.sha256(f"{delivery.run_id} {delivery.attempts}".encode()).digest()[0] / 255
    return _WAITS_SECONDS[delivery.attempts] * (1 + lot / 4)


class Deliveries:
    """The deliveries of this process; a listener of the pool. Owned by the event loop."""

    def __init__(self, pool: WorkspacePool, github: Github, later: CallLater) -> None:
        self._pool = pool
        self._github = github
        self._later = later
        self._tasks: dict[UserUuid, asyncio.Task[float | None]] = {}
        self._timers: dict[UserUuid, asyncio.TimerHandle] = {}

    def look(self, uuid: UserUuid) -> None:
        """Send what is due, or wait until it is. A task that already sends looks again by itself."""
        if self._is_at_it(uuid):
            return
        workspace = self._pool.try_lease(uuid)
        if workspace is None:
            # The workspace is being closed. Its next opening looks at the same rows.
            return
        wait = None
        try:
            # If the workspace is damaged or closes, the user's next request reports that.
            with suppress(CarrelError):
                wait = workspace.read(_wait)
        finally:
            self._pool.release(workspace)
        self._plan(uuid, wait)

    async def opened(self, uuid: UserUuid) -> None:
        """Continue deliveries that were interrupted."""
        self.look(uuid)

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop. The rows still name what is to be sent."""
        self._plan(uuid, None)
        if uuid in self._tasks:
            await cancel([self._tasks[uuid]])

    async def stop(self) -> None:
        """Stop everything, because the process is about to end."""
        for uuid in [*self._timers]:
            self._plan(uuid, None)
        await cancel(self._tasks.values())

    def _is_at_it(self, uuid: UserUuid) -> bool:
        return uuid in self._tasks and not self._tasks[uuid].done()

    def _plan(self, uuid: UserUuid, wait: float | None) -> None:
        """Plan the next look after `wait` seconds, in place of an earlier plan; `None` plans nothing."""
        if uuid in self._timers:
            self._timers.pop(uuid).cancel()
        if wait is not None and wait > 0:
            # The wait holds no lease: the workspace may close, and the key may be evicted.
            self._timers[uuid] = self._later(wait, lambda: self._plan(uuid, 0.0))
        elif wait is not None and not self._is_at_it(uuid):
            task = self._tasks[uuid] = asyncio.create_task(self._send_due(uuid))
            task.add_done_callback(lambda done: self._ended(uuid, done))

    def _ended(self, uuid: UserUuid, task: asyncio.Task[float | None]) -> None:
        if self._tasks.get(uuid) is task:
            del self._tasks[uuid]
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            logs.error("delivery-broke-down", user=tail(uuid), kind=type(error).__name__)
        elif (wait := task.result()) is not None:
            self._plan(uuid, max(wait, _SOON_SECONDS))

    async def _send_due(self, uuid: UserUuid) -> float | None:
        """Send what is due. Return the seconds until the next delivery is due."""
        try:
            async with self._pool.leased(uuid) as workspace:
                while (delivery := workspace.read(_next)) is not None:
                    await workspace.write(_settle, delivery, await self._send(workspace, delivery))
                return workspace.read(_wait)
        except WorkspaceBusy:
            return _SOON_SECONDS
        except CarrelError:
            # The key is gone, or the workspace closes meanwhile: the rows name what is to be sent.
            return None

    async def _send(self, workspace: Workspace, delivery: Delivery) -> CarrelError | None:
        """Send a delivery and return its error; `None` if it succeeded."""
        wanted = ExportIn(
            run=delivery.run_id,
            answers=delivery.answers,
            path=delivery.path,
            branch=delivery.branch,
            message=_MESSAGE,
        )

        async def keep(sha: str) -> None:
            await workspace.write(_made, delivery, sha)

        try:
            memory = Memory(delivery.made, keep)
            await github_export.send(self._github, workspace, delivery.connection_id, wanted, memory)
        except CarrelError as error:
            return error
        return None

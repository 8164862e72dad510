"""Every change of a run's state, each with its row in the log, in the transaction of the caller."""

from typing import NamedTuple

from carrel.errors import NotFound
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.model import log, states
from carrel.runs.model.log import Event
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import PauseReason, State, Transition


class Present(NamedTuple):
    """A run's row and its present state."""

    seq: int
    state: State
    pause_reason: PauseReason | None
    round: int


_present = Select(Present)


def present(conn: Connection, run_id: RunId) -> Present:
    """Where the run is now.

    Raises:
        NotFound: there is none with this id.
    """
    found = _present.one(conn, "FROM runs WHERE id = ?", run_id)
    if found is None:
        raise NotFound
    return found


def require(conn: Connection, run_id: RunId, transition: Transition) -> Present:
    """Return the run, if its state allows this transition.

    Raises:
        NotFound: there is none with this id.
        RunStateConflict: its state does not.
    """
    found = present(conn, run_id)
    states.require(transition, found.state)
    return found


def run(conn: Connection, seq: int, event: Event) -> None:
    """Mark the run as running, for the first time or again."""
    conn.run(
        "UPDATE runs SET state = 'running', pause_reason = NULL, finished_at = NULL,"
        " started_at = coalesce(started_at, ?) WHERE seq = ?",
        conn.now(),
        seq,
    )
    log.write(conn, seq, event, state="running")


def pause(conn: Connection, seq: int, reason: PauseReason) -> None:
    """Mark the run as paused for this reason."""
    conn.run("UPDATE runs SET state = 'paused', pause_reason = ? WHERE seq = ?", reason, seq)
    log.write(conn, seq, "run-paused", level="info" if reason == "user" else "warning", state="paused", code=reason)


def end(conn: Connection, seq: int, state: State, event: Event) -> None:
    """Mark the run as ended. It stays so until the user asks for another round."""
    conn.run("UPDATE runs SET state = ?, pause_reason = NULL, finished_at = ? WHERE seq = ?", state, conn.now(), seq)
    log.write(conn, seq, event, level="error" if state == "failed" else "info", state=state)

"""Every change of a task's row after it was planned, in the transaction of the caller.

Triggers of the table keep the counts of the round. Each function names the run too: the rows of a deleted run may have
been given to another one.
"""

from carrel.kit.sqlite.database import Connection
from carrel.runs.model.states import TaskState


def begin(conn: Connection, run: int, task: int, attempt: int) -> None:
    """The task is being worked on; `attempt` is the number of the attempt that begins."""
    conn.run(
        "UPDATE tasks SET state = 'running', attempts = ?, started_at = coalesce(started_at, ?)"
        " WHERE seq = ? AND run = ?",
        *(attempt, conn.now(), task, run),
    )


def put_back(conn: Connection, run: int, task: int, attempt: int) -> None:
    """The task is pending again, unless something else happened to it since this attempt."""
    conn.run(
        "UPDATE tasks SET state = 'pending' WHERE seq = ? AND run = ? AND state = 'running' AND attempts = ?",
        *(task, run, attempt),
    )


def put_back_all(conn: Connection, run: int) -> None:
    """Every task of the run that was being worked on is pending again."""
    conn.run("UPDATE tasks SET state = 'pending' WHERE run = ? AND state = 'running'", run)


def withdraw(conn: Connection, run: int, task: int, attempt: int) -> None:
    """The same as `put_back` for an attempt whose call is never made: it does not count."""
    conn.run(
        "UPDATE tasks SET state = 'pending', attempts = attempts - 1"
        " WHERE seq = ? AND run = ? AND state = 'running' AND attempts = ?",
        *(task, run, attempt),
    )


def discount_attempt(conn: Connection, run: int, key: str) -> None:
    """The call of the task's last attempt is never made: the attempt does not count. The state stays."""
    conn.run("UPDATE tasks SET attempts = attempts - 1 WHERE run = ? AND key = ?", run, key)


def count_failure(conn: Connection, run: int, task: int, failures: int, code: str) -> None:
    """An attempt brought no answer, and another one follows."""
    conn.run("UPDATE tasks SET failures = ?, error = ? WHERE seq = ? AND run = ?", failures, code, task, run)


def count_malformed(conn: Connection, run: int, task: int, malformed: int, code: str) -> None:
    """An attempt brought an answer that was not in the form that was asked for."""
    conn.run("UPDATE tasks SET malformed = ?, error = ? WHERE seq = ? AND run = ?", malformed, code, task, run)


def add_cost(conn: Connection, run: int, task: int, cost_micros: int | None) -> None:
    """Add what one call cost; `None`: nobody knows."""
    # NULL: no call has ended yet, or the cost of one is unknown, and then that of the task is.
    conn.run(
        "UPDATE tasks SET cost_micros = CASE WHEN cost_micros IS NULL AND failures + malformed > 0 THEN NULL"
        " ELSE coalesce(cost_micros, 0) + ? END WHERE seq = ? AND run = ?",
        *(cost_micros, task, run),
    )


def succeed(conn: Connection, run: int, task: int) -> None:
    """The task's result is there."""
    _end(conn, run, task, "succeeded")


def decide(conn: Connection, run: int, task: int) -> None:
    """The result is there without a call, and cost nothing."""
    now = conn.now()
    conn.run(
        "UPDATE tasks SET state = 'succeeded', error = NULL, cost_micros = 0, started_at = ?, finished_at = ?"
        " WHERE seq = ? AND run = ?",
        *(now, now, task, run),
    )


def fail(conn: Connection, run: int, task: int, code: str) -> None:
    """No attempt brought a result, and none follows."""
    _end(conn, run, task, "failed", code)


def skip(conn: Connection, run: int, task: int, code: str) -> None:
    """The task is left out; `code` says why."""
    _end(conn, run, task, "skipped", code)


def cancel_all(conn: Connection, run: int) -> None:
    """Every task of the run that has not ended is cancelled."""
    conn.run(
        "UPDATE tasks SET state = 'cancelled', finished_at = ? WHERE run = ? AND state IN ('pending', 'running')",
        *(conn.now(), run),
    )


def _end(conn: Connection, run: int, task: int, state: TaskState, code: str | None = None) -> None:
    conn.run(
        "UPDATE tasks SET state = ?, error = ?, finished_at = ? WHERE seq = ? AND run = ?",
        *(state, code, conn.now(), task, run),
    )

"""Every change of a task's row after it was planned, in the transaction of the caller.

Triggers of the table keep the counts of the round. Each function names the run too: the rows of a deleted run may have
been given to another one.
"""

from carrel.kit.sqlite.database import Connection
from carrel.runs.model.states import TaskState


def begin(conn: Connection, run: int, task: int, attempt: int, asked: bytes | None) -> None:
    """Mark the task as running; `attempt` is the number of the attempt that begins, `asked` what it asks."""
    conn.run(
        "UPDATE tasks SET state = 'running', attempts = ?, started_at = coalesce(started_at, ?), asked = ?"
        " WHERE seq = ? AND run = ?",
        *(attempt, conn.now(), asked, task, run),
    )


def put_back(conn: Connection, run: int, task: int, attempt: int) -> None:
    """Mark the task as pending again, unless something else happened to it since this attempt."""
    conn.run(
        "UPDATE tasks SET state = 'pending' WHERE seq = ? AND run = ? AND state = 'running' AND attempts = ?",
        *(task, run, attempt),
    )


def put_back_all(conn: Connection, run: int) -> None:
    """Mark every running task of the run as pending again, except those whose call is in a batch."""
    conn.run(
        "UPDATE tasks SET state = 'pending' WHERE run = ?1 AND state = 'running' AND key NOT IN"
        " (SELECT task_key FROM calls WHERE run_id = (SELECT id FROM runs WHERE seq = ?1) AND outcome = 'running'"
        " AND batch IS NOT NULL)",
        run,
    )


def withdraw(conn: Connection, run: int, task: int, attempt: int) -> None:
    """Do the same as `put_back` for an attempt whose call is never made, and do not count the attempt."""
    conn.run(
        "UPDATE tasks SET state = 'pending', attempts = attempts - 1"
        " WHERE seq = ? AND run = ? AND state = 'running' AND attempts = ?",
        *(task, run, attempt),
    )


def discount_attempt(conn: Connection, run: int, key: str) -> None:
    """Do not count the task's last attempt, because its call is never made. The state stays."""
    conn.run("UPDATE tasks SET attempts = attempts - 1 WHERE run = ? AND key = ?", run, key)


def count_failure(conn: Connection, run: int, task: int, failures: int, code: str, said: str = "") -> None:
    """Record that an attempt brought no answer, and what the provider `said`."""
    conn.run(
        "UPDATE tasks SET failures = ?, error = ?, provider_said = ? WHERE seq = ? AND run = ?",
        *(failures, code, said or None, task, run),
    )


def wait(conn: Connection, run: int, task: int, code: str, said: str = "") -> None:
    """Record why an attempt brought no answer that does not count."""
    conn.run("UPDATE tasks SET error = ?, provider_said = ? WHERE seq = ? AND run = ?", code, said or None, task, run)


def count_malformed(conn: Connection, run: int, task: int, malformed: int, code: str) -> None:
    """Record that an attempt brought an answer in a wrong form."""
    conn.run(
        "UPDATE tasks SET malformed = ?, error = ?, provider_said = NULL WHERE seq = ? AND run = ?",
        *(malformed, code, task, run),
    )


def add_cost(conn: Connection, run: int, task: int, cost_micros: int | None) -> None:
    """Add the cost of one call; `None` means that it is unknown."""
    # NULL: no call has ended yet, or the cost of one is unknown; then the cost of the task is unknown, too.
    conn.run(
        "UPDATE tasks SET cost_micros = CASE WHEN cost_micros IS NULL"
        " AND (failures + malformed > 0 OR error IS NOT NULL) THEN NULL"
        " ELSE coalesce(cost_micros, 0) + ? END WHERE seq = ? AND run = ?",
        *(cost_micros, task, run),
    )


def succeed(conn: Connection, run: int, task: int) -> None:
    """Mark the task as succeeded."""
    _end(conn, run, task, "succeeded")


def reuse(conn: Connection, run: int, task: int, asked: bytes, origin: int) -> None:
    """Mark the task as succeeded with the result that the call of another one brought, and count it."""
    decide(conn, run, task)
    conn.run("UPDATE tasks SET asked = ?, reused = ? WHERE seq = ? AND run = ?", asked, origin, task, run)
    conn.run("UPDATE runs SET reused = reused + 1 WHERE seq = ?", run)


def decide(conn: Connection, run: int, task: int) -> None:
    """Mark the task as succeeded without a call and without a cost."""
    now = conn.now()
    conn.run(
        "UPDATE tasks SET state = 'succeeded', error = NULL, cost_micros = 0, started_at = ?, finished_at = ?"
        " WHERE seq = ? AND run = ?",
        *(now, now, task, run),
    )


def fail(conn: Connection, run: int, task: int, code: str) -> None:
    """Mark the task as failed: no attempt brought a result, and none follows."""
    _end(conn, run, task, "failed", code)


def skip(conn: Connection, run: int, task: int, code: str) -> None:
    """Mark the task as skipped; `code` says why."""
    _end(conn, run, task, "skipped", code)


def retry(conn: Connection, run: int, task: int) -> None:
    """Mark a task without a result as pending, as if it had never failed. Its attempts and its costs stay counted."""
    conn.run("DELETE FROM scores WHERE task = ?", task)
    conn.run("DELETE FROM comparisons WHERE task = ?", task)
    conn.run(
        "UPDATE tasks SET state = 'pending', failures = 0, malformed = 0, error = NULL, started_at = NULL,"
        " finished_at = NULL"
        " WHERE seq = ? AND run = ?",
        *(task, run),
    )


def unplan(conn: Connection, run: int, task: int) -> None:
    """Remove a task without a result, because its phase comes again and plans it then."""
    retry(conn, run, task)
    row = conn.one("DELETE FROM tasks WHERE seq = ? AND run = ? RETURNING round", task, run)
    if row is not None:
        conn.run("UPDATE run_rounds SET pending = pending - 1 WHERE run = ? AND number = ?", run, row[0])


def cancel_all(conn: Connection, run: int) -> None:
    """Cancel every task of the run that has not ended."""
    conn.run(
        "UPDATE tasks SET state = 'cancelled', finished_at = ? WHERE run = ? AND state IN ('pending', 'running')",
        *(conn.now(), run),
    )


def _end(conn: Connection, run: int, task: int, state: TaskState, code: str | None = None) -> None:
    conn.run(
        "UPDATE tasks SET state = ?, error = ?, finished_at = ? WHERE seq = ? AND run = ?",
        *(state, code, conn.now(), task, run),
    )

"""The generated documents: each candidate's answers, and whether they were delivered."""

import msgspec

from carrel.kit.database import Connection
from carrel.providers.base import FinishReason, Usage


class Brought(msgspec.Struct, frozen=True):
    """An answer as judges get it. A refused, empty or cut-off one was not `delivered`: it loses by rule."""

    body: str
    delivered: bool


def put(
    conn: Connection,
    run: int,
    task: int,
    text: str,
    finish_reason: FinishReason,
    usage: Usage,
    cost_micros: int | None,
) -> None:
    """Keep the answer of a generation task."""
    delivered = finish_reason == "stop" and bool(text.strip())
    conn.run(
        "INSERT INTO generated (id, task, run, document, candidate, repeat, finish_reason, delivered, words,"
        " input_tokens, output_tokens, cost_micros, created_at, body)"
        " SELECT ?, seq, run, document, candidate, repeat, ?, ?, ?, ?, ?, ?, ?, ? FROM tasks WHERE seq = ? AND run = ?",
        *(conn.new_id(), finish_reason, delivered, len(text.split()), usage.input_tokens, usage.output_tokens),
        *(cost_micros, conn.now(), text, task, run),
    )


def brought(conn: Connection, run: int, document: int, candidate: int, repeat: int) -> Brought | None:
    """An answer, or `None` if there never was one: a failure, or a skipped task."""
    row = conn.one(
        "SELECT body, delivered FROM generated WHERE run = ? AND document = ? AND candidate = ? AND repeat = ?",
        *(run, document, candidate, repeat),
    )
    return None if row is None else Brought(row[0], bool(row[1]))

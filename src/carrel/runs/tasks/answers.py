"""The generated documents: each candidate's answers, and whether they were delivered."""

from typing import NewType

import msgspec

from carrel.errors import NotFound
from carrel.kit.ids import Id
from carrel.kit.money import text_if_known
from carrel.kit.sqlite.database import Connection
from carrel.providers.base import FinishReason, Usage
from carrel.runs.model.schemas import GeneratedDocument, Marks, Tokens
from carrel.runs.model.setup import RunId

_CONTENT = (
    "SELECT contents.id FROM run_outputs JOIN contents ON contents.id = run_outputs.content_id"
    " WHERE run_outputs.run = generated.run AND run_outputs.generated = generated.seq"
)
GeneratedId = NewType("GeneratedId", Id)

_marks = msgspec.json.Decoder(dict[str, float])


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
        *(conn.new_id(), finish_reason, delivered, len(text.split()), usage.read_tokens, usage.output_tokens),
        *(cost_micros, conn.now(), text, task, run),
    )


def brought(conn: Connection, run: int, document: int, candidate: int, repeat: int) -> Brought | None:
    """An answer, or `None` if there never was one: a failure, or a skipped task."""
    row = conn.one(
        "SELECT body, delivered FROM generated WHERE run = ? AND document = ? AND candidate = ? AND repeat = ?",
        *(run, document, candidate, repeat),
    )
    return None if row is None else Brought(row[0], bool(row[1]))


def get(conn: Connection, run_id: RunId, generated_id: str) -> GeneratedDocument:
    """One answer with what every round's judges gave it. Goes through all tasks of the run: to be scanned.

    Raises:
        NotFound: the run has no such answer.
    """
    row = conn.one(
        "SELECT tasks.key, content_id, run_documents.name, label, generated.repeat, body, finish_reason,"
        " input_tokens, output_tokens, generated.cost_micros, generated.created_at, runs.seq, generated.document,"
        f" generated.candidate, ({_CONTENT}) FROM generated JOIN runs ON runs.seq = generated.run"
        " JOIN tasks ON tasks.seq = generated.task"
        " JOIN run_documents ON run_documents.run = runs.seq AND run_documents.ordinal = generated.document"
        " JOIN run_candidates ON run_candidates.run = runs.seq AND run_candidates.ordinal = generated.candidate"
        " WHERE runs.id = ? AND generated.id = ?",
        *(run_id, generated_id),
    )
    if row is None:
        raise NotFound
    given = _given(conn, row[11], row[12], row[13], row[4])
    return GeneratedDocument(
        id=generated_id,
        task_key=row[0],
        input=row[1],
        input_name=row[2],
        candidate=row[3],
        repeat=row[4],
        body=row[5],
        finish_reason=row[6],
        tokens=Tokens(row[7], row[8]),
        cost=text_if_known(row[9]),
        scores=given,
        created_at=row[10],
        # It changes when it is judged again, and with the content that it became.
        version=1 + 2 * len(given) + (row[14] is not None),
        content_id=row[14],
    )


def _given(conn: Connection, run: int, document: int, candidate: int, repeat: int) -> list[Marks]:
    rows = conn.all(
        "SELECT tasks.round, run_judges.name, judge_repeat, fate, marks, said FROM tasks"
        " JOIN scores ON scores.task = tasks.seq"
        " JOIN run_judges ON run_judges.run = tasks.run AND run_judges.round = tasks.round"
        " AND run_judges.ordinal = judge WHERE tasks.run = ? AND kind = 'score' AND document = ? AND candidate = ?"
        " AND tasks.repeat = ? ORDER BY tasks.seq",
        *(run, document, candidate, repeat),
    )
    return [
        Marks(
            round=round_number,
            judge=judge,
            repeat=again,
            fate=fate,
            marks=_marks.decode(marks),
            reason=said if fate == "given" else None,
        )
        for round_number, judge, again, fate, marks, said in rows
    ]

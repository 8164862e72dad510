"""The generated documents: each candidate's answers, and whether they were delivered."""

from typing import NamedTuple, NewType

import msgspec

from carrel.errors import NotFound
from carrel.kit.ids import Id
from carrel.kit.money import text_if_known
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, SqlColumn, as_json
from carrel.providers.base import Citation, FinishReason, Usage
from carrel.runs.checking import marks
from carrel.runs.model.schemas import GeneratedDocument, Marks, Tokens
from carrel.runs.model.setup import RunId
from carrel.runs.tasks.attempts import GenerateResult
from carrel.vault.ids import ContentId

_CONTENT = (
    "SELECT contents.id FROM run_outputs JOIN contents ON contents.id = run_outputs.content_id"
    " WHERE run_outputs.run = generated.run AND run_outputs.generated = generated.seq"
)
_EXISTED = (
    "EXISTS (SELECT 1 FROM run_existing AS x WHERE x.run = generated.run AND x.candidate = generated.candidate"
    " AND x.document = generated.document)"
)
GeneratedId = NewType("GeneratedId", Id)


class _Row(NamedTuple):
    task_key: str
    input: ContentId
    input_name: str
    candidate: str
    model: str | None
    host: str | None
    ordinal: int
    repeat: int
    body: str
    thought: str | None
    finish_reason: FinishReason
    input_tokens: int
    output_tokens: int
    cost: str | None
    created_at: str
    run: int
    document: int
    content_id: ContentId | None
    checks: list[float | None] | None
    citations: list[Citation] | None
    lacks_citations: bool


_rows = Select(
    _Row,
    task_key="tasks.key",
    input="content_id",
    input_name="run_documents.name",
    candidate="label",
    ordinal="generated.candidate",
    repeat="generated.repeat",
    cost=SqlColumn("generated.cost_micros", text_if_known),
    created_at="generated.created_at",
    run="runs.seq",
    document="generated.document",
    content_id=f"({_CONTENT})",
    # An answer that existed before has no model; and rows of earlier programs do not know that they have no host.
    model=f"iif({_EXISTED}, NULL, model)",
    host="iif(run_candidates.host IS NULL, NULL, generated.host)",
    citations="(SELECT citations FROM generated_citations WHERE generated_citations.generated = generated.seq)",
    lacks_citations="grounding = 'required' AND NOT delivered AND finish_reason = 'stop' AND trim(body) <> ''",
    checks="(SELECT marks FROM check_marks WHERE check_marks.generated = generated.seq)",
)
_marks = Select(
    Marks,
    round="tasks.round",
    judge="run_judges.name",
    repeat="judge_repeat",
    reason="CASE fate WHEN 'given' THEN said END",
)


class Brought(msgspec.Struct, frozen=True):
    """An answer as judges get it. A refused, empty or cut-off answer is not `delivered`: it loses by rule.

    So does one without the citations that it had to
    name, and one that does not pass the required checks against one that `passes` them.
    """

    body: str
    delivered: bool
    passes: bool


_brought = Select(Brought, passes="coalesce(passes, 1)")


def put(
    conn: Connection,
    run: int,
    task: int,
    answer: GenerateResult,
    usage: Usage,
    cost_micros: int | None,
    host: str | None = None,
) -> None:
    """Store the answer of a generation task, which came from this host."""
    text, finish_reason = answer.text, answer.finish_reason
    delivered = finish_reason == "stop" and bool(text.strip()) and not answer.lacks_citations
    conn.run(
        "INSERT INTO generated (id, task, run, document, candidate, repeat, finish_reason, delivered, words,"
        " input_tokens, output_tokens, cost_micros, host, created_at, body, thought) SELECT ?, seq, run, document,"
        " candidate, repeat, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM tasks WHERE seq = ? AND run = ?",
        *(conn.new_id(), finish_reason, delivered, len(text.split()), usage.read_tokens, usage.output_tokens),
        *(cost_micros, host, conn.now(), text, answer.thought or None, task, run),
    )
    if answer.citations:
        conn.run(
            "INSERT INTO generated_citations (generated, citations) SELECT seq, ? FROM generated WHERE task = ?",
            *(as_json(answer.citations), task),
        )


def brought(conn: Connection, run: int, document: int, candidate: int, repeat: int) -> Brought | None:
    """An answer, or `None` if there is none because the task failed or was skipped."""
    return _brought.one(
        conn,
        "FROM generated LEFT JOIN check_marks ON generated = generated.seq"
        " WHERE generated.run = ? AND document = ? AND candidate = ? AND repeat = ?",
        *(run, document, candidate, repeat),
    )


def get(conn: Connection, run_id: RunId, generated_id: str) -> GeneratedDocument:
    """One answer with the marks of every round's judges. Goes through all tasks of the run: to be scanned.

    Raises:
        NotFound: the run has no such answer.
    """
    row = _rows.one(
        conn,
        "FROM generated JOIN runs ON runs.seq = generated.run"
        " JOIN tasks ON tasks.seq = generated.task"
        " JOIN run_documents ON run_documents.run = runs.seq AND run_documents.ordinal = generated.document"
        " JOIN run_candidates ON run_candidates.run = runs.seq AND run_candidates.ordinal = generated.candidate"
        " WHERE runs.id = ? AND generated.id = ?",
        *(run_id, generated_id),
    )
    if row is None:
        raise NotFound
    given, asked = _given(conn, row), marks.asked(conn, row.run)
    return GeneratedDocument(
        id=generated_id,
        task_key=row.task_key,
        input=row.input,
        input_name=row.input_name,
        candidate=row.candidate,
        model=row.model,
        host=row.host,
        repeat=row.repeat,
        body=row.body,
        thought=row.thought,
        finish_reason=row.finish_reason,
        tokens=Tokens(row.input_tokens, row.output_tokens),
        cost=row.cost,
        scores=given,
        checks={one.check.name: mark for one, mark in zip(asked, row.checks or (), strict=False)},
        citations=row.citations or [],
        lacks_citations=row.lacks_citations,
        created_at=row.created_at,
        # The answer changes when it is checked or judged again, and with the content that was made of it.
        version=1 + 2 * (len(given) + (row.checks is not None)) + (row.content_id is not None),
        content_id=row.content_id,
    )


def _given(conn: Connection, answer: _Row) -> list[Marks]:
    return _marks.all(
        conn,
        "FROM tasks JOIN scores ON scores.task = tasks.seq"
        " JOIN run_judges ON run_judges.run = tasks.run AND run_judges.round = tasks.round"
        " AND run_judges.ordinal = judge WHERE tasks.run = ? AND kind = 'score' AND document = ? AND candidate = ?"
        " AND tasks.repeat = ? ORDER BY tasks.seq",
        *(answer.run, answer.document, answer.ordinal, answer.repeat),
    )

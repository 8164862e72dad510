"""What the rows hold about the documents of a round: texts, answers, marks and judges' words; of all, or of one.

Texts are taken in while there is room. Every function reads all documents if none is named: unbounded, to be scanned.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec.structs import replace

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.providers.base import Citation, FinishReason
from carrel.reports.text_budget import TextBudget
from carrel.runs.model import plan
from carrel.runs.model.plan import Kind
from carrel.runs.model.setup import Setup
from carrel.runs.model.states import TaskState
from carrel.runs.verdicts.judgement import Evidence

MAX_JUDGEMENTS = 10_000
"""If there are more verdicts or scores, they are not listed; what is computed from them still holds them."""


class ReportDocument(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """An input. `text` is `None` if there was no room. `reference` is `None` if there was no room or there is none.

    `turns` are its conversation as JSON; `None` if there was no room or it is none.
    """

    ordinal: int
    content_id: str
    name: str
    characters: int
    text: str | None
    has_reference: bool = False
    reference: str | None = None
    turns: str | None = None


class PlannedAnswer(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A planned answer. Without an `id` there is no answer. `text` is `None` then, and if there was no room.

    `thought` is what its model wrote before it, where one document alone is read. `checks` are its marks of the run's
    checks, once it was checked. It is `existing` if it existed before the run.
    """

    key: str
    document: int
    candidate: int
    repeat: int
    state: TaskState
    error: str | None
    cost_micros: int | None
    id: str | None
    finish_reason: FinishReason | None
    delivered: bool
    words: int
    input_tokens: int
    output_tokens: int
    text: str | None
    checks: tuple[float | None, ...] | None = None
    citations: tuple[Citation, ...] | None = None
    thought: str | None = None
    reused: bool = False
    existing: bool = False


class JudgeMarks(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """The marks of one judge for one answer; `said` is `None` if there was no room."""

    document: int
    candidate: int
    repeat: int
    judge: int
    judge_repeat: int
    fate: Literal["given", "by_rule", "invalid"]
    values: dict[str, float]
    said: str | None


class DocumentsInput(msgspec.Struct, frozen=True, kw_only=True):
    """The input of a list of documents. `said` are judges' words on comparisons, by task key.

    `sources` are the candidates whose answers to a document were combined, with the numbers of these answers.
    """

    setup: Setup
    evidence: Evidence
    documents: tuple[ReportDocument, ...]
    answers: tuple[PlannedAnswer, ...]
    marks: tuple[JudgeMarks, ...]
    said: dict[str, str]
    sources: dict[int, tuple[tuple[int, int], ...]] = {}


_inputs = Select(
    ReportDocument,
    characters="length(d.body)",
    text="d.body",
    has_reference="r.seq IS NOT NULL",
    reference="r.body",
    turns="m.body",
)
_inputs_briefly = Select(
    ReportDocument, characters="0", text="NULL", has_reference="r.seq IS NOT NULL", reference="NULL", turns="NULL"
)


def _given_with(text: str, citations: str, thought: str = "NULL", **columns: str) -> Select[PlannedAnswer]:
    return Select(
        PlannedAnswer,
        **columns,
        document="tasks.document",
        candidate="tasks.candidate",
        repeat="tasks.repeat",
        cost_micros="tasks.cost_micros",
        words="coalesce(words, 0)",
        input_tokens="coalesce(input_tokens, 0)",
        output_tokens="coalesce(output_tokens, 0)",
        text=text,
        checks="marks",
        citations=citations,
        thought=thought,
        reused="tasks.reused IS NOT NULL",
        existing="EXISTS (SELECT 1 FROM run_existing AS e"
        " WHERE e.run = tasks.run AND e.candidate = tasks.candidate AND e.document = tasks.document)",
    )


_CITATIONS = "(SELECT citations FROM generated_citations WHERE generated_citations.generated = generated.seq)"
_given = _given_with("body", _CITATIONS)
_given_alone = _given_with("body", _CITATIONS, "thought")
# Of a hundred thousand answers, keys and ids would take 30 MB.
_given_briefly = _given_with("NULL", "NULL", key="''", id="iif(generated.id IS NULL, NULL, '')")
_given_marks = Select(JudgeMarks, values="marks")


def answers(
    conn: Connection, seq: int, room: TextBudget, *, is_brief: bool = False, only: int | None = None
) -> Iterator[PlannedAnswer]:
    """The planned answers in the order of the documents; `is_brief` leaves their texts, keys and ids out."""
    tasks, values = _tasks(1, ("generate", "combine"), only)
    given = _given_briefly if is_brief else _given if only is None else _given_alone
    for answer in given.each(
        conn,
        "FROM tasks LEFT JOIN generated ON task = tasks.seq LEFT JOIN check_marks ON generated = generated.seq"
        f" WHERE tasks.run = ? AND {tasks} ORDER BY tasks.document, tasks.candidate, tasks.repeat",
        *(seq, *values),
    ):
        yield answer if is_brief else replace(answer, text=room.take(answer.text), thought=room.take(answer.thought))


def said(
    conn: Connection, seq: int, number: int, room: TextBudget, only: int | None = None
) -> Iterator[tuple[str, str]]:
    """Judges' words on comparisons, by task key."""
    tasks, values = _tasks(number, ("compare",), only)
    rows = conn.execute(
        f"SELECT key, said FROM tasks JOIN comparisons ON task = seq WHERE run = ? AND {tasks}"
        " AND said IS NOT NULL ORDER BY seq",
        (seq, *values),
    )
    for key, words in rows:
        taken = room.take(words)
        if taken is not None:
            yield key, taken


def marks(conn: Connection, seq: int, number: int, room: TextBudget, only: int | None = None) -> Iterator[JudgeMarks]:
    """The marks of every judge for every answer."""
    tasks, values = _tasks(number, ("score",), only)
    for mark in _given_marks.each(
        conn,
        f"FROM tasks JOIN scores ON task = seq WHERE run = ? AND {tasks}"
        " ORDER BY document, candidate, repeat, judge, judge_repeat",
        *(seq, *values),
    ):
        yield replace(mark, said=room.take(mark.said))


def documents(
    conn: Connection, seq: int, room: TextBudget, *, is_brief: bool = False, only: int | None = None
) -> Iterator[ReportDocument]:
    """The inputs in order; `is_brief` leaves their texts out."""
    numbers = "" if only is None else " AND ordinal = ?"
    for document in (_inputs_briefly if is_brief else _inputs).each(
        conn,
        "FROM run_documents JOIN run_texts AS d ON d.seq = text LEFT JOIN run_texts AS r ON r.seq = reference"
        f" LEFT JOIN run_texts AS m ON m.seq = messages WHERE run_documents.run = ?{numbers} ORDER BY ordinal",
        *((seq,) if only is None else (seq, only)),
    ):
        if is_brief:
            yield document
            continue
        text, reference = room.take(document.text), room.take(document.reference)
        turns = None if text is None else room.take(document.turns)
        yield replace(document, text=text, reference=reference, turns=turns)


def _tasks(number: int, kinds: tuple[Kind, ...], only: int | None) -> tuple[str, tuple[int | str, ...]]:
    """The condition for the tasks of a round, and its values. Those of one document are found by their keys."""
    if only is None:
        return f"round = ? AND kind IN ({', '.join('?' * len(kinds))})", (number, *kinds)
    bounds = [plan.keys(number, kind, only) for kind in kinds]
    return f"({' OR '.join(['key BETWEEN ? AND ?'] * len(bounds))})", tuple(end for pair in bounds for end in pair)

"""One document of a run with everything about it: its answers, their marks, and what the judges said of them."""

from carrel.errors import NotFound
from carrel.kit.sqlite.database import Connection
from carrel.reports import by_document, document_input
from carrel.reports.document_input import MAX_JUDGEMENTS, DocumentsInput
from carrel.reports.report import DocumentReport
from carrel.reports.report_input import ROOM_BYTES
from carrel.reports.text_budget import TextBudget
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import combining, evidence


def read(conn: Connection, run_id: RunId, document: int, round_number: int | None) -> DocumentReport:
    """The document as the report of this round, or of the present one, would have it if it held no other.

    Raises:
        NotFound: there is no such run, or it has no such document or round.
    """
    setup = setups.require(conn, run_id, round_number)
    seq, number = setup.seq, setup.round.number
    heard = evidence.on_document(conn, setup, document)
    room = TextBudget(ROOM_BYTES)
    answers = tuple(document_input.answers(conn, seq, room, only=document))
    said = document_input.said(conn, seq, number, room, document) if len(heard.verdicts) <= MAX_JUDGEMENTS else ()
    marks = document_input.marks(conn, seq, number, room, document) if len(heard.scores) <= MAX_JUDGEMENTS else ()
    found = DocumentsInput(
        setup=setup,
        evidence=heard,
        answers=answers,
        said=dict(said),
        marks=tuple(marks),
        documents=tuple(document_input.documents(conn, seq, room, only=document)),
        sources=combining.kept(conn, seq, document),
    )
    for report in by_document.documents(found, [*by_document.voices(found)]):
        return report
    raise NotFound

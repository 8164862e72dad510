"""What a person keeps of answers: a star and a note. They count for no ranking."""

from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta

from carrel.errors import BadInput, Conflict
from carrel.http.requests.schema import In
from carrel.kit.clock import Time
from carrel.kit.sqlite import paging
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging
from carrel.kit.sqlite.rows import Select
from carrel.runs.model import log, run_transitions
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId

MAX_NOTES: Final = 10_000
"""Of a run."""


class TooManyNotes(Conflict):
    """The run has as many notes as it may have."""

    code = "too-many-notes"
    detail = "The run has as many stars and notes as it may have; remove some."


class AnswerNoteIn(In, frozen=True):
    """A star, a note or both on one answer: `candidate` is its label, `repeat` its number. Neither removes both."""

    document: Annotated[int, Meta(ge=1)]
    candidate: str
    repeat: Annotated[int, Meta(ge=1)] = 1
    starred: bool = False
    note: Annotated[str, Meta(max_length=2_000)] = ""


class AnswerNote(msgspec.Struct, frozen=True):
    """A star and a note on an answer."""

    document: int
    document_name: str
    candidate: str
    repeat: int
    starred: bool
    note: str
    updated_at: Time


class _Place(NamedTuple):
    """The answer as its columns name it."""

    run: int
    document: int
    candidate: int
    repeat: int


FROM = (
    "FROM run_notes JOIN run_documents ON run_documents.run = run_notes.run AND run_documents.ordinal = document"
    " JOIN run_candidates ON run_candidates.run = run_notes.run AND run_candidates.ordinal = candidate"
)
"""The notes, with the names of their documents and candidates."""
CANDIDATE = "run_candidates.label"
_notes = Select(AnswerNote, document_name="run_documents.name", candidate=CANDIDATE)


def write(conn: Connection, run_id: RunId, data: AnswerNoteIn) -> AnswerNote:
    """Write what is said of one answer in place of what was.

    Raises:
        NotFound: there is no such run.
        BadInput: it has no such answer.
        TooManyNotes
    """
    setup = setups.require(conn, run_id)
    run = setup.seq
    name = conn.value("SELECT name FROM run_documents WHERE run = ? AND ordinal = ?", run, data.document)
    if name is None:
        raise BadInput.at("document", "must be the number of a document of this run")
    candidate = next((one.ordinal for one in setup.candidates if one.label == data.candidate), None)
    if candidate is None:
        raise BadInput.at("candidate", "must be the label of a candidate of this run")
    place = _Place(run, data.document, candidate, data.repeat)
    answer = "SELECT seq FROM generated WHERE run = ? AND document = ? AND candidate = ? AND repeat = ?"
    if conn.value(answer, *place) is None:
        raise BadInput.at("repeat", "must be the number of an answer that there is")
    now, text = conn.now(), data.note.strip()
    if data.starred or text:
        conn.run(
            "INSERT INTO run_notes (run, document, candidate, repeat, starred, note, updated_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, document, candidate, repeat)"
            " DO UPDATE SET starred = excluded.starred, note = excluded.note, updated_at = excluded.updated_at",
            *(*place, data.starred, text, now),
        )
        if conn.value("SELECT count(*) FROM run_notes WHERE run = ?", run) > MAX_NOTES:
            raise TooManyNotes
    else:
        conn.run("DELETE FROM run_notes WHERE run = ? AND document = ? AND candidate = ? AND repeat = ?", *place)
    log.write(conn, run, "answer-noted")
    return AnswerNote(data.document, name, data.candidate, data.repeat, data.starred, text, now)


def page(conn: Connection, run_id: RunId, which: Paging) -> Page[AnswerNote]:
    """The stars and notes, newest first.

    Raises:
        NotFound: there is no such run.
    """
    run = run_transitions.present(conn, run_id).seq
    return paging.fetch(conn, which, _notes, f"{FROM} WHERE run_notes.run = ?", run, seq="run_notes.seq")

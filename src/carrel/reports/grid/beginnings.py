"""The beginnings of answers for a few rows of a run's grid, and the rows whose names or answers hold some words."""

from typing import Final

import msgspec

from carrel.errors import BadInput
from carrel.kit.sqlite.database import Connection
from carrel.runs.model import run_transitions
from carrel.runs.model.setup import RunId

MAX_DOCUMENTS: Final = 100
MAX_CHARACTERS: Final = 200
"""Of the words that are looked for."""
_BEGINNING: Final = 240
_NAME: Final = 200
_marks = msgspec.json.Decoder(list[float | None])


class AnswerBeginnings(msgspec.Struct, frozen=True):
    """A document, how it begins, and the beginnings of its answers, in the order of the run's candidates.

    An answer is null where there is none. `checks` are the marks of each answer, in the order of the run's checks. All
    but the name is empty if only names are wanted.
    """

    document: int
    name: str
    question: str
    answers: list[str | None]
    checks: list[list[float | None]]


class Beginnings(msgspec.Struct, frozen=True):
    """The rows in the order of their documents. `found` are the documents that hold the words, if words were given."""

    rows: list[AnswerBeginnings]
    found: list[int] | None


def numbers(documents: str | None) -> list[int]:
    """The numbers of documents, from a text such as `3,17,18`.

    Raises:
        BadInput: it is not such a text, or has too many numbers.
    """
    parts = documents.split(",") if documents else []
    if len(parts) > MAX_DOCUMENTS or not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise BadInput.at("documents", f"must be up to {MAX_DOCUMENTS} numbers with commas between them")
    return [int(part) for part in parts]


def read(conn: Connection, run_id: RunId, documents: list[int], words: str, *, has_answers: bool = True) -> Beginnings:
    """The rows of these documents, and those that hold the words. Goes through all answers for words: to be scanned.

    Unless it `has_answers`, a row holds no beginnings.

    Raises:
        NotFound: there is no such run.
    """
    run = run_transitions.present(conn, run_id).seq
    candidates: int = conn.value("SELECT count(*) FROM run_candidates WHERE run = ?", run) if has_answers else 0
    rows = [row for number in sorted(set(documents)) if (row := _row(conn, run, number, candidates)) is not None]
    return Beginnings(rows, _found(conn, run, words.strip()) if words.strip() else None)


def _row(conn: Connection, run: int, document: int, candidates: int) -> AnswerBeginnings | None:
    found = conn.one(
        f"SELECT substr(name, 1, {_NAME}), substr(body, 1, {_BEGINNING}) FROM run_documents"
        " JOIN run_texts ON run_texts.seq = text WHERE run_documents.run = ? AND ordinal = ?",
        *(run, document),
    )
    if found is None:
        return None
    name, question = found
    answers: list[str | None] = [None] * candidates
    checks: list[list[float | None]] = [[] for _ in answers]
    if answers:
        for candidate, text, marks in conn.all(
            f"SELECT candidate, substr(body, 1, {_BEGINNING}), marks FROM generated"
            " LEFT JOIN check_marks ON check_marks.generated = generated.seq"
            " WHERE generated.run = ? AND document = ? AND repeat = 1",
            *(run, document),
        ):
            answers[candidate - 1] = text
            if marks is not None:
                checks[candidate - 1] = _marks.decode(marks)
    return AnswerBeginnings(document, name, question if candidates else "", answers, checks)


def _found(conn: Connection, run: int, words: str) -> list[int]:
    """SQLite tells capitals from small letters outside of ASCII, so both forms of the words are looked for."""
    hit = "instr(lower({0}), lower(?2)) OR instr({0}, ?3) OR instr({0}, ?4)"
    return conn.column(
        f"SELECT ordinal FROM run_documents WHERE run = ?1 AND ({hit.format('name')})"
        f" UNION SELECT document FROM generated WHERE run = ?1 AND repeat = 1 AND ({hit.format('body')}) ORDER BY 1",
        *(run, words, words.lower(), words.capitalize()),
    )

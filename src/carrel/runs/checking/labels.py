"""The classes of a run: the expected outputs of its documents, where there are few of them."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from carrel.checks import definition
from carrel.checks.definition import Check
from carrel.checks.normalising import folded
from carrel.evaluation.classes import FEWEST_DOCUMENTS, MOST_CLASSES
from carrel.kit.sqlite.database import Connection
from carrel.runs.checking import marks
from carrel.runs.model.setup import Setup

CHARACTERS: Final = 1_000
"""A longer text names no class."""


class Labels(NamedTuple):
    """The names of the classes, and the number of each document's, by the check that compares answers with them."""

    check: Check
    names: tuple[str, ...]
    documents: Mapping[int, int]
    numbers: Mapping[str, int]

    def number(self, answer: str) -> int | None:
        """The number of the class that an answer names; `None` if it names none."""
        return self.numbers.get(folded(self.check, answer))


def of(conn: Connection, setup: Setup) -> Labels | None:
    """The classes; `None` if no check compares with expected outputs, or if those are no classes."""
    asked = (one.check for one in marks.asked(conn, setup.seq))
    check = next(filter(definition.is_of_classes, asked), None)
    if check is None:
        return None
    texts = _expected(conn, setup.seq, check)
    names: dict[str, str] = {}
    for text in texts.values():
        names.setdefault(folded(check, text), text)
    most = min(MOST_CLASSES, len(texts) // FEWEST_DOCUMENTS)
    if not 2 <= len(names) <= most or max(map(len, texts.values())) > CHARACTERS:
        return None
    numbers = {folding: number for number, folding in enumerate(sorted(names))}
    documents = {document: numbers[folded(check, text)] for document, text in texts.items()}
    return Labels(check, tuple(names[folding] for folding in numbers), documents, numbers)


def _expected(conn: Connection, run: int, check: Check) -> dict[int, str]:
    """The expected output of each document that has one, or so much of it that it is seen to be too long."""
    if check.column is not None:
        found = conn.all(
            f"SELECT ordinal, substr(value, 1, {CHARACTERS + 1}) FROM run_documents, json_each(metadata)"
            " WHERE run = ? AND key = ?",
            *(run, check.column),
        )
    else:
        found = conn.all(
            f"SELECT ordinal, substr(body, 1, {CHARACTERS + 1}) FROM run_documents JOIN run_texts ON seq = reference"
            " WHERE run_documents.run = ?",
            run,
        )
    return dict(found)

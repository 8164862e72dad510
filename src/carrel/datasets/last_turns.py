"""Conversations that end with the assistant, as for fine-tuning: the last turn becomes a finished answer of its row."""

from collections.abc import Iterator, Mapping
from typing import Final

from carrel.datasets import conversations
from carrel.datasets.columns import place_of, with_roles
from carrel.datasets.names import Cells, TableReader, check_names
from carrel.datasets.schemas import MAX_COLUMNS, Role

_NAME: Final = "answer"


def with_answers(table: TableReader, roles: Mapping[str, Role]) -> TableReader:
    """The table with one more column of finished answers if conversations end with one. Their cells stay as they are.

    `roles` are those that do not follow from the names of columns.
    """
    longer = TableReader(list(table.columns), iter(()))
    longer.rows = _rows(table, longer, roles)
    return longer


def _rows(table: TableReader, longer: TableReader, roles: Mapping[str, Role]) -> Iterator[Cells]:
    at = place = None
    known, name = 0, _NAME
    for cells in table.rows:
        if len(table.columns) > known:
            known = len(table.columns)
            present = {column: role for column, role in roles.items() if column in table.columns}
            place = place_of(with_roles(table.columns, present), "messages")
            longer.columns[:] = table.columns if at is None else [*table.columns[:at], name, *table.columns[at:]]
            check_names(longer.columns)
        cell = cells[place] if place is not None and place < len(cells) else None
        answer = None if cell is None else conversations.answer(cell)
        if answer is not None and at is None and known < MAX_COLUMNS:
            at = known
            while name in table.columns:
                name += "_"
            longer.columns.append(name)
            longer.suggested[name] = "output"
        if at is None:
            yield cells
        else:
            yield [*cells[:at], *[None] * (at - len(cells)), answer, *cells[at:]]
    longer.hollow = {hollow + (at is not None and hollow >= at) for hollow in table.hollow}
    longer.notes = table.notes
    if at is not None:
        longer.notes.append(f"Conversations end with an answer, which is also in the column {name}.")

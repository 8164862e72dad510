"""The reasons to refuse a table. Carrel then keeps nothing of it and changes nothing else."""

from typing import Final

from carrel.errors import BadInput, Conflict, FieldError, TooLarge, UnsupportedMedia
from carrel.http.requests.validation import name_of


class TableFormatUnsupported(UnsupportedMedia):
    """Neither its name nor its media type belongs to a table that Carrel can read."""

    code = "data-set-format-unsupported"
    detail = "Only csv, tsv, jsonl, json, xlsx, xls and ods files can be data sets."


class TableUnreadable(BadInput):
    """It is not made as its format asks for; `errors` says where."""

    code = "data-set-unreadable"
    detail = "The file cannot be read as the table that its name says; see errors."


class TableEmpty(BadInput):
    """No row in it."""

    code = "data-set-empty"
    detail = "The table has no rows."


class ColumnsInvalid(BadInput):
    """The names of its columns, or the roles that were chosen for them, do not fit."""

    code = "data-set-columns-invalid"
    detail = "The columns or their roles do not fit; see errors."


class RowsInvalid(BadInput):
    """Some rows break a rule; `errors` names the first ones, with row and column."""

    code = "data-set-rows-invalid"
    detail = "Some rows break a rule; see errors."


class CellTooLarge(TooLarge):
    """A cell of more than `CARREL_MAX_BODY_BYTES`."""

    code = "data-set-cell-too-large"
    detail = "A cell holds more text than a content may have; see errors."


class RowTooLarge(TooLarge):
    """A row that is longer than one may be, whatever is in it."""

    code = "data-set-row-too-large"
    detail = "A row is longer than a row may be; see errors."


class TableTooComplex(BadInput):
    """Reading it takes too much time or memory."""

    code = "data-set-too-complex"
    detail = "Reading the table takes too much time or memory."


class TooManyRows(TooLarge):
    """More rows than `CARREL_MAX_DATA_SET_ROWS`, or than a table of so many columns may have."""

    code = "data-set-too-many-rows"
    detail = "The table has more rows than a data set may have; see errors."


class DataSetInUse(Conflict):
    """Presets take their inputs from it; `errors` names their ids."""

    code = "data-set-in-use"
    detail = "Presets use this data set; errors names their ids."


MAX_NAMED_FAULTS: Final = 20
"""So many faults of rows are named; the others would be of the same kinds."""
READING_REFUSALS: Final = (
    *(TableUnreadable, TableEmpty, ColumnsInvalid, RowsInvalid, CellTooLarge, RowTooLarge, TooManyRows),
)
"""What the worker says that reads a table."""
TABLE_REFUSALS: Final = (*READING_REFUSALS, TableTooComplex)
"""What refuses a table, whatever it comes in."""


def fault(row: int, message: str, column: tuple[int, str] | None = None) -> FieldError:
    """A fault of a row, and of one of its columns: by its name if that is harmless to repeat, else by its number."""
    if column is None:
        return FieldError(f"rows[{row}]", message)
    number, name = column
    shown = name_of(name)
    return FieldError(f"rows[{row}].{shown}" if shown != "?" else f"rows[{row}].columns[{number}]", message)

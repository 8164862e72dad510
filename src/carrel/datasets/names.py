"""A table that is being read, and what the names of its columns have to be."""

from collections.abc import Iterator

from carrel.datasets.refusals import MAX_NAMED_FAULTS, ColumnsInvalid
from carrel.datasets.schemas import MAX_COLUMN_CHARACTERS, MAX_COLUMNS, Role
from carrel.errors import FieldError
from carrel.http.requests.validation import join

Cells = list[str | None]


class TableReader:
    """A table that is being read. All but `rows` is complete when all rows have been read, which may add columns."""

    def __init__(self, columns: list[str], rows: Iterator[Cells]) -> None:
        self.columns = columns
        self.rows = rows
        self.notes: list[str] = []
        """What was left out or named, for people."""
        self.hollow: set[int] = set()
        """The places of columns that have neither a name nor a cell."""
        self.suggested: dict[str, Role] = {}
        """Roles of columns that do not follow from their names."""
        self.sheets: list[str] = []
        """The sheets of a spreadsheet that can be seen, the one that is read first."""


def check_names(names: list[str], root: str = "") -> None:
    """Check the names of columns.

    Raises:
        ColumnsInvalid: there is none or too many, or one is empty, too long or there twice.
    """
    if not names or names == [""]:
        raise ColumnsInvalid(errors=(FieldError(join(root, "columns"), "are missing: the first line names them"),))
    if len(names) > MAX_COLUMNS:
        raise too_many_columns(root)
    faults = []
    for number, name in enumerate(names, start=1):
        path = join(root, f"columns[{number}]")
        if not name:
            faults.append(FieldError(path, "has no name"))
        elif len(name) > MAX_COLUMN_CHARACTERS:
            faults.append(FieldError(path, f"has a name of more than {MAX_COLUMN_CHARACTERS} characters"))
        elif name in names[: number - 1]:
            faults.append(FieldError(path, f"has the name of column {names.index(name) + 1}"))
    if faults:
        raise ColumnsInvalid(errors=tuple(faults[:MAX_NAMED_FAULTS]))


def too_many_columns(root: str = "") -> ColumnsInvalid:
    """What refuses more columns than a table may have."""
    return ColumnsInvalid(errors=(FieldError(join(root, "columns"), f"must be at most {MAX_COLUMNS}"),))

"""The rows of a data set as inputs: of which table, how many, and whether all that is named is there."""

from collections.abc import Iterator

from carrel.checks import definition
from carrel.datasets import rows
from carrel.datasets.columns import place_of
from carrel.datasets.rows import Choice, Version
from carrel.errors import FieldError
from carrel.http.requests.validation import name_of
from carrel.kit.sqlite.database import Connection
from carrel.presets.configuration import Configuration, Rows


def table(conn: Connection, configuration: Configuration) -> Version | None:
    """The version of the data set whose rows are the inputs; `None` if documents are, or if there is no such one."""
    wanted = configuration.rows
    return None if wanted is None else rows.find(conn, wanted.data_set, wanted.version)


def count(conn: Connection, configuration: Configuration, found: Version | None) -> int:
    """How many inputs a run has."""
    if configuration.rows is None or found is None:
        return len(configuration.inputs)
    return rows.count(conn, found, choice(configuration.rows)) if _has_columns(configuration.rows, found) else 0


def first(conn: Connection, configuration: Configuration) -> int | None:
    """The number of the first row that is an input; `None` without any."""
    found, wanted = table(conn, configuration), configuration.rows
    return rows.first(conn, found, choice(wanted)) if wanted and found and _has_columns(wanted, found) else None


def choice(wanted: Rows) -> Choice:
    """Which rows of the table are inputs."""
    return Choice(wanted.where, wanted.row)


def _has_columns(wanted: Rows, found: Version) -> bool:
    return wanted.where.keys() <= {column.name for column in found.columns}


def faults(configuration: Configuration, found: Version | None, documents: int) -> Iterator[FieldError]:
    """What the configuration names of the data set and is not there."""
    if configuration.rows is None:
        return
    if found is None:
        yield FieldError("rows", "names no data set, or no version of it")
        return
    names = {column.name for column in found.columns}
    unknown = [name for name in configuration.rows.where if name not in names]
    for name in unknown:
        yield FieldError(f"rows.where.{name_of(name)}", "is not a column of the data set")
    row = configuration.rows.row
    if row is not None and row > found.row_count:
        yield FieldError("rows.row", f"is beyond the last row, {found.row_count}")
    elif not unknown and not documents and row is not None:
        yield FieldError("rows.row", "does not have the values in where")
    elif not unknown and not documents:
        yield FieldError("rows", "has no rows with these values")
    if place_of(found.columns, "variable") is None and place_of(found.columns, "messages") is None:
        yield FieldError("rows.data_set", "needs a column with the role variable or messages")
    for index, candidate in enumerate(configuration.generation.candidates):
        if candidate.column is not None and candidate.column not in names:
            yield FieldError(f"generation.candidates[{index}].column", "is not a column of the data set")
    kept = {column.name for column in found.columns if column.role == "metadata"}
    for index, check in enumerate(configuration.checks):
        if not kept.issuperset(definition.columns_of(check)):
            field = "columns" if check.column is None else "column"
            yield FieldError(f"checks[{index}].{field}", "is not a column of the data set with the role metadata")

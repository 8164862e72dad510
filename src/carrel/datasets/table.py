"""Checks the rows of a table one by one and makes of them what is stored. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from carrel.datasets import columns, conversations
from carrel.datasets.names import Cells, TableReader
from carrel.datasets.refusals import MAX_NAMED_FAULTS, CellTooLarge, RowsInvalid, TableEmpty, TooManyRows, fault
from carrel.datasets.schemas import MAX_CELLS, MAX_GROUP_CHARACTERS, MAX_ID_CHARACTERS, SINGLE_ROLES, Column, Role
from carrel.errors import FieldError
from carrel.kit.plain_text import NOT_TEXT, is_text

_REQUIRED: Final[frozenset[Role]] = frozenset({"id", "variable", "messages"})
"""Every row needs a cell with one of these roles."""
_BOUNDED: Final[frozenset[Role]] = frozenset({"id", "group", "messages"})
"""Not every text may stand in a cell with one of these roles."""
_SMALL_ROW: Final = 16 * 1024
"""So many characters are looked at together."""


class Limits(NamedTuple):
    """What the operator's settings allow: rows of a table, bytes of a cell, and characters of a row in its file.

    `guesses` says whether a column may lose the role that its name suggests.
    """

    rows: int
    cell_bytes: int
    row_characters: int
    guesses: bool = True


class StoredRow(NamedTuple):
    """One row as it is stored. `number` counts from 1."""

    number: int
    id: str
    cells: Cells


class CheckedTable:
    """Reads a table. `columns` are complete when all rows have been read."""

    def __init__(
        self, table: TableReader, roles: Mapping[str, Role], limits: Limits, before: Sequence[Column] = ()
    ) -> None:
        """`roles` were chosen; `before` are the columns of the version before, whose roles stay.

        Every other column has the role that its name suggests, until a cell of it does not fit: then it is `metadata`.
        """
        self._table = table
        self._roles = roles
        self._limits = limits
        self._before = {column.name: column.role for column in before}
        self.columns: list[Column] = []
        self.row_count = 0
        self.notes: list[str] = []
        """Which columns have not the role that their name suggests, and why."""
        self.lost_ids = False
        """Whether one of them is the id: then the rows are named by their numbers, those before it, too."""
        self._unsuitable: dict[str, Role] = {}
        self._id: int | None = None
        self._required: set[int] = set()
        self._bounded: set[int] = set()

    def rows(self) -> Iterator[StoredRow]:
        """The rows, if all of them are good; the caller keeps none of them otherwise.

        Raises:
            TableUnreadable, TableEmpty, ColumnsInvalid, RowsInvalid, RowTooLarge, CellTooLarge, TooManyRows
        """
        table = self._table
        faults: list[FieldError] = []
        numbers: dict[str, int] = {}
        for number, cells in enumerate(table.rows, start=1):
            self._require_room(number)
            if len(table.columns) > len(self.columns):
                # JSON rows may add columns. The rows before them have nothing there.
                before = len(self.columns)
                self.columns = self._with_roles(table.columns, _present(self._roles, table.columns))
                if number > 1:
                    faults += self._faults(1, [None] * len(self.columns), range(before, len(self.columns)))
                self._id = columns.place_of(self.columns, "id")
                self._required, self._bounded = (
                    {at for at, one in enumerate(self.columns) if one.role in roles} for roles in (_REQUIRED, _BOUNDED)
                )
            looked_at = self._doubtful(cells)
            self._require_small(number, cells, looked_at)
            faults += self._faults(number, cells, looked_at)
            row_id, place = str(number), self._id
            if place is not None:
                row_id = (cells[place] if place < len(cells) else None) or ""
                if row_id and numbers.setdefault(row_id, number) != number:
                    message = f"is the id of row {numbers[row_id]}, too"
                    if self._is_unsuitable(place, number, message):
                        row_id = str(number)
                    else:
                        faults.append(fault(number, message, (place + 1, self.columns[place].name)))
            if len(faults) >= MAX_NAMED_FAULTS:
                break
            self.row_count = number
            if not faults:
                yield StoredRow(number, row_id, cells)
        if faults:
            raise RowsInvalid(errors=tuple(faults[:MAX_NAMED_FAULTS]))
        if not self.row_count:
            raise TableEmpty
        # Now that all columns are known: a role may have been chosen for one that never came.
        self.columns = self._with_roles(table.columns, self._roles)

    def _with_roles(self, names: list[str], chosen: Mapping[str, Role]) -> list[Column]:
        """The columns with the roles that were chosen, those that they had before, or those that names suggest."""
        taken = {role for role in chosen.values() if role in SINGLE_ROLES}
        kept = {name: role for name, role in _present(self._before, names).items() if role not in taken}
        suggested = _present(self._table.suggested, names)
        return columns.with_roles(names, {**suggested, **kept, **self._unsuitable, **chosen})

    def _require_room(self, number: int) -> None:
        # A row takes what its cells take, also the empty ones.
        most = min(self._limits.rows, MAX_CELLS // max(1, len(self._table.columns)))
        if number > most:
            raise TooManyRows(errors=(FieldError("rows", f"must be at most {most}"),))

    def _doubtful(self, cells: Cells) -> list[int]:
        """The places of the cells to look at one by one: to do so with all of a wide table takes seconds."""
        if sum(map(len, filter(None, cells))) <= min(_SMALL_ROW, self._limits.cell_bytes // 4) and is_text(
            "".join(filter(None, cells))
        ):
            looked_at = self._bounded | self._required if None in cells else self._bounded
            return sorted(at for at in looked_at if at < len(cells))
        return [at for at, cell in enumerate(cells) if cell is not None or at in self._required]

    def _require_small(self, number: int, cells: Cells, places: Sequence[int]) -> None:
        most = self._limits.cell_bytes
        for place in places:
            cell = cells[place]
            if cell is not None and 4 * len(cell) > most and len(cell.encode("utf-8", "replace")) > most:
                at = (place + 1, self.columns[place].name)
                raise CellTooLarge(errors=(fault(number, f"must have at most {most:,} bytes", at),))

    def _faults(self, number: int, cells: Cells, places: Sequence[int]) -> Iterator[FieldError]:
        for place in places:
            column = self.columns[place]
            message = cell_fault(column.role, cells[place])
            if message is not None and not self._is_unsuitable(place, number, message):
                yield fault(number, message, (place + 1, column.name))

    def _is_unsuitable(self, place: int, number: int, message: str) -> bool:
        """Whether only its name gave the column its role. Then it loses it."""
        name, role = self.columns[place].name, self.columns[place].role
        if message == NOT_TEXT or name in self._roles or name in self._before or not self._limits.guesses:
            return False
        self.notes.append(f"The column {name} is metadata, although its name suggests {role}: row {number} {message}.")
        self.columns[place] = Column(name=name, role="metadata")
        self._unsuitable[name] = "metadata"
        if role == "id":
            self.lost_ids, self._id = True, None
        return True


def cell_fault(role: Role, cell: str | None) -> str | None:
    """Why a cell cannot have this role, in constant words; `None` if it can."""
    if cell is None or (role == "id" and not cell):
        return "is missing" if role in _REQUIRED else None
    if not is_text(cell):
        return NOT_TEXT
    if role == "id" and len(cell) > MAX_ID_CHARACTERS:
        return f"must have at most {MAX_ID_CHARACTERS} characters"
    if role == "group" and len(cell) > MAX_GROUP_CHARACTERS:
        return f"must have at most {MAX_GROUP_CHARACTERS} characters"
    if role == "messages":
        try:
            conversations.parse(cell)
        except conversations.NotAConversation as error:
            return str(error)
    return None


def _present(roles: Mapping[str, Role], names: list[str]) -> dict[str, Role]:
    return {name: role for name, role in roles.items() if name in names}

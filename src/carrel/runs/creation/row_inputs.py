"""Rows of a data set as the inputs of a run: what each asks, its reference, its group and its finished answers."""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from carrel.datasets import columns as table_columns
from carrel.datasets import conversations
from carrel.datasets import rows as tables
from carrel.datasets.columns import place_of
from carrel.datasets.names import Cells
from carrel.datasets.rows import NumberedRow, Version
from carrel.datasets.schemas import Role
from carrel.errors import BadInput
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.presets import rows, rules
from carrel.presets.configuration import Configuration
from carrel.providers.base import Turn

MAX_KEPT: Final = 140_000
"""How many texts of rows and answers a run may have, counted as if no cell were empty: 10 µs each to keep."""


class RowInput(NamedTuple):
    """One row. `fields` are the texts that prompts name, `outputs` the finished answers by the candidates' numbers.

    `text` is what judges and built-in models read; `turns` are the conversation in the row, with whose transcript the
    text begins.
    """

    id: str
    name: str
    text: str
    reference: str | None
    group: str | None
    turns: tuple[Turn, ...]
    metadata: dict[str, str]
    fields: dict[str, str]
    outputs: dict[int, str]


class RowInputs:
    """The rows that a configuration takes. `version` is what they are taken from."""

    def __init__(self, conn: Connection, configuration: Configuration) -> None:
        """Find the table.

        Raises:
            BadInput: there is none; `presets.check.checked` says the same.
        """
        version = rows.table(conn, configuration)
        if version is None or configuration.rows is None:
            raise BadInput.at("rows", "names no data set, or no version of it")
        self.version: Version = version
        self._conn = conn
        self._configuration = configuration
        self._choice = rows.choice(configuration.rows)
        columns = version.columns
        self._texts = [place for place, column in enumerate(columns) if column.role == "variable"]
        self._metadata = [place for place, column in enumerate(columns) if column.role == "metadata"]
        names = {column.name: place for place, column in enumerate(columns)}
        self._outputs = {
            ordinal: names[candidate.column]
            for ordinal, candidate in enumerate(configuration.generation.candidates, start=1)
            if candidate.column is not None
        }

    def __len__(self) -> int:
        return tables.count(self._conn, self.version, self._choice)

    def require_room(self, fields: Collection[str]) -> None:
        """Go on only if a run may keep all texts and answers. `fields` are the placeholders that prompts use.

        Raises:
            BadInput
        """
        roles: tuple[Role, ...] = ("expected", "messages")
        beside = sum(place_of(self.version.columns, role) is not None for role in roles)
        rows = len(self)
        texts = rows * (1 + beside + len(fields) + len(self._outputs))
        if texts + rules.answers(self._configuration, rows) > MAX_KEPT:
            raise BadInput.at("rows", f"lead to more than {MAX_KEPT} texts and answers")

    def each(self, fields: Collection[str] = ()) -> Iterator[RowInput]:
        """The rows one by one. `fields` are the placeholders that prompts use."""
        wanted = table_columns.placeholders(self.version.columns)
        places = {name: wanted[name] for name in fields}
        for row in tables.each(self._conn, self.version, self._choice):
            turns = self._turns(row)
            yield RowInput(
                id=row.id,
                name=self._name(row),
                text=self._text(row.cells, turns),
                reference=self._cell(row.cells, "expected"),
                group=self._cell(row.cells, "group"),
                turns=turns,
                metadata=_named(columns_of(self.version, self._metadata), row.cells, self._metadata),
                fields={name: self._field(row.cells, place, turns) for name, place in places.items()},
                outputs={
                    ordinal: text for ordinal, place in self._outputs.items() if (text := row.cells[place]) is not None
                },
            )

    def _cell(self, cells: Cells, role: Role) -> str | None:
        place = place_of(self.version.columns, role)
        return None if place is None else cells[place]

    def _name(self, row: NumberedRow) -> str:
        return row.id if place_of(self.version.columns, "id") is not None else f"row {row.ordinal}"

    def _turns(self, row: NumberedRow) -> tuple[Turn, ...]:
        place = place_of(self.version.columns, "messages")
        cell = None if place is None else row.cells[place]
        if place is None or cell is None:
            return ()
        try:
            return conversations.parse(cell)
        except conversations.NotAConversation as error:
            raise BadInput.at(f"rows[{row.ordinal}].{self.version.columns[place].name}", str(error)) from None

    def _field(self, cells: Cells, place: int, turns: tuple[Turn, ...]) -> str:
        """What a prompt shows where it names the column: a conversation as it is kept in the run."""
        if turns and place == place_of(self.version.columns, "messages"):
            return as_json(turns)
        return cells[place] or ""

    def _text(self, cells: Cells, turns: tuple[Turn, ...]) -> str:
        """The conversation, and the variables: a single one as it is, several with their names."""
        parts = [conversations.transcript(turns)] if turns else []
        names = columns_of(self.version, self._texts)
        for name, place in zip(names, self._texts, strict=True):
            parts.append((cells[place] or "") if len(self._texts) == 1 else f"{name}:\n{cells[place] or ''}")
        return "\n\n".join(parts)


def columns_of(version: Version, places: list[int]) -> list[str]:
    """The names of columns."""
    return [version.columns[place].name for place in places]


def placeholders(conn: Connection, configuration: Configuration) -> frozenset[str]:
    """How prompts may name the columns of the data set; empty if documents are the inputs."""
    found = rows.table(conn, configuration)
    return frozenset() if found is None else frozenset(table_columns.placeholders(found.columns))


def _named(names: list[str], cells: Cells, places: list[int]) -> dict[str, str]:
    return {name: text for name, place in zip(names, places, strict=True) if (text := cells[place]) is not None}

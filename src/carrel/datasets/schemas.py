"""What goes over the wire about data sets, and a table as it came."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from carrel.checks.definition import Check
from carrel.http.requests.schema import Description, In, Name
from carrel.kit.clock import Time
from carrel.vault.ids import DataSetId

Format = Literal["csv", "tsv", "jsonl", "json", "xlsx", "xls", "ods"]
FORMATS: Final[dict[str, Format]] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xls": "xls",
    ".ods": "ods",
}
"""By the endings of files' names."""
Source = Literal["table", "promptfoo", "inspect", "langfuse", "openai", "lm-eval", "deepeval", "ragas"]
"""What wrote a file of finished answers."""
WrittenBy = Source | Literal["guess"]
RESULT_ENDINGS: Final = (".eval", ".yaml", ".yml")
"""Of names of files with results that are no tables."""
SPREADSHEETS: Final[tuple[Format, ...]] = ("xlsx", "xls", "ods")
Role = Literal["id", "variable", "messages", "expected", "group", "output", "metadata"]
SINGLE_ROLES: Final[tuple[Role, ...]] = ("id", "messages", "expected", "group")
"""At most one column of a table has each of them."""

MAX_COLUMNS = 200
MAX_CELLS = 5_000_000
"""Rows times columns: a table of more costs more than a request may."""
MAX_ROW_ELEMENTS = 100_000
"""Of one row: values in JSON, also nested ones, and in CSV separators that are in no quoted cell."""
MAX_EMPTY_LINES = 100_000
"""Between the rows of a table."""
MAX_COLUMN_CHARACTERS = 100
MAX_ID_CHARACTERS = 200
MAX_GROUP_CHARACTERS = 100

ColumnName = Annotated[str, Meta(min_length=1, max_length=MAX_COLUMN_CHARACTERS)]

FORM: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["file"],
    "additionalProperties": False,
    "properties": {
        "file": {
            "type": "string",
            "format": "binary",
            "description": "A table (CSV, JSON, XLSX and others), with its name. Tables, or results of a program, may"
            " come in up to ten files, whose rows have the same ids.",
        },
        "name": {
            "type": "string",
            "minLength": 1,
            "x-limit": "max_name_characters",
            "description": "The name of the data set; else the file's.",
        },
        "sheet": {"type": "string", "minLength": 1, "description": "The sheet of a spreadsheet; else the first one."},
        "roles": {
            "type": "string",
            "description": 'The roles of columns as a JSON object, such as `{"question": "variable"}`.',
        },
        "source": {
            "type": "string",
            "enum": [*get_args(Source), "guess"],
            "default": "table",
            "description": "Which program wrote the file, whose finished answers then become columns; `guess` tells"
            " by the file itself.",
        },
        "columns": {"type": "string", "description": "The same as `roles`, under its earlier name."},
    },
}
"""The form that `POST /data-sets` takes, as `openapi.json` shows it."""


class Column(In, frozen=True):
    """A column and what its cells are.

    `id` names the row. `variable` is what the row asks; a prompt may name it as `{{question}}`. `messages` is a
    conversation whose next turn is asked for. `expected` is the reference. Rows of one `group` count together.
    `output` is a finished answer. `metadata` is anything else.
    """

    name: ColumnName
    role: Role


@dataclass(frozen=True, repr=False)
class TableUpload:
    """A file as it came. `roles` are those that the user chose, by the columns' names.

    The `file_name` tells what a program called the file; `others` are more results, with their names.
    """

    name: str
    format: Format
    body: bytearray
    roles: dict[str, Role]
    sheet: str | None = None
    source: WrittenBy = "table"
    file_name: str = ""
    others: tuple[tuple[str, bytearray], ...] = ()


class DataSetSummary(msgspec.Struct, frozen=True):
    """A data set in a list. `bytes` is the size of its file."""

    id: DataSetId
    name: str
    description: str
    format: Format
    columns: list[Column]
    row_count: int
    bytes: int
    version: int
    created_at: Time
    updated_at: Time


class DataSet(DataSetSummary, frozen=True):
    """A table whose rows are inputs of runs. Every change makes a new version; runs keep the rows that they took."""


class UploadedDataSet(DataSet, frozen=True):
    """A data set whose table came just now. `notes` say what was left out, or taken otherwise than names suggest."""

    notes: list[str]


class DataSetChange(In, frozen=True, kw_only=True):
    """A data set's name and the roles of its columns, as they are to be. Another column as `id` names the rows anew.

    The client may send back the fields that Carrel keeps, unchanged, and the `notes` of an upload.
    """

    name: Name
    description: Description = ""
    columns: Annotated[list[Column], Meta(min_length=1, max_length=MAX_COLUMNS)]
    id: DataSetId | UnsetType = UNSET
    format: Format | UnsetType = UNSET
    row_count: int | UnsetType = UNSET
    bytes: int | UnsetType = UNSET
    version: int | UnsetType = UNSET
    created_at: Time | UnsetType = UNSET
    updated_at: Time | UnsetType = UNSET
    notes: list[str] | UnsetType = UNSET


class TablePreview(msgspec.Struct, frozen=True):
    """What a file would become, with its first fifty rows, of whose cells there are at most 200 characters.

    `sheets` are those of a spreadsheet, the one that is read first. `columns` have the roles that were chosen or that
    names suggest; `notes` are those of an upload. `source` is the program that wrote the file, and `checks` are the
    grades in it, as checks of a run.
    """

    format: Format
    sheets: list[str]
    columns: list[Column]
    row_count: int
    rows: list["DataSetRow"]
    notes: list[str]
    source: Source
    checks: list[Check]


class DataSetVersion(msgspec.Struct, frozen=True):
    """One version of a data set, the present one included; `updated_at` is when it was saved."""

    version: int
    name: str
    columns: list[Column]
    row_count: int
    updated_at: Time


class DataSetRow(msgspec.Struct, frozen=True):
    """One row. `number` counts from 1; `values` are its cells by column, null where there is none."""

    number: int
    id: str
    values: dict[str, str | None]

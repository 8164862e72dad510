"""The roles of columns: as their user chose, or as their names suggest."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from carrel.datasets.refusals import ColumnsInvalid
from carrel.datasets.schemas import SINGLE_ROLES, Column, Role
from carrel.errors import FieldError
from carrel.http.requests.validation import name_of
from carrel.kit.placeholders import plain

_SUGGESTED: Final[dict[str, Role]] = {
    "id": "id",
    "question": "variable",
    "input": "variable",
    "prompt": "variable",
    "messages": "messages",
    "conversation": "messages",
    "conversations": "messages",
    "contents": "messages",
    "expected": "expected",
    "expected_output": "expected",
    "reference": "expected",
    "ideal": "expected",
    "target": "expected",
    "group": "group",
    "topic": "group",
}
_NOT_IN_NAMES: Final = re.compile(r"\W", re.ASCII)


def with_roles(names: Sequence[str], chosen: Mapping[str, Role]) -> list[Column]:
    """The columns with their roles. A role that is not chosen follows from the name; without a hint it is `metadata`.

    Raises:
        ColumnsInvalid: a role was chosen for a column that is not there, or two columns have a role that only one may
            have.
    """
    missing = tuple(
        FieldError(f"columns.{name_of(name)}", "is missing in the file") for name in chosen if name not in names
    )
    if missing:
        raise ColumnsInvalid(errors=missing)
    taken: set[Role] = {role for role in chosen.values() if role in SINGLE_ROLES}
    found = []
    for name in names:
        role = chosen.get(name)
        if role is None:
            role = _SUGGESTED.get(name.casefold(), "metadata")
            if role in taken:
                role = "metadata"
            if role in SINGLE_ROLES:
                taken.add(role)
        found.append(Column(name=name, role=role))
    check_roles(found)
    return found


def check_roles(columns: Sequence[Column]) -> None:
    """Check that no two columns have a role that only one may have.

    Raises:
        ColumnsInvalid: naming the second one.
    """
    seen: set[Role] = set()
    for index, column in enumerate(columns):
        if column.role in SINGLE_ROLES and column.role in seen:
            raise ColumnsInvalid(errors=(FieldError(f"columns[{index}].role", "is the role of another column"),))
        seen.add(column.role)


def place_of(columns: Sequence[Column], role: Role) -> int | None:
    """Where the column with this role is, counted from 0; `None` if there is none."""
    return next((place for place, column in enumerate(columns) if column.role == role), None)


def placeholders(columns: Sequence[Column]) -> dict[str, int]:
    """Where the column is that a prompt names: `{{User Name}}`, or `{{User_Name}}`. What fits several names none."""
    own = [plain(column.name) for column in columns]
    words = _unique([placeholder(column.name) for column in columns])
    return {name: place for name, place in words.items() if name not in own} | _unique(own)


def placeholder(name: str) -> str:
    """The same as a word of ASCII, for other programs: `{{Expected_output}}` for "Expected output"."""
    word = _NOT_IN_NAMES.sub("_", name)
    return word if not word[:1].isdigit() else f"_{word}"


def _unique(names: Sequence[str]) -> dict[str, int]:
    times = Counter(names)
    return {name: place for place, name in enumerate(names) if times[name] == 1}

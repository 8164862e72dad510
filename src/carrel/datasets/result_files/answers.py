"""What a file of finished answers comes to, and how values of JSON become texts. Pure."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from carrel.datasets.schemas import MAX_COLUMN_CHARACTERS, Role, Source

_SHOWN_CHARACTERS: Final = 60
_MOST_GRADES: Final = 20
"""As many as a run may have checks."""
_WORDS: Final = {
    **dict.fromkeys(("c", "true", "pass", "passed", "yes"), 1.0),
    **dict.fromkeys(("i", "n", "false", "fail", "failed", "no"), 0.0),
    "p": 0.5,
}
"""Grades in words, those in one letter as Inspect has them."""


class Unreadable(Exception):
    """A file is not what it was taken for. The message says where, for people."""


class ResultFile(NamedTuple):
    """A file as it was decoded: the value of JSON or YAML, or the cells of CSV below their `header`.

    `records` are the objects of a list, of lines, or of CSV, whose cells are texts.
    """

    path: PurePath
    document: Any = None
    records: Sequence[Any] = ()
    header: Sequence[str] = ()
    cells: Sequence[Sequence[str]] = ()

    def has(self, *fields: str) -> bool:
        """Whether its first record has all of these fields."""
        first = self.records[0] if self.records else None
        return isinstance(first, dict) and first.keys() >= set(fields)


class Grade(NamedTuple):
    """What somebody else gave an answer under a name; `row` is the id of its row."""

    row: str
    candidate: str
    name: str
    value: Any


@dataclass(frozen=True, kw_only=True)
class AnswerTable:
    """One row for each question, as texts by column. Every row has the same columns, in the same order.

    `inputs` are the columns with what was asked, `candidates` those with the answers; `None` is no answer. `grades` are
    the columns with grades from 0 to 1 that came along, by their name and the candidate.
    """

    rows: list[dict[str, str | None]]
    id: str | None = None
    inputs: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    expected: str | None = None
    group: str | None = None
    grades: dict[str, dict[str, str]] = field(default_factory=dict)
    source: Source = "table"
    """What wrote the file."""
    notes: tuple[str, ...] = ()
    """What was left out of a table or guessed, for people."""

    @property
    def roles(self) -> dict[str, Role]:
        """What each column is, as the file says itself."""
        roles: dict[str, Role] = dict.fromkeys(self.columns, "metadata")
        roles |= dict.fromkeys(self.inputs, "variable")
        roles |= dict.fromkeys(self.candidates, "output")
        single: dict[Role, str | None] = {"id": self.id, "expected": self.expected, "group": self.group}
        return roles | {column: role for role, column in single.items() if column is not None}

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(self.rows[0])

    def only(self, candidates: Sequence[str]) -> "AnswerTable":
        """The same without the other candidates.

        Raises:
            Unreadable: one of them is not there.
        """
        missing = next((name for name in candidates if name not in self.columns), None)
        if missing is not None:
            raise Unreadable(f"no candidate is called {missing}; there are {'; '.join(self.candidates)}")
        left_out = set(self.candidates) - set(candidates)
        rows = [{name: cell for name, cell in row.items() if name not in left_out} for row in self.rows]
        of_these = {
            name: {label: column for label, column in columns.items() if label not in left_out}
            for name, columns in self.grades.items()
        }
        grades = {name: columns for name, columns in of_these.items() if columns}
        return replace(self, rows=rows, candidates=tuple(candidates), grades=grades)

    def graded(self, grades: Iterable[Grade]) -> "AnswerTable":
        """The same with the grades in further columns. Names of which a value is not from 0 to 1 are left out."""
        found: dict[str, dict[tuple[str, str], float]] = {}
        unfit: set[str] = set()
        for grade in grades:
            value = mark_of(grade.value)
            if value is not None:
                found.setdefault(grade.name, {})[grade.row, grade.candidate] = value
                if not 0 <= value <= 1:
                    unfit.add(grade.name)
        columns: dict[str, dict[str, str]] = {}
        rows, taken = [dict(row) for row in self.rows], self.columns
        for name in [name for name in found if name not in unfit][:_MOST_GRADES]:
            for candidate in self.candidates:
                if any(label == candidate for _, label in found[name]):
                    column = free_name(f"{name}, {candidate}"[: MAX_COLUMN_CHARACTERS - 4], taken)
                    taken.append(column)
                    columns.setdefault(name, {})[candidate] = column
                    for row in rows:
                        value = found[name].get((row[self.id or ""] or "", candidate))
                        row[column] = None if value is None else f"{value:g}"
        return replace(self, rows=rows, grades=columns)

    def as_json_lines(self) -> bytes:
        """The rows as a JSONL file."""
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows).encode("utf-8", "replace")


def get(value: Any, *path: str | int) -> Any:
    """What is at a path in decoded JSON; `None` if there is nothing."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def text_of(value: Any) -> str | None:
    """A value as a judge should read it: the text of messages and of their parts, and JSON for what is no text."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, dict) and "role" in value and "content" in value:
        return text_of(value["content"]) or _calls(value)
    if isinstance(value, dict) and list(value) == ["messages"]:
        return text_of(value["messages"])
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        if all("role" in part and "content" in part for part in value):
            return _conversation(value)
        if all("type" in part for part in value):
            texts = [part["text"] for part in value if isinstance(part.get("text"), str)]
            return "\n".join(texts) or None
    return json.dumps(value, ensure_ascii=False)


def _conversation(messages: Sequence[Mapping[str, Any]]) -> str | None:
    if len(messages) == 1:
        return text_of(messages[0]["content"]) or _calls(messages[0])
    said = ((message["role"], text_of(message["content"]) or _calls(message)) for message in messages)
    return "\n\n".join(f"{role}: {text or ''}" for role, text in said)


def _calls(message: Mapping[str, Any]) -> str | None:
    """The tools that a model called in place of an answer."""
    calls = message.get("tool_calls")
    return json.dumps(calls, ensure_ascii=False) if calls else None


def mark_of(value: Any) -> float | None:
    """A grade as a number, also one in words; `None` if it says nothing."""
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in _WORDS:
            return _WORDS[word]
        try:
            value = float(word)
        except ValueError:
            return None
    try:
        found = float(value) if isinstance(value, bool | int | float) else None
    except OverflowError:
        return None
    return found if found is not None and abs(found) < float("inf") else None


class RowIds:
    """Ids for rows that have none: the same question gets the same one in every file. Asked again, it is numbered."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()

    def next(self, asked: str, candidate: str = "", item: str | None = None) -> tuple[str, str]:
        """The id of the next row of this question, and that of the question."""
        item = item or hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:16]
        self._seen[item, candidate] += 1
        often = self._seen[item, candidate]
        return (item if often == 1 else f"{item}#{often}"), item

    @property
    def repeated(self) -> bool:
        """Whether somebody asked the same again."""
        return max(self._seen.values(), default=0) > 1


def shown(text: str) -> str:
    """A text in a message, cut if it is long."""
    return repr(text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…")


def free_name(name: str, taken: Sequence[str]) -> str:
    """A column's name that nobody has taken."""
    while name in taken:
        name = f"{name}_"
    return name

"""Puts files together whose rows have the same ids: questions, and answers from elsewhere. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from carrel.datasets.result_files.answers import AnswerTable, Unreadable, free_name, shown


class JoinedFile(NamedTuple):
    """A file to join. `label` is the name that its answers get; without one they keep their column's.

    `column` is the one with its answers; without it, all are that the first file has not with the same cells.
    """

    file_name: str
    answers: AnswerTable
    label: str | None = None
    column: str | None = None


_Rows = dict[str, dict[str, str | None]]


def join(first: JoinedFile, others: Sequence[JoinedFile], row_id: str | None) -> AnswerTable:
    """The rows of the first file, with the answers of the others in further columns, which are candidates.

    `row_id` is the column with the ids in every file; a file of another program has its own. From such a file only the
    candidates are taken, from a table every column.

    Raises:
        Unreadable: an id is missing or there twice, or a column is in two files; the message names file and id.
    """
    key = first.answers.id or row_id
    if key is None:
        raise Unreadable("--with needs --id: the column that names the rows in every file")
    asked = _by_id(first, row_id)
    ids = list(asked)
    rows = [dict(row) for row in first.answers.rows]
    holders = dict.fromkeys(first.answers.columns, first.file_name)
    candidates = list(first.answers.candidates)
    grades = {name: dict(columns) for name, columns in first.answers.grades.items()}
    for part in others:
        found = _by_id(part, row_id)
        _require_same(ids, list(found), first.file_name, part.file_name)
        for name, column in _columns(part, row_id, asked, found).items():
            if (
                part.label
                and column in first.answers.columns
                and column not in candidates
                and not first.answers.candidates
            ):
                # One file for each model, with the same columns: the first one's answers are there, too.
                candidates.insert(0, column)
            if name in holders:
                words = f"{part.file_name}: the column {name} is in {holders[name]}, too"
                raise Unreadable(f"{words}; give its answers a name: --with NAME={part.file_name}")
            holders[name] = part.file_name
            candidates.append(name)
            for row, one in zip(rows, ids, strict=True):
                row[name] = found[one][column]
            for grade, columns in part.answers.grades.items():
                if column in columns:
                    beside = free_name(f"{grade}, {name}", list(rows[0]))
                    grades.setdefault(grade, {})[name] = beside
                    for row, one in zip(rows, ids, strict=True):
                        row[beside] = found[one][columns[column]]
    return replace(first.answers, rows=rows, id=key, candidates=tuple(candidates), grades=grades)


def shared_id(tables: Sequence[AnswerTable]) -> str:
    """The first column with the same values in each table, each of them once.

    Raises:
        Unreadable: there is none.
    """
    for name in tables[0].columns:
        ids = {row[name] for row in tables[0].rows}
        if None not in ids and all(
            len(table.rows) == len(ids) and {row.get(name) for row in table.rows} == ids for table in tables
        ):
            return name
    raise Unreadable("no column has the same ids in each file")


def _by_id(part: JoinedFile, row_id: str | None) -> _Rows:
    key = part.answers.id or row_id
    if key is None or key not in part.answers.columns:
        raise Unreadable(f"{part.file_name}: the column {key} is missing")
    found: _Rows = {}
    for number, row in enumerate(part.answers.rows, start=1):
        one = row[key]
        if one is None:
            raise Unreadable(f"{part.file_name}: row {number} has no {key}")
        if one in found:
            raise Unreadable(f"{part.file_name}: the id {shown(one)} is there twice, again in row {number}")
        found[one] = row
    return found


def _require_same(ids: list[str], others: list[str], file_name: str, other_name: str) -> None:
    for here, there, name in ((ids, others, other_name), (others, ids, file_name)):
        known = set(there)
        missing = [one for one in here if one not in known]
        if missing:
            if len(missing) == 1:
                raise Unreadable(f"{name}: the id {shown(missing[0])} is missing")
            raise Unreadable(f"{name}: the id {shown(missing[0])} and {len(missing) - 1} more are missing")


def _columns(part: JoinedFile, row_id: str | None, asked: _Rows, found: _Rows) -> dict[str, str]:
    """The columns with answers, by the names that they get."""
    answers = part.answers
    if part.column is not None and part.column not in answers.columns:
        raise Unreadable(f"{part.file_name}: the column {part.column} is missing")
    columns = [part.column] if part.column is not None else list(answers.candidates)
    columns = columns or [
        name
        for name in answers.columns
        if name != (answers.id or row_id)
        and any(name not in asked[one] or asked[one][name] != found[one][name] for one in asked)
    ]
    if not columns:
        raise Unreadable(f"{part.file_name}: there is no column with answers")
    if part.label is None:
        return {name: name for name in columns}
    if len(columns) > 1:
        words = f"{part.file_name}: {part.label} cannot name {len(columns)} columns with answers"
        raise Unreadable(f"{words}; name one of them: --with {part.label}={part.file_name}:{columns[0]}")
    return {part.label: columns[0]}

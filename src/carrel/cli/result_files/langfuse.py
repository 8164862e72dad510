"""Exports of Langfuse: traces or observations, as a JSON array, as JSON lines, or as its API answers.

Records with the same dataset item, or else the same input, are one row. Candidates are told apart by the model; if
all records have the same one, by version, release or name.
"""

import hashlib
from typing import Any, Final

from carrel.cli.result_files.answers import AnswerTable, Unreadable, get, shown, text_of

_NAMES: Final = (
    ("model", "providedModelName", "provided_model_name"),
    ("promptVersion", "prompt_version"),
    ("version",),
    ("release",),
    ("name",),
)
_MARKS: Final = frozenset({"traceId", "trace_id", "htmlPath", "projectId", "project_id", "sessionId", "session_id"})
_ITEM: Final = ("datasetItemId", "dataset_item_id")
_EXPECTED: Final = ("expectedOutput", "expected_output")


def is_record(document: Any) -> bool:
    """Whether decoded JSON is a trace or an observation."""
    return isinstance(document, dict) and {"id", "input", "output"} <= set(document) and bool(_MARKS & set(document))


def read(records: list[Any]) -> AnswerTable:
    """The answers in an export.

    Raises:
        Unreadable: naming the record by its id.
    """
    # Spans and events among them have no answer of a model.
    generations = [record for record in records if get(record, "type") == "GENERATION"]
    records = generations or records
    field = _telling_apart(records)
    rows: dict[str, dict[str, str | None]] = {}
    seen: dict[tuple[str, str], str] = {}
    for number, record in enumerate(records):
        name = f"the record {shown(str(get(record, 'id')))}" if is_record(record) else f"record {number + 1}"
        asked, candidate = text_of(get(record, "input")), _first(record, field)
        if asked is None:
            raise Unreadable(f"{name} has no input")
        if candidate is None:
            raise Unreadable(f"{name} has no {field[0]}, which names its candidate")
        item = _first(record, _ITEM) or hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:16]
        if (item, candidate) in seen:
            raise Unreadable(f"{name} and {seen[item, candidate]} have the same input and the same {field[0]}")
        seen[item, candidate] = name
        row = rows.setdefault(item, {"id": item, "input": asked, "expected": None})
        row["expected"] = row["expected"] or _first(record, _EXPECTED)
        row[candidate] = text_of(get(record, "output"))
    candidates = tuple(dict.fromkeys(candidate for _, candidate in seen))
    if {"id", "input", "expected"} & set(candidates):
        raise Unreadable(f"a candidate has the name of a column: see {field[0]}")
    expected = any(row["expected"] for row in rows.values())
    return AnswerTable(
        rows=[{name: row.get(name) for name in ("id", "input", "expected", *candidates)} for row in rows.values()],
        id="id",
        inputs=("input",),
        candidates=candidates,
        expected="expected" if expected else None,
    )


def _telling_apart(records: list[Any]) -> tuple[str, ...]:
    """The field with several values; if there is none, the first one that the records have."""
    values = [(field, {_first(record, field) for record in records} - {None}) for field in _NAMES]
    several = next((field for field, found in values if len(found) > 1), None)
    return several or next((field for field, found in values if found), _NAMES[-1])


def _first(record: Any, names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := text_of(get(record, name))) is not None), None)

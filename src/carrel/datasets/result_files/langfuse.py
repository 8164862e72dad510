"""Exports of Langfuse: traces or observations, as a JSON array, as JSON lines, as CSV, or as its API answers.

Records with the same dataset item, or else the same input, are one row. Candidates are told apart by the model; if
all records have the same one, by version, release or name.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from carrel.datasets.result_files.answers import (
    AnswerTable,
    Grade,
    ResultFile,
    RowIds,
    Unreadable,
    get,
    shown,
    text_of,
)
from carrel.datasets.result_files.json_text import decoded

_PROMPT_VERSION: Final = ("promptVersion", "prompt_version")
_NAMES: Final = (
    ("model", "providedModelName", "provided_model_name"),
    _PROMPT_VERSION,
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


def read(file: ResultFile) -> AnswerTable:
    """The answers in an export.

    Raises:
        Unreadable: naming the record by its id.
    """
    records: Sequence[Any] = file.records
    if not records:
        raise Unreadable("the file is no list of traces or observations of Langfuse")
    # Spans and events among them have no answer of a model.
    generations = [record for record in records if get(record, "type") == "GENERATION"]
    records = generations or records
    field = _telling_apart(records)
    rows: dict[str, dict[str, str | None]] = {}
    ids, grades, labels = RowIds(), list[Grade](), dict[str, None]()
    for number, record in enumerate(records):
        name = f"the record {shown(str(get(record, 'id')))}" if is_record(record) else f"record {number + 1}"
        asked, candidate = _asked(record, field), _first(record, field)
        if asked is None:
            raise Unreadable(f"{name} has no input")
        if candidate is None:
            raise Unreadable(f"{name} has no {field[0]}, which names its candidate")
        row_id, item = ids.next(asked, candidate, _first(record, _ITEM))
        row = rows.setdefault(row_id, {"id": row_id, "item": item, "input": asked, "expected": None})
        row["expected"] = row["expected"] or _first(record, _EXPECTED)
        labels[candidate] = None
        row[candidate] = text_of(_value(record, "output"))
        grades += (Grade(row_id, candidate, *score) for score in _scores(record))
    candidates = tuple(labels)
    if labels.keys() & {"id", "item", "input", "expected"}:
        raise Unreadable(f"a candidate has the name of a column: see {field[0]}")
    expected = any(row["expected"] for row in rows.values())
    group = "item" if ids.repeated else None
    names = ("id", *([group] if group else []), "input", "expected", *candidates)
    return AnswerTable(
        rows=[{name: row.get(name) for name in names} for row in rows.values()],
        id="id",
        inputs=("input",),
        candidates=candidates,
        expected="expected" if expected else None,
        group=group,
    ).graded(grades)


def _scores(record: Any) -> Iterator[tuple[str, Any]]:
    """The scores of a record: objects with name and value, or lists of values by name as in CSV."""
    found = _decoded(get(record, "scores"))
    for one in found if isinstance(found, list) else ():
        if isinstance(get(one, "name"), str):
            yield get(one, "name"), get(one, "value")
    for name, values in found.items() if isinstance(found, dict) else ():
        yield name, get(values, 0) if isinstance(values, list) else values


def _asked(record: Any, field: tuple[str, ...]) -> str | None:
    """What was asked. Versions of a prompt differ in the system's message, which is not asked."""
    value = _value(record, "input")
    messages = get(value, "messages") or value
    if field == _PROMPT_VERSION and isinstance(messages, list):
        value = [message for message in messages if get(message, "role") not in ("system", "developer")] or value
    return text_of(value)


def _value(record: Any, name: str) -> Any:
    """A field. The API's version 2 and CSV have messages as JSON in a text."""
    value = get(record, name)
    found = _decoded(value)
    if value is found:
        return value
    first = found[0] if isinstance(found, list) and found else found
    if isinstance(found, str) or (
        isinstance(first, dict) and ({"role", "content"} <= set(first) or "messages" in first)
    ):
        return found
    return value


def _decoded(value: Any) -> Any:
    """The value of JSON that is in a text; anything else as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        return decoded(value.encode())
    except (ValueError, RecursionError):
        return value


def _telling_apart(records: Sequence[Any]) -> tuple[str, ...]:
    """The field with several values; if there is none, the first one that the records have."""
    values = [(field, {_first(record, field) for record in records} - {None}) for field in _NAMES]
    several = next((field for field, found in values if len(found) > 1), None)
    return several or next((field for field, found in values if found), _NAMES[-1])


def _first(record: Any, names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := text_of(get(record, name))) is not None), None)

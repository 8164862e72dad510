"""Exports of Langfuse: traces or observations, as a JSON array, as JSON lines, or as its API answers.

Records with the same dataset item, or else the same input, are one row. Candidates are told apart by the model; if
all records have the same one, by version, release or name.
"""

import hashlib
from collections import Counter
from typing import Any, Final

from carrel.cli.result_files.answers import AnswerTable, Unreadable, get, shown, text_of
from carrel.cli.result_files.json_text import decoded

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
    seen: Counter[tuple[str, str]] = Counter()
    for number, record in enumerate(records):
        name = f"the record {shown(str(get(record, 'id')))}" if is_record(record) else f"record {number + 1}"
        asked, candidate = _asked(record, field), _first(record, field)
        if asked is None:
            raise Unreadable(f"{name} has no input")
        if candidate is None:
            raise Unreadable(f"{name} has no {field[0]}, which names its candidate")
        item = _first(record, _ITEM) or hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()[:16]
        seen[item, candidate] += 1
        # Somebody asked the same again: such rows count together.
        row_id = item if seen[item, candidate] == 1 else f"{item}#{seen[item, candidate]}"
        row = rows.setdefault(row_id, {"id": row_id, "item": item, "input": asked, "expected": None})
        row["expected"] = row["expected"] or _first(record, _EXPECTED)
        row[candidate] = text_of(_value(record, "output"))
    candidates = tuple(dict.fromkeys(candidate for _, candidate in seen))
    if {"id", "item", "input", "expected"} & set(candidates):
        raise Unreadable(f"a candidate has the name of a column: see {field[0]}")
    expected = any(row["expected"] for row in rows.values())
    group = "item" if max(seen.values(), default=0) > 1 else None
    names = ("id", *([group] if group else []), "input", "expected", *candidates)
    return AnswerTable(
        rows=[{name: row.get(name) for name in names} for row in rows.values()],
        id="id",
        inputs=("input",),
        candidates=candidates,
        expected="expected" if expected else None,
        group=group,
    )


def _asked(record: Any, field: tuple[str, ...]) -> str | None:
    """What was asked. Versions of a prompt differ in the system's message, which is not asked."""
    value = _value(record, "input")
    messages = get(value, "messages") or value
    if field == _PROMPT_VERSION and isinstance(messages, list):
        value = [message for message in messages if get(message, "role") not in ("system", "developer")] or value
    return text_of(value)


def _value(record: Any, name: str) -> Any:
    """A field. The API's version 2 has messages as JSON in a text."""
    value = get(record, name)
    if isinstance(value, str) and value[:1] in ("{", "[", '"'):
        try:
            found = decoded(value.encode())
        except (ValueError, RecursionError):
            return value
        first = found[0] if isinstance(found, list) and found else found
        if isinstance(found, str) or (
            isinstance(first, dict) and ({"role", "content"} <= set(first) or "messages" in first)
        ):
            return found
    return value


def _telling_apart(records: list[Any]) -> tuple[str, ...]:
    """The field with several values; if there is none, the first one that the records have."""
    values = [(field, {_first(record, field) for record in records} - {None}) for field in _NAMES]
    several = next((field for field, found in values if len(found) > 1), None)
    return several or next((field for field, found in values if found), _NAMES[-1])


def _first(record: Any, names: tuple[str, ...]) -> str | None:
    return next((text for name in names if (text := text_of(get(record, name))) is not None), None)

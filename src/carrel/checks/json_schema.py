"""JSON Schema: whether a schema may be used, and whether a value follows it. Nothing is read from anywhere else.

The patterns of a schema run in an engine whose time is linear. A schema whose references multiply could still take very
long; a worker makes the checks, and its time is limited.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import jsonschema_rs
import msgspec

MAX_BYTES: Final = 64 * 1024
MAX_DEPTH: Final = 50
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})

Follows = Callable[[object], bool]


def fault(schema: dict[str, Any]) -> str | None:
    """Say in constant words why the schema cannot be used; `None` if it can."""
    try:
        size = len(msgspec.json.encode(schema))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return "is not JSON"
    if size > MAX_BYTES:
        return f"is larger than {MAX_BYTES:,} bytes"
    for depth, key, value in _entries(schema):
        if depth > MAX_DEPTH:
            return f"is nested deeper than {MAX_DEPTH} levels"
        if key in _REFERENCES and isinstance(value, str) and not value.startswith("#"):
            return "has a reference to another document; only those into the schema itself are followed"
    try:
        compiled(schema)
    except ValueError:
        return "is not a valid JSON schema"
    return None


def compiled(schema: dict[str, Any]) -> Follows:
    """A function that says whether a value follows the schema.

    Raises:
        ValueError: it is not a valid schema.
    """
    try:
        validator = jsonschema_rs.validator_for(
            schema, retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions(), validate_formats=True
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        raise ValueError("schema") from None
    return validator.is_valid


def _refuse(_: str) -> Any:
    """Read no other document."""
    raise ValueError("reference")


def _entries(schema: dict[str, Any]) -> Iterator[tuple[int, str, object]]:
    """Every key of every object in the schema with its value and its depth."""
    left: list[tuple[int, object]] = [(1, schema)]
    while left:
        depth, value = left.pop()
        if isinstance(value, dict):
            yield from ((depth, key, inner) for key, inner in value.items())
        inner_values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        left += ((depth + 1, inner) for inner in inner_values)

"""JSON Schema: whether a schema may be used, and whether a value follows it. Nothing is read from anywhere else.

For workers only. The patterns of a schema run in an engine whose time is linear, but where references multiply, a small
schema can take any time and memory, also to compile. A worker's time and memory are limited.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import jsonschema_rs
import msgspec

from carrel.checks.work import MAX_SCHEMA_DEPTH, MAX_SCHEMA_PATTERNS, TextFault
from carrel.http.requests.validation import join, name_of

_PATTERN_BYTES: Final = 1024 * 1024
"""For the program of one pattern, which takes up to 10 ms to compile, and for what it learns while it searches."""
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_KEYWORDS: Final = frozenset(
    {
        *("$defs", "additionalItems", "additionalProperties", "allOf", "anyOf", "contentSchema", "dependentSchemas"),
        *("oneOf", "patternProperties", "prefixItems", "propertyNames", "unevaluatedItems", "unevaluatedProperties"),
    }
)
"""Those that a path may name although `name_of` would not."""

Follows = Callable[[object], bool]


def fault(text: str) -> TextFault | None:
    """Say why the schema, of at most `MAX_SCHEMA_BYTES`, cannot be used; `None` if it can."""
    try:
        schema = msgspec.json.decode(text, type=dict[str, Any])
    except RecursionError:
        return TextFault("", "depth")
    except msgspec.MsgspecError:
        return TextFault("", "json")
    patterns = 0
    for depth, key, value in _entries(schema):
        if depth > MAX_SCHEMA_DEPTH:
            return TextFault("", "depth")
        if key in _REFERENCES and isinstance(value, str) and not value.startswith("#"):
            return TextFault("", "reference")
        patterns += key == "pattern" and isinstance(value, str)
        patterns += len(value) if key == "patternProperties" and isinstance(value, dict) else 0
    if patterns > MAX_SCHEMA_PATTERNS:
        return TextFault("", "count")
    try:
        _validator(schema)
    except jsonschema_rs.ValidationError as error:
        path = error.instance_path
        if path[-1:] == ["pattern"] or path[-2:-1] == ["patternProperties"]:
            return TextFault(_path(path), "schema_pattern")
        return TextFault("", "schema")
    except jsonschema_rs.ReferencingError:
        return TextFault("", "schema")
    return None


def compiled(schema: dict[str, Any]) -> Follows:
    """A function that says whether a value follows the schema.

    Raises:
        ValueError: it is not a valid schema.
    """
    try:
        validator = _validator(schema)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        raise ValueError("schema") from None
    return validator.is_valid


def _validator(schema: dict[str, Any]) -> jsonschema_rs.Validator:
    engine = jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES, dfa_size_limit=_PATTERN_BYTES)
    return jsonschema_rs.validator_for(schema, retriever=_refuse, pattern_options=engine, validate_formats=True)


def _refuse(_: str) -> Any:
    """Read no other document."""
    raise ValueError("reference")


def _path(keys: Sequence[str | int]) -> str:
    """The place of these keys, without any name that may hold somebody's text."""
    path = ""
    for key in keys:
        path = join(path, f"[{key}]" if isinstance(key, int) else key if key in _KEYWORDS else name_of(key))
    return path


def _entries(schema: dict[str, Any]) -> Iterator[tuple[int, str, object]]:
    """Every key of every object in the schema with its value and its depth."""
    left: list[tuple[int, object]] = [(1, schema)]
    while left:
        depth, value = left.pop()
        if isinstance(value, dict):
            yield from ((depth, key, inner) for key, inner in value.items())
        inner_values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        left += ((depth + 1, inner) for inner in inner_values)

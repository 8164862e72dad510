"""Names the fault of an input in constant words; msgspec's own messages repeat the value, these never do."""

import re

from carrel.errors import FieldError

_AT = re.compile(r" - at (`key` in )?`\$?\.?([^`]*)`$")
_FIELD = re.compile(r"^Object (missing required|contains unknown) field `(.*)`$", re.DOTALL)
_OWN = re.compile(r"^\[([^\]]*)\] (.*)$", re.DOTALL)
"""What a struct says by itself: the path of a field below it, and a constant sentence."""
_GOT = re.compile(r"^Expected `([^`]*)`, got `[^`]*`$")
_LENGTH = re.compile(r"^Expected `(str|bytes|array|object)` of (?:at least )?length (<=|>=)? ?(\d+)(?:, got \d+)?$")
_BOUND = re.compile(r"^Expected `(?:int|float|decimal)` (<=|>=|<|>) (-?[0-9.eE+-]+)$")
# This is shorter than any key or token that a client may have sent instead of a name.
_SANE_NAME = re.compile(r"[a-z0-9_.-]{1,32}|[A-Z][A-Za-z]{1,15}(?:-[A-Z][A-Za-z]{1,15}){0,2}")
"""Fields and parameters are lower case, headers are capitalised words: any other name may hold somebody's text."""

_TYPES = {
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "null": "null",
    "array": "an array",
    "object": "an object",
    "bytes": "a base64 string",
    "datetime": "an RFC 3339 time",
    "date": "a date",
    "uuid": "a UUID",
    "decimal": "a decimal number",
}
_COUNTED = {"str": "characters", "bytes": "bytes", "array": "entries", "object": "entries"}
_COMPARED = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
_PREFIXES = (
    ("Invalid enum value", "is not one of the allowed values"),
    ("Invalid value", "is not one of the allowed values"),
    ("Invalid RFC3339 encoded datetime", "must be an RFC 3339 time"),
    ("Invalid RFC3339 encoded date", "must be a date such as 2026-11-30"),
    ("Invalid UUID", "must be a UUID"),
    ("Invalid base64", "must be a base64 string"),
    ("Invalid decimal", "must be a decimal number"),
    ("Integer value out of range", "is out of range"),
    ("Number out of range", "is out of range"),
)


def explain(message: str, root: str = "") -> FieldError:
    """msgspec's message as a path below `root` (`candidates[0].model`) and a constant sentence."""
    path = root
    at = _AT.search(message)
    if at:
        message = message[: at.start()]
        path = join(root, at[2])
    field = _FIELD.match(message)
    if field:
        known = field[1] == "missing required"
        return FieldError(join(path, name_of(field[2])), "is required" if known else "is not a known field")
    own = _OWN.match(message)
    if own:
        return FieldError(join(path, own[1]), own[2])
    if at and at[1]:
        return FieldError(path, "has a key that is not allowed")
    return FieldError(path, _sentence(message))


def _sentence(message: str) -> str:
    got = _GOT.match(message)
    if got:
        return "must be " + " or ".join(dict.fromkeys(_TYPES.get(name, "valid") for name in got[1].split(" | ")))
    length = _LENGTH.match(message)
    if length:
        return f"must have {_COMPARED.get(length[2], 'exactly')} {counted(int(length[3]), _COUNTED[length[1]])}"
    bound = _BOUND.match(message)
    if bound:
        return f"must be {_COMPARED[bound[1]]} {bound[2]}"
    if " matching regex " in message:
        return "does not have the required form"
    return next((sentence for prefix, sentence in _PREFIXES if message.startswith(prefix)), "is not valid")


_SINGULAR = {"characters": "character", "bytes": "byte", "entries": "entry"}


def counted(number: int, unit: str) -> str:
    """`1 character`, `2 characters`."""
    return f"{number} {_SINGULAR[unit] if number == 1 else unit}"


def join(root: str, path: str) -> str:
    """`path` below `root`."""
    return f"{root}.{path}" if root and path and not path.startswith("[") else root + path


def name_of(name: str) -> str:
    """An unknown name of a field or parameter, if it is harmless to repeat; else a question mark."""
    return name if _SANE_NAME.fullmatch(name) else "?"

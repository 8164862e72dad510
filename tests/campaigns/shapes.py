"""Inputs that hurt, made from `openapi.json` for every operation that takes any: `python -m tests.campaigns.shapes`.

Each is as large as it may be and is nothing but one thing: unknown keys, empty lists, digits, one text, brackets within
brackets, spaces. They stand in place of the whole body and of each field of it, once as large as a body may be, and
once with as many elements as are decoded. Files and packages come from `hostile_files`. A new operation or field has
its shapes by itself.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from tests.campaigns import hostile_files, operations
from tests.campaigns.user import Json, Request

MAX_BODY: Final = 2 * 1024 * 1024
_DECODED: Final = 9_900
_DECODED_OF_LARGE: Final = 49_900
"""Elements of a body that is decoded."""
_LARGE: Final = ("POST /presets", "PUT /presets/{preset_id}", "POST /runs", "PUT /preset-drafts/{draft_id}")
"""Operations that take a configuration."""
_IN_A_FIELD: Final = ("empty lists", "one text", "digits")
_DEEPEST: Final = 3
"""Names on the way to a field, such as `generation.candidates[0].existing`."""
_LONG: Final = 10_000
"""Characters of a text that somebody reads or works on; a shorter one is a name."""
REPEATED: Final[tuple[str, ...]] = (
    "x", "é", "\U0001f600", "\x01", "\\\"", "<a ", "<p>", "&", "{{A}}", "{{document}}", "{{", "| a ", "[a](", "*a_",
    "> ", "- name: x\n", "a: &a [*a]\n", "\n", " ", "w1 w2 ", "The river rose. ", "=1+1;", "%", "'\"", "A. B? ",
)  # fmt: skip
_FEW: Final[tuple[str, ...]] = ("x", "\U0001f600", "\x01", "{{A}}", "- name: x\n", "w1 w2 ")
"""For further texts of the same operation."""
_TEXT: Final = 1024 * 1024
_MARK: Final = "\x00here\x00"

Made = Iterator[tuple[str, Callable[[], Request]]]
"""Requests by the names of their shapes, made when they are wanted."""
Path_ = tuple[str | int, ...]


def of(operation: str, good: Request) -> Made:
    """The shapes of an operation's inputs, from a good request of it."""
    files = _files(operation)
    if files:
        for name, make in files.items():
            yield name, partial(_file, good, make)
    elif operation in operations.WITH_BODY or _body(operation):
        most = _DECODED_OF_LARGE if operation in _LARGE else _DECODED
        for name, content in _bodies(good.json if isinstance(good.json, dict) else {}, _body(operation), most):
            yield name, partial(_sent, good, content)
    for name, query in _queries(operation):
        yield name, partial(good._replace, path=f"{good.path.partition('?')[0]}?{query}")


# Bodies in JSON -------------------------------------------------------------------------------------------------------


def _keys(count: int) -> bytes:
    return b"{" + b",".join(b'"k%06d":1' % number for number in range(count)) + b"}"


def _lists(count: int) -> bytes:
    return b"[" + b",".join([b"[]"] * count) + b"]"


def _deep(count: int) -> bytes:
    return b"[" * count + b"]" * count


def _text(pattern: str, size: int = MAX_BODY) -> bytes:
    written = json.dumps(pattern, ensure_ascii=False)[1:-1].encode()
    return b'"' + written * (size // len(written)) + b'"'


WHOLE: Final[dict[str, Callable[[], bytes]]] = {
    "unknown keys": lambda: _keys(MAX_BODY // 12),
    "empty lists": lambda: _lists(MAX_BODY // 3),
    "brackets within brackets": lambda: b"[" * MAX_BODY,
    "objects within objects": lambda: b'{"a":' * (MAX_BODY // 5),
    "spaces": lambda: b" " * MAX_BODY,
    "one text": lambda: _text("x", MAX_BODY - 2),
    "one text of escapes": lambda: b'"' + rb"\u0001" * (MAX_BODY // 6 - 1) + b'"',
    "marks in texts": lambda: b"[" + b",".join([rb'"\"\\"'] * (MAX_BODY // 7 - 1)) + b"]",
    "digits": lambda: b"1" * MAX_BODY,
}
"""As large as a body may be; each also stands in a field that is not known."""


def _bodies(good: Json, schema: Json, most: int) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for name, make in WHOLE.items():
        yield name, make
        if name in _IN_A_FIELD:
            yield f"a field of {name}", partial(_with, good, ("unknown",), make, MAX_BODY)
    yield f"{most:,} unknown keys", partial(_beside, good, partial(_keys, most))
    patterns = REPEATED
    for path, field in _places(schema):
        at = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
        is_text = field.get("maxLength", 0) >= _LONG
        found = _texts(patterns) if is_text else _values(field, most, nested=len(path) > 1)
        patterns = _FEW if is_text else patterns
        for name, make in found:
            yield f"{at}: {name}", partial(_with, good, path, make, MAX_BODY)


def _texts(patterns: tuple[str, ...]) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for pattern in patterns:
        yield f"a text of {pattern!r}", partial(_text, pattern, _TEXT)


def _values(schema: Json, most: int, *, nested: bool) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """What stands in a field: what never fits there, and as many or as long as may be of what does."""
    kind = schema.get("type")
    if kind not in ("array", "object") and nested:
        return
    yield f"{most // 2:,} empty lists", partial(_lists, most // 2)
    yield f"{_DECODED // 2:,} brackets", partial(_deep, _DECODED // 2)
    if kind == "array" or isinstance(schema.get("additionalProperties"), dict) or schema == {"type": "object"}:
        entry = json.dumps(_sample(schema.get("items") or schema.get("additionalProperties") or {})).encode()
        each = 1 + sum(map(entry.count, (b",", b"[", b"{")))
        yield f"{most // each:,} entries", partial(_entries, entry, most // each, is_map=kind == "object")
    elif kind == "object":
        yield f"{most:,} keys", partial(_keys, most)
    elif kind == "string":
        yield "a long text", partial(_text, "é")
    elif kind in ("integer", "number"):
        yield "digits", partial(bytes.replace, b"1", b"1", b"1" * 1_000_000)


def _entries(entry: bytes, count: int, *, is_map: bool) -> bytes:
    if not is_map:
        return b"[" + b",".join([entry] * count) + b"]"
    return b"{" + b",".join(b'"K%06d":%b' % (number, entry) for number in range(count)) + b"}"


def _beside(good: Json, make: Callable[[], bytes]) -> bytes:
    """The good fields, and those of another object."""
    head = json.dumps(good).encode()[:-1]
    return head + (b"," if good else b"") + make()[1:]


def _with(good: Json, path: Path_, make: Callable[[], bytes], most: int) -> bytes:
    """The good body with this value at a place, cut to as many bytes as a body may have."""
    body: Any = deepcopy(good)
    holder = body
    for step, following in pairwise(path):
        known = isinstance(holder, list) and bool(holder) if isinstance(step, int) else step in holder
        if not known or not isinstance(holder[step], list if isinstance(following, int) else dict):
            made: Any = [] if isinstance(following, int) else {}
            holder.append(made) if isinstance(holder, list) and not holder else holder.__setitem__(step, made)
        holder = holder[step]
    holder.append(_MARK) if isinstance(holder, list) and not holder else holder.__setitem__(path[-1], _MARK)
    return json.dumps(body).encode().replace(json.dumps(_MARK).encode(), make())[:most]


def _places(schema: Json, path: Path_ = ()) -> Iterator[tuple[Path_, Json]]:
    """The fields of a body, and those within them."""
    schema = _plain(schema)
    if path:
        yield path, schema
    if sum(isinstance(step, str) for step in path) < _DEEPEST:
        for name, field in schema.get("properties", {}).items():
            yield from _places(field, (*path, name))
        if "items" in schema:
            yield from _places(schema["items"], (*path, 0))
        if isinstance(schema.get("additionalProperties"), dict):
            yield from _places(schema["additionalProperties"], (*path, "K"))


def _sample(schema: Json) -> Any:
    """The least that the schema allows."""
    schema = _plain(schema)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: _sample(fields[name]) for name in schema.get("required", [])}
    if kind == "array":
        return [_sample(schema.get("items", {}))] * schema.get("minItems", 0)
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return "x" * schema.get("minLength", 1) if kind == "string" else None


# What `openapi.json` says ---------------------------------------------------------------------------------------------


@cache
def _document() -> Json:
    found: Json = json.loads(Path("openapi.json").read_text())
    return found


def _operation(operation: str) -> Json:
    method, path = operation.split(" ")
    found: Json = _document()["paths"][f"/api{path}"][method.lower()]
    return found


def _body(operation: str) -> Json:
    kinds: Json = _operation(operation).get("requestBody", {}).get("content", {})
    found: Json = kinds.get("application/json", {}).get("schema", {})
    return _plain(found)


def _plain(schema: Json) -> Json:
    """A schema without references and null."""
    while True:
        if "$ref" in schema:
            schema = _document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        elif "anyOf" in schema or "oneOf" in schema:
            members = schema.get("anyOf") or schema["oneOf"]
            schema = next(one for one in members if one.get("type") != "null")
        else:
            return schema


# Queries and files ----------------------------------------------------------------------------------------------------


def _queries(operation: str) -> Iterator[tuple[str, str]]:
    for parameter in _operation(operation).get("parameters", []):
        if parameter["in"] != "query":
            continue
        name, schema = parameter["name"], _plain(parameter.get("schema", {}))
        if schema.get("type") == "array":
            yield f"?{name}: 50 times", "&".join([f"{name}=x"] * 50)
        elif schema.get("type") == "string" and "enum" not in schema:
            most = min(schema.get("maxLength", 8_000), 8_000)
            for pattern in ("x", '{"'):
                yield f"?{name}: {pattern!r}", f"{name}={quote(pattern * (most // len(pattern)))}"
        elif schema.get("type") in ("integer", "number"):
            yield f"?{name}: digits", f"{name}={'9' * 8_000}"


def _files(operation: str) -> dict[str, Callable[[], Request]]:
    if operation == "POST /documents":
        return hostile_files.documents()
    if operation in ("POST /data-sets", "POST /data-sets/preview", "POST /data-sets/{data_set_id}/versions"):
        return hostile_files.tables()
    if operation == "POST /users/me/import":
        return hostile_files.imports()
    return {}


def _file(good: Request, make: Callable[[], Request]) -> Request:
    made = make()
    return good._replace(content=made.content, headers={**good.headers, **made.headers}, json=None)


def _sent(good: Request, content: Callable[[], bytes]) -> Request:
    headers = {**good.headers, "Content-Type": "application/json"}
    return good._replace(json=None, content=content(), headers=headers)


def main() -> None:
    """Print how many shapes each operation has."""
    total = 0
    for operation in operations.every():
        names = [name for name, _ in of(operation, Request(operation.split(" ")[0], "", json={}))]
        total += len(names)
        if names:
            print(f"{len(names):5} {operation}")
    print(f"{total:5}")


if __name__ == "__main__":
    main()

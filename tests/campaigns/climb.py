"""A search for dearer requests: `python -m tests.campaigns.climb [WORD ...]`, the words of operations.

It starts from a good request and changes one thing at a time at random: how long a text is and what it repeats, how
many entries a list or a map has, a number, an optional field, a parameter of the query. For what reads stored data, it
changes the data in the same way. What costs more of what a request may take is kept, and changed again. The draw has a
seed, so that the search is the same again; its measurements are not, to some percent.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from carrel.config import load
from carrel.contents import store as contents
from carrel.contents.schemas import ContentIn
from tests.campaigns import cost, largest, operations, stored
from tests.campaigns.cases import Case
from tests.campaigns.cost import Cost
from tests.campaigns.shared import Shared, sharing
from tests.campaigns.stored import Shape
from tests.campaigns.user import Json, Request, User
from tests.support.soak import size

SEED: Final = 20_261_122
BODY_STEPS: Final = 12
"""Changes of the request of each operation."""
DATA_STEPS: Final = 12
"""Changes of the stored data, of a run and of a library; each is read by all operations that read it."""
MAX_BODY: Final = 2 * 1024 * 1024
MOST_CALLS: Final = 20_000
"""Of a run in the search: to store a larger one takes too long for so many steps."""
_REPEATED: Final = (
    "x", "é", "\U0001f600", "\x01", "\\\"", "<a ", "<p>", "&", "{{A}}", "{{document}}", "{{", "| a ", "[a](", "*a_",
    "> ", "- name: x\n", "a: &a [*a]\n", "\n", " ", "w1 w2 ", "The river rose. ", "=1+1;", "%", "'\"", "A. B? ",
)  # fmt: skip
_PLAIN: Final = 40
"""A shorter text is likely to be an id or a word of a closed list, and is left alone nine times of ten."""


class Tried(NamedTuple):
    """A request or data that was tried: what it is, in words, and what it cost."""

    what: str
    cost: Cost


def score(found: Cost) -> float:
    """How much of what a request may take it took: 1 is all of one kind; a little of every other kind counts, too."""
    used = found.spent
    parts = [
        used.loop_ms / cost.MAX_LOOP_MS,
        (used.threads_ms + used.workers_ms) / cost.MAX_THREADS_MS,
        used.memory_bytes / cost.MAX_MEMORY_BYTES,
        0.0 if found.streamed else found.answer_bytes / cost.MAX_ANSWER_BYTES,
    ]
    return max(parts) + 0.01 * sum(parts)


# Requests -------------------------------------------------------------------------------------------------------------


def bodies(shared: Shared, words: list[str]) -> Iterator[Tried]:
    """The dearest request found for each operation that has a body or a query."""
    for operation in operations.every():
        draw = random.Random(f"{SEED} {operation}")
        if operation.split(" ")[0] != "DELETE" and (not words or any(word in operation for word in words)):
            found = _climbed(shared, operation, draw)
            if found is not None:
                yield found


def _climbed(shared: Shared, operation: str, draw: random.Random) -> Tried | None:
    parameters = _parameters(operation)
    user = shared.new_user()
    user.shared = shared
    # What belongs to a run is searched with its data, and a new key has one length.
    if (
        "{run_id}" in operation
        or operation == "POST /auth/rekey"
        or (operation not in operations.WITH_BODY and not parameters)
    ):
        return None
    request = operations.prepared(operation, user)
    case = Case(operation, "climbed", lambda _: request)
    best = cost.measured_request(shared, user, case, request)
    done: list[str] = []
    for _ in range(size(BODY_STEPS)):
        other, what = changed(request, operation, draw)
        found = cost.measured_request(shared, user, case, other)
        if score(found) > score(best):
            request, best = other, found
            done.append(what)
        if not user.is_signed_in():
            user.sign_in()
    named = f"climbed: {len(done)} of {size(BODY_STEPS)} changes kept"
    return Tried("; ".join(done), best._replace(case=Case(operation, named, case.prepare)))


def changed(request: Request, operation: str, draw: random.Random) -> tuple[Request, str]:
    """The request with one change, and what that is."""
    parameters = _parameters(operation)
    if parameters and (not isinstance(request.json, dict) or draw.random() < 0.3):
        name, schema = draw.choice(sorted(parameters.items()))
        value = _value(schema, draw)
        if not isinstance(value, str | int | float | bool):
            value = str(value)
        path, _, query = request.path.partition("?")
        kept = [part for part in query.split("&") if part and not part.startswith(f"{name}=")]
        encoded = str(value)[:4_000].encode("unicode_escape").hex("%", 1)
        shown = str(value) if str(value).isalnum() else f"%{encoded}"
        return request._replace(path=f"{path}?{'&'.join([*kept, f'{name}={shown}'])}"), f"{name} of {len(str(value))}"
    if isinstance(request.json, dict) and request.json:
        body = deepcopy(request.json)
        what = _mutate(body, _schema(operation), draw)
        return (request._replace(json=body), what) if len(json.dumps(body)) <= MAX_BODY else (request, "nothing")
    if request.content is not None:
        return _file(request, draw)
    return request, "nothing"


def _file(request: Request, draw: random.Random) -> tuple[Request, str]:
    """An upload of another text; a package is only cut."""
    content = request.content or b""
    head, mark, rest = content.partition(b"\r\n\r\n")
    if not mark or content.startswith(b"PK"):
        return request._replace(content=content[: draw.randrange(len(content))]), "cut"
    suffix = draw.choice(("txt", "md", "html", "csv"))
    pattern, count = draw.choice(_REPEATED), 2 ** draw.randrange(10, 21)
    end = rest[rest.rindex(b"\r\n--") :]
    named = head.split(b'filename="')[0] + f'filename="a.{suffix}"'.encode()
    return request._replace(content=named + mark + (pattern * count).encode() + end), f"{suffix} of {count} {pattern!r}"


class _Spot(NamedTuple):
    """A value in a body: what holds it, under which key, and where that is."""

    holder: Any
    key: Any
    path: str


def _spots(value: Any, path: str = "") -> Iterator[_Spot]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs)[:50]:
        at = f"{path}.{key}" if isinstance(key, str) else f"{path}[{key}]"
        yield _Spot(value, key, at.lstrip("."))
        yield from _spots(inner, at)


def _mutate(body: Json, schema: Json, draw: random.Random) -> str:
    """Change one value of the body; what was changed."""
    missing = sorted(_properties(schema).keys() - body.keys())
    if missing and draw.random() < 0.25:
        name = draw.choice(missing)
        body[name] = _value(_properties(schema)[name], draw)
        return f"with {name}"
    spot = draw.choice(list(_spots(body)))
    value = spot.holder[spot.key]
    if isinstance(value, str):
        if len(value) < _PLAIN and draw.random() < 0.9:
            return "nothing"
        pattern, count = draw.choice(_REPEATED), 2 ** draw.randrange(4, 20)
        spot.holder[spot.key] = pattern * min(count, 1_048_576 // len(pattern.encode()))
        return f"{spot.path}: {count} {pattern!r}"
    if isinstance(value, bool) or value is None:
        spot.holder[spot.key] = not value
        return f"{spot.path}: {not value}"
    if isinstance(value, int | float):
        spot.holder[spot.key] = draw.choice((1, value * 2, value * 10, 64, 1_000))
        return f"{spot.path}: {spot.holder[spot.key]}"
    times = draw.choice((2, 4, 16))
    if isinstance(value, list):
        spot.holder[spot.key] = (value * times)[:1_000]
    elif isinstance(value, dict) and value:
        # A map of many entries, if it is one; a field that is not known is refused.
        first = next(iter(value.values()))
        value.update({f"{'K' * draw.choice((1, 60))}{number}": first for number in range(len(value) * times)})
    return f"{spot.path}: {times} times"


@cache
def _document() -> Json:
    found: Json = json.loads(Path("openapi.json").read_text())
    return found


def _operation(operation: str) -> Json:
    method, path = operation.split(" ")
    found: Json = _document()["paths"][f"/api{path}"][method.lower()]
    return found


def _parameters(operation: str) -> dict[str, Json]:
    found = _operation(operation).get("parameters", [])
    return {one["name"]: one.get("schema", {}) for one in found if one["in"] == "query"}


def _schema(operation: str) -> Json:
    kinds = _operation(operation).get("requestBody", {}).get("content", {})
    return _resolved(next((one.get("schema", {}) for one in kinds.values()), {}))


def _resolved(schema: Json) -> Json:
    while "$ref" in schema:
        schema = _document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _properties(schema: Json) -> dict[str, Json]:
    found: dict[str, Json] = schema.get("properties", {})
    return found


def _value(schema: Json, draw: random.Random, depth: int = 0) -> Any:
    """A value that the schema allows, as large as may be drawn."""
    schema = _resolved(schema)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return _value(draw.choice([one for one in schema[union] if one.get("type") != "null"]), draw, depth)
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return draw.choice((schema.get("minimum", 1), schema.get("maximum", 1_000)))
    if kind == "boolean":
        return draw.random() < 0.5
    if kind == "array":
        most = min(schema.get("maxItems", 100), 1_000)
        return [
            _value(schema.get("items", {}), draw, depth + 1) for _ in range(draw.choice((1, most)) if depth < 2 else 1)
        ]
    if kind == "object":
        named = {name: _value(one, draw, depth + 1) for name, one in _properties(schema).items() if depth < 3}
        if isinstance(schema.get("additionalProperties"), dict):
            most = schema.get("maxProperties", 100)
            named |= {
                f"V{number:060}": _value(schema["additionalProperties"], draw, depth + 1) for number in range(most)
            }
        return named
    pattern = draw.choice(_REPEATED)
    most = min(schema.get("maxLength", 200), 100_000)
    return (pattern * (most // len(pattern) + 1))[:most]


# Stored data ----------------------------------------------------------------------------------------------------------


class Library(NamedTuple):
    """Contents: how many, and how large each of their parts is."""

    contents: int = 50
    variables: int = 1
    tags: int = 1
    description: int = 10
    name: int = 10
    body: int = 100
    repeated: str = "x"


_MOST: Final = Library(2_000, 100, 20, 2_000, 200, 500_000)
_LIBRARY_BYTES: Final = 40_000_000
_OF_A_LIBRARY: Final = (
    largest.Read("GET /contents", "/contents?limit=200"),
    largest.Read("GET /contents", "/contents?limit=200&q=x"),
    largest.Read("GET /contents", "/contents?limit=200&tag=0"),
    largest.Read("GET /contents/counts", "/contents/counts"),
    largest.Read("GET /contents/{content_id}", "/contents/{run}"),
    largest.Read("GET /contents/{content_id}/versions", "/contents/{run}/versions"),
    largest.Read("POST /contents/{content_id}/duplicate", "/contents/{run}/duplicate"),
    largest.Read("POST /contents/{content_id}/resolve", "/contents/{run}/resolve", {}),
    largest.Read("GET /users/me", "/users/me"),
    largest.Read("GET /users/me/export", "/users/me/export"),
)


def runs(shared: Shared) -> list[Tried]:
    """The dearest run found for each operation that reads runs."""
    draw = random.Random(f"{SEED} runs")
    return _data(shared, Shape(), partial(other_shape, draw), stored.finished_run, largest.reads_of_a_run())


def libraries(shared: Shared) -> list[Tried]:
    """The dearest library found for each operation that reads contents."""
    draw = random.Random(f"{SEED} library")
    return _data(shared, Library(), partial(other_library, draw), _stored_library, _OF_A_LIBRARY)


def _data(
    shared: Shared,
    begin: Any,
    other: Callable[[Any], Any],
    store: Callable[[Any, User, Any], str],
    reads: tuple[largest.Read, ...],
) -> list[Tried]:
    best: dict[str, Tried] = {}
    kept, kept_score = begin, -1.0
    for step in range(size(DATA_STEPS) + 1):
        data = other(kept) if step else begin
        user = shared.new_user()
        name = store(shared.running, user, data)
        total = 0.0
        for read in reads:
            case = Case(read.operation, f"climbed: {_words(data)}", lambda _: Request("GET", ""))
            found = cost.measured_request(shared, user, case, largest.request(read, user, name))
            total += score(found)
            before = best.get(read.operation)
            if before is None or score(found) > score(before.cost):
                best[read.operation] = Tried(f"{read.path} over {_words(data)}", found)
        if total > kept_score:
            kept, kept_score = data, total
    return list(best.values())


def _words(data: Any) -> str:
    usual = type(data)()
    return ", ".join(f"{name} {value!r}" for name, value in data._asdict().items() if value != getattr(usual, name))


def other_shape(draw: random.Random, shape: Shape) -> Shape:
    while True:
        field = draw.choice(Shape._fields)
        value = getattr(shape, field)
        if isinstance(value, bool):
            other = shape._replace(**{field: not value})
        else:
            most = {"documents": 1_000, "candidates": 20, "judges": 10, "criteria": 8}.get(field, 20_000)
            changed = min(most, max(2, int(value * draw.choice((0.5, 2, 4))))) if value else 100
            other = shape._replace(**{field: changed})  # type: ignore[arg-type]  # not one of the two that are true or false
        if other != shape and (other.scores or other.compares) and other.calls <= MOST_CALLS:
            return other


def other_library(draw: random.Random, library: Library) -> Library:
    while True:
        field = draw.choice(Library._fields)
        if field == "repeated":
            other = library._replace(repeated=draw.choice(_REPEATED))
        else:
            changed = min(getattr(_MOST, field), max(1, int(getattr(library, field) * draw.choice((0.5, 4, 16)))))
            other = library._replace(**{field: changed})
        if other != library and other.contents * (other.body + other.variables * 100) <= _LIBRARY_BYTES:
            return other


def _stored_library(running: Any, user: User, library: Library) -> str:
    settings = load({"CARREL_PLUGIN_SECRET": running.plugin_secret, "CARREL_SERVICE_KEY": running.service_key})
    made = ""
    with stored.signed_out(running, user) as conn:
        for number in range(library.contents):
            linked = (
                {f"V{one:063}": made for one in range(library.variables)} if made and number < library.contents else {}
            )
            text = library.repeated * (library.body // len(library.repeated) + 1)
            data = ContentIn(
                name="n" * library.name,
                type="fragment",
                body=text[: library.body],
                variables=linked if number % 2 else {},  # type: ignore[arg-type]  # ids as they came
                description="d" * library.description,
                tags=[f"{one:050}" for one in range(library.tags)],
            )
            found = contents.create(conn, data, settings).id
            made = made or found
            last = found
    return str(last)


def searched(words: list[str]) -> list[Tried]:
    """Everything that the search finds, with a service of its own."""
    with cost.service() as running, sharing(running) as shared:
        cost.warm(shared)
        return list(found(shared, words))


def found(shared: Shared, words: list[str]) -> Iterator[Tried]:
    """Everything that the search finds."""
    yield from bodies(shared, words)
    for name, search in (("runs", runs), ("contents", libraries)):
        if not words or name in words:
            yield from search(shared)


def main(words: list[str]) -> None:
    """Search and print."""
    print(cost.HEAD)
    with cost.service() as running, sharing(running) as shared:
        cost.warm(shared)
        for one in found(shared, words):
            print(cost.line(one.cost), one.what[:200], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

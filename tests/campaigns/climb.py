"""A search for data that is dearer to read: `python -m tests.campaigns.climb [WORD ...]`, `runs` or `contents`.

It changes one thing of a stored run, or of a library, at a time at random: how many documents, judges or tags there
are, how long a text is and what it repeats. What costs more of what a request may take is kept, and changed again. The
draw has a seed, so that the search is the same again; its measurements are not, to some percent.
"""

import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from carrel.config import load
from carrel.contents import store as contents
from carrel.contents.schemas import ContentIn
from tests.campaigns import cost, largest, stored
from tests.campaigns.cases import Case
from tests.campaigns.cost import Cost
from tests.campaigns.shapes import REPEATED
from tests.campaigns.shared import Shared, sharing
from tests.campaigns.stored import Shape
from tests.campaigns.user import Request, User
from tests.support.soak import size

SEED: Final = 20_261_122
DATA_STEPS: Final = 12
"""Changes of the stored data, of a run and of a library; each is read by all operations that read it."""
MOST_CALLS: Final = 20_000
"""Of a run in the search: to store a larger one takes too long for so many steps."""


class Tried(NamedTuple):
    """A request or data that was tried: what it is, in words, and what it cost."""

    what: str
    cost: Cost


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
            total += cost.share(found)
            before = best.get(read.operation)
            if before is None or cost.share(found) > cost.share(before.cost):
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
            other = library._replace(repeated=draw.choice(REPEATED))
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

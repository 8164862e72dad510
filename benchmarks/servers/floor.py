"""The floor: a bare ASGI app that does the same work and nothing else, on the same uvicorn.

    python -m benchmarks.servers.floor PORT FOLDER [WORKSPACE KEY]

It checks a session token against a cache, reads one row from an encrypted SQLite file and answers with its JSON. With a
copy of a user's WORKSPACE it also answers with the first pages of its lists.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from carrel.contents import search
from carrel.kit.clock import SystemClock
from carrel.kit.sqlite import database
from carrel.kit.sqlite.paging import Paging
from carrel.runs.progress import store as runs

TOKEN = b"floor-token"
KEY = bytes(range(32))
BODY = "The quick brown fox jumps over the lazy dog. " * 22
JSON_COLUMNS = ("tags", "variables")


class Content(msgspec.Struct):
    """The row."""

    id: str
    name: str
    type: str
    body: str
    created_at: str


def prepare(folder: Path) -> database.Connection:
    """A database with one row of 1 kB."""
    connection = database.create(folder / "floor.db", KEY, clock=SystemClock(), new_id=lambda: "id")
    connection.execute(
        "CREATE TABLE contents (id TEXT PRIMARY KEY, name TEXT, type TEXT, body TEXT, created_at TEXT) STRICT"
    )
    connection.execute(
        "INSERT INTO contents VALUES ('c1', 'A note', 'input_document', ?, '2026-01-01T00:00:00Z')", (BODY[:1000],)
    )
    return connection


class Asked:
    """Stands in for a connection, to hear what a store asks."""

    def __init__(self, store: Callable[..., Any], *args: Any) -> None:
        store(self, *args)

    def each(self, sql: str, *params: Any) -> Iterator[Any]:
        """Nothing is found."""
        self.sql, self.params = sql, params
        return iter(())


PAGES: dict[str, Callable[[], Asked]] = {
    "/api/contents": lambda: Asked(search.find, search.ContentFilters(), Paging()),
    "/api/runs": lambda: Asked(runs.find, Paging(), None, None),
}


def page_of(connection: database.Connection, asked: Asked) -> Callable[[], Any]:
    """What reads a page by the statement that Carrel's own store asks, and leaves its rows as they are stored."""
    cursor = connection.execute(asked.sql, asked.params)
    # The first two columns, the sequence and the bytes of a row, say only where the page ends.
    names = [name for name, _ in cursor.get_description()][2:]
    cursor.close()
    kind = msgspec.defstruct("Item", [(name, Any) for name in names])
    nested = [at for at, name in enumerate(names) if name in JSON_COLUMNS]

    def page() -> Any:
        items = []
        for _, _, *values in connection.all(asked.sql, *asked.params)[: Paging().limit]:
            for at in nested:
                values[at] = msgspec.Raw(values[at].encode())
            items.append(kind(*values))
        return {"items": items, "next_cursor": "floor"}

    return page


def main() -> None:
    """Serve until killed."""
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    connection = prepare(folder)
    pages = {}
    if len(sys.argv) > 3:
        workspace = database.connect(
            Path(sys.argv[3]), bytes.fromhex(sys.argv[4]), clock=SystemClock(), new_id=lambda: "id", readonly=True
        )
        pages = {path: page_of(workspace, ask()) for path, ask in PAGES.items()}
    encoder = msgspec.json.Encoder()
    cache = {TOKEN: "user"}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        token = next((value for name, value in scope["headers"] if name == b"x-svc-session-token"), b"")
        if token not in cache:
            await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        if scope["path"] in pages:
            body = encoder.encode(pages[scope["path"]]())
        else:
            content_id = scope["path"].rsplit("/", 1)[1]
            row = connection.one("SELECT id, name, type, body, created_at FROM contents WHERE id = ?", content_id)
            assert row is not None
            body = encoder.encode(Content(*row))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False, lifespan="off")


if __name__ == "__main__":
    main()

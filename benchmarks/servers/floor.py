"""The floor: a bare ASGI app that does the same work and nothing else, on the same uvicorn.

    python -m benchmarks.servers.floor PORT FOLDER [ITEMS ROWS]

It checks a session token against a cache, reads one row from an encrypted SQLite file and answers with its JSON. With a
file of ITEMS, `{path: item}`, it also answers each path with the last fifty of as many ROWS, all like the item.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from carrel.kit import database
from carrel.kit.clock import SystemClock

TOKEN = b"floor-token"
KEY = bytes(range(32))
BODY = "The quick brown fox jumps over the lazy dog. " * 22


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


def pages_of(connection: database.Connection, table: str, item: dict[str, Any], count: int) -> Callable[[], Any]:
    """Fill a table with copies of `item`; what reads its last fifty. Lists and objects are JSON in the row."""
    kept = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in item.items()}
    columns = ", ".join(f'"{name}"' for name in kept)
    connection.execute(f"CREATE TABLE {table} (seq INTEGER PRIMARY KEY, {columns})")
    marks = ", ".join("?" * len(kept))
    with database.transaction(connection):
        connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", [tuple(kept.values())] * count)
    kind = msgspec.defstruct("Item", [(name, Any) for name in item])
    nested = [at for at, value in enumerate(item.values()) if isinstance(value, dict | list)]
    sql = f"SELECT {columns} FROM {table} ORDER BY seq DESC LIMIT 50"

    def page() -> Any:
        items = []
        for row in connection.all(sql):
            values = list(row)
            for at in nested:
                values[at] = msgspec.Raw(values[at].encode())
            items.append(kind(*values))
        return {"items": items, "next_cursor": "floor"}

    return page


def main() -> None:
    """Serve until killed."""
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    connection = prepare(folder)
    items = json.loads(Path(sys.argv[3]).read_text()) if len(sys.argv) > 3 else {}
    pages = {
        path: pages_of(connection, f"list{number}", item, int(sys.argv[4]))
        for number, (path, item) in enumerate(items.items())
    }
    encoder = msgspec.json.Encoder()
    cache = {TOKEN: "user"}

    async def app(scope, receive, send):
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
            body = encoder.encode(Content(*row))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False, lifespan="off")


if __name__ == "__main__":
    main()

"""The floor: a bare ASGI app that does the same work and nothing else, on the same uvicorn.

    python -m benchmarks.servers.floor PORT FOLDER

It checks a session token against a cache, reads one row from an encrypted SQLite file and answers with its JSON.
"""

import sys
from pathlib import Path

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


def main() -> None:
    """Serve until killed."""
    port, folder = int(sys.argv[1]), Path(sys.argv[2])
    connection = prepare(folder)
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
        content_id = scope["path"].rsplit("/", 1)[1]
        row = connection.one("SELECT id, name, type, body, created_at FROM contents WHERE id = ?", content_id)
        body = encoder.encode(Content(*row))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False, lifespan="off")


if __name__ == "__main__":
    main()

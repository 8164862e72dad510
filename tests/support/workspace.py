"""A real encrypted workspace database for tests of stores, and short ways to fill it."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carrel.config import Secret, Settings
from carrel.contents import store as contents
from carrel.contents.schemas import Content, ContentIn, ContentType
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.migrate import migrate
from carrel.vault.ids import ContentId
from tests.support.clock import FakeClock

SETTINGS = Settings(plugin_secret=(Secret(b"a" * 32),), service_key=Secret(bytes(range(32))))
"""Every limit at its default."""


@contextmanager
def workspace_database(folder: Path) -> Iterator[Connection]:
    """An empty, migrated, encrypted workspace; ids count up, time stands still."""
    numbers = itertools.count(1)
    connection = database.create(
        folder / "workspace.db", bytes(range(32)), clock=FakeClock(), new_id=lambda: f"id-{next(numbers)}"
    )
    try:
        migrate(connection, "carrel.vault.migrations")
        yield connection
    finally:
        database.close(connection)


def write(
    conn: Connection,
    body: str = "",
    *,
    kind: ContentType = "fragment",
    name: str = "A content",
    variables: dict[str, ContentId | None] | None = None,
    tags: list[str] | None = None,
    settings: Settings = SETTINGS,
) -> Content:
    """Save a content."""
    data = ContentIn(name=name, type=kind, body=body, variables=variables or {}, tags=tags or [])
    return contents.create(conn, data, settings)


def minimal_preset(conn: Connection, inputs: int = 1) -> dict[str, object]:
    """The least that makes a preset, as JSON; its contents are saved on the way."""
    documents = [write(conn, f"Document {number}.", kind="input_document").id for number in range(inputs)]
    instructions = write(conn, "Summarise {{document}}", kind="generation_instructions")
    criteria = write(conn, "- name: Coverage\n- name: Clarity", kind="criteria")
    return {
        "name": "A preset",
        "inputs": documents,
        "instructions": instructions.id,
        "generation": {"candidates": [{"model": "local:lead"}, {"model": "local:lexrank"}]},
        "scoring": {"judges": [{"model": "local:reader"}], "criteria": criteria.id},
        "comparison": {"judges": [{"model": "local:statistician"}]},
    }

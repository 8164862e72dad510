"""`service.db` of several nodes made into one: what each of them said of its slots, and what belongs to no user."""

from pathlib import Path
from typing import Any

import pytest

from carrel.accounts import issuance, merging
from carrel.accounts.service import MIGRATIONS
from carrel.accounts.slots import file_key
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, KeyRejected, transaction
from carrel.kit.sqlite.migrate import migrate

KEY = bytes(range(32))
CLOCK = SystemClock()
NEW_ID = uuid7_factory(CLOCK)


def made(path: Path, *rows: tuple[str, tuple[Any, ...]], latest: int, key: bytes = KEY) -> Path:
    connection = database.create(path, file_key(key, "service"), clock=CLOCK, new_id=NEW_ID)
    migrate(connection, MIGRATIONS)
    with transaction(connection):
        issuance.record(connection, latest)
        for table, values in rows:
            connection.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", *values)
    database.complete(connection)
    return path


def log(number: int, owner: str) -> tuple[str, tuple[Any, ...]]:
    return "shared_log", (number, f"log-{owner}", owner, b"[]", "2026", "2099")


def provider_key(secret: str, updated_at: str) -> tuple[str, tuple[Any, ...]]:
    return "provider_key", (1, "openai", secret, None, 1, "2026-01", updated_at, None, None)


def merged(folder: Path, **slots: list[int]) -> Connection:
    path = folder / "merged.db"
    merging.merge(path, {folder / f"{name}.db": found for name, found in slots.items()}, KEY, CLOCK, NEW_ID)
    return database.connect(path, file_key(KEY, "service"), clock=CLOCK, new_id=NEW_ID)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    a = [
        log(1, "0001/x"),
        log(2, "0002/x"),
        ("write_off", ("0001/x", "2026-11-21", 1, 10)),
        ("deletion", ("0001/y", 5, 1)),
    ]
    b = [log(1, "0002/x"), log(2, "0003/x"), ("roster", ("0003/x", "ada"))]
    deleted = ("write_off", ("", "2026-11-21", 2, 20))
    made(
        tmp_path / "a.db", *a, deleted, provider_key("older", "2026-02"), ("receipt_key", ("k1", "2026-01")), latest=50
    )
    made(
        tmp_path / "b.db", *b, deleted, provider_key("newer", "2026-03"), ("receipt_key", ("k1", "2025-01")), latest=70
    )
    return tmp_path


def test_the_rows_of_a_slot_come_from_the_node_that_gives_it(folder: Path) -> None:
    # Slot 2 moved: both have a row, and only that of `b` counts. Slot 3 goes elsewhere.
    connection = merged(folder, a=[1], b=[2])
    assert connection.column("SELECT owner FROM shared_log ORDER BY owner") == ["0001/x", "0002/x"]
    assert connection.column("SELECT owner FROM deletion") == ["0001/y"]
    assert connection.column("SELECT uuid FROM roster") == []
    assert connection.value("SELECT secret FROM provider_key") == "newer"
    assert connection.all("SELECT * FROM receipt_key") == [("k1", "2025-01")]
    assert issuance.latest(connection) == 70
    database.close(connection)


@pytest.mark.parametrize(("slots", "sums"), [([0, 1], [(4, 40)]), ([1], [])])
def test_what_deleted_users_cost_is_counted_by_one_node(
    folder: Path, slots: list[int], sums: list[tuple[int, int]]
) -> None:
    connection = merged(folder, a=slots, b=[2, 3])
    assert connection.all("SELECT calls, amount_micros FROM write_off WHERE owner = ''") == sums
    database.close(connection)


def test_another_service_key_is_refused(folder: Path) -> None:
    made(folder / "c.db", latest=1, key=bytes(32))
    with pytest.raises(KeyRejected):
        merged(folder, c=[1])

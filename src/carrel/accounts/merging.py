"""One `service.db` out of those of several nodes, for slots that come from them."""

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from carrel.accounts import issuance, slot_rows
from carrel.accounts.service import MIGRATIONS
from carrel.accounts.slots import file_key
from carrel.kit.clock import Clock
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, transaction
from carrel.kit.sqlite.migrate import migrate

_SLOT_OF_DELETED_USERS = 0
"""Sums of deleted users are of no slot. They go to whoever gets this one, so that they are counted once."""


def merge(path: Path, sources: Mapping[Path, Iterable[int]], service_key: bytes, clock: Clock, new_id: NewId) -> None:
    """Make `path` of these `service.db`, each with the slots whose rows it gives. The sources are migrated.

    Of the operator's keys for a provider the latest counts. Every time of issue stays below the merged one.

    Raises:
        KeyRejected, Damaged: a source is not what the service key sealed.
        NewerDatabase: a newer program wrote it.
        DiskFull, Unavailable
    """
    key = file_key(service_key, "service")
    with database.translated():
        target = database.create(path, key, clock=clock, new_id=new_id)
        with ExitStack() as undo:
            undo.callback(database.discard, target)
            migrate(target, MIGRATIONS)
            with_deleted = any(_SLOT_OF_DELETED_USERS in slots for slots in sources.values())
            for place, slots in sources.items():
                source = database.connect(place, key, clock=clock, new_id=new_id)
                try:
                    migrate(source, MIGRATIONS)
                    with transaction(target):
                        for slot in slots:
                            slot_rows.copy(source, target, slot)
                        _common(source, target)
                        if with_deleted:
                            _sums_of_deleted(source, target)
                finally:
                    database.close(source)
            undo.pop_all()
        database.complete(target)


def _common(source: Connection, target: Connection) -> None:
    """What belongs to no user."""
    names = "provider, secret, base_url, version, created_at, updated_at, last_test_ok, last_test_at"
    for row in source.each(f"SELECT {names} FROM provider_key ORDER BY seq"):
        provider, updated_at = row[0], row[5]
        there = target.value("SELECT updated_at FROM provider_key WHERE provider = ?", provider)
        if there is None or there < updated_at:
            target.run("DELETE FROM provider_key WHERE provider = ?", provider)
            target.run(f"INSERT INTO provider_key ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)
    for row in source.each("SELECT public, since FROM receipt_key"):
        target.run(
            "INSERT INTO receipt_key VALUES (?, ?) ON CONFLICT DO UPDATE SET since = min(since, excluded.since)", *row
        )
    slots = [issued.latest for issued in issuance.of_slots(source).values()]
    issuance.record(target, max([issuance.latest(source), issuance.latest(target), *slots]))


def _sums_of_deleted(source: Connection, target: Connection) -> None:
    for row in source.each("SELECT owner, day, calls, amount_micros FROM write_off WHERE owner = ''"):
        target.run(
            "INSERT INTO write_off VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE"
            " SET calls = calls + excluded.calls, amount_micros = amount_micros + excluded.amount_micros",
            *row,
        )

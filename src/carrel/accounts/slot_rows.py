"""The rows of one slot in `service.db`, which go with the slot when it moves to another node.

They travel in a file of their own beside the users' folders: a `service.db` of this slot alone, sealed with a key of
its own.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Final

from carrel.accounts import issuance
from carrel.accounts.issuance import IssuanceTimes
from carrel.accounts.roster import NAMING_FOLDERS
from carrel.accounts.service import MIGRATIONS
from carrel.accounts.slots import file_key
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, transaction
from carrel.kit.sqlite.migrate import migrate

FILE: Final = "service.db"
"""The name of the file in the folder of the slot."""
_TABLES: Final = (*NAMING_FOLDERS, "deletion")


def leave(conn: Connection, service_key: bytes, folder: Path, slot: int, issued: IssuanceTimes) -> None:
    """Write the slot's rows into its folder, durably, in place of an earlier file. `conn` is that of `service.db`."""
    new = folder / f"{FILE}.new"
    for leftover in folder.glob(f"{new.name}*"):
        leftover.unlink()
    target = database.create(new, _key(service_key, slot), clock=conn.clock, new_id=conn.new_id)
    with ExitStack() as undo:
        undo.callback(database.discard, target)
        migrate(target, MIGRATIONS)
        with transaction(target):
            copy(conn, target, slot)
            issuance.record_slot(target, slot, issued)
            _copy_secret(conn, target, slot)
        undo.pop_all()
    database.complete(target)
    database.replace(folder / FILE, new)


def take(conn: Connection, service_key: bytes, folder: Path, slot: int) -> None:
    """Replace the slot's rows in `service.db` by those in its folder. The file stays.

    Raises:
        Missing, Damaged, KeyRejected: it is not what `leave` wrote.
        NewerDatabase: a newer program wrote it.
    """
    path, key = folder / FILE, _key(service_key, slot)
    source = database.connect(path, key, clock=conn.clock, new_id=conn.new_id, alone=True)
    try:
        migrate(source, MIGRATIONS)
        remove(conn, slot)
        copy(source, conn, slot)
        found = issuance.of_slots(source).get(slot)
        if found is not None:
            issuance.record_slot(conn, slot, found)
        _copy_secret(source, conn, slot)
    finally:
        database.close(source)


def remove(conn: Connection, slot: int) -> None:
    """Remove the slot's rows from `service.db`, because another node has them now."""
    for table in _TABLES:
        conn.run(f"DELETE FROM {table} WHERE owner GLOB ?", _owners(slot))
    conn.run("DELETE FROM slot_issuance WHERE slot = ?", slot)
    conn.run("DELETE FROM slot_program_secret WHERE slot = ?", slot)


def copy(source: Connection, target: Connection, slot: int) -> None:
    """Copy the slot's rows about its users to another `service.db`, which has none of them."""
    for table in _TABLES:
        # Numbers of rows are the database's own; their order stays.
        every = source.column(f"SELECT name FROM pragma_table_info('{table}')")
        names = [name for name in every if name != "seq"]
        order = "seq" if "seq" in every else "owner"
        columns, places = ", ".join(names), ", ".join("?" * len(names))
        chosen = f"SELECT {columns} FROM {table} WHERE owner GLOB ? ORDER BY {order}"
        for row in source.each(chosen, _owners(slot)):
            target.run(f"INSERT INTO {table} ({columns}) VALUES ({places})", *row)


def _copy_secret(source: Connection, target: Connection, slot: int) -> None:
    """What program keys of the slot's users are stamped with, wherever they were made."""
    for table, where in (("slot_program_secret", f"WHERE slot = {slot}"), ("program_secret", "")):
        secret = source.value(f"SELECT secret FROM {table} {where}")
        if secret is not None:
            target.run("INSERT OR REPLACE INTO slot_program_secret VALUES (?, ?)", slot, secret)
            database.wipe(secret)
            return


def _owners(slot: int) -> str:
    return f"{slot:04d}/*"


def _key(service_key: bytes, slot: int) -> bytes:
    return file_key(service_key, "slot", f"{slot:04d}")

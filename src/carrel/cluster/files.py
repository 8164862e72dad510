"""What a node keeps in its data folder beside the databases: a mark for each slot, and a record of itself.

`DATA/slots/<slot>/OWNER` is the mark. `DATA/node.json` says which node of which cluster the folder belongs to.
"""

import ctypes
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from carrel.accounts.slots import SLOTS, former_decoy
from carrel.cluster.ownership import SlotMark
from carrel.cluster.refusals import NodeDiskForeign
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import translated

T = TypeVar("T")
_libc = ctypes.CDLL(None, use_errno=True)

MARK: Final = "OWNER"
_NEW_MARK: Final = f"{MARK}.new"
RECORD: Final = "node.json"


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The node that used this folder last.

    `term` is its last process's. `next_term` is the one that the process was about to take: after a crash at that
    moment etcd has either. `lease` was the process's. `place` tells the folder and the start of the machine; a copy of
    the folder has another one.
    """

    cluster: str
    node: str
    term: str = ""
    next_term: str = ""
    lease: str = ""
    place: str = ""


def read_record(data: Path) -> Record | None:
    """The record; `None` in a folder that no node has used.

    Raises:
        NodeDiskForeign: it cannot be read.
    """
    return _read(data / RECORD, Record)


def write_record(data: Path, record: Record) -> None:
    """Replace the record, durably."""
    with translated():
        _write(data / RECORD, record)


def read_marks(data: Path) -> dict[int, SlotMark]:
    """The mark of every slot that has one.

    Raises:
        NodeDiskForeign: one of them cannot be read.
    """
    paths = {slot: slot_folder(data, slot) / MARK for slot in range(SLOTS)}
    found = {slot: _read(path, SlotMark) for slot, path in paths.items() if path.exists()}
    return {slot: mark for slot, mark in found.items() if mark is not None}


def write_mark(data: Path, slot: int, mark: SlotMark) -> None:
    """Replace the mark of one slot, durably."""
    with translated():
        folder = slot_folder(data, slot)
        if not folder.exists():
            folder.mkdir(parents=True, mode=0o700)
            database.sync_folder(folder.parent)
        _write(folder / MARK, mark)
        database.sync_folder(folder)


def remove_copy(data: Path, slot: int) -> None:
    """Remove the users of a slot and then its mark, durably."""
    empty(data, slot)
    with translated():
        folder = slot_folder(data, slot)
        (folder / MARK).unlink(missing_ok=True)
        if folder.exists():
            database.sync_folder(folder)


def empty(data: Path, slot: int) -> None:
    """Remove everything of a slot but its mark, durably."""
    with translated():
        folder = slot_folder(data, slot)
        for path in folder.iterdir() if folder.exists() else ():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != MARK:
                path.unlink()
        if folder.exists():
            database.sync_folder(folder)


def sync(data: Path) -> None:
    """Make everything durable that was written to the file system of `data`."""
    with translated():
        _sync_file_system(data)


def write_marks(data: Path, marks: Mapping[int, SlotMark]) -> None:
    """Replace the marks of these slots, durably."""
    if len(marks) == 1:
        for slot, mark in marks.items():
            write_mark(data, slot, mark)
        return
    with translated():
        folders = [slot_folder(data, slot) for slot in marks]
        for folder, mark in zip(folders, marks.values(), strict=True):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            (folder / _NEW_MARK).write_bytes(msgspec.json.encode(mark))
        # At the first start there are hundreds: one call for all of them is a hundred times as fast.
        _sync_file_system(data)
        for folder in folders:
            (folder / _NEW_MARK).rename(folder / MARK)
        _sync_file_system(data)


def slot_folder(data: Path, slot: int) -> Path:
    """The folder of a slot, whether it exists or not."""
    return data / "slots" / f"{slot:04d}"


def slots_with_users(data: Path, service_key: bytes) -> set[int]:
    """The slots in which the folder holds users. An earlier version had an account of its own there, which is none."""
    own = data / "slots" / former_decoy(service_key)
    found = (path for path in (data / "slots").glob("[0-9][0-9][0-9][0-9]/*") if path.is_dir() and path != own)
    return {int(path.parent.name) for path in found}


def place_of(data: Path) -> str:
    """What only this folder has, and only until the machine starts anew; empty where the system tells no such thing."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        folder = data.stat()
    except OSError:
        return ""
    return f"{boot}:{folder.st_dev}:{folder.st_ino}"


def _sync_file_system(data: Path) -> None:
    descriptor = os.open(data, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if _libc.syncfs(descriptor) != 0:
            raise OSError(ctypes.get_errno(), "syncfs")
    finally:
        os.close(descriptor)


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError):
        raise NodeDiskForeign from None


def _write(path: Path, content: msgspec.Struct) -> None:
    database.write_file(path, msgspec.json.encode(content))

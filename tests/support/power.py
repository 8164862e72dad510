"""A disk that loses power: it records every change of a folder's files, and makes the state that a cut may leave.

What was synced is there. Of what came later each change is kept, lost or torn by itself, in any order, as a disk with a
cache may do: a write at the borders of sectors, names of files one by one. The layer is below the encryption.
"""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import apsw

from carrel.kit.sqlite import database

_NAME = "recording"
_KEYED = f"multipleciphers-{_NAME}"
_BENEATH = "unix-excl"
_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL
_SECTOR_BYTES = 512


class Entry(NamedTuple):
    """What a file or a folder is called: the number of the folder that it is in, and its name there."""

    folder: int
    name: str


_ROOT = 0
"""The number of the folder whose files are recorded."""


class Change(NamedTuple):
    """One change. `file` is the number of a file or folder, whatever its name is; a change of names has an entry."""

    kind: str
    """`write`, `truncate`, `sync`; `name`, `forget`, `rename`, `sync folder`; `mark`."""
    file: int = -1
    offset: int = 0
    data: bytes = b""
    old: Entry | None = None
    new: Entry | None = None
    mark: Any = None

    @property
    def folder(self) -> int:
        """The folder with whose sync a change of names is durable. A rename is one change, also between folders."""
        entry = self.new or self.old
        assert entry is not None
        return entry.folder


@dataclass
class Recording:
    """What happened to the files below `root`, from the state that they were in at the beginning."""

    root: Path
    changes: list[Change] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = count(_ROOT + 1)
        paths = sorted(self.root.rglob("*"))
        self.names = {str(self.root): _ROOT} | {str(path): next(self._numbers) for path in paths}
        """What each file and each folder is called now."""
        self._folders = {_ROOT, *(self.names[str(path)] for path in paths if path.is_dir())}
        self._first_entries = {self._entry(str(path)): self.names[str(path)] for path in paths}
        self._first_bytes = {self.names[str(path)]: path.read_bytes() for path in paths if path.is_file()}

    def mark(self, value: Any) -> None:
        """Something that a user was told: it must be true after every later cut."""
        self.changes.append(Change("mark", mark=value))

    def marks(self, at: int) -> list[Any]:
        """What had been told before change number `at`."""
        return [change.mark for change in self.changes[:at] if change.kind == "mark"]

    def steps(self) -> list[int]:
        """The instants before which something else happened than after: in a row of writes, only the ends."""
        kinds = [change.kind for change in self.changes]
        inner = (at for at in range(1, len(kinds)) if kinds[at - 1] != "write" or kinds[at] != "write")
        return [0, *inner, len(kinds)]

    def leave(self, folder: Path, at: int, chance: random.Random) -> None:
        """Write to `folder` what is on the disk when the power fails before change number `at`."""
        kept_share = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
        done = self.changes[:at]
        inside: dict[int, list[tuple[str, int]]] = {}
        for entry, number in self._entries_after(done, chance, kept_share).items():
            inside.setdefault(entry.folder, []).append((entry.name, number))
        left = [(folder, _ROOT)]
        # What lies in a folder that has no name is gone with it.
        for path, number in left:
            if number in self._folders:
                path.mkdir(parents=True)
                left.extend((path / name, inner) for name, inner in inside.get(number, ()))
            else:
                path.write_bytes(self._bytes_after(number, done, chance, kept_share))

    def _entries_after(self, done: list[Change], chance: random.Random, kept_share: float) -> dict[Entry, int]:
        synced = {change.file: index for index, change in enumerate(done) if change.kind == "sync folder"}
        entries = dict(self._first_entries)
        for index, change in enumerate(done):
            if change.kind not in ("name", "forget", "rename"):
                continue
            if index > synced.get(change.folder, -1) and chance.random() >= kept_share:
                continue
            if change.old is not None:
                entries.pop(change.old, None)
            if change.new is not None:
                entries[change.new] = change.file
        return entries

    def _bytes_after(self, number: int, done: list[Change], chance: random.Random, kept_share: float) -> bytes:
        own = [change for change in done if change.file == number and change.kind in ("write", "truncate", "sync")]
        synced = max((index for index, change in enumerate(own) if change.kind == "sync"), default=-1)
        content = bytearray(self._first_bytes.get(number, b""))
        for index, change in enumerate(own):
            if index > synced and chance.random() >= kept_share:
                continue
            if change.kind == "truncate":
                _resize(content, change.offset)
            elif change.kind == "write":
                _write(content, change, torn=chance if index > synced and chance.random() < 0.3 else None)
        return bytes(content)

    # What the layer tells ---------------------------------------------------------------------------------------------

    def is_ours(self, path: str) -> bool:
        return path.startswith(f"{self.root}/")

    def _entry(self, path: str) -> Entry:
        folder, name = os.path.split(path)
        return Entry(self.names[folder], name)

    def number_of(self, path: str) -> int:
        """The file's number; one that was not there is named now."""
        if path not in self.names:
            self.names[path] = next(self._numbers)
            self.changes.append(Change("name", self.names[path], new=self._entry(path)))
        return self.names[path]

    def make_folder(self, path: str) -> None:
        if self.is_ours(path):
            self._folders.add(self.number_of(path))

    def forget(self, path: str) -> None:
        if self.is_ours(path) and path in self.names:
            self.changes.append(Change("forget", self.names.pop(path), old=self._entry(path)))

    def rename(self, old: str, new: str) -> None:
        if not self.is_ours(old):
            return
        self.changes.append(Change("rename", self.names[old], old=self._entry(old), new=self._entry(new)))
        for path in [path for path in self.names if path == old or path.startswith(f"{old}/")]:
            self.names[new + path.removeprefix(old)] = self.names.pop(path)

    def sync(self, path: str) -> None:
        if path in self.names:
            number = self.names[path]
            self.changes.append(Change("sync folder" if number in self._folders else "sync", number))


def _resize(content: bytearray, size: int) -> None:
    del content[size:]
    content.extend(bytes(size - len(content)))


def _write(content: bytearray, change: Change, torn: random.Random | None) -> None:
    if len(content) < change.offset:
        _resize(content, change.offset)
    if torn is None:
        content[change.offset : change.offset + len(change.data)] = change.data
        return
    for start in range(0, len(change.data), _SECTOR_BYTES):
        if torn.random() < 0.5:
            sector = change.data[start : start + _SECTOR_BYTES]
            _write(content, change._replace(offset=change.offset + start, data=sector), None)


class _File(apsw.VFSFile):
    def __init__(self, recording: Recording, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__(_BENEATH, name, flags)
        self._recording = recording
        self._number = recording.number_of(path) if recording.is_ours(path) else -1
        # With its first sync of a journal or log, SQLite's own layer makes the name durable, too.
        self._unsynced_folder = os.path.dirname(path) if flags[0] & _JOURNALS else None

    def _record(self, kind: str, offset: int = 0, data: bytes = b"") -> None:
        if self._number >= 0:
            self._recording.changes.append(Change(kind, self._number, offset, data))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  # SQLite's name
        super().xWrite(data, offset)
        self._record("write", offset, bytes(data))

    def xTruncate(self, size: int) -> None:  # noqa: N802  # SQLite's name
        super().xTruncate(size)
        self._record("truncate", size)

    def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's name
        self._record("sync")
        if self._number >= 0 and self._unsynced_folder is not None:
            self._recording.sync(self._unsynced_folder)
            self._unsynced_folder = None


class _Vfs(apsw.VFS):
    def __init__(self) -> None:
        self.recording = Recording(Path("/nowhere"))
        super().__init__(_NAME, _BENEATH)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # SQLite's
        return _File(self.recording, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  # SQLite's name
        super().xDelete(filename, syncdir)
        self.recording.forget(filename)
        if syncdir:
            self.recording.sync(os.path.dirname(filename))


@contextmanager
def recorded(root: Path) -> Iterator[Recording]:
    """Record what happens below `root` in the block; every database that is opened there is on this disk."""
    recording = Recording(root)
    vfs = _vfs()
    vfs.recording = recording
    try:
        with ExitStack() as patches:
            for name, stand_in in _STAND_INS.items():
                patches.enter_context(patch.object(os, name, stand_in(recording, getattr(os, name))))
            patches.enter_context(patch.object(database, "VFS", _KEYED))
            yield recording
    finally:
        vfs.recording = Recording(Path("/nowhere"))


@cache
def _vfs() -> _Vfs:
    vfs = _Vfs()
    # The engine makes the encrypting layer over a VFS when it is first named; it refers to the VFS for ever.
    apsw.Connection(":memory:", vfs=_KEYED).close()
    return vfs


def _open(recording: Recording, usual: Callable[..., int]) -> Callable[..., int]:
    def stand_in(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        descriptor = usual(path, flags, *args, **kwargs)
        if flags & os.O_CREAT and recording.is_ours(str(path)):
            recording.number_of(str(path))
        return descriptor

    return stand_in


def _fsync(recording: Recording, usual: Callable[[int], None]) -> Callable[[int], None]:
    def stand_in(descriptor: int) -> None:
        recording.sync(os.readlink(f"/proc/self/fd/{descriptor}"))

    return stand_in


def _rename(recording: Recording, usual: Callable[..., None]) -> Callable[..., None]:
    def stand_in(old: Any, new: Any) -> None:
        usual(old, new)
        recording.rename(str(old), str(new))

    return stand_in


def _mkdir(recording: Recording, usual: Callable[..., None]) -> Callable[..., None]:
    def stand_in(path: Any, *args: Any, **kwargs: Any) -> None:
        usual(path, *args, **kwargs)
        recording.make_folder(str(path))

    return stand_in


def _remove(recording: Recording, usual: Callable[..., None]) -> Callable[..., None]:
    def stand_in(path: Any, *, dir_fd: int | None = None) -> None:
        whole = path if dir_fd is None else os.path.join(os.readlink(f"/proc/self/fd/{dir_fd}"), path)
        usual(path, dir_fd=dir_fd)
        recording.forget(str(whole))

    return stand_in


_STAND_INS: dict[str, Callable[[Recording, Callable[..., Any]], Callable[..., Any]]] = {
    "open": _open,
    "fsync": _fsync,
    "rename": _rename,
    "mkdir": _mkdir,
    "unlink": _remove,
    "rmdir": _remove,
}

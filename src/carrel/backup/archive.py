"""A copy of a whole data folder as one file: packed, checked, and unpacked elsewhere.

It is a plain tar of the encrypted files as they lie on the disk, with a manifest at its end: the SHA-256 of every file,
under a MAC of the service key. So a copy that is damaged, cut short or put together of two is told from a good one
without the key of any user, and what belongs to another installation is not taken for one's own.
"""

import hashlib
import hmac
import io
import os
import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

import msgspec

from carrel.accounts import issuance
from carrel.accounts.service import MIGRATIONS
from carrel.accounts.slots import file_key
from carrel.kit.clock import Clock, rfc3339
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import KeyRejected
from carrel.kit.sqlite.migrate import migrate

FORMAT: Final = "carrel-backup"
VERSION: Final = 1

SERVICE: Final = "service.db"
_MANIFEST = "manifest.json"
_MAC = "manifest.mac"
_MAX_MANIFEST_BYTES = 512 * 1024 * 1024
_PIECE_BYTES = 1024 * 1024
_NAME = re.compile(r"service\.db(-wal)?|slots/[0-9]{4}/[0-9a-f]{32}/(account|workspace)\.db(-wal)?")
"""What belongs to a data folder; locks, and what a crash left half-made or half-deleted, do not."""

Told = Callable[[int], None]
"""Hears how many bytes more were read."""


class BackupRefused(Exception):
    """A backup cannot be made, or is not to be used; the text is one line for the operator."""


class BackupDamaged(BackupRefused):
    """It is cut short, or something in it is not as it was written."""

    def __init__(self) -> None:
        super().__init__("this is no backup, or a damaged one, or one that was cut short")


class BackupForeign(BackupRefused):
    """Its manifest was made with another service key."""

    def __init__(self) -> None:
        super().__init__("this is the data of another service: CARREL_SERVICE_KEY does not fit")


class NothingToBackUp(BackupRefused):
    """There is no service in the folder."""

    def __init__(self) -> None:
        super().__init__("there is no data of a service in this folder")


class _Entry(msgspec.Struct, frozen=True):
    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a backup holds."""

    made_at: str
    files: dict[str, _Entry]
    format: str = FORMAT
    version: int = VERSION

    @property
    def databases(self) -> int:
        """How many databases are in it: one of the service and two for each user, among them one for nobody's."""
        return sum(name.endswith(".db") for name in self.files)

    @property
    def bytes(self) -> int:
        """How much they take."""
        return sum(entry.bytes for entry in self.files.values())


class Packing:
    """Makes the file piece by piece, so that it is never whole in memory. `told` hears how many bytes were read."""

    def __init__(self, told: Told = lambda _: None) -> None:
        self._told = told
        self._files: dict[str, _Entry] = {}

    def member(self, name: str, file: IO[bytes], size: int) -> Iterator[bytes]:
        """The next file: `size` bytes from where `file` stands.

        Raises:
            BackupRefused: there are less of them.
        """
        yield _head(name, size)
        digest, left = hashlib.sha256(), size
        while left:
            body = file.read(min(left, _PIECE_BYTES))
            if not body:
                raise BackupRefused(f"{name} became shorter while it was read")
            digest.update(body)
            self._told(len(body))
            left -= len(body)
            yield body
        yield bytes(-size % tarfile.BLOCKSIZE)
        self._files[name] = _Entry(size, digest.hexdigest())

    def end(self, service_key: bytes, clock: Clock) -> Iterator[bytes]:
        """The manifest and its seal."""
        body = msgspec.json.encode(Manifest(rfc3339(clock.now()), self._files))
        for name, text in ((_MANIFEST, body), (_MAC, _mac(service_key, body))):
            yield _head(name, len(text)) + text + bytes(-len(text) % tarfile.BLOCKSIZE)
        yield bytes(2 * tarfile.BLOCKSIZE)


def size_of(data: Path) -> int:
    """How many bytes `pack` will read."""
    return sum((data / name).stat().st_size for name in _names(data))


def pack(data: Path, service_key: bytes, out: IO[bytes], clock: Clock, new_id: NewId, told: Told) -> None:
    """Write a backup of `data`, which the caller has locked, to `out`.

    Raises:
        NothingToBackUp
        BackupForeign: the service key does not open the folder, so the backup would be worthless with it.
        Damaged: the service's own database fails its checks.
        OSError: something cannot be read or written.
    """
    if not (data / SERVICE).exists():
        raise NothingToBackUp
    _prove(data, service_key, clock, new_id)
    packing = Packing(told)
    for name in _names(data):
        with (data / name).open("rb") as file:
            for piece in packing.member(name, file, os.fstat(file.fileno()).st_size):
                out.write(piece)
    for piece in packing.end(service_key, clock):
        out.write(piece)


def check(backup: IO[bytes], service_key: bytes, told: Told) -> Manifest:
    """Read all of a backup and hold it against its manifest.

    Raises:
        BackupDamaged, BackupForeign
    """
    return _read(backup, service_key, told, lambda _name, _pieces: None)


def unpack(backup: IO[bytes], service_key: bytes, folder: Path, told: Told) -> Manifest:
    """Write the files of a backup below `folder`, which is new and the caller's to remove if this fails.

    Raises:
        BackupDamaged, BackupForeign: what was written is not to be used.
        OSError: something cannot be written.
    """

    def write(name: str, pieces: Iterator[bytes]) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())

    manifest = _read(backup, service_key, told, write)
    for below in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        database.sync_folder(below)
    return manifest


def end_sessions(folder: Path, service_key: bytes, clock: Clock, new_id: NewId) -> None:
    """End every session that there was before the backup in `folder` was restored.

    What ended one since the backup was made, such as a change of the password, is not in it.

    Raises:
        NewerDatabase: a newer program made the backup.
        Damaged, DiskFull, Unavailable: the folder is not to be used.
    """
    with database.translated():
        connection = database.connect(folder / SERVICE, file_key(service_key, "service"), clock=clock, new_id=new_id)
        try:
            migrate(connection, MIGRATIONS)
            with database.transaction(connection):
                issuance.end_all(connection)
        finally:
            database.close(connection)


def _read(backup: IO[bytes], service_key: bytes, told: Told, take: Callable[[str, Iterator[bytes]], None]) -> Manifest:
    found: dict[str, _Entry] = {}
    last: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=backup, mode="r|") as tar:
            for info in tar:
                file = tar.extractfile(info) if info.isreg() else None
                if file is None or info.name in found or info.name in last:
                    raise BackupDamaged
                if info.name in (_MANIFEST, _MAC):
                    last[info.name] = file.read(_MAX_MANIFEST_BYTES)
                elif _NAME.fullmatch(info.name) and not last:
                    hashed = _Hashed(file, told)
                    take(info.name, hashed.pieces())
                    hashed.exhaust()
                    found[info.name] = _Entry(info.size, hashed.digest())
                else:
                    raise BackupDamaged
        manifest = msgspec.json.decode(last[_MANIFEST], type=Manifest)
    except (tarfile.TarError, EOFError, KeyError, ValueError, msgspec.DecodeError):
        raise BackupDamaged from None
    if not hmac.compare_digest(last.get(_MAC, b""), _mac(service_key, last[_MANIFEST])):
        raise BackupForeign
    if (manifest.format, manifest.version, manifest.files) != (FORMAT, VERSION, found):
        raise BackupDamaged
    return manifest


def _names(data: Path) -> list[str]:
    below = (path.relative_to(data).as_posix() for path in data.rglob("*.db*") if path.is_file())
    return sorted(name for name in below if _NAME.fullmatch(name))


def _prove(data: Path, service_key: bytes, clock: Clock, new_id: NewId) -> None:
    key = file_key(service_key, "service")
    try:
        connection = database.connect(data / SERVICE, key, clock=clock, new_id=new_id, readonly=True)
    except KeyRejected:
        raise BackupForeign from None
    try:
        with database.translated():
            if connection.one("PRAGMA quick_check(1)") != ("ok",):
                raise database.Damaged
    finally:
        database.discard(connection)


def _head(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o600
    return info.tobuf(tarfile.USTAR_FORMAT)


def _mac(service_key: bytes, body: bytes) -> bytes:
    return hmac.digest(file_key(service_key, "backup"), body, "sha256").hex().encode()


class _Hashed(io.RawIOBase):
    """A file that is read once, from its beginning to its end, and what of it was read."""

    def __init__(self, file: IO[bytes], told: Told) -> None:
        self._file = file
        self._told = told
        self._hash = hashlib.sha256()

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        body = self._file.read(size)
        self._hash.update(body)
        self._told(len(body))
        return body

    def pieces(self) -> Iterator[bytes]:
        """All that is left, piece by piece."""
        while piece := self.read(_PIECE_BYTES):
            yield piece

    def exhaust(self) -> None:
        """Read what nobody has taken."""
        for _ in self.pieces():
            pass

    def digest(self) -> str:
        """The hash of what was read, in hex."""
        return self._hash.hexdigest()

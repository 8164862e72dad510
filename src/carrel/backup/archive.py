"""A copy of a whole data folder as one file: made, checked, and unpacked elsewhere.

It is a plain tar of the encrypted files as they are on the disk. Its manifest comes last and holds the SHA-256 of every
file; a MAC under the service key seals the manifest. So anybody who holds the service key can distinguish a good copy
from one that is damaged, cut short, put together from two copies or made by another installation. That needs no key of
a user.
"""

import hashlib
import hmac
import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

import msgspec

from carrel.accounts import issuance, program_keys
from carrel.accounts.service import MIGRATIONS
from carrel.accounts.slots import file_key
from carrel.backup.members import PIECE_BYTES, Member, OnProgress, members
from carrel.backup.refusals import (
    BackupDamaged,
    BackupRefused,
    NotABackup,
    NothingToBackUp,
    UnknownFormat,
    WrongServiceKey,
)
from carrel.kit.clock import Clock, SystemClock, rfc3339
from carrel.kit.ids import NewId, uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import KeyRejected
from carrel.kit.sqlite.migrate import migrate

FORMAT: Final = "carrel-backup"
VERSION: Final = 1

SERVICE: Final = "service.db"
_MANIFEST = "manifest.json"
_MAC = "manifest.mac"
_MAX_MANIFEST_BYTES = 512 * 1024 * 1024
_NAME = re.compile(r"service\.db(-wal)?|slots/[0-9]{4}/[0-9a-f]{32}/(account|workspace)\.db(-wal)?")
"""The files that a backup holds. Locks, and files that a crash left half-made or half-deleted, are left out."""


class _Entry(msgspec.Struct, frozen=True):
    bytes: int
    sha256: str


class BackupPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a node of a cluster says of its backup.

    `slots` are those that it served from the beginning to the end, each with the name of its copy: a slot that leaves
    meanwhile is not among them. `schemas` are the numbers of the last migrations that its program knows.
    """

    cluster: str
    node: str
    schemas: tuple[int, ...]
    slots: dict[int, str]


class BackupManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The list of the files in a backup. Only a node's has a `part`."""

    made_at: str
    files: dict[str, _Entry]
    format: str = FORMAT
    version: int = VERSION
    part: BackupPart | msgspec.UnsetType = msgspec.UNSET

    @property
    def databases(self) -> int:
        """How many databases are in it: one of the service and two for each user, among them one for nobody's."""
        return sum(name.endswith(".db") for name in self.files)

    @property
    def bytes(self) -> int:
        """How many bytes the files have."""
        return sum(entry.bytes for entry in self.files.values())


class Packing:
    """Makes the backup piece by piece, so that it is never whole in memory. `on_progress` gets the bytes read."""

    def __init__(self, on_progress: OnProgress = lambda _: None) -> None:
        self._on_progress = on_progress
        self._files: dict[str, _Entry] = {}

    def member(self, name: str, file: IO[bytes], size: int) -> Iterator[bytes]:
        """The next file: `size` bytes from where `file` stands.

        Raises:
            BackupRefused: the file became shorter.
        """
        yield _head(name, size)
        digest, left = hashlib.sha256(), size
        while left:
            body = file.read(min(left, PIECE_BYTES))
            if not body:
                raise BackupRefused(f"{name} became shorter while it was read")
            digest.update(body)
            self._on_progress(len(body))
            left -= len(body)
            yield body
        yield bytes(-size % tarfile.BLOCKSIZE)
        self._files[name] = _Entry(size, digest.hexdigest())

    def end(self, service_key: bytes, clock: Clock, part: BackupPart | None = None) -> Iterator[bytes]:
        """The manifest and its seal, which end the backup."""
        body = msgspec.json.encode(BackupManifest(rfc3339(clock.now()), self._files, part=part or msgspec.UNSET))
        for name, text in ((_MANIFEST, body), (_MAC, _mac(service_key, body))):
            yield _head(name, len(text)) + text + bytes(-len(text) % tarfile.BLOCKSIZE)
        yield bytes(2 * tarfile.BLOCKSIZE)


def size_of(data: Path) -> int:
    """How many bytes `pack` will read."""
    return sum((data / name).stat().st_size for name in _names(data))


def pack(data: Path, service_key: bytes, out: IO[bytes], clock: Clock, new_id: NewId, on_progress: OnProgress) -> None:
    """Write a backup of `data`, which the caller has locked, to `out`.

    Raises:
        NothingToBackUp
        WrongServiceKey: the service key does not open the folder, so the backup would be worthless.
        Damaged: the service's own database fails its checks.
        OSError: something cannot be read or written.
    """
    if not (data / SERVICE).exists():
        raise NothingToBackUp
    _prove(data, service_key, clock, new_id)
    packing = Packing(on_progress)
    for name in _names(data):
        with (data / name).open("rb") as file:
            for piece in packing.member(name, file, os.fstat(file.fileno()).st_size):
                out.write(piece)
    for piece in packing.end(service_key, clock):
        out.write(piece)


def check(backup: IO[bytes], service_key: bytes, on_progress: OnProgress) -> BackupManifest:
    """Read all of a backup and compare it with its manifest. `backup` can be read twice.

    Raises:
        NotABackup, BackupTruncated, BackupDamaged, UnknownFormat, WrongServiceKey
    """
    return _read(backup, service_key, on_progress, lambda _member: None)


def seal_of(manifest: BackupManifest, service_key: bytes) -> str:
    """What no other backup has: its seal."""
    return _mac(service_key, msgspec.json.encode(manifest)).decode()


def unpack(
    backup: IO[bytes],
    service_key: bytes,
    folder: Path,
    on_progress: OnProgress,
    wanted: Callable[[str], bool] = lambda _: True,
) -> BackupManifest:
    """Write those files of a backup that are wanted below `folder`, a new folder that the caller removes if this fails.

    Raises:
        NotABackup, BackupTruncated, BackupDamaged, UnknownFormat, WrongServiceKey: what was written must not be used.
        OSError: something cannot be written.
    """

    def take(member: Member) -> None:
        if wanted(member.name):
            _write(folder, member)

    manifest = _read(backup, service_key, on_progress, take)
    for below in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        database.sync_folder(below)
    return manifest


def end_sessions(folder: Path, service_key: bytes, clock: Clock, new_id: NewId) -> None:
    """End every session from before the restore of the backup in `folder`.

    The backup does not know which sessions ended after it was made, for example by a change of the password.

    Raises:
        NewerDatabase: a newer program made the backup.
        Damaged, DiskFull, Unavailable: the folder must not be used.
    """
    with database.translated():
        connection = database.connect(folder / SERVICE, file_key(service_key, "service"), clock=clock, new_id=new_id)
        try:
            migrate(connection, MIGRATIONS)
            with database.transaction(connection):
                issuance.end_all(connection)
                # Nor does it know which program keys were revoked.
                program_keys.forget_service_secret(connection)
                # The audit files are not in a backup, and begin anew.
                connection.run("DELETE FROM audit")
        finally:
            database.close(connection)


def _read(
    backup: IO[bytes], service_key: bytes, on_progress: OnProgress, take: Callable[[Member], None]
) -> BackupManifest:
    found: dict[str, _Entry] = {}
    last: dict[str, bytes] = {}
    for member in members(backup, on_progress):
        if member.name in found or member.name in last:
            raise BackupDamaged
        if member.name in (_MANIFEST, _MAC):
            last[member.name] = _whole(member)
        elif not _NAME.fullmatch(member.name):
            raise NotABackup
        elif last:
            raise BackupDamaged
        else:
            take(member)
            for _ in member.pieces():
                pass
            found[member.name] = _Entry(member.size, member.digest())
    if last.keys() != {_MANIFEST, _MAC}:
        raise BackupDamaged
    is_sealed = hmac.compare_digest(last[_MAC], _mac(service_key, last[_MANIFEST]))
    try:
        manifest = msgspec.json.decode(last[_MANIFEST], type=BackupManifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise (UnknownFormat if is_sealed else BackupDamaged) from None
    if is_sealed and (manifest.format, manifest.version) != (FORMAT, VERSION):
        raise UnknownFormat
    if manifest.files != found:
        raise BackupDamaged
    if not is_sealed:
        # Every file is as the manifest says, so either the key is another one, or the seal itself was changed.
        raise BackupDamaged if _opens(backup, service_key) else WrongServiceKey
    return manifest


def _whole(member: Member) -> bytes:
    if member.size > _MAX_MANIFEST_BYTES:
        raise BackupDamaged
    return b"".join(member.pieces())


def _opens(backup: IO[bytes], service_key: bytes) -> bool:
    """Whether the key opens the service's own database in the backup."""
    with tempfile.TemporaryDirectory(prefix="carrel-") as name:
        folder, clock = Path(name), SystemClock()
        backup.seek(0)
        for member in members(backup, lambda _: None):
            if member.name.startswith(SERVICE):
                _write(folder, member)
        with suppress(WrongServiceKey):
            _prove(folder, service_key, clock, uuid7_factory(clock))
            return True
    return False


def _write(folder: Path, member: Member) -> None:
    path = folder / member.name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        for piece in member.pieces():
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _names(data: Path) -> list[str]:
    below = (path.relative_to(data).as_posix() for path in data.rglob("*.db*") if path.is_file())
    return sorted(name for name in below if _NAME.fullmatch(name))


def _prove(data: Path, service_key: bytes, clock: Clock, new_id: NewId) -> None:
    key = file_key(service_key, "service")
    try:
        connection = database.connect(data / SERVICE, key, clock=clock, new_id=new_id, readonly=True)
    except KeyRejected:
        raise WrongServiceKey from None
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

"""A backup of a whole cluster: a folder with one backup of each node, and a manifest that says which slot is in which.

A slot that moved while the backup was made may have files in two of them. The manifest names one for each slot, and
only that one counts.
"""

import hmac
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from carrel.accounts import merging
from carrel.accounts.slots import SLOTS, file_key
from carrel.backup import archive
from carrel.backup.archive import SERVICE, BackupManifest, BackupPart
from carrel.backup.members import OnProgress
from carrel.backup.refusals import (
    ClusterBackupDamaged,
    ClusterBackupUnfinished,
    PartForeign,
    SchemasDiffer,
    UnknownFormat,
)
from carrel.kit.clock import Clock, rfc3339
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database

MANIFEST: Final = "cluster.json"
FORMAT: Final = "carrel-cluster-backup"
VERSION: Final = 1
_PARTS: Final = ".parts"


class NodePart(msgspec.Struct, frozen=True, kw_only=True):
    """The backup of one node: what it acknowledged before the backup of the node began is there, for these slots."""

    ended_at: str
    seal: str
    databases: int
    bytes: int
    slots: list[int]


class ClusterManifest(msgspec.Struct, frozen=True, kw_only=True):
    """`parts` have the names of the nodes; a part is the file `<node>.tar`. Every slot of the map is in one of them."""

    cluster: str
    made_at: str
    parts: dict[str, NodePart]
    format: str = FORMAT
    version: int = VERSION

    @property
    def databases(self) -> int:
        """How many databases the files hold."""
        return sum(part.databases for part in self.parts.values())

    @property
    def bytes(self) -> int:
        """How many bytes they have."""
        return sum(part.bytes for part in self.parts.values())


class _SealedManifest(msgspec.Struct, frozen=True):
    manifest: msgspec.Raw
    seal: str


def file_of(folder: Path, node: str) -> Path:
    """Where the part of a node is."""
    return folder / f"{node}.tar"


def size_of(folder: Path) -> int:
    """How many bytes the parts have."""
    return sum(path.stat().st_size for path in folder.glob("*.tar"))


def part_of(manifest: BackupManifest, cluster: str, node: str) -> BackupPart:
    """What the node says of its backup.

    Raises:
        PartForeign: it is another node's, or of a service without a cluster.
    """
    part = manifest.part
    if isinstance(part, msgspec.UnsetType) or (part.cluster, part.node) != (cluster, node):
        raise PartForeign(f"{node}.tar")
    return part


def require_one_schema(parts: Mapping[str, BackupPart]) -> None:
    """Refuse parts of nodes whose programs store data in different ways.

    Raises:
        SchemasDiffer
    """
    first = next(iter(parts), "")
    for name, part in parts.items():
        if part.schemas != parts[first].schemas:
            raise SchemasDiffer(first, name)


def finish(
    folder: Path, cluster: str, parts: Mapping[str, BackupManifest], nodes: Mapping[int, str], key: bytes, clock: Clock
) -> ClusterManifest:
    """Write the manifest. `nodes` says for each slot whose part it is in; a part that gives no slot is left out."""
    slots = {name: sorted(slot for slot, node in nodes.items() if node == name) for name in parts}
    told = {
        name: NodePart(
            ended_at=part.made_at,
            seal=archive.seal_of(part, key),
            databases=part.databases,
            bytes=part.bytes,
            slots=slots[name],
        )
        for name, part in sorted(parts.items())
        if slots[name]
    }
    manifest = ClusterManifest(cluster=cluster, made_at=rfc3339(clock.now()), parts=told)
    body = msgspec.json.encode(manifest)
    with database.translated():
        database.write_file(
            folder / MANIFEST, msgspec.json.encode(_SealedManifest(msgspec.Raw(body), _seal(key, body))) + b"\n"
        )
        database.sync_folder(folder)
    return manifest


def read(folder: Path, key: bytes) -> ClusterManifest:
    """The manifest, which nobody without the service key has changed.

    Raises:
        ClusterBackupUnfinished, ClusterBackupDamaged, UnknownFormat
    """
    try:
        sealed = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=_SealedManifest)
    except FileNotFoundError:
        raise ClusterBackupUnfinished from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ClusterBackupDamaged from None
    if not hmac.compare_digest(sealed.seal.encode(), _seal(key, bytes(sealed.manifest)).encode()):
        raise ClusterBackupDamaged
    try:
        manifest = msgspec.json.decode(sealed.manifest, type=ClusterManifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UnknownFormat from None
    if (manifest.format, manifest.version) != (FORMAT, VERSION):
        raise UnknownFormat
    return manifest


def check(folder: Path, key: bytes, on_progress: OnProgress) -> ClusterManifest:
    """Read all parts and compare them with the manifest.

    Raises:
        BackupRefused: it is not good.
        FileNotFoundError: a part is missing.
    """
    manifest = read(folder, key)
    for name, part in manifest.parts.items():
        with file_of(folder, name).open("rb") as file:
            _require(archive.check(file, key, on_progress), name, part, key)
    return manifest


def unpack(
    folder: Path,
    key: bytes,
    target: Path,
    slots: frozenset[int],
    *,
    clock: Clock,
    new_id: NewId,
    on_progress: OnProgress,
) -> ClusterManifest:
    """Write what the backup holds of these slots below `target`, a new folder that the caller removes if this fails.

    Raises:
        BackupRefused: it is not good; what was written must not be used.
        FileNotFoundError: a part is missing.
        CarrelError: it cannot be read or written.
    """
    manifest = read(folder, key)
    sources: dict[Path, list[int]] = {}
    for name, part in manifest.parts.items():
        place, taken = target / _PARTS / name, slots.intersection(part.slots)
        place.mkdir(parents=True, mode=0o700)
        with file_of(folder, name).open("rb") as file:
            _require(archive.unpack(file, key, place, on_progress, _within(taken)), name, part, key)
        for found in sorted(place.glob("slots/*")):
            (target / "slots").mkdir(exist_ok=True, mode=0o700)
            found.rename(target / "slots" / found.name)
        sources[place / SERVICE] = sorted(taken)
    merging.merge(target / SERVICE, sources, key, clock, new_id)
    shutil.rmtree(target / _PARTS)
    for below in (target / "slots", target):
        if below.exists():
            database.sync_folder(below)
    return manifest


EVERY_SLOT: Final = frozenset(range(SLOTS))


def _within(slots: frozenset[int]) -> Callable[[str], bool]:
    """Whether a file is of these slots, or the service's own."""
    return lambda name: name.startswith(SERVICE) or int(name.split("/")[1]) in slots


def _require(found: BackupManifest, name: str, part: NodePart, key: bytes) -> None:
    if archive.seal_of(found, key) != part.seal:
        raise PartForeign(f"{name}.tar")


def _seal(key: bytes, body: bytes) -> str:
    return hmac.digest(file_key(key, "cluster backup"), body, "sha256").hex()

"""`carrel admin backup --all-nodes`: the backups of all nodes in one folder, with one manifest.

Exit codes: 0 done; 1 a file or a node cannot be used; 2 wrong usage; 5 slots kept moving; 6 a node does not run.
"""

import os
from pathlib import Path
from typing import Final

from carrel_sdk import CarrelError

from carrel.backup import archive, cluster_backup
from carrel.backup.archive import BackupManifest, BackupPart
from carrel.cli.interface import terminal
from carrel.cli.interface.data_folder import one_line, print_summary
from carrel.cli.interface.each_node import admin_of, trusting
from carrel.cli.interface.etcd import require_etcd, run
from carrel.cli.interface.refusal import refuse
from carrel.cluster import shares
from carrel.cluster.shares import Shares
from carrel.config import Settings
from carrel.kit.clock import SystemClock
from carrel.kit.sqlite import database

_ROUNDS: Final = 5
"""So often a node is asked again, because a slot has moved to it."""


class Collection:
    """Fetches what is lacking. The parts that are there already are kept while they hold what the map says."""

    def __init__(
        self, folder: Path, settings: Settings, secret: str, node_ca: Path | None, *, allow_http: bool
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._key = settings.service_key.reveal()
        self._secret = secret
        self._tls = trusting(node_ca) if node_ca is not None else None
        self._allow_http = allow_http
        self._parts: dict[str, BackupManifest] = {}

    def complete(self, *, as_json: bool) -> None:
        """Fetch the parts and write the manifest. Ends the program if that cannot be done now."""
        for _ in range(_ROUNDS):
            now = run(self._settings, shares.look, as_json=as_json)
            for name in sorted(now.members.keys() - self._parts.keys()):
                if cluster_backup.file_of(self._folder, name).exists():
                    self._take(now, name, cluster_backup.file_of(self._folder, name))
            lacking = now.lacking(self._said(now))
            if not lacking:
                clock, given = SystemClock(), now.given(self._said(now))
                made = cluster_backup.finish(self._folder, now.cluster, self._parts, given, self._key, clock)
                print_summary(made, self._folder, lambda held: f"{self._folder} holds {held}", as_json=as_json)
                return
            down = [name for name in lacking if name not in now.present]
            if down:
                words = f"{', '.join(down)}: does not run; start it, and give the command again: it goes on"
                terminal.end(terminal.EXIT_UNREACHABLE, words, as_json=as_json)
            for name in lacking:
                try:
                    self._fetch(now, name)
                except CarrelError as error:
                    terminal.end(terminal.exit_code_of(error), f"{name}: {error}", as_json=as_json)
        words = "slots kept moving; wait until carrel cluster status counts none, and give the command again"
        terminal.end(terminal.EXIT_CONFLICT, words, as_json=as_json)

    def _fetch(self, now: Shares, name: str) -> None:
        fresh = self._folder / f".{name}.tar"
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with (
                os.fdopen(descriptor, "wb") as file,
                admin_of(now.members[name], self._secret, self._tls, allow_http=self._allow_http) as admin,
            ):
                admin.backup(file)
                file.flush()
                os.fsync(file.fileno())
            self._take(now, name, fresh)
            fresh.rename(cluster_backup.file_of(self._folder, name))
            database.sync_folder(self._folder)
        finally:
            fresh.unlink(missing_ok=True)

    def _take(self, now: Shares, name: str, path: Path) -> None:
        with path.open("rb") as file:
            manifest = archive.check(file, self._key, lambda _: None)
        parts = self._said(now) | {name: cluster_backup.part_of(manifest, now.cluster, name)}
        cluster_backup.require_one_schema(parts)
        self._parts[name] = manifest

    def _said(self, now: Shares) -> dict[str, BackupPart]:
        return {name: cluster_backup.part_of(one, now.cluster, name) for name, one in self._parts.items()}


def back_up(
    folder: Path, settings: Settings, secret: str, node_ca: Path | None, *, allow_http: bool, as_json: bool
) -> None:
    """Make the backup of all nodes in a folder, or go on with one that was interrupted."""
    require_etcd(settings)
    if folder.exists() and not folder.is_dir():
        refuse(f"{folder} is a file; a backup of all nodes is a folder")
    if (folder / cluster_backup.MANIFEST).exists():
        refuse(f"{folder} is a finished backup already; it was left as it is")
    with one_line(folder, as_json=as_json):
        folder.mkdir(mode=0o700, exist_ok=True)
        Collection(folder, settings, secret, node_ca, allow_http=allow_http).complete(as_json=as_json)

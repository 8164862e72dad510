"""A backup of a running service, over HTTP: what was there is in it, also of users who write meanwhile."""

import errno
import io
import itertools
import json
import os
import shutil
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from carrel_sdk import Admin, CarrelApiError, CarrelUnreachable, Host, Workspace
from click.testing import CliRunner

from carrel.backup import archive, live
from carrel.backup.archive import BackupPart
from carrel.backup.live import BackupInProgress, LiveBackup
from carrel.cli.main import main
from carrel.errors import CarrelError, DiskFull, Unavailable
from carrel.kit.clock import SystemClock
from tests.support.service import Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path / "service")
    service.start()
    yield service
    service.kill()


def restored(service: Service, file: Path, folder: Path) -> Service:
    """The same service, with the data of a backup, elsewhere."""
    other = Service(
        folder,
        plugin_secret=service.plugin_secret,
        admin_secret=service.admin_secret,
        service_key=service.service_key,
    )
    environment = {name: text for name, text in service.environment().items() if name.startswith("CARREL_")}
    for words in (("verify", str(file)), ("restore", str(file), "--data-dir", str(other.data_dir))):
        done = CliRunner().invoke(main, list(words), env=environment, catch_exceptions=False)
        assert done.exit_code == 0, done.output
    other.start()
    return other


def test_what_was_acknowledged_before_a_backup_is_in_it_while_users_go_on_writing(
    service: Service, tmp_path: Path
) -> None:
    host = Host(service.url, service.plugin_secret)
    host.sign_up("gone", password="pw")
    service.stop()
    service.start()
    # Nobody has opened the workspace of `gone` since; that of `ada` is written to all the time.
    writing = Workspace(service.url, host.sign_up("ada", membership="paid", password="pw").token)
    for number in range(20):
        writing.contents.create(f"Before {number}", "fragment", "x" * 5_000)
    host.add_credits("ada", "5")
    ended = threading.Event()

    def write() -> None:
        number = 0
        while not ended.is_set():
            writing.contents.create(f"Meanwhile {number}", "fragment", "y" * 5_000)
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        file = tmp_path / "carrel.tar"
        environment = {"CARREL_ADMIN_SECRET": service.admin_secret, "CARREL_URL": service.url}
        made = CliRunner().invoke(main, ["admin", "backup", str(file), "--json"], env=environment)
        assert made.exit_code == 0, made.output
        assert json.loads(made.stdout)["bytes"] == file.stat().st_size
    finally:
        ended.set()
        writer.join()
        writing.close()
        host.close()
    assert sorted(path.name for path in service.data_dir.iterdir() if path.is_file()) == [
        "carrel.lock",
        "last-backup",
        "reserve",
        "service.db",
        "service.db-wal",
    ]
    other = restored(service, file, tmp_path / "other")
    host = Host(other.url, other.plugin_secret)
    try:
        with Workspace(other.url, host.sign_in("ada", "pw").token) as workspace:
            names = {content.name for content in workspace.contents.find()}
            assert names >= {f"Before {number}" for number in range(20)}
            assert workspace.credits().balance == "5"
        with Workspace(other.url, host.sign_in("gone", "pw").token) as workspace:
            assert list(workspace.contents.find()) == []
    finally:
        host.close()
        assert other.stop() == 0


def test_a_second_backup_is_refused_and_one_that_is_cut_off_is_no_backup(service: Service) -> None:
    refused: list[str] = []

    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            if not refused:
                with Admin(service.url, service.admin_secret) as other:
                    try:
                        other.backup(io.BytesIO())
                    except CarrelApiError as error:
                        refused.append(error.code)
                service.kill()
            return 0

    host = Host(service.url, service.plugin_secret)
    with Workspace(service.url, host.sign_up("ada", membership="paid", password="pw").token) as workspace:
        for number in range(40):
            workspace.contents.create(f"Long {number}", "fragment", os.urandom(400_000).hex())
    host.close()
    with Admin(service.url, service.admin_secret) as admin, pytest.raises(CarrelUnreachable):
        admin.backup(Full())
    assert refused == ["backup-in-progress"]


def bare(data: Path, **others: Any) -> LiveBackup:
    """Of a folder without a service."""

    class Still:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    async def run(fn: Any) -> Any:
        return fn(None)

    parts: dict[str, Any] = {
        "accounts": SimpleNamespace(still=Still, owner=str),
        "pool": SimpleNamespace(opened=[], try_lease=lambda _: None),
        "service": SimpleNamespace(run=run),
    } | others
    return LiveBackup(data, bytes(32), clock=SystemClock(), **parts)


async def whole(backups: LiveBackup) -> bytes:
    return b"".join([piece async for piece in backups.pieces()])


async def test_one_backup_is_made_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "service.db").write_bytes(b"x" * 1024)
    backups = bare(tmp_path)
    first = backups.pieces()
    assert await anext(first)
    with pytest.raises(BackupInProgress):
        await anext(backups.pieces())
    await first.aclose()
    assert await whole(backups)


async def test_files_that_never_rest_end_a_backup_in_its_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "TRIES", 3)
    monkeypatch.setattr(live, "REST_SECONDS", 0)
    folder = a_workspace(tmp_path)
    numbers = itertools.count(2)

    class Still:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None:
            write(folder / "workspace.db", str(next(numbers)).encode())

    with pytest.raises(Unavailable):
        await whole(bare(tmp_path, accounts=SimpleNamespace(still=Still, owner=str)))
    held = archive.check(io.BytesIO(await whole(bare(tmp_path))), bytes(32), lambda _: None)
    assert (len(held.files), held.bytes) == (3, 3 * 1024)


def a_workspace(data: Path) -> Path:
    """A user's folder whose files were last changed long ago; the service's own database beside it."""
    folder = data / "slots" / "0001" / ("a" * 32)
    folder.mkdir(parents=True)
    for path in (data / "service.db", folder / "account.db", folder / "workspace.db"):
        write(path, b"1")
    return folder


def write(path: Path, text: bytes) -> None:
    path.write_bytes(text * 1024)
    os.utime(path, ns=(0, int(text) * 10**9))


def held(backup: bytes) -> dict[str, bytes]:
    """What every file in it begins with."""
    archive.check(io.BytesIO(backup), bytes(32), lambda _: None)
    with tarfile.open(fileobj=io.BytesIO(backup)) as tar:
        files = {Path(name).name: tar.extractfile(name) for name in tar.getnames() if name.endswith(".db")}
        return {name: file.read(1) for name, file in files.items() if file is not None}


async def test_the_account_and_the_workspace_of_a_user_are_of_one_moment(tmp_path: Path) -> None:
    folder = a_workspace(tmp_path)

    class Still:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None:
            # A call is made and paid while the backup is between the two files.
            write(folder / "account.db", b"2")
            write(folder / "workspace.db", b"2")

    backup = await whole(bare(tmp_path, accounts=SimpleNamespace(still=Still, owner=str)))
    assert held(backup) == {"service.db": b"1", "account.db": b"2", "workspace.db": b"2"}


async def test_the_account_is_copied_while_an_open_workspace_stands_still(tmp_path: Path) -> None:
    folder = a_workspace(tmp_path)
    os.utime(folder / "workspace.db")

    class Open:
        async def write(self, fn: Any) -> Any:
            # What was under way is finished before the writer's next transaction begins.
            write(folder / "account.db", b"2")
            (folder / "workspace.db").write_bytes(b"2" * 1024)
            return fn(None)

    pool = SimpleNamespace(opened=["0001/" + "a" * 32], try_lease=lambda _: Open(), release=lambda _: None)
    assert held(await whole(bare(tmp_path, pool=pool))) == {
        "service.db": b"1",
        "account.db": b"2",
        "workspace.db": b"2",
    }


async def test_what_the_service_records_of_users_is_copied_after_them(tmp_path: Path) -> None:
    a_workspace(tmp_path)
    pieces = bare(tmp_path).pieces()
    first = await anext(pieces)
    # A deletion that was under way has ended, and the user is there anew: that must not be finished at a restore.
    write(tmp_path / "service.db", b"2")
    backup = first + b"".join([piece async for piece in pieces])
    assert held(backup) == {"service.db": b"2", "account.db": b"1", "workspace.db": b"1"}


async def test_a_backup_goes_out_in_few_pieces_for_each_takes_of_the_event_loop(tmp_path: Path) -> None:
    folder = a_workspace(tmp_path)
    (folder / "workspace.db").write_bytes(bytes(20 * 1024 * 1024))
    os.utime(folder / "workspace.db", ns=(0, 0))
    sizes = [len(piece) async for piece in bare(tmp_path).pieces()]
    # Four or five of the table, the service's own, and the manifest.
    assert len(sizes) <= 7
    assert max(sizes) < 6 * 1024 * 1024


async def test_files_from_before_the_clock_was_set_back_are_at_rest(tmp_path: Path) -> None:
    folder = a_workspace(tmp_path)
    os.utime(folder / "workspace.db", ns=(0, time.time_ns() + 3_600 * 10**9))
    assert held(await whole(bare(tmp_path))).keys() == {"service.db", "account.db", "workspace.db"}


@pytest.mark.parametrize(("number", "refusal"), [(errno.ENOSPC, DiskFull), (errno.EIO, Unavailable)])
async def test_a_failing_disk_is_told_as_one_and_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, refusal: type[CarrelError]
) -> None:
    a_workspace(tmp_path)

    def fail(*_: object) -> None:
        raise OSError(number, "the disk failed")

    backups = bare(tmp_path)
    monkeypatch.setattr(shutil, "copyfileobj", fail)
    with pytest.raises(refusal):
        await whole(backups)
    monkeypatch.undo()
    assert await whole(backups)


class Served:
    """What a node serves, as tests set it."""

    def __init__(self, *slots: int) -> None:
        self.copies = dict.fromkeys(slots, "first")

    def part(self) -> BackupPart:
        return BackupPart(cluster="c", node="a", schemas=(1, 1, 1), slots=dict(self.copies))

    def copy(self, slot: int) -> str | None:
        return self.copies.get(slot)


async def test_a_node_copies_only_the_slots_that_it_serves(tmp_path: Path) -> None:
    # The copy of slot 1 was released: it is on the disk until the other node has taken it.
    folder = a_workspace(tmp_path)
    (folder.parent / "OWNER").write_text("{}")
    backup = await whole(bare(tmp_path, share=Served(2)))
    assert held(backup).keys() == {"service.db"}
    part = archive.check(io.BytesIO(backup), bytes(32), lambda _: None).part
    assert isinstance(part, BackupPart)
    assert part.slots == {2: "first"}
    both = await whole(bare(tmp_path, share=Served(1, 2)))
    assert held(both).keys() == {"service.db", "account.db", "workspace.db"}


@pytest.mark.parametrize("back_as", [None, "second"])
async def test_a_slot_that_leaves_during_a_backup_is_not_claimed_by_it(tmp_path: Path, back_as: str | None) -> None:
    a_workspace(tmp_path)
    served = Served(1, 2)
    pieces = bare(tmp_path, share=served).pieces()
    first = await anext(pieces)
    served.copies.pop(1)
    if back_as is not None:
        served.copies[1] = back_as
    backup = first + b"".join([piece async for piece in pieces])
    part = archive.check(io.BytesIO(backup), bytes(32), lambda _: None).part
    assert isinstance(part, BackupPart)
    assert part.slots == {2: "first"}

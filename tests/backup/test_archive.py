"""`carrel backup`, `verify` and `restore`: a desk survives the way to another machine, and damage is noticed."""

import io
import json
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from carrel_sdk import Host, Workspace
from click.testing import CliRunner, Result

from carrel.backup import archive
from carrel.cli.main import main
from tests.support.service import Service

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """A service that was killed after a user wrote something, so that logs lie beside the databases."""
    service = Service(tmp_path_factory.mktemp("service"))
    service.start()
    host = Host(service.url, service.plugin_secret)
    with Workspace(service.url, host.sign_up("text_cache", membership="paid", password="pw").token) as desk:
        desk.contents.create("A note", "fragment", "The harbour is open.")
        host.add_credits("text_cache", "5")
    host.close()
    service.kill()
    return service


@pytest.fixture
def good(stopped: Service, tmp_path: Path) -> Path:
    """A backup of it."""
    file = tmp_path / "carrel.backup"
    made = run(stopped, "backup", str(file), "--data-dir", str(stopped.data_dir), "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["databases"] == 5
    return file


def run(service: Service, *words: str, **other: str) -> Result:
    """A command with that service's configuration."""
    environment = {name: text for name, text in service.environment().items() if name.startswith("CARREL_")} | other
    return CliRunner().invoke(main, list(words), env=environment, catch_exceptions=False)


def test_a_desk_is_there_on_another_machine(stopped: Service, good: Path, tmp_path: Path) -> None:
    assert stat.S_IMODE(good.stat().st_mode) == 0o600
    with tarfile.open(good) as tar:
        assert any(name.endswith("workspace.db-wal") for name in tar.getnames())
    verified = run(stopped, "verify", str(good))
    assert (verified.exit_code, "5 databases" in verified.output) == (0, True)
    other = Service(
        tmp_path / "other",
        plugin_secret=stopped.plugin_secret,
        admin_secret=stopped.admin_secret,
        service_key=stopped.service_key,
    )
    assert run(stopped, "restore", str(good), "--data-dir", str(other.data_dir)).exit_code == 0
    assert stat.S_IMODE(other.data_dir.stat().st_mode) == 0o700
    other.start()
    host = Host(other.url, other.plugin_secret)
    with Workspace(other.url, host.sign_in("text_cache", "pw").token) as desk:
        (note,) = desk.contents.find()
        assert desk.contents.get(note.id).body == "The harbour is open."
        assert desk.credits().balance == "5"
    host.close()
    assert other.stop() == 0
    assert sorted(path.name for path in other.folder.iterdir()) == ["data", "service.log"]


def test_nothing_is_backed_up_from_under_a_running_service(tmp_path: Path) -> None:
    service = Service(tmp_path / "service")
    service.start()
    refused = run(service, "backup", str(tmp_path / "b"), "--data-dir", str(service.data_dir))
    assert service.stop() == 0
    assert (refused.exit_code, "stop it first" in refused.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["service"]


def test_nothing_is_ever_replaced(stopped: Service, good: Path, tmp_path: Path) -> None:
    before = good.read_bytes()
    assert run(stopped, "backup", str(good), "--data-dir", str(stopped.data_dir)).exit_code == 2
    assert good.read_bytes() == before
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("mine")
    refused = run(stopped, "restore", str(good), "--data-dir", str(full))
    assert (refused.exit_code, "not empty" in refused.stderr) == (2, True)
    assert [path.name for path in full.iterdir()] == ["mine"]


def test_an_empty_folder_may_be_restored_into(stopped: Service, good: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "carrel.lock").touch()
    assert run(stopped, "restore", str(good), "--data-dir", str(empty)).exit_code == 0
    assert (empty / "service.db").exists()


def damaged(body: bytes) -> Iterator[bytes]:
    yield b""
    yield b"no backup at all"
    yield body[: len(body) // 2]
    # Cut just before the manifest, or before its seal: every file is whole.
    yield body[: body.index(b"manifest.json")]
    yield body[: body.index(b"manifest.mac")]
    for place in (600, len(body) // 2, body.index(b'"sha256":"') + 12, body.index(b"manifest.mac") + 520):
        yield body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]


def test_damage_anywhere_is_noticed_and_nothing_is_restored(stopped: Service, good: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    for body in damaged(good.read_bytes()):
        bad.write_bytes(body)
        for words in (("verify", str(bad)), ("restore", str(bad), "--data-dir", str(tmp_path / "target"))):
            refused = run(stopped, *words)
            assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1), refused.output
        assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "carrel.backup"]


def test_another_services_backup_or_key_is_refused(stopped: Service, good: Path, tmp_path: Path) -> None:
    words = ("backup", str(tmp_path / "b"), "--data-dir", str(stopped.data_dir))
    for refused in (
        run(stopped, "verify", str(good), CARREL_SERVICE_KEY=KEY.hex()),
        run(stopped, "restore", str(good), "--data-dir", str(tmp_path / "t"), CARREL_SERVICE_KEY=KEY.hex()),
        run(stopped, *words, CARREL_SERVICE_KEY=KEY.hex()),
    ):
        assert (refused.exit_code, "CARREL_SERVICE_KEY does not fit" in refused.stderr) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["carrel.backup"]


def test_what_is_not_there_is_one_line(stopped: Service, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for code, *words in (
        (1, "verify", str(tmp_path / "nowhere")),
        (1, "restore", str(tmp_path / "nowhere"), "--data-dir", str(tmp_path / "t")),
        (2, "backup", str(tmp_path / "b"), "--data-dir", str(tmp_path / "nowhere")),
        (1, "backup", str(tmp_path / "b"), "--data-dir", str(empty)),
        (1, "backup", str(tmp_path / "no" / "folder"), "--data-dir", str(stopped.data_dir)),
        (2, "verify", str(tmp_path / "b"), "--env-file", str(tmp_path / "nowhere")),
    ):
        refused = run(stopped, *words)
        assert (refused.exit_code, len(refused.stderr.splitlines())) == (code, 1), refused.output


@pytest.mark.parametrize("name", ["../service.db", "/service.db", "slots/0001/x/account.db", "service.db.new"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    file.seek(0)
    with pytest.raises(archive.BackupDamaged):
        archive.unpack(file, KEY, tmp_path / "inside", lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_no_file_of_a_backup(tmp_path: Path) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        info = tarfile.TarInfo("service.db")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(info)
    file.seek(0)
    with pytest.raises(archive.BackupDamaged):
        archive.unpack(file, KEY, tmp_path / "inside", lambda _: None)

"""`carrel restore`: where a backup is put, and what of the time since then still counts."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from carrel_sdk import Host, SessionEnded, Workspace
from click.testing import CliRunner, Result

from carrel.cli.main import main
from tests.support.service import Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path / "service")
    service.start()
    yield service
    service.kill()


def run(service: Service, *words: str) -> Result:
    """A command with that service's configuration."""
    environment = {name: text for name, text in service.environment().items() if name.startswith("CARREL_")}
    return CliRunner().invoke(main, list(words), env=environment, catch_exceptions=False)


def test_a_session_that_was_ended_after_the_backup_does_not_come_back_with_it(service: Service, tmp_path: Path) -> None:
    file = tmp_path / "carrel.tar"
    with closing(Host(service.url, service.plugin_secret)) as host:
        stolen = host.sign_up("ada", membership="paid", password="the old one").token
        service.stop()
        assert run(service, "backup", str(file), "--data-dir", str(service.data_dir)).exit_code == 0
        service.start()
        host.change_password("ada", "the old one", "the new one")
        with Workspace(service.url, stolen) as desk, pytest.raises(SessionEnded):
            desk.me()
        service.stop()
        service.data_dir.rename(tmp_path / "away")
        assert run(service, "restore", str(file), "--data-dir", str(service.data_dir)).exit_code == 0
        service.start()
        with Workspace(service.url, host.sign_in("ada", "the old one").token) as desk:
            assert desk.me().uuid == "ada"
        with Workspace(service.url, stolen) as desk, pytest.raises(SessionEnded) as ended:
            desk.me()
        assert ended.value.code == "session-token-revoked"


def test_a_folder_that_is_a_disk_of_its_own_is_filled_and_not_replaced(service: Service, tmp_path: Path) -> None:
    file, folder = tmp_path / "carrel.tar", tmp_path / "disk"
    service.stop()
    assert run(service, "backup", str(file), "--data-dir", str(service.data_dir)).exit_code == 0
    (folder / "lost+found").mkdir(parents=True)
    # What a restore left that was killed.
    (folder / ".restoring" / "slots").mkdir(parents=True)
    before = folder.stat().st_ino
    assert run(service, "restore", str(file), "--data-dir", str(folder)).exit_code == 0
    assert folder.stat().st_ino == before
    assert sorted(path.name for path in folder.iterdir()) == ["carrel.lock", "lost+found", "service.db", "slots"]


def test_a_backup_that_is_none_leaves_a_folder_as_it_was(service: Service, tmp_path: Path) -> None:
    file, folder = tmp_path / "carrel.tar", tmp_path / "disk"
    file.write_bytes(b"no backup at all")
    folder.mkdir()
    assert run(service, "restore", str(file), "--data-dir", str(folder)).exit_code == 1
    assert list(folder.iterdir()) == []

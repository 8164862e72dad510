"""`carrel backup`, `verify` and `restore`: a workspace survives the way to another machine, and damage is noticed."""

import io
import json
import stat
import tarfile
from pathlib import Path

import pytest
from carrel_sdk import Host, SessionEnded, Workspace
from click.testing import CliRunner, Result

from carrel.backup import archive
from carrel.backup.refusals import (
    BackupDamaged,
    BackupRefused,
    BackupTruncated,
    NotABackup,
    UnknownFormat,
    WrongServiceKey,
)
from carrel.cli.main import main
from tests.support.service import Service

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Service:
    """A service that was killed after a user wrote something, so that logs lie beside the databases."""
    service = Service(tmp_path_factory.mktemp("service"))
    service.start()
    host = Host(service.url, service.plugin_secret)
    with Workspace(service.url, host.sign_up("keeper", membership="paid", password="pw").token) as workspace:
        workspace.contents.create("A note", "fragment", "The harbour is open.")
        host.add_credits("keeper", "5")
    host.close()
    service.kill()
    return service


@pytest.fixture
def good(stopped: Service, tmp_path: Path) -> Path:
    """A backup of it."""
    file = tmp_path / "carrel.backup"
    made = run(stopped, "backup", str(file), "--data-dir", str(stopped.data_dir), "--json")
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["databases"] == 3
    return file


def run(service: Service, *words: str, **other: str) -> Result:
    """A command with that service's configuration."""
    environment = {name: text for name, text in service.environment().items() if name.startswith("CARREL_")} | other
    return CliRunner().invoke(main, list(words), env=environment, catch_exceptions=False)


def test_a_workspace_is_there_on_another_machine(stopped: Service, good: Path, tmp_path: Path) -> None:
    assert stat.S_IMODE(good.stat().st_mode) == 0o600
    with tarfile.open(good) as tar:
        assert any(name.endswith("workspace.db-wal") for name in tar.getnames())
    verified = run(stopped, "verify", str(good))
    assert (verified.exit_code, "3 databases" in verified.output) == (0, True)
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
    with Workspace(other.url, host.sign_in("keeper", "pw").token) as workspace:
        (note,) = workspace.contents.find()
        assert workspace.contents.get(note.id).body == "The harbour is open."
        assert workspace.credits().balance == "5"
    host.close()
    assert other.stop() == 0
    assert sorted(path.name for path in other.folder.iterdir()) == ["data", "service.log"]


def test_one_user_comes_back_out_of_a_backup_while_the_others_stay_as_they_are(tmp_path: Path) -> None:
    service = Service(tmp_path / "service")
    service.start()
    host = Host(service.url, service.plugin_secret)
    for name in ("loser", "other"):
        with Workspace(service.url, host.sign_up(name, membership="paid", password="pw").token) as workspace:
            workspace.contents.create("Before", "fragment", "The harbour is open.")
    folder, file = ("--data-dir", str(service.data_dir)), str(tmp_path / "carrel.backup")
    assert service.stop() == 0
    assert run(service, "backup", file, *folder).exit_code == 0
    service.start()
    session = host.sign_in("loser", "pw").token
    assert host.delete("loser")
    with Workspace(service.url, host.sign_in("other", "pw").token) as workspace:
        workspace.contents.create("After", "fragment", "The harbour is closed.")
    assert "a service runs in this folder" in run(service, "restore", file, "--user", "loser", *folder).stderr
    assert run(service, "where", "loser", *folder).exit_code == 4
    assert service.stop() == 0
    assert run(service, "restore", file, "--user", "nobody", *folder).exit_code == 4
    assert run(service, "restore", file, "--user", "other", *folder).exit_code == 2, "not without --replace"
    assert run(service, "restore", file, "--user", "loser", *folder).exit_code == 0
    assert Path(run(service, "where", "loser", *folder).stdout.strip()).is_dir()
    service.start()
    with Workspace(service.url, session) as workspace, pytest.raises(SessionEnded):
        workspace.me()
    for name, texts in (("loser", ["Before"]), ("other", ["After", "Before"])):
        with Workspace(service.url, host.sign_in(name, "pw").token) as workspace:
            assert sorted(one.name for one in workspace.contents.find()) == texts
    assert service.stop() == 0
    assert run(service, "restore", file, "--user", "other", "--replace", *folder).exit_code == 0
    service.start()
    with Workspace(service.url, host.sign_in("other", "pw").token) as workspace:
        assert [one.name for one in workspace.contents.find()] == ["Before"]
    host.close()
    assert service.stop() == 0
    assert run(service, "verify-audit", *folder).stdout.startswith(
        "every entry is as it was written: 3 in all, the last one at "
    )


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


def refusal(backup: bytes, key: bytes) -> type[Exception]:
    """What is said of these bytes."""
    with pytest.raises(BackupRefused) as refused:
        archive.check(io.BytesIO(backup), key, lambda _: None)
    return type(refused.value)


def test_a_backup_that_was_cut_short_is_called_so_at_every_length(stopped: Service, good: Path) -> None:
    body, key = good.read_bytes(), bytes.fromhex(stopped.service_key)
    assert archive.check(io.BytesIO(body), key, lambda _: None).databases == 3
    with tarfile.open(good) as tar:
        places = [place for member in tar for place in (member.offset, member.offset_data)]
    edges = {place + step for place in places for step in (-1, 0, 1, 511)} - {-1}
    lengths = edges | {*range(0, len(body), 16_000), *range(len(body) - 3_000, len(body), 101), len(body) - 1}
    assert len(lengths) > 100
    assert {refusal(body[:length], key) for length in lengths} == {BackupTruncated}
    # The key plays no part in it.
    assert {refusal(body[:length], KEY) for length in sorted(lengths)[-50:]} == {BackupTruncated}


def changed(body: bytes, place: int) -> bytes:
    """The body with one bit turned over."""
    return body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]


def test_damage_is_called_damage(stopped: Service, good: Path) -> None:
    body, key = good.read_bytes(), bytes.fromhex(stopped.service_key)
    manifest, mac = body.index(b"manifest.json"), body.index(b"manifest.mac")
    places = (0, 200, 600, len(body) // 2, manifest, manifest + 514, body.index(b'"sha256":"') + 12, mac, mac + 520)
    assert {place: refusal(changed(body, place), key) for place in places} == dict.fromkeys(places, BackupDamaged)
    # A part of it twice, and two backups in one.
    assert refusal(body[:mac] + body[manifest:], key) is BackupDamaged
    assert refusal(body[: 512 * (1 + -(-good_size(body) // 512))] + body, key) is BackupDamaged


def good_size(body: bytes) -> int:
    """How many bytes the first file has."""
    return tarfile.TarInfo.frombuf(body[:512], "utf-8", "strict").size


def test_a_file_of_another_kind_is_called_so(stopped: Service, tmp_path: Path) -> None:
    key = bytes.fromhex(stopped.service_key)
    other = io.BytesIO()
    with tarfile.open(fileobj=other, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("holiday.jpg"))
    empty = io.BytesIO()
    with tarfile.open(fileobj=empty, mode="w"):
        pass
    for foreign in (b"no backup at all", b"x" * 10_000, other.getvalue(), empty.getvalue(), b"PK\x03\x04" * 200):
        assert refusal(foreign, key) is NotABackup


def test_another_key_is_told_from_a_damaged_seal(stopped: Service, good: Path) -> None:
    body, key = good.read_bytes(), bytes.fromhex(stopped.service_key)
    assert refusal(body, KEY) is WrongServiceKey
    place = body.index(b"manifest.mac") + 512
    other = b"0" if body[place : place + 1] != b"0" else b"1"
    assert refusal(body[:place] + other + body[place + 1 :], key) is BackupDamaged


def test_a_backup_of_another_format_is_called_so(stopped: Service, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "VERSION", 2)
    assert refusal(good.read_bytes(), bytes.fromhex(stopped.service_key)) is UnknownFormat


def test_what_is_wrong_with_a_backup_is_said_in_one_line_and_nothing_is_restored(
    stopped: Service, good: Path, tmp_path: Path
) -> None:
    body, bad = good.read_bytes(), tmp_path / "bad"
    for content, words in (
        (b"", "cut short"),
        (b"no backup at all", "not a backup of Carrel"),
        (body[: len(body) // 2], "cut short"),
        # Every file is whole; the manifest or its seal is missing.
        (body[: body.index(b"manifest.json")], "cut short"),
        (body[: body.index(b"manifest.mac")], "cut short"),
        (changed(body, len(body) // 2), "damaged"),
        (changed(body, body.index(b"manifest.mac") + 520), "damaged"),
    ):
        bad.write_bytes(content)
        for command in (("verify", str(bad)), ("restore", str(bad), "--data-dir", str(tmp_path / "target"))):
            refused = run(stopped, *command)
            assert (refused.exit_code, len(refused.stderr.splitlines())) == (1, 1), refused.output
            assert words in refused.stderr
            assert "SERVICE_KEY" not in refused.stderr
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
    with pytest.raises(NotABackup):
        archive.unpack(file, KEY, tmp_path / "inside", lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_no_file_of_a_backup(tmp_path: Path) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        info = tarfile.TarInfo("service.db")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(info)
    file.seek(0)
    with pytest.raises(NotABackup):
        archive.unpack(file, KEY, tmp_path / "inside", lambda _: None)

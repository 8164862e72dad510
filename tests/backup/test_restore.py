"""`carrel restore`: where a backup is put, and what of the time since then still counts."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from carrel.accounts.program_keys import ProgramKeyId
from carrel.auth.programs.secret import ProgramKeyInvalid
from carrel.auth.tokens import TokenInvalid, TokenRevoked
from carrel.backup import archive
from carrel.cli.main import main
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.vault.keyring import UserUuid
from tests.support.auth_stack import SECRETS, SERVICE_KEY, auth_stack
from tests.support.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    """As late as it is for the program."""
    return FakeClock(SystemClock().now())


def packed(data: Path, file: Path, clock: FakeClock) -> None:
    with file.open("wb") as out:
        archive.pack(data, SERVICE_KEY, out, clock, uuid7_factory(clock), lambda _: None)


def restore(file: Path, folder: Path) -> int:
    """The exit code of the command."""
    words = ["restore", str(file), "--data-dir", str(folder)]
    environment = {"CARREL_PLUGIN_SECRET": SECRETS[0].decode(), "CARREL_SERVICE_KEY": SERVICE_KEY.hex()}
    return CliRunner().invoke(main, words, env=environment, catch_exceptions=False).exit_code


async def test_a_session_that_was_ended_after_the_backup_does_not_come_back_with_it(
    tmp_path: Path, clock: FakeClock
) -> None:
    data, file, restored = tmp_path / "data", tmp_path / "carrel.tar", tmp_path / "restored"
    async with auth_stack(data, clock) as stack:
        await stack.create("ada")
        stolen = await stack.login("ada")
    packed(data, file, clock)
    async with auth_stack(data, clock) as stack:
        await stack.login("ada")
        await stack.rekey("ada", "second")
        with pytest.raises(TokenRevoked):
            await stack.ask(stolen)
    assert restore(file, restored) == 0
    async with auth_stack(restored, clock) as stack:
        new = await stack.login("ada")
        assert (await stack.ask(new)).uuid == "ada"
        with pytest.raises(TokenRevoked):
            await stack.ask(stolen)


async def test_a_program_key_that_was_revoked_after_the_backup_does_not_come_back_with_it(
    tmp_path: Path, clock: FakeClock
) -> None:
    data, file, restored = tmp_path / "data", tmp_path / "carrel.tar", tmp_path / "restored"
    async with auth_stack(data, clock) as stack:
        await stack.create("ada")
        session = await stack.session_of(await stack.login("ada"))
        revoked, other = await stack.make_key(session), await stack.make_key(session)
        token = await stack.exchange(revoked.program_key)
    packed(data, file, clock)
    async with auth_stack(data, clock) as stack:
        await stack.program_keys.revoke(session, ProgramKeyId(revoked.id))
    assert restore(file, restored) == 0
    async with auth_stack(restored, clock) as stack:
        for key in (revoked, other):
            with pytest.raises(ProgramKeyInvalid):
                await stack.exchange(key.program_key)
        with pytest.raises(TokenInvalid):
            await stack.ask(token)
        session = await stack.session_of(await stack.login("ada"))
        assert [key.state for key in (await stack.program_keys.list(UserUuid("ada"))).items] == ["restored"] * 2
        new = await stack.make_key(session)
        assert (await stack.ask(await stack.exchange(new.program_key))).uuid == "ada"


async def test_a_folder_that_is_a_disk_of_its_own_is_filled_and_not_replaced(tmp_path: Path, clock: FakeClock) -> None:
    data, file, disk = tmp_path / "data", tmp_path / "carrel.tar", tmp_path / "disk"
    async with auth_stack(data, clock) as stack:
        await stack.create("ada")
    packed(data, file, clock)
    (disk / "lost+found").mkdir(parents=True)
    # What a restore left that was killed.
    (disk / ".restoring" / "slots").mkdir(parents=True)
    before = disk.stat().st_ino
    assert restore(file, disk) == 0
    assert disk.stat().st_ino == before
    assert sorted(path.name for path in disk.iterdir()) == ["carrel.lock", "lost+found", "service.db", "slots"]


def test_a_backup_that_is_none_leaves_a_folder_as_it_was(tmp_path: Path) -> None:
    file, folder = tmp_path / "carrel.tar", tmp_path / "disk"
    file.write_bytes(b"no backup at all")
    folder.mkdir()
    assert restore(file, folder) == 1
    assert list(folder.iterdir()) == []

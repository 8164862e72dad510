"""`account.db`: made once, sealed to its user, whole after every crash and every failure of the disk."""

import asyncio
import itertools
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import Accounts, UserExists, UserUnknown
from carrel.accounts.slots import SLOTS, file_key, folder_name, folder_of, slot_of
from carrel.errors import CarrelError, DiskFull, Unavailable
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, Damaged
from carrel.kit.sqlite.migrate import NewerDatabase
from tests.accounts.conftest import SERVICE_KEY, MakeAccounts
from tests.support.clock import FakeClock
from tests.support.disk import Disk, every_failure, failing
from tests.support.vault import contents


async def make(accounts: Accounts, uuid: str) -> account_rows.Account:
    return await accounts.create(uuid, account_rows.insert, uuid, "free")


def files_of(accounts: Accounts, uuid: str) -> list[str]:
    return sorted(file.name for file in accounts.folder(uuid).iterdir())


# Creation -------------------------------------------------------------------------------------------------------------


async def test_an_account_is_made_and_read(accounts: Accounts) -> None:
    made = await make(accounts, "alice")
    assert made == await accounts.run("alice", account_rows.get) == await accounts.read("alice", account_rows.get)
    assert (made.uuid, made.membership, made.has_workspace) == ("alice", "free", False)
    assert files_of(accounts, "alice") == ["account.db"]
    assert (accounts.folder("alice") / "account.db").stat().st_mode & 0o777 == 0o600


async def test_what_was_read_is_recalled_until_the_account_changes(accounts: Accounts) -> None:
    read = 0

    def membership(conn: Connection) -> str:
        nonlocal read
        read += 1
        return account_rows.get(conn).membership

    async def recalled() -> tuple[str, int]:
        return await accounts.recall("alice", membership), read

    await make(accounts, "alice")
    await make(accounts, "bob")
    assert [await recalled(), await recalled()] == [("free", 1), ("free", 1)]
    await accounts.run("bob", account_rows.set_membership, "paid")
    assert await recalled() == ("free", 1)
    await accounts.run("alice", account_rows.set_membership, "paid")
    assert await recalled() == ("paid", 2)
    accounts.run_here("alice", lambda conn: account_rows.set_membership(conn, "free"))
    assert await recalled() == ("free", 3)
    with accounts.still():
        pass
    assert await recalled() == ("free", 4)
    accounts.remove(accounts.owner("alice"))
    with pytest.raises(UserUnknown):
        await recalled()
    await make(accounts, "alice")
    assert await recalled() == ("free", 5)


async def test_of_no_more_accounts_than_the_limit_is_anything_recalled(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_rows, "RECALLED", 1)
    read: list[str] = []

    def uuid_of(conn: Connection) -> str:
        read.append(account_rows.get(conn).uuid)
        return read[-1]

    for uuid in ("alice", "bob"):
        await make(accounts, uuid)
    assert [await accounts.recall(uuid, uuid_of) for uuid in ("alice", "bob", "bob", "alice")] == [
        "alice",
        "bob",
        "bob",
        "alice",
    ]
    assert read == ["alice", "bob", "alice"]


async def test_of_two_creations_exactly_one_wins(accounts: Accounts) -> None:
    for number in range(5):
        uuid = f"user-{number}"
        answers = await asyncio.gather(*(make(accounts, uuid) for _ in range(8)), return_exceptions=True)
        assert sorted(type(answer).__name__ for answer in answers) == ["Account"] + ["UserExists"] * 7
        assert files_of(accounts, uuid) == ["account.db"]


async def test_an_account_that_is_there_is_not_made_again(accounts: Accounts) -> None:
    await make(accounts, "alice")
    await accounts.run("alice", account_rows.set_membership, "paid")
    before = contents(accounts.folder("alice"))
    with pytest.raises(UserExists):
        await make(accounts, "alice")
    assert contents(accounts.folder("alice")) == before


async def test_a_creation_whose_first_transaction_fails_makes_nothing(accounts: Accounts) -> None:
    def fail(conn: Connection) -> None:
        account_rows.insert(conn, "alice", "free")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await accounts.create("alice", fail)
    assert files_of(accounts, "alice") == []
    with pytest.raises(UserUnknown):
        await accounts.run("alice", account_rows.get)
    await make(accounts, "alice")


async def test_what_a_killed_creation_left_is_swept_by_the_next(accounts: Accounts) -> None:
    folder = accounts.folder("alice")
    folder.mkdir(parents=True)
    for name in ("account.db.0190.new", "account.db.0190.new-wal", "account.db.0190.new-shm"):
        (folder / name).write_bytes(b"left by a crash")
    await make(accounts, "alice")
    assert files_of(accounts, "alice") == ["account.db"]


def test_creation_survives_every_failure_of_the_disk(tmp_path: Path) -> None:
    clock = FakeClock()
    new_id = uuid7_factory(clock)
    turns = itertools.count()

    def create(disk: Disk) -> None:
        accounts = Accounts(tmp_path / str(next(turns)), SERVICE_KEY, clock=clock, new_id=new_id)
        made = False
        with failing(disk):
            try:
                accounts._create("alice", lambda conn: account_rows.insert(conn, "alice", "paid"))
                made = True
            except DiskFull:
                assert disk.trouble == "full"
            except Unavailable:
                assert disk.trouble == "broken"
            disk.heal()
            try:
                account = accounts.run_here("alice", account_rows.get)
            except UserUnknown:
                assert not made
                account = accounts._create("alice", lambda conn: account_rows.insert(conn, "alice", "paid"))
        assert account.membership == "paid"
        assert files_of(accounts, "alice") == ["account.db"]
        accounts.close()

    assert every_failure(create) > 50


# Sealing --------------------------------------------------------------------------------------------------------------


async def test_two_users_swapped_accounts_do_not_open(accounts: Accounts) -> None:
    for uuid in ("alice", "bob"):
        await make(accounts, uuid)
    alices, bobs = (accounts.folder(uuid) / "account.db" for uuid in ("alice", "bob"))
    spare = alices.with_name("spare")
    alices.rename(spare)
    bobs.rename(alices)
    spare.rename(bobs)
    before = alices.read_bytes(), bobs.read_bytes()
    for uuid in ("alice", "bob"):
        with pytest.raises(Damaged):
            await accounts.run(uuid, account_rows.get)
    assert (alices.read_bytes(), bobs.read_bytes()) == before


async def test_an_account_does_not_open_with_another_service_key(
    accounts: Accounts, make_accounts: MakeAccounts
) -> None:
    await make(accounts, "alice")
    outsider = make_accounts(bytes(32))
    # It does not even find the folder, whose name follows from the key.
    with pytest.raises(UserUnknown):
        await outsider.run("alice", account_rows.get)
    outsider.folder("alice").parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(accounts.folder("alice"), outsider.folder("alice"))
    with pytest.raises(Damaged):
        await outsider.run("alice", account_rows.get)


async def test_neither_names_nor_content_of_files_tell_the_uuid(accounts: Accounts, data: Path) -> None:
    await make(accounts, "alice-in-wonderland")
    for file in data.rglob("*"):
        assert "wonderland" not in file.name
        if file.is_file():
            assert b"wonderland" not in file.read_bytes()
            assert not file.read_bytes().startswith(b"SQLite format 3")


def test_keys_of_files_differ_by_purpose_user_and_service_key() -> None:
    keys = {
        file_key(service_key, purpose, uuid)
        for service_key in (bytes(32), SERVICE_KEY)
        for purpose in ("account", "service")
        for uuid in ("", "alice", "bob")
    }
    assert len(keys) == 12
    assert {len(key) for key in keys} == {32}


def test_the_place_of_a_user_never_changes() -> None:
    # Known values: a change would lose every user's data.
    assert slot_of("alice") == 71
    assert folder_name(SERVICE_KEY, "alice") == "136c31e39b9eceea239dcdf15bd6b5e4"
    assert file_key(SERVICE_KEY, "account", "alice").hex()[:16] == "3b7f11dd79645065"
    assert folder_of(Path("data"), SERVICE_KEY, "alice").parts[:3] == ("data", "slots", "0071")
    assert SLOTS == 1024


# Damage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 100, 4096])
async def test_a_damaged_account_is_named_and_left_alone(accounts: Accounts, size: int) -> None:
    await make(accounts, "alice")
    path = accounts.folder("alice") / "account.db"
    path.write_bytes(path.read_bytes()[:size])
    before = contents(path.parent)
    for verb in (accounts.run, accounts.read):
        with pytest.raises(Damaged):
            await verb("alice", account_rows.get)
    assert contents(path.parent) == before
    with pytest.raises(UserExists):
        await make(accounts, "alice")


async def test_a_newer_account_is_refused_and_left_alone(accounts: Accounts) -> None:
    await make(accounts, "alice")
    await accounts.run("alice", lambda conn: conn.run("PRAGMA user_version = 9999"))
    before = contents(accounts.folder("alice"))
    with pytest.raises(NewerDatabase):
        await accounts.run("alice", account_rows.get)
    assert contents(accounts.folder("alice")) == before


# Use ------------------------------------------------------------------------------------------------------------------


async def test_transactions_of_one_account_at_the_same_time_all_count(accounts: Accounts) -> None:
    await make(accounts, "alice")
    await asyncio.gather(*(accounts.run("alice", account_rows.raise_valid_from, number) for number in range(40)))
    assert (await accounts.run("alice", account_rows.get)).valid_from == 39


async def test_a_crowd_at_one_account_is_served_in_turn(accounts: Accounts) -> None:
    await make(accounts, "alice")
    found = await asyncio.gather(*(accounts.run("alice", account_rows.raise_valid_from, at) for at in range(64)))
    assert [account.valid_from for account in found] == list(range(64))


async def test_what_one_user_waits_for_keeps_nobody_else_waiting(accounts: Accounts) -> None:
    await make(accounts, "alice")
    await make(accounts, "bob")
    gate = threading.Event()

    def held(_: Connection) -> None:
        assert gate.wait(60)

    crowd = [asyncio.create_task(accounts.read("alice", held)) for _ in range(50)]
    await asyncio.sleep(0)
    assert (await accounts.read("bob", account_rows.get)).uuid == "bob"
    gate.set()
    await asyncio.gather(*crowd)


async def test_a_transaction_that_fails_leaves_nothing(accounts: Accounts) -> None:
    def fail(conn: Connection) -> None:
        account_rows.set_membership(conn, "paid")
        raise ZeroDivisionError

    await make(accounts, "alice")
    with pytest.raises(ZeroDivisionError):
        await accounts.run("alice", fail)
    assert (await accounts.run("alice", account_rows.get)).membership == "free"


async def test_a_client_that_goes_away_does_not_tear_a_transaction(accounts: Accounts) -> None:
    await make(accounts, "alice")
    left = threading.Event()

    def pays(conn: Connection) -> None:
        left.wait()
        account_rows.set_membership(conn, "paid")

    task = asyncio.create_task(accounts.run("alice", pays))
    await asyncio.sleep(0)
    task.cancel()
    left.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    accounts.close()
    assert accounts.run_here("alice", account_rows.get).membership == "paid"


async def test_a_read_sees_what_a_killed_process_left_in_the_log(accounts: Accounts, tmp_path: Path) -> None:
    await make(accounts, "alice")
    folder, kept = accounts.folder("alice"), tmp_path / "kept"
    with accounts._opened("alice") as conn:
        account_rows.set_membership(conn, "paid")
        # As a kill leaves it: the connection below empties the log when it closes.
        shutil.copytree(folder, kept)
    shutil.rmtree(folder)
    kept.rename(folder)
    assert "account.db-wal" in files_of(accounts, "alice")
    assert (await accounts.read("alice", account_rows.get)).membership == "paid"


async def test_a_read_changes_nothing_on_the_disk(accounts: Accounts) -> None:
    await make(accounts, "alice")
    before = contents(accounts.folder("alice"))
    await accounts.read("alice", account_rows.get)
    assert contents(accounts.folder("alice")) == before


async def test_no_connection_stays_open(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Connection] = []
    usual = database._open

    def remember(*args: Any, **kwargs: Any) -> Connection:
        opened.append(usual(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(database, "_open", remember)
    await make(accounts, "alice")
    await accounts.run("alice", account_rows.get)
    with pytest.raises(UserUnknown):
        await accounts.run("bob", account_rows.get)
    assert len(opened) == 2
    for conn in opened:
        with pytest.raises(Exception, match="closed"):
            conn.one("SELECT 1")


async def test_sessions_valid_from_never_goes_back(accounts: Accounts) -> None:
    await make(accounts, "alice")
    await accounts.run("alice", account_rows.raise_valid_from, 100)
    assert (await accounts.run("alice", account_rows.raise_valid_from, 50)).valid_from == 100


# Removal --------------------------------------------------------------------------------------------------------------


async def test_a_removed_folder_is_gone_with_everything(accounts: Accounts, data: Path) -> None:
    for uuid in ("alice", "bob"):
        await make(accounts, uuid)
    accounts.workspace_path("alice").write_bytes(b"rows")
    accounts.remove(accounts.owner("alice"))
    accounts.remove(accounts.owner("alice"))
    with pytest.raises(UserUnknown):
        await accounts.run("alice", account_rows.get)
    assert [file.parent for file in data.rglob("*.db")] == [accounts.folder("bob")]
    assert list(data.rglob("*.deleted")) == []
    await make(accounts, "alice")


async def test_a_removal_is_finished_after_a_crash_in_the_middle(accounts: Accounts, data: Path) -> None:
    await make(accounts, "alice")
    folder = accounts.folder("alice")
    folder.rename(folder.with_name(f"{folder.name}.0190.deleted"))
    accounts.remove(accounts.owner("alice"))
    assert list(data.rglob("*.db")) == list(data.rglob("*.deleted")) == []


@pytest.mark.parametrize("fail_at", [1, 2])
async def test_a_removal_whose_disk_fails_leaves_all_or_nothing(accounts: Accounts, fail_at: int) -> None:
    await make(accounts, "alice")
    with failing(Disk("broken", fail_at)), pytest.raises(CarrelError):
        accounts.remove(accounts.owner("alice"))
    if fail_at == 1:
        assert (await accounts.run("alice", account_rows.get)).uuid == "alice"
    else:
        with pytest.raises(UserUnknown):
            await accounts.run("alice", account_rows.get)
    accounts.remove(accounts.owner("alice"))
    with pytest.raises(UserUnknown):
        await accounts.run("alice", account_rows.get)

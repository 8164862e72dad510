"""Today's program opens the accounts and the service's database of every earlier one, with what was in them."""

from pathlib import Path

import pytest

from carrel.accounts import accounts as account_rows
from carrel.accounts import deletions, issuance, roster
from carrel.accounts.accounts import Accounts
from carrel.accounts.slots import file_key
from carrel.credits import ledger, reservation_store
from carrel.keys import store as keys
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Paging
from tests.accounts.conftest import SERVICE_KEY, MakeService
from tests.support.earlier_schemas import ACCOUNT, SERVICE, earlier, faults, leave, numbers, still_there


def version(conn: Connection) -> object:
    return conn.value("PRAGMA user_version")


@pytest.mark.parametrize("number", earlier(ACCOUNT))
async def test_an_account_of_every_earlier_schema_is_migrated_with_its_rows(accounts: Accounts, number: int) -> None:
    accounts.folder("alice").mkdir(parents=True)
    path = accounts.folder("alice") / "account.db"
    left = leave(path, file_key(SERVICE_KEY, "account", "alice"), ACCOUNT, number)
    account = await accounts.read("alice", account_rows.get)
    assert (account.membership, account.has_workspace) == ("paid", True)
    assert await accounts.read("alice", version) == numbers(ACCOUNT)[-1]
    assert await accounts.read("alice", still_there, left) == left
    assert await accounts.read("alice", faults) == []
    balance = await accounts.read("alice", ledger.balance)
    assert (balance.balance, balance.reserved) == ("5", "1")
    assert len((await accounts.read("alice", ledger.entries, Paging())).items) == 2
    assert await accounts.run("alice", reservation_store.still_open) == (["r1"] if number >= 2 else [])


@pytest.mark.parametrize("number", earlier(SERVICE))
async def test_a_service_database_of_every_earlier_schema_is_migrated_with_its_rows(
    data: Path, make_service: MakeService, number: int
) -> None:
    left = leave(data / "service.db", file_key(SERVICE_KEY, "service"), SERVICE, number)
    service = make_service()
    service.open()
    assert await service.run(version) == numbers(SERVICE)[-1]
    assert await service.run(still_there, left) == left
    assert await service.run(faults) == []
    assert await service.run(deletions.valid_from, "f01") == 1_700_000_000
    assert await service.run(issuance.ended) == (1_600_000_000 if number >= 3 else 0)
    assert [key.provider for key in (await service.run(keys.listed, Paging())).items] == ["openai"]


async def test_a_rotation_of_the_key_renames_folders_wherever_the_service_names_them(make_service: MakeService) -> None:
    service = make_service()
    service.open()
    naming = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%owner TEXT%' AND name <> 'deletion'"
    assert sorted(roster.NAMING_FOLDERS) == sorted(await service.run(lambda conn: conn.column(naming)))


@pytest.mark.parametrize("package", [ACCOUNT, SERVICE])
def test_there_are_rows_for_every_table(data: Path, package: str) -> None:
    left = leave(data / "any.db", file_key(SERVICE_KEY, "service"), package, numbers(package)[-1])
    assert [table for table, rows in left.items() if not rows] == []

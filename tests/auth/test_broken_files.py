"""Files that are not what they were: the right answer, the file untouched, and everybody else served."""

import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.accounts.service import ServiceDatabaseMissing, ServiceKeyRejected
from carrel.accounts.slots import file_key
from carrel.config import Settings
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Damaged
from carrel.kit.sqlite.migrate import NewerDatabase
from tests.support.auth_stack import SERVICE_KEY, AuthStack, auth_stack
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of, key_of, service, workspace_file

ME = "/api/users/me"


def empty(file: Path, _: bytes) -> None:
    file.write_bytes(b"")


def a_few_bytes(file: Path, _: bytes) -> None:
    file.write_bytes(file.read_bytes()[:100])


def half(file: Path, _: bytes) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def one_page_less(file: Path, _: bytes) -> None:
    file.write_bytes(file.read_bytes()[:-4096])


def foreign(file: Path, _: bytes) -> None:
    size = file.stat().st_size
    file.write_bytes(hashlib.shake_128(b"noise").digest(size))


def plain(file: Path, _: bytes) -> None:
    file.unlink()
    with sqlite3.connect(file) as conn:
        conn.execute("CREATE TABLE user_meta (uuid TEXT)")
        conn.execute("INSERT INTO user_meta VALUES ('ada')")
    conn.close()


def newer(file: Path, key: bytes) -> None:
    conn = database.connect(file, key, clock=FakeClock(), new_id=str)
    conn.execute("PRAGMA user_version = 9999").fetchall()
    database.close(conn)


def flipped(file: Path, _: bytes) -> None:
    content = bytearray(file.read_bytes())
    content[2_000] ^= 1
    file.write_bytes(content)


def missing(file: Path, _: bytes) -> None:
    file.unlink()


Break = Callable[[Path, bytes], None]

IN_A_WORKSPACE: dict[Break, tuple[int, str]] = {
    empty: (503, "database-damaged"),
    a_few_bytes: (503, "database-damaged"),
    half: (503, "database-damaged"),
    one_page_less: (503, "database-damaged"),
    plain: (503, "database-damaged"),
    newer: (503, "database-newer"),
    missing: (503, "workspace-missing"),
    # Where the first page fails its checksum, nobody can tell whether the file or the key is wrong.
    foreign: (401, "key-rejected"),
    flipped: (401, "key-rejected"),
}
IN_AN_ACCOUNT: dict[Break, tuple[int, str]] = {
    empty: (503, "database-damaged"),
    a_few_bytes: (503, "database-damaged"),
    half: (503, "database-damaged"),
    one_page_less: (503, "database-damaged"),
    plain: (503, "database-damaged"),
    foreign: (503, "database-damaged"),
    flipped: (503, "database-damaged"),
    newer: (503, "database-newer"),
}


def state_of(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


async def make_users(settings: Settings, clock: FakeClock, *uuids: str) -> None:
    async with service(settings, clock) as client:
        for uuid in uuids:
            session = await Host(client).signed_in(uuid)
            body = {"name": "A note", "type": "input_document", "body": "x" * 50_000}
            assert (await client.post("/api/contents", json=body, headers=session)).status_code == 201


async def test_a_broken_workspace_is_refused_and_left_as_it_is(settings: Settings, clock: FakeClock) -> None:
    users = {f"ada-{break_.__name__}": break_ for break_ in IN_A_WORKSPACE}
    await make_users(settings, clock, "bob", *users)
    before = {}
    for uuid, break_ in users.items():
        break_(workspace_file(settings, uuid), bytes.fromhex(key_of(uuid)))
        before[uuid] = state_of(workspace_file(settings, uuid))
    async with service(settings, clock) as client:
        host = Host(client)
        for uuid, break_ in users.items():
            for _ in range(2):
                answer = await host.login(uuid)
                assert (answer.status_code, code_of(answer)) == IN_A_WORKSPACE[break_], uuid
            assert code_of(await host.refresh(uuid)) == "key-not-cached"
            rekeyed = await host.rekey(uuid, "second", old="first")
            assert (rekeyed.status_code, code_of(rekeyed)) == IN_A_WORKSPACE[break_], uuid
        bob = await host.signed_in("bob")
        assert (await client.get(ME, headers=bob)).status_code == 200
    for uuid in users:
        file = workspace_file(settings, uuid)
        assert state_of(file) == before[uuid], uuid
        assert [leftover.name for leftover in file.parent.glob("*.new*")] == []


async def test_a_broken_account_is_refused_and_left_as_it_is(settings: Settings, clock: FakeClock) -> None:
    users = {f"ada-{break_.__name__}": break_ for break_ in IN_AN_ACCOUNT}
    await make_users(settings, clock, "bob", *users)
    before = {}
    for uuid, break_ in users.items():
        file = workspace_file(settings, uuid).with_name("account.db")
        break_(file, file_key(settings.service_key.reveal(), "account", uuid))
        before[uuid] = state_of(file)
    async with service(settings, clock) as client:
        host = Host(client)
        for uuid, break_ in users.items():
            answers = [
                await host.create(uuid),
                await host.login(uuid),
                await host.rekey(uuid, "second", old="first"),
                await client.post(f"/api/users/{uuid}/activate", headers=PLUGIN),
                await client.post(f"/api/users/{uuid}/deactivate", headers=PLUGIN),
                await client.post("/api/credits/add", json={"uuid": uuid, "amount": "1"}, headers=PLUGIN),
                await host.delete(uuid),
            ]
            assert {(answer.status_code, code_of(answer)) for answer in answers} == {IN_AN_ACCOUNT[break_]}, uuid
        bob = await host.signed_in("bob")
        assert (await client.get(ME, headers=bob)).status_code == 200
    for uuid in users:
        assert state_of(workspace_file(settings, uuid).with_name("account.db")) == before[uuid], uuid
        assert workspace_file(settings, uuid).exists()


async def test_an_account_that_is_gone_is_a_user_who_is_not_there(settings: Settings, clock: FakeClock) -> None:
    await make_users(settings, clock, "ada", "bob")
    workspace_file(settings, "ada").with_name("account.db").unlink()
    async with service(settings, clock) as client:
        host = Host(client)
        assert code_of(await host.login("ada")) == "user-not-provisioned"
        assert code_of(await host.delete("ada")) == "user-not-found"
        assert (await host.create("ada")).status_code == 201
        assert code_of(await host.login("ada", "other")) == "key-rejected", (
            "the workspace is still there, under its key"
        )
        assert (await host.login("ada")).status_code == 200


async def test_a_file_that_breaks_while_the_user_is_signed_in_breaks_only_the_user(
    settings: Settings, clock: FakeClock
) -> None:
    async with service(settings, clock) as client:
        host = Host(client)
        sessions = {uuid: await host.signed_in(uuid) for uuid in ("ada", "eve", "bob")}
        foreign(workspace_file(settings, "ada"), b"")
        foreign(workspace_file(settings, "eve").with_name("account.db"), b"")
        for uuid in ("ada", "eve"):
            answer = await client.get(ME, headers=sessions[uuid])
            assert (answer.status_code, code_of(answer)) == (503, "database-damaged")
        assert (await client.get(ME, headers=sessions["bob"])).status_code == 200


@pytest.mark.parametrize(
    ("break_", "error"),
    [
        (empty, Damaged),
        (a_few_bytes, Damaged),
        (half, Damaged),
        (plain, Damaged),
        (foreign, ServiceKeyRejected),
        (newer, NewerDatabase),
        (missing, ServiceDatabaseMissing),
    ],
)
async def test_a_broken_service_database_refuses_the_start_and_is_left_as_it_is(
    tmp_path: Path, clock: FakeClock, break_: Break, error: type[Exception]
) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
    file = tmp_path / "service.db"
    break_(file, file_key(SERVICE_KEY, "service"))
    before = state_of(file)
    stack = AuthStack(tmp_path, clock)
    with pytest.raises(error):
        await stack.start()
    await stack.stop()
    assert state_of(file) == before

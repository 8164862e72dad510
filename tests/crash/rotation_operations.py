"""What `test_rotation_kills.py` kills: the rotation of the service key, and its own death before each change."""

import asyncio
import os
import signal
from decimal import Decimal
from pathlib import Path

from carrel.accounts import accounts as account_rows
from carrel.accounts import roster
from carrel.accounts.rotation import Rotation
from carrel.credits import ledger
from carrel.credits.schemas import AddIn
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite import database
from carrel.vault.keyring import UserUuid
from tests.crash.vault_operations import Stack, key_of
from tests.support.disk import Disk, failing
from tests.support.kills import Mark, marking

OLD, NEW = bytes(range(32)), bytes(range(32, 64))
USERS = [UserUuid(f"user-{number}") for number in range(5)]
"""The last has never signed in."""
STEPS = (
    (Rotation, "_begin", "begin"),
    (Rotation, "_reseal", "seal"),
    (Rotation, "_move", "move"),
    (Rotation, "_end", "end"),
    (Path, "rename", "rename"),
)


def rotation(data: str) -> Rotation:
    clock = SystemClock()
    return Rotation(Path(data), OLD, NEW, clock=clock, new_id=uuid7_factory(clock))


def rotate(mark: Mark, data: str) -> None:
    """The whole rotation, with a mark at each step."""
    with marking(mark, *STEPS):
        mark("start")
        rotation(data).run()
        mark("end")


class _Deadly(Disk):
    """A disk whose process is killed in the middle of the `fail_at`-th change."""

    def fails(self) -> bool:
        if super().fails():
            os.kill(os.getpid(), signal.SIGKILL)
        return False


def at_change(mark: Mark, data: str, number: int | None) -> None:
    """Rotate and die right before the `number`-th change of the disk; marks their number when it is `None`."""
    disk = _Deadly("broken", number)
    mark("begin")
    with failing(disk, "unlink", "rmdir", "mkdir"):
        rotation(data).run()
        mark(str(disk.changes))


def prepare(folder: Path) -> None:
    """A data folder under the old key: five users with credits, shared logs, one deleted user, one workspace open."""

    async def fill() -> None:
        async with Stack(folder) as stack:
            for number, uuid in enumerate(USERS):
                await stack.users.write_new(uuid, account_rows.insert, uuid, "paid")
                await stack.accounts.run(uuid, ledger.add, AddIn(uuid=uuid, amount=Decimal(number + 1)))
                if uuid != USERS[-1]:
                    await stack.sign_in.login(uuid, key_of(uuid))
                    async with stack.pool.leased(uuid) as workspace:
                        await workspace.write(_sign, uuid)
                owner = stack.accounts.owner(uuid)
                await stack.service.run(_share, owner, uuid)
            await stack.make_user()
            await stack.users.delete(UserUuid("alice"))

    folder.mkdir()
    asyncio.run(fill())


def _sign(conn: database.Connection, uuid: str) -> None:
    conn.run("CREATE TABLE t (a TEXT) STRICT")
    conn.run("INSERT INTO t VALUES (?)", uuid)


def _share(conn: database.Connection, owner: str, uuid: str) -> None:
    conn.run(
        "INSERT INTO shared_log (id, owner, entries, created_at, expires_at) VALUES (?, ?, x'5b5d', ?, '2099-01-01')",
        *(uuid, owner, conn.now()),
    )


def whole(data: Path, key: bytes = NEW) -> None:
    """Everything is there under the key: accounts, credits, workspaces, shared logs, and nothing else."""

    async def look() -> None:
        async with Stack(data, key) as stack:
            for number, uuid in enumerate(USERS):
                account = await stack.accounts.read(uuid, account_rows.get)
                assert (account.uuid, account.has_workspace) == (uuid, uuid != USERS[-1])
                assert (await stack.accounts.read(uuid, ledger.balance)).balance == str(number + 1)
                if uuid != USERS[-1]:
                    await stack.sign_in.login(uuid, key_of(uuid))
                    async with stack.pool.leased(uuid) as workspace:
                        assert workspace.read(lambda conn: conn.value("SELECT a FROM t")) == uuid
            owners = {stack.accounts.owner(uuid): uuid for uuid in USERS}
            shared = await stack.service.run(lambda conn: conn.all("SELECT owner, id FROM shared_log"))
            assert dict(shared) == owners
            assert await stack.service.run(roster.uuids) == USERS
            folders = {f"{folder.parent.name}/{folder.name}" for folder in data.glob("slots/*/*")}
            assert folders == set(owners)

    asyncio.run(look())

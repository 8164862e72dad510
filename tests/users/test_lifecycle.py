"""Deletions that stop in the middle: a user is wholly there or wholly gone, and a new one is not taken for the old."""

import asyncio
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from carrel.accounts import deletions
from carrel.accounts.accounts import Accounts, UserUnknown
from carrel.auth.sessions import NotProvisioned, TokenRevoked
from carrel.errors import DiskFull, Unavailable
from carrel.kit.sqlite.database import Connection
from tests.support.clock import FakeClock
from tests.support.front_door import ProxyInFront, front_door


def share(conn: Connection, owner: str) -> None:
    conn.run(
        "INSERT INTO shared_log (id, owner, entries, created_at, expires_at) VALUES (?, ?, x'00', '', '')",
        conn.new_id(),
        owner,
    )


def shared(conn: Connection) -> int:
    row = conn.one("SELECT count(*) FROM shared_log")
    return int(row[0]) if row else 0


async def test_what_a_user_shared_goes_with_the_user(tmp_path: Path, clock: FakeClock) -> None:
    async with front_door(tmp_path, clock) as door:
        for uuid in ("ada", "bob"):
            await door.create(uuid)
            await door.service.run(share, door.accounts.owner(uuid))
        await door.delete("ada")
        assert await door.service.run(shared) == 1


@pytest.mark.parametrize("step", ["journalled", "renamed", "half removed", "removed"])
async def test_a_deletion_that_a_crash_interrupted_is_finished_at_the_next_start(
    tmp_path: Path, clock: FakeClock, step: str
) -> None:
    async with front_door(tmp_path, clock) as door:
        await door.create("ada")
        old = await door.login("ada")
        owner, folder = door.accounts.owner("ada"), door.accounts.folder("ada")
        await door.service.run(share, owner)
        await door.service.run(deletions.begin, owner, int(clock.now()) + 100)
        await door.pool.evict("ada")  # type: ignore[arg-type]
        if step != "journalled":
            doomed = folder.rename(folder.with_name(f"{folder.name}.x.deleted"))
            if step == "half removed":
                (doomed / "account.db").unlink()
            if step == "removed":
                shutil.rmtree(doomed)
    async with front_door(tmp_path, clock) as door:
        assert list(folder.parent.iterdir()) == []
        assert await door.service.run(shared) == 0
        assert await door.service.run(deletions.unfinished) == []
        with pytest.raises(NotProvisioned):
            await door.login("ada")
        await door.create("ada")
        await door.login("ada")
        with pytest.raises(TokenRevoked):
            await door.ask(old)


async def test_a_deletion_that_fails_before_it_begins_leaves_the_user(tmp_path: Path, clock: FakeClock) -> None:
    async with front_door(tmp_path, clock) as door:
        await door.create("ada")
        await door.login("ada")
        with patch.object(Accounts, "remove", side_effect=Unavailable), pytest.raises(Unavailable):
            await door.delete("ada")
        await door.ask(await door.login("ada"))
    async with front_door(tmp_path, clock) as door:
        await door.ask(await door.login("ada"))
        await door.delete("ada")


async def test_a_deletion_that_fails_in_the_middle_is_finished_when_it_is_asked_for_again(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with front_door(tmp_path, clock) as door:
        await door.create("ada")
        await door.login("ada")
        parent = door.accounts.folder("ada").parent
        with patch.object(shutil, "rmtree", side_effect=OSError), pytest.raises(Unavailable):
            await door.delete("ada")
        assert len(list(parent.iterdir())) == 1
        with pytest.raises(NotProvisioned):
            await door.login("ada")
        await door.delete("ada")
        assert list(parent.iterdir()) == []
        with pytest.raises(UserUnknown):
            await door.delete("ada")


async def test_a_user_made_after_a_deletion_that_failed_at_its_end_outlives_the_next_start(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with front_door(tmp_path, clock) as door:
        await door.create("ada")
        old = await door.login("ada")
        with patch.object(deletions, "finish", side_effect=DiskFull), pytest.raises(DiskFull):
            await door.delete("ada")
        await door.create("ada")
        await door.login("ada", "another")
    async with front_door(tmp_path, clock) as door:
        await door.login("ada", "another")
        with pytest.raises(TokenRevoked):
            await door.ask(old)


async def test_a_stop_waits_for_what_a_host_that_went_away_began(tmp_path: Path, clock: FakeClock) -> None:
    door = ProxyInFront(tmp_path, clock)
    await door.start()
    await door.create("ada")
    login = asyncio.create_task(door.login("ada"))
    await asyncio.sleep(0)
    login.cancel()
    with pytest.raises(asyncio.CancelledError):
        await login
    await door.stop()
    assert door.accounts.workspace_path("ada").exists()

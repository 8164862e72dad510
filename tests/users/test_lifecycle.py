"""Deletions that stop in the middle: a user is wholly there or wholly gone, and a new one is not taken for the old."""

import asyncio
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from carrel.accounts import deletions, roster
from carrel.accounts.accounts import Accounts, UserUnknown
from carrel.auth.sign_in import NotProvisioned
from carrel.auth.tokens import TokenRevoked
from carrel.errors import DiskFull, Unavailable
from carrel.kit.sqlite.database import Connection
from tests.support.auth_stack import AuthStack, auth_stack
from tests.support.clock import FakeClock


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
    async with auth_stack(tmp_path, clock) as stack:
        for uuid in ("ada", "bob"):
            await stack.create(uuid)
            await stack.service.run(share, stack.accounts.owner(uuid))
        await stack.delete("ada")
        assert await stack.service.run(shared) == 1


@pytest.mark.parametrize("step", ["journalled", "renamed", "half removed", "removed"])
async def test_a_deletion_that_a_crash_interrupted_is_finished_at_the_next_start(
    tmp_path: Path, clock: FakeClock, step: str
) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        old = await stack.login("ada")
        owner, folder = stack.accounts.owner("ada"), stack.accounts.folder("ada")
        await stack.service.run(share, owner)
        await stack.service.run(deletions.begin, owner, int(clock.now()) + 100)
        await stack.pool.evict("ada")  # type: ignore[arg-type]
        if step != "journalled":
            doomed = folder.rename(folder.with_name(f"{folder.name}.x.deleted"))
            if step == "half removed":
                (doomed / "account.db").unlink()
            if step == "removed":
                shutil.rmtree(doomed)
    async with auth_stack(tmp_path, clock) as stack:
        assert list(folder.parent.iterdir()) == []
        assert await stack.service.run(shared) == 0
        assert await stack.service.run(deletions.unfinished) == []
        with pytest.raises(NotProvisioned):
            await stack.login("ada")
        await stack.create("ada")
        await stack.login("ada")
        with pytest.raises(TokenRevoked):
            await stack.ask(old)


async def test_a_deletion_that_fails_before_it_begins_leaves_the_user(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        await stack.login("ada")
        with patch.object(Accounts, "remove", side_effect=Unavailable), pytest.raises(Unavailable):
            await stack.delete("ada")
        await stack.ask(await stack.login("ada"))
    async with auth_stack(tmp_path, clock) as stack:
        await stack.ask(await stack.login("ada"))
        await stack.delete("ada")


async def test_a_deletion_that_fails_in_the_middle_is_finished_when_it_is_asked_for_again(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        await stack.login("ada")
        parent = stack.accounts.folder("ada").parent
        with patch.object(shutil, "rmtree", side_effect=OSError), pytest.raises(Unavailable):
            await stack.delete("ada")
        assert len(list(parent.iterdir())) == 1
        with pytest.raises(NotProvisioned):
            await stack.login("ada")
        await stack.delete("ada")
        assert list(parent.iterdir()) == []
        with pytest.raises(UserUnknown):
            await stack.delete("ada")


async def test_a_user_made_after_a_deletion_that_failed_at_its_end_outlives_the_next_start(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        old = await stack.login("ada")
        with patch.object(deletions, "finish", side_effect=DiskFull), pytest.raises(DiskFull):
            await stack.delete("ada")
        await stack.create("ada")
        await stack.login("ada", "another")
    async with auth_stack(tmp_path, clock) as stack:
        await stack.login("ada", "another")
        with pytest.raises(TokenRevoked):
            await stack.ask(old)


async def test_a_stop_waits_for_what_a_host_that_went_away_began(tmp_path: Path, clock: FakeClock) -> None:
    stack = AuthStack(tmp_path, clock)
    await stack.start()
    await stack.create("ada")
    login = asyncio.create_task(stack.login("ada"))
    await asyncio.sleep(0)
    login.cancel()
    with pytest.raises(asyncio.CancelledError):
        await login
    await stack.stop()
    assert stack.accounts.workspace_path("ada").exists()


async def test_whose_a_folder_is_gets_known_at_the_creation_or_the_next_sign_in_and_forgotten_with_the_user(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        await stack.create("bob")
        await stack.login("ada")
        assert await stack.service.run(roster.uuids) == ["ada", "bob"]
        # As a version without the roster left it.
        await stack.service.run(lambda conn: conn.run("DELETE FROM roster"))
    async with auth_stack(tmp_path, clock) as stack:
        await stack.login("ada")
        assert await stack.service.run(roster.uuids) == ["ada"]
        await stack.delete("ada")
        assert await stack.service.run(roster.uuids) == []

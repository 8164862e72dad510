"""A login for nobody does what a login with a wrong key does, and tells only the host which it was."""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from carrel.auth.sessions import NotProvisioned
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import KeyRejected
from carrel.vault import files
from tests.support.clock import FakeClock
from tests.support.front_door import ProxyInFront, front_door


def counted(calls: Counter[str], module: object, name: str) -> object:
    original = getattr(module, name)

    def counting(*args: object, **kwargs: object) -> object:
        calls[name] += 1
        return original(*args, **kwargs)

    return patch.object(module, name, counting)


async def work_of_a_refused_login(door: ProxyInFront, uuid: str) -> Counter[str]:
    calls: Counter[str] = Counter()
    with (
        counted(calls, files, "open_workspace"),  # type: ignore[attr-defined]  # a patch is a context
        counted(calls, database, "present_key"),  # type: ignore[attr-defined]
        counted(calls, database, "_prove"),  # type: ignore[attr-defined]
        pytest.raises((KeyRejected, NotProvisioned)),
    ):
        await door.login(uuid, "wrong")
    return calls


async def test_an_unknown_uuid_costs_the_same_work_as_a_wrong_key(tmp_path: Path, clock: FakeClock) -> None:
    async with front_door(tmp_path, clock) as door:
        await door.create("ada")
        await door.login("ada")
        await door.pool.evict("ada")  # type: ignore[arg-type]
        known = await work_of_a_refused_login(door, "ada")
        assert await work_of_a_refused_login(door, "nobody") == known
        assert known["present_key"] == 2, "the account's and the workspace's"


async def test_a_decoy_that_was_left_half_made_is_made_whole(tmp_path: Path, clock: FakeClock) -> None:
    async with front_door(tmp_path, clock) as first:
        path = first.accounts.workspace_path("*")
    path.unlink()
    async with front_door(tmp_path, clock) as second:
        with pytest.raises(NotProvisioned):
            await second.login("nobody")
        assert path.exists()
        assert len(second.pool.keyring) == 0


@pytest.mark.parametrize("name", ["workspace.db", "account.db"])
async def test_a_decoy_that_was_damaged_changes_no_answer(tmp_path: Path, clock: FakeClock, name: str) -> None:
    async with front_door(tmp_path, clock) as door:
        door.accounts.workspace_path("*").with_name(name).write_bytes(b"")
        with pytest.raises(NotProvisioned):
            await door.login("nobody")


async def test_logins_for_nobody_leave_nothing_in_memory(tmp_path: Path, clock: FakeClock) -> None:
    async with front_door(tmp_path, clock) as door:
        for number in range(50):
            with pytest.raises(NotProvisioned):
                await door.login(f"nobody-{number}")
            with pytest.raises(NotProvisioned):
                await door.rekey(f"nobody-{number}", "second")
        assert len(door.sessions.turns) == 0
        assert door.pool.known == 1, "the decoy's own"
        assert len(door.pool.keyring) == 0

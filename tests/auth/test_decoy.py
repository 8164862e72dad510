"""A login for nobody does what a login with a wrong key does, and tells only the host which it was."""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from carrel.accounts.slots import NOBODY, former_decoy
from carrel.auth.sign_in import NotProvisioned
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import KeyRejected
from carrel.vault import files
from tests.support.auth_stack import SERVICE_KEY, AuthStack, auth_stack
from tests.support.clock import FakeClock


def counted(calls: Counter[str], module: object, name: str) -> object:
    original = getattr(module, name)

    def counting(*args: object, **kwargs: object) -> object:
        calls[name] += 1
        return original(*args, **kwargs)

    return patch.object(module, name, counting)


async def work_of_a_refused_login(stack: AuthStack, uuid: str) -> Counter[str]:
    calls: Counter[str] = Counter()
    with (
        counted(calls, files, "open_workspace"),  # type: ignore[attr-defined]  # a patch is a context
        counted(calls, database, "present_key"),  # type: ignore[attr-defined]
        counted(calls, database, "_prove"),  # type: ignore[attr-defined]
        pytest.raises((KeyRejected, NotProvisioned)),
    ):
        await stack.login(uuid, "wrong")
    return calls


async def test_an_unknown_uuid_costs_the_same_work_as_a_wrong_key(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        await stack.create("ada")
        await stack.login("ada")
        await stack.pool.evict("ada")  # type: ignore[arg-type]
        known = await work_of_a_refused_login(stack, "ada")
        assert await work_of_a_refused_login(stack, "nobody") == known
        assert known["present_key"] == 2, "the account's and the workspace's"


async def test_a_decoy_that_was_left_half_made_is_made_whole(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as first:
        path = first.accounts.workspace_path("*")
    path.unlink()
    async with auth_stack(tmp_path, clock) as second:
        with pytest.raises(NotProvisioned):
            await second.login("nobody")
        assert path.exists()
        assert len(second.pool.keyring) == 0


async def test_the_decoy_of_an_earlier_version_leaves_its_slot(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as first:
        made, slots = first.accounts.folder(NOBODY), tmp_path / "slots"
        former = slots / former_decoy(SERVICE_KEY)
    former.parent.mkdir(parents=True)
    made.rename(former)
    async with auth_stack(tmp_path, clock) as second:
        with pytest.raises(NotProvisioned):
            await second.login("nobody")
    assert [path.name for path in slots.glob("*/*")] == []


@pytest.mark.parametrize("name", ["workspace.db", "account.db"])
async def test_a_decoy_that_was_damaged_changes_no_answer(tmp_path: Path, clock: FakeClock, name: str) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        stack.accounts.workspace_path("*").with_name(name).write_bytes(b"")
        with pytest.raises(NotProvisioned):
            await stack.login("nobody")


async def test_logins_for_nobody_leave_nothing_in_memory(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path, clock) as stack:
        for number in range(50):
            with pytest.raises(NotProvisioned):
                await stack.login(f"nobody-{number}")
            with pytest.raises(NotProvisioned):
                await stack.rekey(f"nobody-{number}", "second")
        assert len(stack.sessions.locks) == 0
        assert stack.pool.known == 1, "the decoy's own"
        assert len(stack.pool.keyring) == 0

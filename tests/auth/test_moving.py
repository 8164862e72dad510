"""A user's slot moves from one service to another: what ended stays ended, and who is signed in stays so."""

import shutil
from pathlib import Path

import pytest

from carrel.accounts import deletions, issuance, program_keys, slot_rows
from carrel.accounts.slots import slot_of
from carrel.auth import handed_over
from carrel.auth.handed_over import HandedUser
from carrel.auth.programs.secret import ProgramKeyInvalid
from carrel.auth.sign_in import NotProvisioned
from carrel.auth.tokens import TokenRevoked
from carrel.kit.sqlite.database import KeyRejected
from carrel.runs.progress import sharing
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, KeyNotCached
from tests.support.auth_stack import SERVICE_KEY, AuthStack, auth_stack, key_of
from tests.support.clock import FakeClock

HOUR = 3600
ADA = UserUuid("ada")
SLOT = slot_of(ADA)


async def moved(source: AuthStack, target: AuthStack) -> None:
    """What a node leaves in the folder of a slot, and what the next one takes from it."""
    here, there = (stack.accounts.folder(ADA).parent for stack in (source, target))
    here.mkdir(parents=True, exist_ok=True)
    issued = source.sessions.issuer.issued(SLOT)
    await source.sessions.pool.withdraw(ADA, 0.0)
    await source.service.run(slot_rows.leave, SERVICE_KEY, here, SLOT, issued)
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(here, there)
    await target.service.run(slot_rows.take, SERVICE_KEY, there, SLOT)
    await target.sessions.issuer.read_slots()
    await target.sessions.service_secret.read_slots(target.service)


def arrived(target: AuthStack, key: bytearray, *, is_signed_out: bool = False) -> None:
    target.pool.keyring.put(ADA, key)
    user = HandedUser(ADA, 0.0, is_signed_out, 0, at_work=False)
    handed_over.arrive(target.sessions, target.clock, [user])


async def test_who_comes_with_a_key_goes_on_with_the_same_token(tmp_path: Path, clock: FakeClock) -> None:
    ahead = FakeClock()
    ahead.advance(HOUR / 2)
    async with auth_stack(tmp_path / "a", ahead) as source, auth_stack(tmp_path / "b", clock) as target:
        await source.create(ADA)
        token = await source.login(ADA)
        await moved(source, target)
        with pytest.raises(KeyNotCached):
            await target.ask(token)
        arrived(target, key_of(ADA))
        await target.ask(token)
        await target.ask(await target.refresh(ADA))
        # The second of issue is half an hour ahead of this clock.
        renewed = await target.rekey(ADA, "second")
        with pytest.raises(TokenRevoked):
            await target.ask(token)
        await target.ask(renewed)
        await handed_over.forget(source.sessions, ADA)
        assert source.pool.known == 1, "the decoy's own"
        assert source.sessions.issuer.remembered == 0
        assert len(source.pool.keyring) == 0


async def test_a_key_that_does_not_fit_any_more_is_refused(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path / "a", clock) as source, auth_stack(tmp_path / "b", clock) as target:
        await source.create(ADA)
        token = await source.login(ADA)
        await moved(source, target)
        arrived(target, key_of(ADA, "another"))
        with pytest.raises(KeyRejected):
            await target.ask(token)
        assert len(target.pool.keyring) == 0


async def test_whose_key_is_there_for_work_alone_stays_signed_out(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path / "a", clock) as source, auth_stack(tmp_path / "b", clock) as target:
        await source.create(ADA)
        token = await source.login(ADA)
        await moved(source, target)
        arrived(target, key_of(ADA), is_signed_out=True)
        with pytest.raises(KeyNotCached):
            await target.ask(token)
        with pytest.raises(KeyNotCached):
            await target.refresh(ADA)


class Work:
    """Goes on as soon as it may, as runs do."""

    def __init__(self, stack: AuthStack) -> None:
        self._pool = stack.pool

    async def opened(self, uuid: UserUuid) -> None:
        await self._pool.lease(uuid)

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        pass


async def test_a_sign_out_leaves_the_key_to_work_that_came_with_it(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path / "a", clock) as source, auth_stack(tmp_path / "b", clock) as target:
        await source.create(ADA)
        token = await source.login(ADA)
        await moved(source, target)
        arrived(target, key_of(ADA))
        target.pool.subscribe(Work(target))
        await target.sign_out.end_all(ADA)
        assert ADA in target.pool.keyring
        with pytest.raises(TokenRevoked):
            await target.ask(token)


async def test_a_deleted_users_tokens_stay_revoked_for_a_user_of_the_same_name(
    tmp_path: Path, clock: FakeClock
) -> None:
    ahead = FakeClock()
    ahead.advance(HOUR / 2)
    async with auth_stack(tmp_path / "a", ahead) as source, auth_stack(tmp_path / "b", clock) as target:
        await source.create(ADA)
        token = await source.login(ADA)
        await source.delete(ADA)
        await moved(source, target)
        with pytest.raises(NotProvisioned):
            await target.login(ADA)
        await target.create(ADA)
        await target.login(ADA)
        with pytest.raises(TokenRevoked):
            await target.ask(token)


async def test_sessions_that_a_restored_backup_ended_stay_ended_and_others_do_not_end(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with auth_stack(tmp_path / "a", clock) as source:
        await source.create(ADA)
        ended = await source.login(ADA)
        await source.service.run(issuance.end_all)
    async with auth_stack(tmp_path / "a", clock) as source, auth_stack(tmp_path / "b", clock) as target:
        in_force = await source.login(ADA)
        await moved(source, target)
        await target.login(ADA)
        await target.ask(in_force)
        with pytest.raises(TokenRevoked):
            await target.ask(ended)
        # Back to a node that was restored later: what ended there was not this user's.
        clock.advance(HOUR / 2)
        await source.service.run(issuance.end_all)
        await source.sessions.issuer.start()
        await moved(target, source)
        await source.login(ADA)
        await source.ask(in_force)


async def test_program_keys_are_good_on_every_node_that_the_slot_comes_to(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path / "a", clock) as source, auth_stack(tmp_path / "b", clock) as target:
        await source.create(ADA)
        first = await source.make_key(await source.session_of(await source.login(ADA)))
        token = await source.exchange(first.program_key)
        await moved(source, target)
        await target.ask(await target.exchange(first.program_key))
        await target.ask(token)
        second = await target.make_key(await target.session_of(await target.login(ADA)))
        await moved(target, source)
        for key in (first, second):
            await source.ask(await source.exchange(key.program_key))
        # A backup of this node that is restored ends them, as it ends those of all its users.
        await source.service.run(program_keys.forget_service_secret)
        await source.sessions.service_secret.start(source.service)
        with pytest.raises(ProgramKeyInvalid):
            source.program_sign_in.parse(first.program_key)


async def test_the_rows_of_the_slot_go_along_and_those_of_others_stay(tmp_path: Path, clock: FakeClock) -> None:
    async with auth_stack(tmp_path / "a", clock) as source, auth_stack(tmp_path / "b", clock) as target:
        await source.create(ADA)
        await source.create("bob")
        owners = [source.accounts.owner(uuid) for uuid in ("ada", "bob")]
        shares = [await source.service.run(sharing.put, owner, []) for owner in owners]
        await source.service.run(deletions.begin, f"{SLOT:04d}/gone", 7)
        # Rows of an earlier stay are replaced.
        await target.service.run(sharing.put, owners[0], [])
        await moved(source, target)
        listed = "SELECT id FROM shared_log"
        assert await target.service.run(lambda conn: conn.column(listed)) == [shares[0].share_id]
        assert await target.service.run(deletions.unfinished) == [f"{SLOT:04d}/gone"]
        await source.service.run(slot_rows.remove, SLOT)
        assert await source.service.run(lambda conn: conn.column(listed)) == [shares[1].share_id]
        assert await source.service.run(deletions.unfinished) == []
        file = source.accounts.folder(ADA).parent / slot_rows.FILE
        assert b"ada" not in file.read_bytes()

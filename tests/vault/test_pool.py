"""Leases, the limit, and how keys come and go."""

import asyncio
import threading
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import apsw
import pytest

from carrel.errors import DiskFull, Unavailable
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, Damaged, KeyRejected, Missing
from carrel.kit.sqlite.migrate import NewerDatabase
from carrel.vault import files
from carrel.vault.files import Format
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, KeyNotCached, WorkspaceBusy, WorkspacePool
from carrel.vault.workspace import Workspace, WorkspaceClosed
from tests.support import soak
from tests.support.clock import FakeClock
from tests.support.disk import Disk, failing
from tests.support.soak import Figure
from tests.support.vault import ALICE, BOB, add_row, add_table, contents, key_of, look_inside, make_workspace, rows
from tests.vault.conftest import MakePool

PathOf = Callable[[UserUuid], Path]


async def admit(pool: WorkspacePool, uuid: UserUuid, name: str | None = None, *, create: bool = True) -> None:
    await pool.admit(uuid, key_of(name or uuid), create=create)


def nothing() -> None:
    """What a rekey or a deletion does besides."""


class Recorder:
    """A listener that writes down what it hears, and whether the workspace still worked then."""

    def __init__(self, pool: WorkspacePool) -> None:
        self.heard: list[str] = []
        self._pool = pool
        pool.subscribe(self)

    async def opened(self, uuid: UserUuid) -> None:
        self.heard.append(f"opened {uuid}")

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        self.heard.append(f"{why} {uuid}")


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """One entry for each connection that is opened: whether it is for reading."""
    seen: list[bool] = []
    usual = files.open_workspace

    def open_workspace(*args: Any, readonly: bool) -> Connection:
        seen.append(readonly)
        return usual(*args, readonly=readonly)

    monkeypatch.setattr(files, "open_workspace", open_workspace)
    return seen


# Sign-in --------------------------------------------------------------------------------------------------------------


async def test_the_first_key_makes_the_database_and_later_ones_have_to_fit(
    make_pool: MakePool, path_of: PathOf
) -> None:
    pool = make_pool()
    await admit(pool, ALICE)
    assert ALICE in pool.keyring
    await pool.close()
    pool = make_pool()
    await admit(pool, ALICE, create=False)
    async with pool.leased(ALICE) as workspace:
        assert workspace.read(lambda conn: conn.one("SELECT uuid FROM user_meta")) == ("alice",)


async def test_a_wrong_key_is_rejected_and_leaves_no_key(make_pool: MakePool, path_of: PathOf) -> None:
    pool = make_pool()
    await admit(pool, ALICE)
    await pool.evict(ALICE)
    before = contents(path_of(ALICE).parent)
    with pytest.raises(KeyRejected):
        await admit(pool, ALICE, "wrong")
    assert contents(path_of(ALICE).parent) == before
    assert ALICE not in pool.keyring
    assert pool.keyring.is_wiped()
    with pytest.raises(KeyNotCached):
        await pool.lease(ALICE)
    await admit(pool, ALICE)


@pytest.mark.parametrize("opened", [True, False])
async def test_a_wrong_key_evicts_the_right_one_also_from_an_open_database(
    make_pool: MakePool, *, opened: bool
) -> None:
    pool = make_pool(max_open=1)
    await admit(pool, ALICE)
    if not opened:
        await admit(pool, BOB)
    heard = Recorder(pool).heard
    epoch = pool.keyring.epoch(ALICE)
    with pytest.raises(KeyRejected):
        await admit(pool, ALICE, "wrong")
    assert ALICE not in pool.keyring
    assert pool.keyring.epoch(ALICE) > epoch
    assert heard == ["evicted alice"]
    with pytest.raises(KeyNotCached):
        await pool.lease(ALICE)


async def test_the_right_key_is_checked_without_opening_again(pool: WorkspacePool, openings: list[bool]) -> None:
    await admit(pool, ALICE)
    before = len(openings)
    epoch = pool.keyring.epoch(ALICE)
    await admit(pool, ALICE)
    assert len(openings) == before
    assert pool.keyring.epoch(ALICE) == epoch


async def test_a_missing_database_is_not_replaced(pool: WorkspacePool, path_of: PathOf) -> None:
    with pytest.raises(Missing):
        await admit(pool, ALICE, create=False)
    assert ALICE not in pool.keyring
    assert list(path_of(ALICE).parent.iterdir()) == []


@pytest.mark.parametrize(("harm", "error"), [("missing", Missing), ("damaged", Damaged)])
async def test_a_login_at_a_database_that_cannot_be_opened_any_more_evicts_the_key(
    pool: WorkspacePool, path_of: PathOf, harm: str, error: type[Exception]
) -> None:
    await admit(pool, ALICE)
    await pool.rest(ALICE)
    if harm == "missing":
        path_of(ALICE).unlink()
    else:
        make_workspace(path_of(BOB), key_of(ALICE), BOB, pool.form)
        path_of(BOB).rename(path_of(ALICE))
    with pytest.raises(error):
        await admit(pool, ALICE, create=False)
    assert ALICE not in pool.keyring


async def test_a_newer_database_is_refused_untouched_and_its_key_is_not_kept(
    pool: WorkspacePool, path_of: PathOf, form: Format
) -> None:
    path = path_of(ALICE)
    make_workspace(path, key_of(ALICE), ALICE, form)
    conn = files.open_workspace(path, key_of(ALICE), ALICE, form, readonly=False)
    conn.run("PRAGMA user_version = 9999")
    database.close(conn)
    before = contents(path.parent)
    with pytest.raises(NewerDatabase):
        await admit(pool, ALICE)
    assert contents(path.parent) == before
    assert ALICE not in pool.keyring


async def test_two_users_swapped_files_do_not_open_even_with_one_key(
    pool: WorkspacePool, path_of: PathOf, form: Format
) -> None:
    for uuid in (ALICE, BOB):
        make_workspace(path_of(uuid), key_of("the same"), uuid, form)
    spare = path_of(ALICE).with_name("spare")
    path_of(ALICE).rename(spare)
    path_of(BOB).rename(path_of(ALICE))
    spare.rename(path_of(BOB))
    for uuid in (ALICE, BOB):
        with pytest.raises(Damaged):
            await admit(pool, uuid, "the same")
        assert uuid not in pool.keyring


async def test_an_older_database_is_migrated_when_it_is_opened(
    pool: WorkspacePool, path_of: PathOf, form: Format, small: Format
) -> None:
    make_workspace(path_of(ALICE), key_of(ALICE), ALICE, small)
    await admit(pool, ALICE, create=False)
    async with pool.leased(ALICE) as workspace:
        version = workspace.read(lambda conn: conn.one("PRAGMA user_version"))
        assert version is not None
        assert version[0] > 1
        assert workspace.read(rows) == list(range(20))


async def test_a_full_disk_at_the_first_login_makes_nothing_and_the_next_login_works(
    pool: WorkspacePool, path_of: PathOf
) -> None:
    with failing(Disk("full", fail_at=10, for_good=True)), pytest.raises(DiskFull):
        await admit(pool, ALICE)
    assert ALICE not in pool.keyring
    await admit(pool, ALICE)


async def test_what_a_crash_left_is_swept_when_the_user_is_opened(pool: WorkspacePool, path_of: PathOf) -> None:
    await admit(pool, ALICE)
    await pool.evict(ALICE)
    path_of(ALICE).with_name("workspace.db.new").write_bytes(b"left by a rekey that was killed")
    await admit(pool, ALICE)
    assert "workspace.db.new" not in [file.name for file in path_of(ALICE).parent.iterdir()]


# Leases and the limit -------------------------------------------------------------------------------------------------


async def cold_herd(pool: WorkspacePool, openings: list[bool]) -> None:
    """A thousand requests at once for a database that is closed."""
    async with pool.leased(ALICE):
        pass
    # An earlier herd left it open, and only an opening closes others.
    await pool.evict(BOB)
    pool.max_open = 1
    await admit(pool, BOB)
    pool.max_open = 100
    assert pool.try_lease(ALICE) is None
    openings.clear()
    leased = await asyncio.gather(*(pool.lease(ALICE) for _ in range(1000)))
    assert openings == [True]
    assert len({id(workspace) for workspace in leased}) == 1
    for workspace in leased:
        pool.release(workspace)
    assert not pool.is_leased(ALICE)


async def test_a_cold_herd_of_a_thousand_opens_once(pool: WorkspacePool, openings: list[bool]) -> None:
    await admit(pool, ALICE)
    await cold_herd(pool, openings)
    # The campaign repeats it.
    await cold_herd(pool, openings)


@pytest.mark.soak(campaign="races")
async def test_every_cold_herd_of_a_thousand_opens_once(
    pool: WorkspacePool, openings: list[bool], figure: Figure
) -> None:
    await admit(pool, ALICE)
    herds = soak.size(200)
    for _ in range(herds):
        await cold_herd(pool, openings)
    figure("cold herds of 1,000 requests", herds=herds, openings=herds)


async def test_the_longest_unused_is_closed_when_the_limit_is_reached(make_pool: MakePool) -> None:
    pool = make_pool(max_open=3)
    users = [UserUuid(f"user-{number}") for number in range(4)]
    for uuid in users[:3]:
        await admit(pool, uuid)
    async with pool.leased(users[0]):
        pass
    await admit(pool, users[3])
    assert len(pool) == 3
    assert pool.try_lease(users[1]) is None
    for uuid in (users[0], users[2], users[3]):
        workspace = pool.try_lease(uuid)
        assert workspace is not None
        pool.release(workspace)
    # Its key stays: the next request opens it again.
    async with pool.leased(users[1]):
        assert len(pool) == 3


async def test_what_nobody_uses_is_closed_after_a_while_and_opens_again(pool: WorkspacePool, clock: FakeClock) -> None:
    for uuid in (ALICE, BOB):
        await admit(pool, uuid)
    clock.advance(900)
    async with pool.leased(BOB):
        await pool.rest_idle(900)
        assert pool.opened == [BOB]
    await pool.rest_idle(900)
    assert pool.opened == [BOB]
    clock.advance(900)
    await pool.rest_idle(900)
    assert (pool.opened, ALICE in pool.keyring, BOB in pool.keyring) == ([], True, True)
    async with pool.leased(ALICE):
        assert pool.opened == [ALICE]


async def test_connections_that_wrote_or_scanned_are_closed_after_a_while_unless_they_are_at_work(
    pool: WorkspacePool, clock: FakeClock, openings: list[bool], path_of: PathOf
) -> None:
    await admit(pool, ALICE)
    openings.clear()
    async with pool.leased(ALICE) as workspace:
        await workspace.write(add_table)
        await workspace.scan(rows)
        clock.advance(5)
        await workspace.write(add_row, 1)
        await pool.close_spares(5)
        clock.advance(5)
        scanning = asyncio.create_task(workspace.scan(rows))
        await asyncio.sleep(0)
        await pool.close_spares(5)
        await scanning
        await workspace.write(add_row, 2)
        assert openings == [False]
        clock.advance(5)
        await pool.close_spares(5)
        assert path_of(ALICE).with_name("workspace.db-wal").stat().st_size == 0
        assert workspace.read(rows) == [1, 2]
        await workspace.write(add_row, 3)
        assert await workspace.scan(rows) == [1, 2, 3]
        assert openings == [False] * 2


async def test_a_leased_workspace_is_never_closed_and_too_many_are_told_to_come_again(make_pool: MakePool) -> None:
    pool = make_pool(max_open=2)
    users = [UserUuid(f"user-{number}") for number in range(3)]
    leased = []
    for uuid in users[:2]:
        await admit(pool, uuid)
        leased.append(await pool.lease(uuid))
    with pytest.raises(WorkspaceBusy) as caught:
        await admit(pool, users[2])
    assert caught.value.status == 503
    assert caught.value.retry_after_seconds == 1
    assert users[2] not in pool.keyring
    for workspace in leased:
        assert workspace.read(lambda conn: conn.one("SELECT 1")) == (1,)
    pool.release(leased[0])
    await admit(pool, users[2])
    with pytest.raises(WorkspaceClosed):
        leased[0].read(lambda conn: conn.one("SELECT 1"))
    assert leased[1].read(lambda conn: conn.one("SELECT 1")) == (1,)
    pool.release(leased[1])


async def test_a_login_that_finds_no_room_does_not_lose_a_key_that_was_good(make_pool: MakePool) -> None:
    pool = make_pool(max_open=1)
    await admit(pool, ALICE)
    await admit(pool, BOB)
    bobs = await pool.lease(BOB)
    with pytest.raises(WorkspaceBusy):
        await admit(pool, ALICE)
    assert ALICE in pool.keyring
    pool.release(bobs)
    async with pool.leased(ALICE):
        pass


async def test_openings_at_the_same_time_keep_to_the_limit(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool()
    users = [UserUuid(f"user-{number}") for number in range(30)]
    for uuid in users:
        await admit(pool, uuid)
    pool.max_open = 5
    most = 0
    usual = Workspace.__init__

    def count(self: Workspace, *args: Any, **kwargs: Any) -> None:
        nonlocal most
        usual(self, *args, **kwargs)
        most = max(most, len(pool) + 1)

    async def use(uuid: UserUuid) -> None:
        async with pool.leased(uuid) as workspace:
            assert len(pool) <= 5 or most == 0
            workspace.read(lambda conn: conn.one("SELECT 1"))

    # Down to the limit first.
    while len(pool) > 4:
        await pool.rest(pool.opened[0])
    monkeypatch.setattr(Workspace, "__init__", count)
    answers = await asyncio.gather(*(use(uuid) for uuid in users * 3), return_exceptions=True)
    assert most <= 5
    assert all(answer is None or isinstance(answer, WorkspaceBusy) for answer in answers)
    assert sum(answer is None for answer in answers) >= 5


async def test_a_lease_that_waited_for_a_login_is_not_closed_by_others_that_want_its_place(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(max_open=1)
    others = [UserUuid(f"user-{number}") for number in range(8)]
    for uuid in others:
        await admit(pool, uuid)
    await admit(pool, ALICE)
    reached, go_on = threading.Event(), threading.Event()

    def create(*_: object) -> None:
        reached.set()
        assert go_on.wait(60)

    monkeypatch.setattr(files, "create", create)
    login = asyncio.create_task(admit(pool, ALICE))
    assert await asyncio.to_thread(reached.wait, 60)
    leased = asyncio.create_task(pool.lease(ALICE))
    go_on.set()
    # In every step of the loop one of them looks for room, also between the end of the login and the lease.
    tried = []
    for uuid in cycle(others):
        tried.append(asyncio.create_task(pool.lease(uuid)))
        await asyncio.sleep(0)
        if leased.done():
            break
    refused = await asyncio.gather(*tried, return_exceptions=True)
    assert {type(answer) for answer in refused} == {WorkspaceBusy}
    await login
    workspace = await leased
    assert workspace.read(lambda conn: conn.one("SELECT 1")) == (1,)
    pool.release(workspace)


async def test_a_workspace_that_gets_leased_while_another_wants_its_place_stays_open(make_pool: MakePool) -> None:
    pool = make_pool(max_open=1)
    await admit(pool, ALICE)
    await admit(pool, BOB)
    # Bob's workspace is free again, but somebody waits for its lock: they come first.
    entry = pool._entries[BOB]
    await entry.lock.acquire()
    lease = asyncio.create_task(pool.lease(BOB))
    await asyncio.sleep(0)
    entry.lock.release()
    with pytest.raises(WorkspaceBusy):
        await pool.lease(ALICE)
    bobs = await lease
    assert bobs.read(lambda conn: conn.one("SELECT 1")) == (1,)
    pool.release(bobs)


async def test_no_lease_comes_of_an_opening_that_fails(
    make_pool: MakePool, path_of: PathOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(max_open=1)
    await admit(pool, ALICE)
    await admit(pool, BOB)
    path_of(ALICE).write_bytes(b"")
    for _ in range(3):
        with pytest.raises(Damaged):
            await pool.lease(ALICE)
    assert not pool.is_leased(ALICE)
    # A failed opening holds no place.
    async with pool.leased(BOB):
        assert len(pool) == 1


async def test_a_cached_key_that_no_longer_opens_the_file_is_not_kept(
    make_pool: MakePool, path_of: PathOf, form: Format
) -> None:
    pool = make_pool(max_open=1)
    await admit(pool, ALICE)
    await admit(pool, BOB)
    path_of(ALICE).unlink()
    make_workspace(path_of(ALICE), key_of("from a backup"), ALICE, form)
    with pytest.raises(KeyRejected):
        await pool.lease(ALICE)
    assert ALICE not in pool.keyring


# Eviction -------------------------------------------------------------------------------------------------------------


async def test_an_evicted_user_has_no_key_no_connection_and_a_new_epoch(pool: WorkspacePool, path_of: PathOf) -> None:
    await admit(pool, ALICE)
    heard = Recorder(pool).heard
    workspace = await pool.lease(ALICE)
    await workspace.write(add_table)
    epoch = pool.keyring.epoch(ALICE)
    await pool.evict(ALICE)
    assert ALICE not in pool.keyring
    assert pool.keyring.epoch(ALICE) > epoch
    assert heard == ["evicted alice"]
    with pytest.raises(WorkspaceClosed):
        workspace.read(rows)
    pool.release(workspace)
    assert [file.name for file in path_of(ALICE).parent.iterdir()] == ["workspace.db"]
    with pytest.raises(KeyNotCached):
        await pool.lease(ALICE)


async def test_writes_that_were_accepted_are_committed_before_an_eviction(
    pool: WorkspacePool, path_of: PathOf, form: Format
) -> None:
    await admit(pool, ALICE)
    workspace = await pool.lease(ALICE)
    await workspace.write(add_table)
    writes = [asyncio.create_task(workspace.write(add_row, number)) for number in range(200)]
    await asyncio.sleep(0)
    with pytest.raises(KeyRejected):
        await admit(pool, ALICE, "wrong")
    assert await asyncio.gather(*writes) == list(range(200))
    assert look_inside(path_of(ALICE), key_of(ALICE), ALICE, form) == list(range(200))
    pool.release(workspace)


@pytest.mark.parametrize("culprit", ["close", "discard"])
async def test_a_close_that_raises_still_evicts(
    pool: WorkspacePool, monkeypatch: pytest.MonkeyPatch, culprit: str
) -> None:
    await admit(pool, ALICE)
    async with pool.leased(ALICE) as workspace:
        await workspace.write(add_table)
        await workspace.scan(rows)
    usual = getattr(database, culprit)

    def close_and_raise(conn: apsw.Connection) -> None:
        usual(conn)
        raise apsw.IOError("the checkpoint failed")

    monkeypatch.setattr(database, culprit, close_and_raise)
    with pytest.raises(apsw.IOError):
        await pool.evict(ALICE)
    monkeypatch.undo()
    assert ALICE not in pool.keyring
    assert pool.keyring.is_wiped()
    assert pool.try_lease(ALICE) is None
    assert len(pool) == 0
    await admit(pool, ALICE)


@pytest.mark.parametrize("trouble", ["full", "broken"])
async def test_a_disk_that_fails_while_closing_still_evicts_and_loses_nothing(
    pool: WorkspacePool, path_of: PathOf, form: Format, trouble: Any
) -> None:
    with failing(Disk(trouble)) as disk:
        await admit(pool, ALICE)
        async with pool.leased(ALICE) as workspace:
            await workspace.write(add_table)
            await workspace.write(add_row, 1)
        disk.fail_at = disk.changes + 1
        disk.for_good = True
        await pool.evict(ALICE)
        assert ALICE not in pool.keyring
    assert look_inside(path_of(ALICE), key_of(ALICE), ALICE, form) == [1]


async def test_a_listener_that_fails_does_not_keep_a_key_in_memory(pool: WorkspacePool) -> None:
    class Failing(Recorder):
        async def closing(self, uuid: UserUuid, why: Closing) -> None:
            raise ZeroDivisionError

    await admit(pool, ALICE)
    Failing(pool)
    workspace = await pool.lease(ALICE)
    with pytest.raises(ZeroDivisionError):
        await pool.evict(ALICE)
    assert ALICE not in pool.keyring
    with pytest.raises(WorkspaceClosed):
        workspace.read(rows)


async def test_evicting_a_stranger_is_harmless(pool: WorkspacePool) -> None:
    await pool.evict(ALICE)
    assert pool.keyring.epoch(ALICE) > 0


# Rekey ----------------------------------------------------------------------------------------------------------------


async def test_after_a_rekey_only_the_new_key_opens_and_all_rows_are_there(
    make_pool: MakePool, path_of: PathOf, form: Format
) -> None:
    pool = make_pool()
    await admit(pool, ALICE)
    heard = Recorder(pool).heard
    async with pool.leased(ALICE) as workspace:
        await workspace.write(add_table)
        await workspace.write(add_row, 1)
    epoch = pool.keyring.epoch(ALICE)
    before: list[int] = []
    await pool.rekey(ALICE, key_of(ALICE), key_of("new"), lambda: before.append(1))
    assert before == [1]
    assert heard == ["rekey alice", "opened alice"]
    assert pool.keyring.epoch(ALICE) > epoch
    assert pool.keyring.matches(ALICE, key_of("new"))
    async with pool.leased(ALICE) as workspace:
        assert workspace.read(rows) == [1]
    await pool.close()
    assert look_inside(path_of(ALICE), key_of(ALICE), ALICE, form) is None
    assert look_inside(path_of(ALICE), key_of("new"), ALICE, form) == [1]


async def test_a_rekey_without_a_cached_key_keeps_the_new_one(make_pool: MakePool) -> None:
    await admit(make_pool(), ALICE)
    pool = make_pool()
    await pool.rekey(ALICE, key_of(ALICE), key_of("new"), nothing)
    async with pool.leased(ALICE):
        pass


@pytest.mark.parametrize("cached", [True, False])
async def test_a_rekey_with_a_wrong_old_key_changes_nothing(
    make_pool: MakePool, path_of: PathOf, form: Format, *, cached: bool
) -> None:
    await admit(make_pool(), ALICE)
    pool = make_pool()
    if cached:
        await admit(pool, ALICE)
    calls: list[int] = []
    with pytest.raises(KeyRejected):
        await pool.rekey(ALICE, key_of("wrong"), key_of("new"), lambda: calls.append(1))
    assert calls == []
    assert (ALICE in pool.keyring) == cached
    if cached:
        async with pool.leased(ALICE):
            pass
    await pool.close()
    assert look_inside(path_of(ALICE), key_of("new"), ALICE, form) is None


async def test_a_rekey_that_fails_keeps_the_old_key_and_work_goes_on(pool: WorkspacePool) -> None:
    await admit(pool, ALICE)
    heard = Recorder(pool).heard
    epoch = pool.keyring.epoch(ALICE)

    def fail() -> None:
        raise DiskFull

    with pytest.raises(DiskFull):
        await pool.rekey(ALICE, key_of(ALICE), key_of("new"), fail)
    assert pool.keyring.matches(ALICE, key_of(ALICE))
    assert pool.keyring.epoch(ALICE) > epoch
    assert heard == ["rekey alice", "opened alice"]
    async with pool.leased(ALICE) as workspace:
        assert workspace.read(lambda conn: conn.one("SELECT 1")) == (1,)


async def test_a_rekey_succeeds_although_there_is_no_room_to_open_afterwards(make_pool: MakePool) -> None:
    pool = make_pool(max_open=1)
    await admit(pool, BOB)
    await admit(pool, ALICE)
    await pool.evict(ALICE)
    bobs = await pool.lease(BOB)
    await pool.rekey(ALICE, key_of(ALICE), key_of("new"), nothing)
    assert pool.keyring.matches(ALICE, key_of("new"))
    pool.release(bobs)


async def test_a_rekey_whose_copy_is_not_sound_changes_nothing(
    pool: WorkspacePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = database.copy_under_another_key

    def unsound(source: Connection, target: Connection) -> None:
        usual(source, target)
        target.execute("CREATE TABLE broken (x); INSERT INTO broken VALUES (NULL); PRAGMA writable_schema = ON")
        target.execute("UPDATE sqlite_schema SET sql = 'CREATE TABLE broken (x NOT NULL)' WHERE name = 'broken'")

    await admit(pool, ALICE)
    monkeypatch.setattr(database, "copy_under_another_key", unsound)
    with pytest.raises(Damaged):
        await pool.rekey(ALICE, key_of(ALICE), key_of("new"), nothing)
    async with pool.leased(ALICE) as workspace:
        assert workspace.read(lambda conn: conn.one("SELECT uuid FROM user_meta")) == ("alice",)
    await admit(pool, ALICE)


async def test_a_rekey_waits_for_requests_and_requests_wait_for_a_rekey(pool: WorkspacePool) -> None:
    await admit(pool, ALICE)
    workspace = await pool.lease(ALICE)
    await workspace.write(add_table)
    rekey = asyncio.create_task(pool.rekey(ALICE, key_of(ALICE), key_of("new"), nothing))
    while (lent := pool.try_lease(ALICE)) is not None:
        pool.release(lent)
        await asyncio.sleep(0)
    later = asyncio.create_task(pool.lease(ALICE))
    # Whoever was there before works to the end.
    await workspace.write(add_row, 1)
    pool.release(workspace)
    await rekey
    newer = await later
    assert newer is not workspace
    assert newer.read(rows) == [1]
    pool.release(newer)


async def test_a_request_that_outlasts_the_timeout_of_a_rekey_is_told(
    pool: WorkspacePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.vault.pool.DRAIN_SECONDS", 0.01)
    await admit(pool, ALICE)
    workspace = await pool.lease(ALICE)
    await pool.rekey(ALICE, key_of(ALICE), key_of("new"), nothing)
    with pytest.raises(WorkspaceClosed):
        await workspace.write(add_table)
    pool.release(workspace)
    assert not pool.is_leased(ALICE)


async def test_logins_during_a_rekey_wait_and_are_checked_against_the_new_key(pool: WorkspacePool) -> None:
    await admit(pool, ALICE)
    workspace = await pool.lease(ALICE)
    rekey = asyncio.create_task(pool.rekey(ALICE, key_of(ALICE), key_of("new"), nothing))
    await asyncio.sleep(0)
    login = asyncio.create_task(admit(pool, ALICE, "new"))
    await asyncio.sleep(0)
    pool.release(workspace)
    await asyncio.gather(rekey, login)
    with pytest.raises(KeyRejected):
        await admit(pool, ALICE)


@pytest.mark.parametrize("after_steps", range(0, 40, 3))
async def test_a_client_that_goes_away_does_not_stop_a_rekey(
    make_pool: MakePool, path_of: PathOf, form: Format, after_steps: int
) -> None:
    pool = make_pool()
    await admit(pool, ALICE)
    async with pool.leased(ALICE) as workspace:
        await workspace.write(add_table)
    rekey = asyncio.create_task(pool.rekey(ALICE, key_of(ALICE), key_of("new"), nothing))
    for _ in range(1 + after_steps):
        await asyncio.sleep(0)
    rekey.cancel()
    await asyncio.wait([rekey])
    async with pool.leased(ALICE) as workspace:
        assert await workspace.write(add_row, after_steps) == after_steps
    await pool.close()
    assert look_inside(path_of(ALICE), key_of("new"), ALICE, form) == [after_steps]


async def test_a_client_that_goes_away_leaves_no_workspace_half_open(make_pool: MakePool) -> None:
    pool = make_pool(max_open=1)
    await admit(pool, ALICE)
    await admit(pool, BOB)
    for steps in range(12):
        uuid = (ALICE, BOB)[steps % 2]
        lease = asyncio.create_task(pool.lease(uuid))
        for _ in range(steps):
            await asyncio.sleep(0)
        lease.cancel()
        done, _ = await asyncio.wait([lease])
        if not lease.cancelled():
            pool.release(done.pop().result())
        assert not pool.is_leased(uuid)
        assert len(pool) <= 1
        async with pool.leased(uuid) as workspace:
            assert workspace.read(lambda conn: conn.one("SELECT 1")) == (1,)


# Deletion and the end -------------------------------------------------------------------------------------------------


async def test_destroying_closes_first_and_nothing_opens_meanwhile(pool: WorkspacePool, path_of: PathOf) -> None:
    await admit(pool, ALICE)
    heard = Recorder(pool).heard
    workspace = await pool.lease(ALICE)
    epoch = pool.keyring.epoch(ALICE)
    found: list[str] = []

    def remove() -> None:
        found.extend(file.name for file in path_of(ALICE).parent.iterdir())
        assert ALICE not in pool.keyring
        path_of(ALICE).unlink()

    destroying = asyncio.create_task(pool.destroy(ALICE, remove))
    login = asyncio.create_task(admit(pool, ALICE, create=False))
    await destroying
    assert found == ["workspace.db"]
    assert heard == ["deleted alice"]
    assert pool.keyring.epoch(ALICE) > epoch
    with pytest.raises(Missing):
        await login
    with pytest.raises(WorkspaceClosed):
        workspace.read(rows)
    pool.release(workspace)


async def test_closing_the_pool_wipes_every_key_and_empties_every_log(make_pool: MakePool, path_of: PathOf) -> None:
    pool = make_pool()
    users = [UserUuid(f"user-{number}") for number in range(10)]
    for uuid in users:
        await admit(pool, uuid)
        async with pool.leased(uuid) as workspace:
            await workspace.write(add_table)
    await pool.close()
    assert len(pool.keyring) == len(pool) == 0
    assert pool.keyring.is_wiped()
    for uuid in users:
        assert [file.name for file in path_of(uuid).parent.iterdir()] == ["workspace.db"]
    with pytest.raises(KeyNotCached):
        await pool.lease(users[0])
    with pytest.raises(Unavailable):
        await admit(pool, users[0])
    assert users[0] not in pool.keyring
    await pool.close()


async def test_closing_the_pool_goes_on_after_one_that_fails(
    make_pool: MakePool, path_of: PathOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool()
    for uuid in (ALICE, BOB):
        await admit(pool, uuid)
    usual = Workspace.close

    async def close(workspace: Workspace) -> None:
        await usual(workspace)
        if workspace.uuid == ALICE:
            raise ZeroDivisionError

    monkeypatch.setattr(Workspace, "close", close)
    with pytest.raises(ZeroDivisionError):
        await pool.close()
    assert pool.keyring.is_wiped()
    assert [file.name for file in path_of(BOB).parent.iterdir()] == ["workspace.db"]


async def test_closing_the_pool_is_not_disturbed_by_a_user_who_is_forgotten_meanwhile(pool: WorkspacePool) -> None:
    await admit(pool, ALICE)
    await pool.evict(BOB)
    closing = asyncio.create_task(pool.close())
    # A node that loses a slot while it stops: after the list of users was read, and before their turn.
    asyncio.get_running_loop().call_soon(pool.forget, BOB)
    await closing
    assert pool.keyring.is_wiped()

"""The three verbs: what shares a commit, what is durable, what stands in nobody's way."""

import asyncio
import shutil
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from carrel.errors import DiskFull, Unavailable
from carrel.http.client_connection import ClientConnection, served
from carrel.kit.concurrency.cancellation import cancel
from carrel.kit.concurrency.turns import SHORT_SECONDS, Turns
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, Damaged, ReadTooLong
from carrel.vault import files
from carrel.vault.executors import SCAN_THREADS
from carrel.vault.files import Format
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import WorkspacePool
from carrel.vault.workspace import Workspace, WorkspaceClosed
from tests.support.disk import Disk, every_failure, failing
from tests.support.vault import ALICE, BOB, add_row, add_table, key_of, look_inside, make_workspace, rows
from tests.vault.conftest import MakePool

KEY = key_of("alice")


@pytest.fixture
async def workspace(pool: WorkspacePool) -> AsyncIterator[Workspace]:
    await pool.admit(ALICE, key_of("alice"), create=True)
    async with pool.leased(ALICE) as workspace:
        await workspace.write(add_table)
        yield workspace


class Gate:
    """Holds a store function up in its thread until the test lets it go on."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def pass_through(self, _: Connection | None = None) -> None:
        self.entered.set()
        assert self.open.wait(60)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self.entered.wait, 60)


async def waiting_behind(workspace: Workspace, gate: Gate, *writes: Callable[[Connection], Any]) -> list[Any]:
    """The answers of `writes` that all waited while another write was under way."""
    first = asyncio.create_task(workspace.write(gate.pass_through))
    await gate.reached()
    waiting = [asyncio.create_task(workspace.write(write)) for write in writes]
    await asyncio.sleep(0)
    gate.open.set()
    await first
    return await asyncio.gather(*waiting, return_exceptions=True)


# Writes ---------------------------------------------------------------------------------------------------------------


async def test_what_is_written_is_read(workspace: Workspace) -> None:
    assert await workspace.write(add_row, 1) == 1
    assert workspace.read(rows) == [1]
    assert await workspace.scan(rows) == [1]


async def test_what_was_scanned_is_recalled_until_something_is_committed(workspace: Workspace) -> None:
    scans = 0

    def counted(conn: Connection) -> list[int]:
        nonlocal scans
        scans += 1
        return rows(conn)

    assert [await workspace.recall(counted), await workspace.recall(counted), scans] == [[], [], 1]
    await workspace.write(add_row, 1)
    assert [await workspace.recall(counted), await workspace.recall(counted), scans] == [[1], [1], 2]


async def test_what_is_written_is_durable_when_write_returns(
    workspace: Workspace, path_of: Callable[..., Path], form: Format, tmp_path: Path
) -> None:
    await workspace.write(add_row, 1)
    # As a crash at this instant leaves it.
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for file in path_of(ALICE).parent.glob("workspace.db*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, crashed)
    assert look_inside(crashed / "workspace.db", KEY, ALICE, form) == [1]


async def test_waiting_writes_share_one_commit(workspace: Workspace) -> None:
    before = workspace.commits
    answers = await waiting_behind(workspace, Gate(), *(lambda conn, n=n: add_row(conn, n) for n in range(50)))
    assert answers == list(range(50))
    assert workspace.commits == before + 2
    assert workspace.read(rows) == list(range(50))


async def test_a_commit_is_shared_by_64_at_most(workspace: Workspace) -> None:
    before = workspace.commits
    answers = await waiting_behind(workspace, Gate(), *(lambda conn, n=n: add_row(conn, n) for n in range(65)))
    assert answers == list(range(65))
    assert workspace.commits == before + 3


async def test_a_write_that_fails_takes_back_its_own_changes_only(workspace: Workspace) -> None:
    def add_two_and_fail(conn: Connection) -> None:
        add_row(conn, 100)
        add_row(conn, 101)
        raise ZeroDivisionError

    before = workspace.commits
    answers = await waiting_behind(
        workspace,
        Gate(),
        lambda conn: add_row(conn, 1),
        add_two_and_fail,
        lambda conn: add_row(conn, 1),
        lambda conn: add_row(conn, 2),
    )
    assert [type(answer) for answer in answers] == [int, ZeroDivisionError, apsw.ConstraintError, int]
    assert workspace.read(rows) == [1, 2]
    assert workspace.commits == before + 2


async def test_a_later_write_sees_an_earlier_one_of_the_same_commit(workspace: Workspace) -> None:
    answers = await waiting_behind(workspace, Gate(), lambda conn: add_row(conn, 1), rows)
    assert answers == [1, [1]]


async def test_a_write_that_fails_alone_leaves_nothing(workspace: Workspace) -> None:
    def add_and_fail(conn: Connection) -> None:
        add_row(conn, 1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await workspace.write(add_and_fail)
    assert workspace.read(rows) == []
    await workspace.write(add_row, 1)


async def test_an_exhausted_iterator_in_a_store_function_does_not_hang_whoever_waits(workspace: Workspace) -> None:
    def exhaust(_: Connection) -> None:
        next(iter(()))

    answers = await waiting_behind(workspace, Gate(), exhaust, lambda conn: add_row(conn, 1))
    assert [type(answer) for answer in answers] == [RuntimeError, int]
    with pytest.raises(RuntimeError):
        await workspace.write(exhaust)
    with pytest.raises(RuntimeError):
        await workspace.scan(exhaust)


async def test_a_caller_that_goes_away_does_not_take_its_write_along(workspace: Workspace) -> None:
    gate = Gate()
    first = asyncio.create_task(workspace.write(gate.pass_through))
    await gate.reached()
    gone = asyncio.create_task(workspace.write(add_row, 1))
    gone_and_failing = asyncio.create_task(workspace.write(lambda _: 1 / 0))
    await asyncio.sleep(0)
    for task in (first, gone, gone_and_failing):
        task.cancel()
    gate.open.set()
    for task in (first, gone, gone_and_failing):
        with pytest.raises(asyncio.CancelledError):
            await task
    await workspace.write(add_row, 2)
    assert workspace.read(rows) == [1, 2]


async def test_a_full_disk_costs_only_those_writes_that_do_not_fit(
    make_pool: MakePool, form: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool()
    monkeypatch.setattr(pool, "form", form._replace(max_megabytes=2))
    await pool.admit(ALICE, key_of("alice"), create=True)
    async with pool.leased(ALICE) as workspace:
        await workspace.write(add_table)

        def add_big(conn: Connection) -> int:
            return add_row(conn, 100, "x" * 3_000_000)

        answers = await waiting_behind(
            workspace,
            Gate(),
            lambda conn: add_row(conn, 1),
            add_big,
            lambda conn: add_row(conn, 2),
            add_big,
            lambda conn: add_row(conn, 3),
        )
        assert [type(answer) for answer in answers] == [int, DiskFull, int, DiskFull, int]
        assert workspace.read(rows) == [1, 2, 3]
        assert await workspace.write(add_row, 4) == 4


async def test_writes_survive_every_failure_of_the_disk(
    make_pool: MakePool, small: Format, tmp_path: Path, path_of: Callable[..., Path]
) -> None:
    original = tmp_path / "original" / "workspace.db"
    make_workspace(original, KEY, ALICE, small, count=3, text="words " * 100)

    async def write(disk: Disk) -> None:
        path = path_of(ALICE)
        shutil.copy(original, path)
        pool = make_pool()
        pool.form = small
        acknowledged = [0, 1, 2]
        refused = []
        with failing(disk):
            try:
                await pool.admit(ALICE, key_of("alice"), create=False)
                async with pool.leased(ALICE) as workspace:
                    for batch in ([3], [4, 5], [6]):
                        answers = await asyncio.gather(
                            *(workspace.write(add_row, number, "words " * 300) for number in batch),
                            return_exceptions=True,
                        )
                        acknowledged += [number for number in answers if isinstance(number, int)]
                        refused += [type(answer) for answer in answers if not isinstance(answer, int)]
                        assert set(acknowledged) <= set(workspace.read(rows))
            except (DiskFull, Unavailable) as error:
                refused.append(type(error))
            await pool.close()
            disk.heal()
            found = look_inside(path, KEY, ALICE, small)
        assert set(refused) <= ({DiskFull} if disk.trouble == "full" else {Unavailable})
        assert found is not None
        assert set(acknowledged) <= set(found) <= set(range(7)), disk
        if disk.trouble == "full":
            assert found == acknowledged, disk
        for file in path.parent.iterdir():
            file.unlink()

    loop = asyncio.new_event_loop()
    try:
        runs = await asyncio.to_thread(every_failure, lambda disk: loop.run_until_complete(write(disk)))
    finally:
        loop.close()
    assert runs > 50


# Reads and scans ------------------------------------------------------------------------------------------------------


async def test_each_verb_has_a_connection_of_its_own(workspace: Workspace) -> None:
    gates = [Gate() for _ in range(3)]
    seen: list[Connection] = []

    def hold(conn: Connection, gate: Gate) -> None:
        seen.append(conn)
        gate.pass_through(conn)

    tasks = [asyncio.create_task(workspace.write(hold, gates[0]))]
    tasks += [asyncio.create_task(workspace.scan(hold, gate)) for gate in gates[1:]]
    for gate in gates:
        await gate.reached()

    # While a write and two scans are in the middle of something, a read answers at once.
    def one(conn: Connection) -> object:
        seen.append(conn)
        return conn.one("SELECT 1")

    assert workspace.read(one) == (1,)
    for gate in gates:
        gate.open.set()
    await asyncio.gather(*tasks)
    assert len(seen) == len({id(conn) for conn in seen}) == 4


async def test_a_connection_for_reading_cannot_write(workspace: Workspace) -> None:
    with pytest.raises(Unavailable):
        workspace.read(add_row, 1)
    with pytest.raises(Unavailable):
        await workspace.scan(add_row, 1)
    assert workspace.read(rows) == []


async def test_a_read_sees_one_state_and_the_next_read_the_newest(workspace: Workspace) -> None:
    gate = Gate()

    def look_twice(conn: Connection) -> tuple[list[int], list[int]]:
        before = rows(conn)
        gate.pass_through(conn)
        return before, rows(conn)

    scan = asyncio.create_task(workspace.scan(look_twice))
    await gate.reached()
    await workspace.write(add_row, 1)
    assert workspace.read(rows) == [1]
    gate.open.set()
    assert await scan == ([], [])


async def test_an_error_in_a_read_or_scan_ends_its_snapshot(workspace: Workspace) -> None:
    for _ in range(3):
        with pytest.raises(apsw.SQLError):
            workspace.read(lambda conn: conn.one("SELECT nothing"))
        with pytest.raises(apsw.SQLError):
            await workspace.scan(lambda conn: conn.one("SELECT nothing"))
    await workspace.write(add_row, 1)
    assert workspace.read(rows) == await workspace.scan(rows) == [1]


async def test_long_scans_of_one_user_do_not_hold_up_the_writes_of_another(
    workspace: Workspace, pool: WorkspacePool
) -> None:
    gates = [Gate() for _ in range(20)]
    scans = [asyncio.create_task(workspace.scan(gate.pass_through)) for gate in gates]
    for gate in gates[:2]:
        await gate.reached()
    other = UserUuid("other")
    await pool.admit(other, key_of("other"), create=True)
    async with pool.leased(other) as theirs:
        await theirs.write(add_table)
        assert await theirs.write(add_row, 1) == 1
        assert await theirs.scan(rows) == [1]
    # A user's own further scans wait for the first two.
    assert not any(gate.entered.is_set() for gate in gates[2:])
    for gate in gates:
        gate.open.set()
    await asyncio.gather(*scans)


async def test_endless_scans_of_four_users_keep_nobody_elses_scan_waiting(pool: WorkspacePool) -> None:
    attackers = [UserUuid(f"attacker-{number}") for number in range(4)]
    for uuid in (*attackers, ALICE):
        await pool.admit(uuid, key_of(uuid), create=True)
    opened = [await pool.lease(uuid) for uuid in attackers]
    # Half of them run statements without end, and half run Python.
    scans = [
        asyncio.create_task(each.scan(count_for_ever, threading.Event()) if number % 2 else each.scan(run_for_ever))
        for each in opened
        for number in range(4)
    ]
    async with pool.leased(ALICE) as workspace, asyncio.timeout(60):
        await workspace.write(add_table)
        for _ in range(3):
            assert await workspace.scan(rows) == []
    await cancel(scans)
    for each in opened:
        pool.release(each)


async def test_long_work_of_one_user_goes_on_although_another_never_ends(pool: WorkspacePool) -> None:
    for uuid in (ALICE, BOB):
        await pool.admit(uuid, key_of(uuid), create=True)
    async with pool.leased(ALICE) as hers, pool.leased(BOB) as his, asyncio.timeout(60):
        endless = asyncio.create_task(his.scan(run_for_ever))
        assert await hers.scan(run_for_long) == "done"
        assert not endless.done()
        await cancel([endless])


async def test_a_scan_whose_client_leaves_is_stopped(workspace: Workspace) -> None:
    client = ClientConnection()
    started = threading.Event()

    async def serve() -> None:
        client.serve(asyncio.current_task())
        await workspace.scan(count_for_ever, started)

    serving = asyncio.create_task(serve())
    assert await asyncio.to_thread(started.wait, 60)
    client.leave()
    with pytest.raises(WorkspaceClosed):
        await asyncio.wait_for(serving, 60)
    client.serve(asyncio.current_task())
    with pytest.raises(WorkspaceClosed):
        await workspace.scan(run_for_ever)
    served(asyncio.current_task())
    assert await workspace.scan(rows) == []


async def test_a_scan_for_a_request_ends_when_it_has_taken_its_processor_time(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.vault.workspace.MAX_SCAN_SECONDS", 0.02)
    ClientConnection().serve(asyncio.current_task())
    for endless in (lambda conn: count_for_ever(conn, threading.Event()), run_for_ever, count_in_one_step):
        async with asyncio.timeout(60):
            with pytest.raises(ReadTooLong):
                await workspace.scan(endless)
    # The connection is as good as new.
    assert await workspace.scan(rows) == []
    served(asyncio.current_task())
    # Work that no request waits for has no limit: a run has to end.
    assert await workspace.scan(run_for_long) == "done"


async def test_a_scan_whose_caller_goes_away_is_stopped_and_gives_its_place_back(workspace: Workspace) -> None:
    for _ in range(6):
        started = threading.Event()
        scan = asyncio.create_task(workspace.scan(count_for_ever, started))
        assert await asyncio.to_thread(started.wait, 60)
        scan.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scan
    assert await asyncio.wait_for(workspace.scan(rows), 60) == []


@pytest.mark.parametrize("is_long", [False, True])
async def test_only_the_commit_of_long_work_keeps_others_waiting_for_a_turn(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch, is_long: bool
) -> None:
    monkeypatch.setattr("carrel.kit.concurrency.turns.TURN_SECONDS", 0.0)
    # On a busy machine, the allowance would come back while the work waits for a core.
    monkeypatch.setattr("carrel.kit.concurrency.turns.SHARE", 0.0)
    turns = Turns(at_once=1)
    free: list[bool] = []

    def look() -> bool:
        stranger = turns.of("stranger")
        free.append(turns.ask(stranger))
        turns.forget(stranger)
        turns.release(stranger)
        return False

    def write(conn: Connection) -> None:
        add_table(conn)
        conn.one("SELECT 1")
        if is_long:
            run_for_long(conn)
        look()
        conn.set_commit_hook(look)

    pool = make_pool(turns=turns)
    await pool.admit(ALICE, key_of("alice"), create=True)
    async with pool.leased(ALICE) as workspace:
        await workspace.write(write)
    assert free == [False, not is_long]
    assert turns.ask(turns.of("stranger"))


def run_for_ever(conn: Connection) -> None:
    while True:
        conn.one("SELECT 1")


def run_for_long(conn: Connection) -> str:
    """More than anybody may take without a turn."""
    until = time.thread_time() + 1.2 * SHORT_SECONDS
    while time.thread_time() < until:
        conn.one("SELECT 1")
    return "done"


def count_for_ever(conn: Connection, started: threading.Event) -> None:
    started.set()
    conn.all("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n")


def count_in_one_step(conn: Connection) -> None:
    """As a search for words, which looks at nothing but interrupts while FTS5 puts the places of words in order."""
    conn.set_progress_handler(None)
    try:
        count_for_ever(conn, threading.Event())
    finally:
        conn.take_turns()


def ask_for_ever(conn: Connection, started: threading.Event) -> None:
    """Short statements without an end: an interrupt mostly comes between two of them."""
    while True:
        conn.one("SELECT 1")
        started.set()


async def test_a_page_that_fails_its_checksum_is_named_damaged(
    make_pool: MakePool, form: Format, path_of: Callable[..., Path]
) -> None:
    path = path_of(ALICE)
    make_workspace(path, KEY, ALICE, form, count=300, text="words " * 100)
    bad = bytearray(path.read_bytes())
    bad[-2000] ^= 1
    path.write_bytes(bad)
    pool = make_pool()
    await pool.admit(ALICE, key_of("alice"), create=False)
    async with pool.leased(ALICE) as workspace:
        with pytest.raises(Damaged):
            workspace.read(lambda conn: conn.all("SELECT * FROM t"))
        with pytest.raises(Damaged):
            await workspace.scan(lambda conn: conn.all("SELECT * FROM t"))
        assert workspace.read(lambda conn: conn.one("SELECT a FROM t WHERE a = 0")) == (0,)


# Closing --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scan", [count_for_ever, ask_for_ever])
async def test_closing_stops_a_scan(workspace: Workspace, scan: Callable[..., None]) -> None:
    started = threading.Event()
    running = asyncio.create_task(workspace.scan(scan, started))
    assert await asyncio.to_thread(started.wait, 60)
    await asyncio.wait_for(workspace.close(), 60)
    with pytest.raises(WorkspaceClosed):
        await running


async def test_closing_stops_a_scan_that_has_no_thread_yet(workspace: Workspace, pool: WorkspacePool) -> None:
    gates = [Gate() for _ in range(SCAN_THREADS)]
    busy = [pool._executors.scans.submit(gate.pass_through) for gate in gates]
    queued = [asyncio.create_task(workspace.scan(rows)) for _ in range(6)]
    await asyncio.sleep(0)
    await asyncio.wait_for(workspace.close(), 60)
    assert [type(answer) for answer in await asyncio.gather(*queued, return_exceptions=True)] == [WorkspaceClosed] * 6
    for gate in gates:
        gate.open.set()
    for job in busy:
        job.result()


async def test_closing_lets_queued_writes_commit(
    workspace: Workspace, path_of: Callable[..., Path], form: Format
) -> None:
    gate = Gate()
    first = asyncio.create_task(workspace.write(gate.pass_through))
    await gate.reached()
    queued = [asyncio.create_task(workspace.write(add_row, number)) for number in range(100)]
    await asyncio.sleep(0)
    closing = asyncio.create_task(workspace.close())
    await asyncio.sleep(0)
    with pytest.raises(WorkspaceClosed):
        await workspace.write(add_row, 1000)
    gate.open.set()
    await asyncio.gather(first, closing)
    assert await asyncio.gather(*queued) == list(range(100))
    assert [file.name for file in path_of(ALICE).parent.iterdir()] == ["workspace.db"]
    assert look_inside(path_of(ALICE), KEY, ALICE, form) == list(range(100))


async def test_after_closing_every_verb_says_so(workspace: Workspace) -> None:
    await workspace.close()
    with pytest.raises(WorkspaceClosed):
        workspace.read(rows)
    with pytest.raises(WorkspaceClosed):
        await workspace.scan(rows)
    with pytest.raises(WorkspaceClosed):
        await workspace.write(add_row, 1)


async def test_no_connection_outlives_the_workspace(
    pool: WorkspacePool, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Connection] = []
    usual = files.open_workspace

    def open_workspace(*args: Any, **kwargs: Any) -> Connection:
        opened.append(usual(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(files, "open_workspace", open_workspace)
    # Closed while four scans are on their way to a connection of their own.
    scans = [asyncio.create_task(workspace.scan(rows)) for _ in range(4)]
    await asyncio.sleep(0)
    await workspace.close()
    await asyncio.gather(*scans, return_exceptions=True)
    for conn in [*opened, workspace._reader]:
        with pytest.raises(apsw.ConnectionClosedError):
            conn.execute("SELECT 1")


async def test_a_workspace_shows_nothing_of_its_user(workspace: Workspace) -> None:
    assert repr(workspace) == "<Workspace>"


def test_a_log_with_a_flipped_bit_never_gives_back_what_was_not_written(tmp_path: Path, form: Format) -> None:
    """The known limit: a flipped bit in the log drops the commits from there on, unseen. So logs are short-lived."""
    path = tmp_path / "desk" / "workspace.db"
    make_workspace(path, KEY, ALICE, form, count=1)
    conn = files.open_workspace(path, KEY, ALICE, form, readonly=False)
    for number in range(1, 20):
        add_row(conn, number)
    log = path.with_name("workspace.db-wal").read_bytes()
    main = path.read_bytes()
    database.discard(conn)
    for position in range(0, len(log), 997):
        bad = bytearray(log)
        bad[position] ^= 1
        path.write_bytes(main)
        path.with_name("workspace.db-wal").write_bytes(bad)
        found = look_inside(path, KEY, ALICE, form)
        assert found is not None
        assert found == list(range(len(found)))


async def test_a_held_file_stays_as_it_is_until_it_is_let_go_and_its_log_has_every_commit(
    pool: WorkspacePool, workspace: Workspace, path_of: Callable[[UserUuid], Path]
) -> None:
    path, large, held = path_of(ALICE), "x" * 5_000_000, {ALICE}
    await pool.hold(held.__contains__, 60)
    before = path.read_bytes()
    await workspace.write(add_row, 1, large)
    await pool.rest(ALICE)
    assert path.read_bytes() == before
    async with pool.leased(ALICE) as again:
        assert again.read(rows) == [1]
        held.clear()
        await pool.hold(ALICE.__eq__, 0)
        before = path.read_bytes()
        await again.write(add_row, 2, large)
        assert path.read_bytes() != before

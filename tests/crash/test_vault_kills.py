"""SIGKILL at random instants of a first login, a rekey of 20 MB and a deletion, and before each of their disk changes.

After every kill the next start finds the state before or the state after, whole. `CARREL_SEED` sets the instants.
"""

import asyncio
import os
import random
import shutil
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path

import pytest

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import UserUnknown
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, KeyRejected
from carrel.vault import files
from tests.crash.vault_operations import ALICE, Stack, key_of
from tests.support import soak
from tests.support.disk import Disk, failing
from tests.support.kills import ForkServer, KillCounts, kill_at_random
from tests.support.soak import Figure

KILLS = 8
SEED = int(os.environ.get("CARREL_SEED", "1"))

After = Callable[[Path, int], Coroutine[None, None, None]]

ROWS = 5_000
ROW_BYTES = 4_000
SMALL_ROWS = 20
PARTS = 18
"""A campaign that is ended early keeps the figures of the parts that it did."""


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer("tests.crash.vault_operations") as fork_server:
        yield fork_server


# The states before ----------------------------------------------------------------------------------------------------


def look(after: After, data: Path, rows: int) -> None:
    # On a disk that never waits: what a kill left is to be read, no power is cut here.
    with failing(Disk()):
        asyncio.run(after(data, rows))


def prepared(folder: Path, *, rows: int, row_bytes: int) -> Path:
    """A data folder with one user, who has `rows` rows, or who has never logged in when there are none."""

    async def prepare() -> None:
        async with Stack(folder) as stack:
            await stack.make_user()
            if rows:
                await stack.sign_in.login(ALICE, key_of("old"))
                async with stack.pool.leased(ALICE) as workspace:
                    await workspace.write(fill, rows, row_bytes)

    folder.mkdir()
    asyncio.run(prepare())
    return folder


def fill(conn: Connection, rows: int, row_bytes: int) -> None:
    conn.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB) STRICT")
    for number in range(rows):
        conn.run("INSERT INTO t VALUES (?, ?)", number, bytes([number % 256]) * row_bytes)


def check(conn: Connection, rows: int, row_bytes: int) -> None:
    """Every row is there; that its bytes are the right ones is what the cipher authenticates."""
    found = conn.one("SELECT count(*), total(a), total(length(b)) FROM t")
    assert found == (rows, sum(range(rows)), rows * row_bytes)


@pytest.fixture(scope="module")
def twenty_megabytes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = prepared(tmp_path_factory.mktemp("big") / "data", rows=ROWS, row_bytes=ROW_BYTES)
    assert max(file.stat().st_size for file in data.rglob("workspace.db")) > 20_000_000
    return data


@pytest.fixture(scope="module")
def some_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("small") / "data", rows=SMALL_ROWS, row_bytes=ROW_BYTES)


@pytest.fixture(scope="module")
def never_logged_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared(tmp_path_factory.mktemp("new") / "data", rows=0, row_bytes=0)


# The states after -----------------------------------------------------------------------------------------------------


def keys_that_open(stack: Stack, rows: int) -> list[str]:
    """Which of the two keys open the file as the killed process left it; with each of them every row is there."""
    opening = []
    for name in ("old", "new"):
        try:
            conn = files.open_workspace(
                stack.accounts.workspace_path(ALICE), key_of(name), ALICE, stack.form, readonly=True
            )
        except KeyRejected:
            continue
        check(conn, rows, ROW_BYTES)
        database.discard(conn)
        opening.append(name)
    return opening


async def after_rekey(data: Path, rows: int) -> None:
    async with Stack(data) as stack:
        opening = keys_that_open(stack, rows)
        assert len(opening) == 1, f"{len(opening)} keys open the database"
        await stack.sign_in.login(ALICE, key_of(opening[0]))
        assert leftovers(data) == []


async def after_first_login(data: Path, rows: int) -> None:
    del rows
    async with Stack(data) as stack:
        account = await stack.accounts.read(ALICE, account_rows.get)
        if account.has_workspace:
            assert stack.accounts.workspace_path(ALICE).exists()
        await stack.sign_in.login(ALICE, key_of("old"))
        async with stack.pool.leased(ALICE) as workspace:
            assert workspace.read(lambda conn: conn.one("SELECT uuid FROM user_meta")) == (ALICE,)
            await workspace.write(fill, SMALL_ROWS, ROW_BYTES)
        assert leftovers(data) == []


async def after_delete(data: Path, rows: int) -> None:
    async with Stack(data) as stack:
        try:
            await stack.accounts.read(ALICE, account_rows.get)
        except UserUnknown:
            # Gone: no file, no journal, and the place is free for somebody new.
            assert not stack.accounts.folder(ALICE).exists()
            await stack.make_user()
            await stack.sign_in.login(ALICE, key_of("somebody new"))
        else:
            assert keys_that_open(stack, rows) == ["old"]
            await stack.sign_in.login(ALICE, key_of("old"))
        assert leftovers(data) == []


def leftovers(data: Path) -> list[str]:
    return [file.name for file in data.rglob("*") if ".new" in file.name or ".deleted" in file.name]


# Campaigns ------------------------------------------------------------------------------------------------------------


def campaign(
    fork_server: ForkServer,
    operation: str,
    before: Path,
    after: After,
    rows: int,
    kills: int,
    part: int,
    work: Path,
) -> KillCounts:
    """Kill `operation` at `kills` instants spread over all of its duration, and look at what is left each time."""
    data = work / "data"

    def prepare() -> None:
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(before, data)

    chance = random.Random(f"{operation} {SEED} {part}")
    found = kill_at_random(fork_server, chance, kills, prepare, lambda: look(after, data, rows), operation, str(data))
    print(f"\n{operation}: {found}")
    return found


CAMPAIGNS = pytest.mark.parametrize(
    ("operation", "folder", "after", "rows"),
    [
        ("rekey", "twenty_megabytes", after_rekey, ROWS),
        ("first_login", "never_logged_in", after_first_login, 0),
        ("delete", "twenty_megabytes", after_delete, ROWS),
    ],
    ids=["rekey", "first login", "delete"],
)


@CAMPAIGNS
def test_kills_at_random_instants_lose_nothing(
    fork_server: ForkServer,
    operation: str,
    folder: str,
    after: After,
    rows: int,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    before = request.getfixturevalue(folder)
    assert campaign(fork_server, operation, before, after, rows, KILLS, 0, tmp_path).kills == KILLS


@pytest.mark.soak(campaign="rekey")
@pytest.mark.parametrize(
    ("operation", "folder", "after", "rows", "kills", "part"),
    [
        *(("rekey", "twenty_megabytes", after_rekey, ROWS, 100, part) for part in range(10)),
        *(("rekey", "some_rows", after_rekey, SMALL_ROWS, 9_000 // PARTS, part) for part in range(PARTS)),
        ("first_login", "never_logged_in", after_first_login, 0, 1_000, 0),
        ("delete", "twenty_megabytes", after_delete, ROWS, 1_000, 0),
    ],
)
def test_many_kills_at_random_instants_lose_nothing(
    fork_server: ForkServer,
    operation: str,
    folder: str,
    after: After,
    rows: int,
    kills: int,
    part: int,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    figure: Figure,
) -> None:
    before = request.getfixturevalue(folder)
    found = campaign(fork_server, operation, before, after, rows, soak.size(kills), part, tmp_path)
    what = f"SIGKILL at a random instant, {operation.replace('_', ' ')}"
    figure(what, kills=found.kills, lost=0)


CHANGES = pytest.mark.parametrize(
    ("operation", "folder", "after", "rows"),
    [
        ("rekey", "some_rows", after_rekey, SMALL_ROWS),
        ("first_login", "never_logged_in", after_first_login, 0),
        ("delete", "some_rows", after_delete, SMALL_ROWS),
    ],
    ids=["rekey", "first login", "delete"],
)


def kill_before_changes(
    fork_server: ForkServer, operation: str, before: Path, after: After, rows: int, data: Path, *, at_most: int | None
) -> int:
    """Kill `operation` right before each change of the disk, or before `at_most` of them and the last ten."""

    def prepare() -> None:
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(before, data)

    prepare()
    changes = int(fork_server.run("at_change", operation, str(data), None).marks[-1])
    numbers = set(range(1, changes + 1))
    if at_most is not None and changes > at_most:
        chosen = random.Random(f"{operation} {SEED}").sample(sorted(numbers), at_most)
        numbers = {*chosen, *range(max(1, changes - 9), changes + 1)}
    for number in sorted(numbers):
        prepare()
        run = fork_server.run("at_change", operation, str(data), number)
        assert run.killed, f"change {number} of {changes}"
        look(after, data, rows)
    return len(numbers)


@CHANGES
def test_a_kill_before_a_change_of_the_disk_loses_nothing(
    fork_server: ForkServer,
    operation: str,
    folder: str,
    after: After,
    rows: int,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    before = request.getfixturevalue(folder)
    assert kill_before_changes(fork_server, operation, before, after, rows, tmp_path / "data", at_most=10) > 5


@pytest.mark.soak(campaign="rekey")
@CHANGES
def test_a_kill_before_any_change_of_the_disk_loses_nothing(
    fork_server: ForkServer,
    operation: str,
    folder: str,
    after: After,
    rows: int,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    figure: Figure,
) -> None:
    before = request.getfixturevalue(folder)
    at_most = None if soak.SHARE == 1 else soak.size(100)
    kills = kill_before_changes(fork_server, operation, before, after, rows, tmp_path / "data", at_most=at_most)
    figure(f"SIGKILL before each change of the disk, {operation.replace('_', ' ')}", kills=kills, lost=0)


@pytest.mark.soak(campaign="rekey")
@pytest.mark.parametrize("part", range(PARTS))
def test_a_kill_before_any_change_of_the_disk_loses_nothing_in_databases_of_many_sizes(
    fork_server: ForkServer, tmp_path: Path, part: int, figure: Figure
) -> None:
    chance = random.Random(f"sizes {SEED} {part}")
    wanted, kills = soak.size(-(-10_000 // PARTS)), 0
    while kills < wanted:
        rows = chance.randrange(1, 200)
        before = prepared(tmp_path / f"{kills}", rows=rows, row_bytes=ROW_BYTES)
        at_most = min(chance.randrange(50, 500), wanted - kills)
        kills += kill_before_changes(
            fork_server, "rekey", before, after_rekey, rows, tmp_path / "data", at_most=at_most
        )
        shutil.rmtree(before)
    figure("SIGKILL before each change of the disk, rekey", kills=kills, lost=0)

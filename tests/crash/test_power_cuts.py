"""The power fails at any instant of sign-in, writing, rekey and writing again: what was told to the user stays true.

One process works over a disk that records; each cut is a folder with what the disk would hold, which is looked at by a
service that starts anew. `CARREL_SEED` sets the chance.
"""

import asyncio
import os
import random
import shutil
from pathlib import Path

import pytest

from carrel.errors import CarrelError
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, KeyRejected
from carrel.vault import files
from tests.crash.vault_operations import ALICE, Stack, key_of
from tests.support import soak
from tests.support.disk import Disk, failing
from tests.support.power import Recording, recorded
from tests.support.soak import Figure

SEED = int(os.environ.get("CARREL_SEED", "1"))
CUTS_OF_A_RECORDING = 250
PARTS = 4


def add_table(conn: Connection) -> None:
    conn.run("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB) STRICT")


def add_row(conn: Connection, number: int, size: int) -> None:
    conn.run("INSERT INTO t VALUES (?, ?)", number, bytes([number % 256]) * size)


def rows(conn: Connection) -> dict[int, bytes]:
    return dict(conn.all("SELECT a, b FROM t"))


async def prepare(data: Path, chance: random.Random) -> int:
    """A user with some rows; how many."""
    async with Stack(data) as stack:
        await stack.make_user()
        await stack.sign_in.login(ALICE, key_of("old"))
        number = chance.choice((0, 3, 30))
        async with stack.pool.leased(ALICE) as workspace:
            await workspace.write(add_table)
            for row in range(number):
                await workspace.write(add_row, row, chance.randrange(1, 6_000))
    return number


async def work(data: Path, recording: Recording, first: int, chance: random.Random) -> None:
    """Sign-in, some rows, a rekey, some rows; what is acknowledged is marked."""
    numbers = iter(range(first, first + 1_000))
    async with Stack(data) as stack:

        async def write_some() -> None:
            async with stack.pool.leased(ALICE) as workspace:
                for _ in range(chance.randrange(4)):
                    number = next(numbers)
                    await workspace.write(add_row, number, chance.randrange(1, 6_000))
                    recording.mark(number)

        await stack.sign_in.login(ALICE, key_of("old"))
        await write_some()
        recording.mark("rekey begun")
        await stack.sign_in.rekey(ALICE, key_of("new"), chance.choice((None, key_of("old"))))
        recording.mark("rekeyed")
        await write_some()


async def look(data: Path, first: int, marks: list[int | str]) -> None:
    """Start over what the cut left: one key opens it, the right one, and every acknowledged row is there."""
    async with Stack(data) as stack:
        found: dict[str, dict[int, bytes]] = {}
        for name in ("old", "new"):
            try:
                path = stack.accounts.workspace_path(ALICE)
                conn = files.open_workspace(path, key_of(name), ALICE, stack.form, readonly=True)
            except KeyRejected:
                continue
            found[name] = rows(conn)
            assert conn.one("PRAGMA integrity_check") == ("ok",)
            database.discard(conn)
        assert len(found) == 1, f"opened by {sorted(found)}"
        (key,) = found
        if "rekeyed" in marks:
            assert key == "new"
        if "rekey begun" not in marks:
            assert key == "old"
        acknowledged = {*range(first), *(mark for mark in marks if isinstance(mark, int))}
        assert acknowledged <= found[key].keys(), "acknowledged rows are lost"
        assert all(set(text) <= {number % 256} for number, text in found[key].items())
        await stack.sign_in.login(ALICE, key_of(key))
        assert [file.name for file in data.rglob("*") if file.name.endswith(".new")] == []


def cuts(folder: Path, seed: str, number: int) -> int:
    """Record one piece of work and cut the power `number` times, by turns at each step of it; the changes."""
    chance = random.Random(seed)
    before, after = folder / "before", folder / "after"
    before.mkdir()

    async def record() -> int:
        first = await prepare(before, chance)
        with recorded(before) as recording:
            recordings.append(recording)
            await work(before, recording, first, chance)
        return first

    recordings: list[Recording] = []
    with failing(Disk()):
        first = asyncio.run(record())
    (recording,) = recordings
    steps = chance.sample(recording.steps(), len(recording.steps()))
    for cut in range(number):
        at = chance.randint(0, len(recording.changes)) if cut % 5 == 4 else steps[cut % len(steps)]
        recording.leave(after, at, chance)
        try:
            with failing(Disk()):
                asyncio.run(look(after, first, recording.marks(at)))
        except (AssertionError, CarrelError) as error:
            raise AssertionError(f"cut {cut} of {seed}, before change {at} of {len(recording.changes)}") from error
        shutil.rmtree(after)
    return len(recording.changes)


def test_a_power_cut_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    assert cuts(tmp_path, f"{SEED} short", 60) > 50


@pytest.mark.soak(campaign="rekey")
@pytest.mark.parametrize("part", range(PARTS))
def test_many_power_cuts_lose_nothing_that_was_acknowledged(tmp_path: Path, part: int, figure: Figure) -> None:
    changes = 0
    recordings = soak.size(10_000 // PARTS // CUTS_OF_A_RECORDING)
    for number in range(recordings):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        changes += cuts(folder, f"{SEED} {part} {number}", CUTS_OF_A_RECORDING)
        shutil.rmtree(folder)
    figure(
        "power cuts during writes and a rekey, unsynced changes lost, torn or kept",
        cuts=recordings * CUTS_OF_A_RECORDING,
        lost=0,
        recorded_changes=changes,
    )

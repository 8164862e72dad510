"""A rotation of the service key ends at any instant: SIGKILL before each change of the disk, at random, or a power cut.

After each the service refuses to start, a second run finishes the first, and everything is there under the new key.
`CARREL_SEED` sets the instants.
"""

import asyncio
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.accounts.rotation import Rotation, UsersUnknown
from carrel.accounts.service import RotationUnfinished, ServiceDatabase, ServiceKeyRejected
from carrel.errors import CarrelError
from carrel.kit.clock import SystemClock
from carrel.kit.ids import uuid7_factory
from tests.crash.rotation_operations import NEW, OLD, prepare, rotation, whole
from tests.support import soak
from tests.support.disk import Disk, failing
from tests.support.kills import ForkServer, KillCounts, kill_at_random
from tests.support.power import recorded
from tests.support.soak import Figure

KILLS = 5
CUTS = 15
PARTS = 5
SEED = int(os.environ.get("CARREL_SEED", "1"))


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer("tests.crash.rotation_operations") as fork_server:
        yield fork_server


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("before") / "data"
    with failing(Disk()):
        prepare(data)
    return data


def starts(data: Path, key: bytes) -> bool:
    """Whether the service would start with this key."""
    clock = SystemClock()
    service = ServiceDatabase(data, key, clock=clock, new_id=uuid7_factory(clock))
    try:
        service.open()
    except (RotationUnfinished, ServiceKeyRejected):
        return False
    finally:
        service.close()
    return True


def finish(data: Path) -> None:
    """What an operator does after a kill: the same command again."""
    # On a disk that never waits: what a kill left is to be read, no power is cut here.
    with failing(Disk()):
        if starts(data, OLD):
            assert not starts(data, NEW)
        elif not starts(data, NEW):
            assert rotation(str(data)).run() > 0
        rotation(str(data)).run()
        assert not starts(data, OLD)
        whole(data)


def fresh(before: Path, data: Path) -> None:
    shutil.rmtree(data, ignore_errors=True)
    shutil.copytree(before, data)


def kill_before_changes(fork_server: ForkServer, before: Path, data: Path, *, at_most: int | None) -> int:
    fresh(before, data)
    changes = int(fork_server.run("at_change", str(data), None).marks[-1])
    numbers = set(range(1, changes + 1))
    if at_most is not None:
        numbers = set(random.Random(SEED).sample(sorted(numbers), at_most))
    for number in sorted(numbers):
        fresh(before, data)
        assert fork_server.run("at_change", str(data), number).killed, f"change {number} of {changes}"
        finish(data)
    return len(numbers)


def kill_anywhere(fork_server: ForkServer, before: Path, data: Path, kills: int, part: int = 0) -> KillCounts:
    chance = random.Random(f"rotation {SEED} {part}")
    return kill_at_random(
        fork_server, chance, kills, lambda: fresh(before, data), lambda: finish(data), "rotate", str(data)
    )


def cut_the_power(before: Path, folder: Path, cuts: int) -> int:
    """Record one rotation and cut the power so many times, by turns at each step of it; the changes of the disk."""
    data, after, chance = folder / "data", folder / "after", random.Random(f"power {SEED}")
    fresh(before, data)
    with failing(Disk()), recorded(data) as recording:
        rotation(str(data)).run()
        recording.mark("rotated")
    steps = chance.sample(recording.steps(), len(recording.steps()))
    for cut in range(cuts):
        at = chance.randint(0, len(recording.changes)) if cut % 5 == 4 else steps[cut % len(steps)]
        recording.leave(after, at, chance)
        try:
            assert not recording.marks(at) or starts(after, NEW), "a rotation that had ended"
            finish(after)
        except (AssertionError, CarrelError) as error:
            raise AssertionError(f"cut {cut} of {SEED}, before change {at} of {len(recording.changes)}") from error
        shutil.rmtree(after)
    return len(recording.changes)


def test_a_rotation_moves_everything_and_a_second_one_does_nothing(before: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    fresh(before, data)
    with failing(Disk()):
        assert rotation(str(data)).run() == 5
        assert rotation(str(data)).run() == 0
        whole(data)
        clock = SystemClock()
        back = Rotation(data, NEW, OLD, clock=clock, new_id=uuid7_factory(clock))
        assert back.run() == 5
        assert starts(data, OLD)


def test_a_user_whom_the_service_cannot_name_stops_a_rotation_before_its_first_change(
    before: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    fresh(before, data)
    clock = SystemClock()
    service = ServiceDatabase(data, OLD, clock=clock, new_id=uuid7_factory(clock))
    service.open()
    asyncio.run(service.run(lambda conn: conn.run("DELETE FROM roster WHERE uuid = 'user-2'")))
    service.close()
    with pytest.raises(UsersUnknown) as refused:
        rotation(str(data)).run(["nobody"])
    assert refused.value.count == 1
    assert starts(data, OLD)
    assert rotation(str(data)).run(["nobody", "user-2"]) == 5
    whole(data)


def test_a_kill_before_a_change_of_the_disk_loses_nothing(
    fork_server: ForkServer, before: Path, tmp_path: Path
) -> None:
    assert kill_before_changes(fork_server, before, tmp_path / "data", at_most=KILLS) == KILLS


def test_kills_at_random_instants_lose_nothing(fork_server: ForkServer, before: Path, tmp_path: Path) -> None:
    assert kill_anywhere(fork_server, before, tmp_path / "data", KILLS).kills == KILLS


def test_a_power_cut_loses_nothing(before: Path, tmp_path: Path) -> None:
    assert cut_the_power(before, tmp_path, CUTS) > CUTS


@pytest.mark.soak(campaign="rotation")
def test_kills_before_every_change_lose_nothing(
    fork_server: ForkServer, before: Path, tmp_path: Path, figure: Figure
) -> None:
    at_most = None if soak.SHARE == 1 else KILLS
    kills = kill_before_changes(fork_server, before, tmp_path / "data", at_most=at_most)
    figure("SIGKILL before each change of the disk", kills=kills, lost=0)


@pytest.mark.soak(campaign="rotation")
@pytest.mark.parametrize("part", range(PARTS))
def test_many_kills_at_random_instants_lose_nothing(
    fork_server: ForkServer, before: Path, tmp_path: Path, part: int, figure: Figure
) -> None:
    counts = kill_anywhere(fork_server, before, tmp_path / "data", soak.size(1_000 // PARTS), part)
    print(f"\nrotation: {counts}")
    figure("SIGKILL at a random instant", kills=counts.kills, lost=0)


@pytest.mark.soak(campaign="rotation")
def test_many_power_cuts_lose_nothing(before: Path, tmp_path: Path, figure: Figure) -> None:
    cuts = soak.size(2_000)
    changes = cut_the_power(before, tmp_path, cuts)
    figure("power cuts, unsynced changes lost, torn or kept", cuts=cuts, lost=0, recorded_changes=changes)

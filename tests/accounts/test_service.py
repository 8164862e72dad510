"""`service.db`: made once, sealed with the service key, never replaced by an empty one; the journal of deletions."""

import shutil
from pathlib import Path

import pytest

from carrel.accounts import deletions
from carrel.accounts.service import ServiceDatabase, ServiceDatabaseMissing, ServiceKeyRejected
from carrel.errors import CarrelError, DiskFull, Unavailable
from carrel.kit.ids import uuid7_factory
from carrel.kit.sqlite.database import Damaged
from carrel.kit.sqlite.migrate import NewerDatabase
from tests.accounts.conftest import SERVICE_KEY, MakeService
from tests.support.clock import FakeClock
from tests.support.disk import Disk, every_failure, failing
from tests.support.vault import contents


async def test_it_is_made_at_the_first_start_and_found_at_the_next(make_service: MakeService, data: Path) -> None:
    service = make_service()
    service.open()
    await service.run(deletions.begin, "0001/a", 7)
    service.close()
    assert [file.name for file in data.iterdir()] == ["service.db"]
    assert not (data / "service.db").read_bytes().startswith(b"SQLite format 3")
    again = make_service()
    again.open()
    assert await again.run(deletions.valid_from, "0001/a") == 7


async def test_another_service_key_is_told_and_nothing_is_touched(make_service: MakeService, data: Path) -> None:
    make_service().open()
    make_service().close()
    before = contents(data)
    with pytest.raises(ServiceKeyRejected):
        make_service(bytes(32)).open()
    assert contents(data) == before


async def test_a_lost_file_is_not_replaced_when_there_are_users(make_service: MakeService, data: Path) -> None:
    service = make_service()
    service.open()
    service.close()
    (data / "slots").mkdir()
    (data / "service.db").unlink()
    with pytest.raises(ServiceDatabaseMissing):
        make_service().open()
    assert [file.name for file in data.iterdir()] == ["slots"]


@pytest.mark.parametrize("size", [0, 100, 4096])
async def test_a_damaged_file_is_named_and_left_alone(make_service: MakeService, data: Path, size: int) -> None:
    service = make_service()
    service.open()
    service.close()
    path = data / "service.db"
    path.write_bytes(path.read_bytes()[:size])
    before = contents(data)
    with pytest.raises(Damaged):
        make_service().open()
    assert contents(data) == before


async def test_a_newer_file_is_refused(make_service: MakeService) -> None:
    service = make_service()
    service.open()
    await service.run(lambda conn: conn.run("PRAGMA user_version = 9999"))
    service.close()
    with pytest.raises(NewerDatabase):
        make_service().open()


async def test_before_it_is_open_it_says_so(make_service: MakeService) -> None:
    with pytest.raises(Unavailable):
        await make_service().run(deletions.unfinished)


def test_its_making_survives_every_failure_of_the_disk(tmp_path: Path) -> None:
    clock = FakeClock()
    new_id = uuid7_factory(clock)
    data = tmp_path / "data"

    def start(disk: Disk) -> None:
        data.mkdir()
        service = ServiceDatabase(data, SERVICE_KEY, clock=clock, new_id=new_id)
        with failing(disk):
            try:
                service.open()
            except DiskFull:
                assert disk.trouble == "full"
            except Unavailable:
                assert disk.trouble == "broken"
            service.close()
            disk.heal()
            again = ServiceDatabase(data, SERVICE_KEY, clock=clock, new_id=new_id)
            again.open()
            assert again._run(deletions.unfinished) == []
            again.close()
        assert [file.name for file in data.iterdir()] == ["service.db"]
        shutil.rmtree(data)

    assert every_failure(start) > 50


async def test_the_journal_names_what_is_not_finished(make_service: MakeService) -> None:
    service = make_service()
    service.open()
    await service.run(deletions.begin, "0001/a", 100)
    await service.run(deletions.begin, "0002/b", 200)
    assert await service.run(deletions.unfinished) == ["0001/a", "0002/b"]
    await service.run(deletions.finish, "0001/a")
    assert await service.run(deletions.unfinished) == ["0002/b"]
    await service.run(deletions.take_back, "0002/b")
    assert await service.run(deletions.unfinished) == []
    # What ended their sessions outlives both, and does not go back.
    await service.run(deletions.begin, "0001/a", 50)
    assert await service.run(deletions.valid_from, "0001/a") == 100
    assert await service.run(deletions.valid_from, "0002/b") == 200
    assert await service.run(deletions.valid_from, "0003/c") == 0


async def test_a_transaction_that_fails_leaves_nothing(make_service: MakeService) -> None:
    def fail(conn: object) -> None:
        raise CarrelError

    service = make_service()
    service.open()
    with pytest.raises(CarrelError):
        await service.run(fail)
    await service.run(deletions.begin, "0001/a", 1)

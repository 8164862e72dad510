"""Workers read tables: in bounded time, with nothing left of the file, and nobody believes what they say."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from carrel.datasets import store
from carrel.datasets.batches import BatchRow, RowBatch
from carrel.datasets.readers import TableReaders
from carrel.datasets.refusals import TableTooComplex, TableUnreadable
from carrel.datasets.schemas import Column, Format, TableUpload
from carrel.datasets.store import TableInfo
from carrel.documents.jobs import JOBS
from carrel.kit.processes.jobs import CallLimits
from tests.support.clock import FakeClock
from tests.support.lent_worker import LentWorkers
from tests.support.workspace import SETTINGS, workspace_database

HURRIED = CallLimits(cpu_seconds=0.05)


@pytest.fixture
async def readers() -> AsyncIterator[TableReaders]:
    workers = LentWorkers(JOBS, 1, FakeClock(), HURRIED)
    found = TableReaders(workers, SETTINGS)
    yield found
    await workers.close()
    found.stop()


def upload(body: bytes, kind: Format = "csv") -> TableUpload:
    return TableUpload("n", kind, bytearray(body), {})


async def test_a_table_that_takes_too_long_is_refused_and_the_next_one_is_read(readers: TableReaders) -> None:
    slow = upload(b"a,b\n" + b"x,y\n" * 90_000)
    with pytest.raises(TableTooComplex) as raised:
        await readers.read("ada", slow)
    assert raised.value.code == "data-set-too-complex"
    file = upload(b"a,b\nx,y\n")
    batches = [msgspec.msgpack.decode(batch, type=RowBatch) for batch in await readers.read("ada", file)]
    assert [(row.id, row.cells) for batch in batches for row in batch.rows] == [("1", ["x", "y"])]
    assert not file.body


LIES: dict[str, RowBatch] = {
    "no columns": RowBatch([BatchRow("1", ["x"])], None),
    "more cells than columns": RowBatch([BatchRow("1", ["x", "y"])], [Column(name="a", role="metadata")]),
}


@pytest.mark.parametrize("lie", LIES)
def test_rows_that_no_table_has_are_not_kept(lie: str, tmp_path: Path) -> None:
    with workspace_database(tmp_path) as conn, pytest.raises(TableUnreadable):
        store.create(conn, TableInfo("n", "", "csv", 1), [msgspec.msgpack.encode(LIES[lie])])


@pytest.mark.parametrize("cells", [["x"] * 201, [7], "x"])
def test_a_batch_of_another_form_is_not_decoded(cells: object, tmp_path: Path) -> None:
    encoded = msgspec.msgpack.encode([[["1", cells]], None])
    with workspace_database(tmp_path) as conn, pytest.raises(TableUnreadable):
        store.create(conn, TableInfo("n", "", "csv", 1), [encoded])

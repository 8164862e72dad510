"""What a change of a data set takes of the engine, however many columns get another role."""

from pathlib import Path

from carrel.datasets import store
from carrel.datasets.schemas import Column, DataSet, DataSetChange, Role
from carrel.http.answers.etag import ANY_VERSION
from carrel.kit.sqlite.database import Connection
from tests.support.tables import uploaded
from tests.support.workspace import workspace_database

COLUMNS = 100
ROWS = 300


def steps_of_a_change(conn: Connection, made: DataSet, columns: int) -> int:
    """Steps of the engine's virtual machine, in hundreds, to give so many columns another role."""
    taken = 0

    def step() -> bool:
        nonlocal taken
        taken += 1
        return False

    roles: list[Role] = ["variable" if number < columns else "metadata" for number in range(COLUMNS)]
    wanted = [Column(name=column.name, role=role) for column, role in zip(made.columns, roles, strict=True)]
    conn.set_progress_handler(step, 100)
    store.change(conn, made.id, DataSetChange(name="n", columns=wanted), ANY_VERSION)
    conn.set_progress_handler(None)
    return taken


def test_a_change_of_many_roles_reads_each_row_once(tmp_path: Path) -> None:
    head = ",".join(f"c{number}" for number in range(COLUMNS))
    body = head.encode() + b"\n" + (b"x," * (COLUMNS - 1) + b"x\n") * ROWS
    with workspace_database(tmp_path) as conn:
        made = store.create(conn, *uploaded(body))
        assert steps_of_a_change(conn, made, COLUMNS) < 2 * steps_of_a_change(conn, made, 1) < ROWS

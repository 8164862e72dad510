"""Tables for tests of what becomes of them: read in this process, as a worker reads them."""

from collections.abc import Sequence

from carrel.datasets.batches import read_table
from carrel.datasets.schemas import Column, Format, Role
from carrel.datasets.store import Described
from carrel.datasets.table import Limits
from tests.support.workspace import SETTINGS

LIMITS = Limits(SETTINGS.max_data_set_rows, SETTINGS.max_body_bytes, 2 * SETTINGS.max_body_bytes)


def uploaded(
    body: bytes,
    roles: dict[str, Role] | None = None,
    *,
    name: str = "Questions",
    kind: Format = "csv",
    before: Sequence[Column] = (),
) -> tuple[Described, list[bytes]]:
    """What `store.create` takes: what belongs to the table besides its rows, and its rows in batches."""
    table = read_table(iter([body]), kind, roles or {}, list(before), LIMITS)
    return Described(name, "", kind, len(body)), list(table)

from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.kit.sqlite.database import Connection
from tests.support.workspace import workspace_database


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    with workspace_database(tmp_path) as connection:
        yield connection

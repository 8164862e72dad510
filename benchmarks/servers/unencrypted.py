"""Carrel on plain files, to measure what the encryption costs. It exists in this folder only.

python -m benchmarks.servers.unencrypted serve …
"""

from pathlib import Path
from unittest.mock import patch

from carrel.app import services
from carrel.cli.program import run
from carrel.kit.sqlite import database


def _no_key(*_: object) -> None:
    """Leave the file as SQLite writes it."""


def _only_missing(path: Path) -> None:
    if not path.exists():
        raise database.Missing


if __name__ == "__main__":
    with (
        patch.object(database, "present_key", _no_key),
        patch.object(database, "refuse_what_no_key_opens", _only_missing),
        # The self-test would rightly refuse to serve.
        patch.object(services, "run_self_test", _no_key),
    ):
        run()

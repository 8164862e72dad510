"""`carrel` in a process that kills itself with SIGKILL at one of its commits to a workspace.

python -m tests.crash.dying_service FILE before|after serve --port 8400 …

SIGUSR1 arms it: from then on it counts its commits, and dies at the one whose number is in FILE.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType
from unittest.mock import patch

from carrel.kit.sqlite.database import Connection, transaction
from carrel.vault import write_queue


class Death:
    """Before commit number `at` is begun, or when it is durable and nobody knows yet."""

    def __init__(self, file: Path, when: str) -> None:
        self._file = file
        self._when = when
        self._at = 0
        self._numbers = count(1)

    def arm(self, _signal: int, _frame: FrameType | None) -> None:
        self._at = int(self._file.read_text())
        self._numbers = count(1)

    @contextmanager
    def transaction(self, connection: Connection) -> Iterator[Connection]:
        """In the place of the workspace's own."""
        now = next(self._numbers) == self._at
        if now and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        with transaction(connection) as open_connection:
            yield open_connection
        if now:
            os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    from carrel.cli.main import main as carrel

    death = Death(Path(sys.argv[1]), sys.argv[2])
    signal.signal(signal.SIGUSR1, death.arm)
    patch.object(write_queue, "transaction", death.transaction).start()
    sys.argv = [str(Path(sys.argv[0])), *sys.argv[3:]]
    carrel()


if __name__ == "__main__":
    main()

"""`carrel` in a process that kills itself with SIGKILL at one of its commits to a workspace.

python -m tests.crash.dying_service AT before|after serve --port 8400 …
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from unittest.mock import patch

from carrel.kit.sqlite.database import Connection, transaction
from carrel.vault import workspace


def die_at(at: int, when: str) -> None:
    """Let the process die before commit number `at` is begun, or when it is durable and nobody knows yet."""
    numbers = count(1)

    @contextmanager
    def dying(connection: Connection) -> Iterator[Connection]:
        now = next(numbers) == at
        if now and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        with transaction(connection) as open_connection:
            yield open_connection
        if now:
            os.kill(os.getpid(), signal.SIGKILL)

    patch.object(workspace, "transaction", dying).start()


def main() -> None:
    from carrel.cli.main import main as carrel

    die_at(int(sys.argv[1]), sys.argv[2])
    sys.argv = [str(Path(sys.argv[0])), *sys.argv[3:]]
    carrel()


if __name__ == "__main__":
    main()

"""`carrel` in a process that kills itself with SIGKILL at one of its commits to a workspace.

python -m tests.crash.dying_service AT before|after serve --port 8400 …
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path

from carrel.vault.workspace import Workspace, _Write

_commit = Workspace._commit


def die_at(at: int, when: str) -> None:
    """Let the process die before commit number `at` is begun, or when it is durable and nobody knows yet."""
    numbers = count(1)

    def commit(workspace: Workspace, batch: list[_Write]) -> None:
        now = next(numbers) == at
        if now and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        _commit(workspace, batch)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)

    Workspace._commit = commit  # type: ignore[method-assign]  # nothing for this stands in the service itself


def main() -> None:
    from carrel.cli.main import main as carrel

    die_at(int(sys.argv[1]), sys.argv[2])
    sys.argv = [str(Path(sys.argv[0])), *sys.argv[3:]]
    carrel()


if __name__ == "__main__":
    main()

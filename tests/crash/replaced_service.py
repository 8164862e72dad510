"""`carrel` in a process that does what a file says at one step of a hot restart.

python tests/crash/replaced_service.py FILE serve --port 8400 …

The file holds `die before Predecessor.offer`, `stop after Successor.release` and the like: SIGKILL or SIGSTOP to the
process itself when it comes there. `newer Terms.of` makes the successor a program with a newer schema. Steps of
`Predecessor` are those of the successor, all others are those of the process that it follows.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

_SIGNALS = {"die": signal.SIGKILL, "stop": signal.SIGSTOP}


def _watched(file: Path, name: str, step: Callable[..., Any]) -> Callable[..., Any]:
    def come(when: str) -> None:
        for word, number in _SIGNALS.items():
            if file.read_text() == f"{word} {when} {name}":
                file.write_text("")
                os.kill(os.getpid(), number)

    @wraps(step)
    def watched(*args: Any, **kwargs: Any) -> Any:
        come("before")
        value = step(*args, **kwargs)
        come("after")
        return value

    return watched


def main() -> None:
    from carrel import config
    from carrel.cli import program

    file = Path(sys.argv[1])
    is_successor = config.PREDECESSOR in os.environ
    # The program starts itself anew with other settings of the allocator, and must find the same arguments then.
    sys.argv = [sys.argv[0], *sys.argv[2:]]

    from carrel.kit.processes import allocator

    allocator.restart_without_cache()

    from carrel.app.hot_restart import HotRestart
    from carrel.cli.serving.predecessor import Predecessor
    from carrel.cli.serving.replacement import Replacement
    from carrel.cli.serving.successor import Successor
    from carrel.kit.sqlite import migrate
    from carrel.vault import key_memory
    from carrel.vault.key_memory import KeyMemory

    for owner, name in (
        (Predecessor, "offer"),
        (Predecessor, "take"),
        (Predecessor, "confirm"),
        (HotRestart, "reserve"),
        (HotRestart, "arrive"),
        (HotRestart, "leave"),
        (Replacement, "end_streams"),
        (Successor, "takes"),
        (Successor, "release"),
        (KeyMemory, "wipe"),
    ):
        patch.object(owner, name, _watched(file, f"{owner.__name__}.{name}", getattr(owner, name))).start()
    if is_successor and file.read_text() == "newer Terms.of":
        latest = migrate.latest
        patch.object(migrate, "latest", lambda package: latest(package) + 1).start()
    if file.with_name("no-secret-memory").exists():
        # A number that no system call has: the kernel says that it does not know it.
        patch.object(key_memory, "MEMFD_SECRET", 100_000).start()
    program.run()


if __name__ == "__main__":
    # What lies beside this file must not stand in the way of what the program imports.
    del sys.path[0]
    main()

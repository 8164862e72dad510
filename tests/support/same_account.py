"""What a hostile process of the service's own account can do, and how tests run both without any privilege."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.support.kills import ROOT
from tests.support.service import Launched, Process

WITHOUT_PRIVILEGES = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "env") if os.geteuid() == 0 else ()
"""Root with all its privileges may read everything, so whoever is root gives them up; the second program has none."""


def launch_without_privileges(command: list[str], env: dict[str, str], cwd: Path, log: Path) -> Process:
    """A service whose account may do nothing more than any other."""
    with log.open("ab") as written:
        return Launched(
            subprocess.Popen(
                [*WITHOUT_PRIVILEGES, *command],
                env=env,
                cwd=cwd,
                stdout=written,
                stderr=written,
                stdin=subprocess.DEVNULL,
            )
        )


def unreadable_python(folder: Path) -> Path:
    """This environment's Python once more, as a file that its account may run and not read."""
    python = folder / "python" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    shutil.copyfile(Path(sys.executable).resolve(), python)
    python.chmod(0o111)
    own = Path(sys.prefix)
    shutil.copyfile(own / "pyvenv.cfg", folder / "python" / "pyvenv.cfg")
    (folder / "python" / "lib").symlink_to(own / "lib")
    return python


class Loot(msgspec.Struct, frozen=True):
    """How often the thief opened memory, how many bytes of it the thief reads now, and which secrets are there."""

    opened: int
    bytes: int
    found: dict[str, int]


class Thief:
    """`tests/support/memory_thief.py` at work, after whatever this process starts."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def search(self, secrets: dict[str, bytes]) -> Loot:
        """What can be read now through everything that was opened."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({name: secret.hex() for name, secret in secrets.items()}) + "\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._process.stdout.readline(), type=Loot)


@contextmanager
def thief() -> Iterator[Thief]:
    """It looks for new processes until the end of the block."""
    command = [*WITHOUT_PRIVILEGES, sys.executable, "-m", "tests.support.memory_thief", str(os.getpid())]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Thief(process)
        assert process.stdin is not None
        process.stdin.close()

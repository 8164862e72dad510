"""A file system of its own with little room, which a test can fill."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.programs import AS_ROOT

MEGABYTES = 40


class SmallDisk:
    """Mounted at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filling = path / "filling"

    def fill(self) -> None:
        """Leave no byte to whoever writes."""
        with self._filling.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while file.write(bytes(size)):
                        pass

    def clear(self) -> None:
        """Give the room back."""
        self._filling.unlink()


@contextmanager
def mounted(path: Path, *what: object) -> Iterator[None]:
    """Mount so; the test is left out where nothing may be mounted."""
    path.mkdir()
    command = [str(word) for word in (*AS_ROOT, "mount", *what, path)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no file system can be mounted: {tried.stderr}")
    try:
        yield
    finally:
        subprocess.run([*AS_ROOT, "umount", str(path)], check=True)


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """The test is left out where none may be mounted."""
    path = folder / "disk"
    with mounted(path, "-t", "tmpfs", "-o", f"size={MEGABYTES}m,uid={os.getuid()}", "tmpfs"):
        yield SmallDisk(path)

"""Room on the disk for requests that remove something: a deletion writes before it frees, which a full disk refuses."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

NAME: Final = "reserve"
RESERVE_BYTES: Final = 16 * 1024 * 1024
"""A deletion writes some ten kilobytes to a log of the workspace, which stays until the workspace is closed."""
_STEP_BYTES: Final = 64 * 1024
"""So little may be left over: a step that does not fit is not taken in part."""


class Reserve:
    """A file of no content that is given up while somebody borrows its room. Owned by the event loop."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._borrowers = 0

    @contextmanager
    def lent(self) -> Iterator[None]:
        """During the block the room is there for whoever writes, if the disk has no other."""
        if not self._borrowers and self._has_room():
            yield
            return
        self._borrowers += 1
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        try:
            yield
        finally:
            self._borrowers -= 1
            if not self._borrowers:
                self.keep()

    def keep(self) -> None:
        """Take as much of the room as there is. The folder exists."""
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                for start in range(0, RESERVE_BYTES, _STEP_BYTES):
                    os.posix_fallocate(descriptor, start, _STEP_BYTES)
            finally:
                os.close(descriptor)

    def _has_room(self) -> bool:
        try:
            system = os.statvfs(self._path.parent)
        except OSError:
            return False
        return system.f_bavail * system.f_frsize > RESERVE_BYTES

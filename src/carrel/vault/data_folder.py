"""The data folder: private, and used by one process at a time."""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from carrel.errors import CarrelError
from carrel.kit.sqlite.database import translated

LOCK = "carrel.lock"


class FolderTaken(CarrelError):
    """Another process works in this data folder."""

    status = 503
    code = "folder-taken"
    passes = True
    detail = "Another process works in this data folder."


class DataFolder:
    """`DATA`, locked from `lock` to `unlock` or the end of the process, however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def __enter__(self) -> "DataFolder":
        self.lock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.unlock()

    def lock(self) -> None:
        """Make the folder if it is not there, close it to other accounts, and keep other processes out.

        Raises:
            FolderTaken: another process has it.
            Unavailable, DiskFull: it cannot be made or written to.
        """
        if self._descriptor is not None:
            raise FolderTaken
        with translated():
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
            # The kernel drops the lock when the last descriptor of this file closes, so a killed process leaves no
            # lock; no child inherits the descriptor (Python opens it close-on-exec).
            descriptor = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                raise FolderTaken from None
            except OSError:
                os.close(descriptor)
                raise
        self._descriptor = descriptor

    def unlock(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

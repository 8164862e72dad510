"""The threads for the blocking work of all workspaces."""

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import NamedTuple

from carrel.kit.concurrency.turns import Turns

_WRITE_THREADS = 16
SCAN_THREADS = 64
"""Most of them wait for their turn when many users start long scans; short scans find a free one."""


class Executors(NamedTuple):
    """The threads for blocking work. Scans have their own, because long scans would delay everybody's commits.

    Scans take turns, and so does long work in transactions.
    """

    writes: Executor
    scans: Executor
    turns: Turns

    @classmethod
    def started(cls, turns: Turns) -> "Executors":
        """Those of one process, whose work in threads shares these turns."""
        return cls(
            ThreadPoolExecutor(_WRITE_THREADS, "vault"),
            ThreadPoolExecutor(SCAN_THREADS, "scans"),
            turns,
        )

    def shutdown(self) -> None:
        """Wait for everything under way, and start nothing more."""
        self.writes.shutdown()
        self.scans.shutdown()

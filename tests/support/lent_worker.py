"""Workers for services in this process. A service ends with its test; its workers' processes serve the next test."""

from collections import defaultdict

from carrel.kit.processes.jobs import CallLimits
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.worker import Worker

_idle: defaultdict[tuple[str, CallLimits], list[Worker]] = defaultdict(list)
"""Those that nobody has, with their processes. They end with this process, which is what keeps their sockets open."""


class LentWorkers(WorkerPool):
    """Takes its workers from the idle ones, and gives them back when it is closed.

    Starting a worker's process takes half a second of CPU, most of it for imports.
    """

    def new_worker(self) -> Worker:
        lent = _idle[self._jobs.module, self._bounds]
        return lent.pop() if lent else super().new_worker()

    async def close(self) -> None:
        """Give the idle workers back, and end those that have a call."""
        _idle[self._jobs.module, self._bounds] += self._idle
        self._idle.clear()
        await super().close()

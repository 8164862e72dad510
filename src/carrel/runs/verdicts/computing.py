"""What a request computes from the evidence of runs, in a worker: rankings, gates, splits, passports."""

from collections.abc import Callable
from typing import Final, TypeVar

from carrel.errors import Unavailable
from carrel.kit.processes.jobs import WorkerError
from carrel.kit.processes.worker import Worker

T = TypeVar("T")

SECONDS: Final = 60.0
"""The time of a worker for what somebody asks for; the largest run takes seconds."""


async def computed(worker: Worker, fn: Callable[..., T], *args: object) -> T:
    """`fn(*args)`, by a worker.

    Raises:
        Unavailable: it takes too much time or memory. It is not tried in this process, which serves everybody.
    """
    try:
        return await worker.run(fn, *args, timeout_seconds=SECONDS)
    except WorkerError:
        raise Unavailable from None

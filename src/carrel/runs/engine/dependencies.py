"""What the runs of a process share."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from carrel.kit.clock import Clock
from carrel.kit.processes.pool import WorkerPool
from carrel.providers.answer_room import AnswerRoom
from carrel.providers.registry import Registry
from carrel.runs.engine.payer import Funds
from carrel.runs.progress.live_texts import LiveTexts
from carrel.runs.scheduling.scheduler import FairScheduler
from carrel.vault.keyring import UserUuid


class EngineDependencies(NamedTuple):
    """What every run of the process works with.

    `scheduler` shares the calls in flight between all runs, and `room` the memory for their answers. Answers go to
    `texts` while they are written, if somebody watches the run. `calls_per_day` is what the operator lets a user make.
    """

    registry: Registry
    workers: WorkerPool
    scheduler: FairScheduler
    room: AnswerRoom
    clock: Clock
    sleep: Callable[[float], Awaitable[None]]
    funds: Funds | None = None
    texts: LiveTexts | None = None
    calls_per_day: Callable[[UserUuid], int | None] = lambda _: None

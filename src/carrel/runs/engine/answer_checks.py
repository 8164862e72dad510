"""Has a worker make the checks of a batch of answers, each within a time."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from carrel.checks import work
from carrel.checks.work import CheckInput
from carrel.kit.processes.jobs import WorkerError
from carrel.kit.processes.pool import WorkerPool
from carrel.runs.checking import marks
from carrel.runs.checking.marks import MAX_FAILURES, CheckBatch, CheckedBatch, Mark, RunCheck
from carrel.runs.model.setup import Setup
from carrel.vault.workspace import Workspace

BATCH_SECONDS: Final = 10.0
"""A batch takes about a second. Twenty overlaps of long texts take 18 s, and are made one by one then."""
ANSWER_SECONDS: Final = 5.0
"""A check of one answer takes microseconds; only a schema whose references multiply takes longer."""


async def make_next(workspace: Workspace, workers: WorkerPool, setup: Setup) -> CheckedBatch | None:
    """Make the checks of the next answers of the run; `None` if no answer waits for them."""
    batch = await workspace.scan(marks.waiting, setup) if setup.checks else None
    return None if batch is None else await make(workers, workspace.uuid, batch)


async def make(workers: WorkerPool, user: str, batch: CheckBatch) -> CheckedBatch:
    """Make the checks. Where one takes too long or breaks, the answer has no mark of it."""
    going = [one for one in batch.asked if not one.given_up]
    checks = [one.check for one in batch.asked]
    answers = [one.answer(checks) for one in batch.answers if one.delivered]
    failures = Counter[int]()
    try:
        found = (
            await _marked(workers, user, going, answers, BATCH_SECONDS) if going and answers else [[]] * len(answers)
        )
    except WorkerError:
        found = await _each_alone(workers, user, going, answers, failures)
    places = {one.number: place for place, one in enumerate(going)}
    return CheckedBatch(
        batch,
        [[row[places[one.number]] if one.number in places else None for one in batch.asked] for row in found],
        failures,
    )


async def _each_alone(
    workers: WorkerPool, user: str, asked: Sequence[RunCheck], answers: Sequence[CheckInput], failures: Counter[int]
) -> list[list[Mark]]:
    """Make each check of each answer by itself, and count those that fail."""
    columns: list[list[Mark]] = []
    for one in asked:
        column: list[Mark] = []
        for answer in answers:
            try:
                if failures[one.number] < MAX_FAILURES:
                    [[mark]] = await _marked(workers, user, [one], [answer], ANSWER_SECONDS)
                    column.append(mark)
                    continue
            except WorkerError:
                failures[one.number] += 1
            column.append(None)
        columns.append(column)
    return [list(row) for row in zip(*columns, strict=True)]


async def _marked(
    workers: WorkerPool, user: str, asked: Sequence[RunCheck], answers: list[CheckInput], seconds: float
) -> list[list[Mark]]:
    return await workers.run(user, work.mark, [one.check for one in asked], answers, timeout_seconds=seconds)

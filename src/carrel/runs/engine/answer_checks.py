"""Has a worker make the checks of a batch of answers, each within a time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from carrel.checks import normalising, work
from carrel.checks.fields import FieldFates
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
    ignoring = [one for one in going if normalising.strict(one.check) != one.check]
    answers = [one.answer(checks) for one in batch.answers if one.delivered]
    failures = Counter[int]()
    try:
        found = (
            await _marked(workers, user, going, answers, BATCH_SECONDS) if going and answers else [[]] * len(answers)
        )
    except WorkerError:
        found = await _each_alone(workers, user, going, answers, failures)
    marked = CheckedBatch(batch, _in_places(batch, going, found), failures)
    if not answers or failures:
        return marked
    try:
        return await _with_details(workers, user, marked, ignoring, answers)
    except WorkerError:
        return marked


async def _with_details(
    workers: WorkerPool, user: str, marked: CheckedBatch, ignoring: Sequence[RunCheck], answers: list[CheckInput]
) -> CheckedBatch:
    """What the checks would say if none ignored anything, and what became of single fields."""
    strict: Sequence[Sequence[Mark]] = ()
    fields: Sequence[Mapping[str, FieldFates]] = ()
    if ignoring:
        alone = [one._replace(check=normalising.strict(one.check)) for one in ignoring]
        strict = _in_places(marked.batch, alone, await _marked(workers, user, alone, answers, BATCH_SECONDS))
    comparing = [one.check for one in marked.batch.asked if one.check.kind == "fields"]
    if comparing:
        fields = await workers.run(user, work.fields, comparing, answers, timeout_seconds=BATCH_SECONDS)
    return marked._replace(strict=strict, fields=fields)


def _in_places(batch: CheckBatch, made: Sequence[RunCheck], found: list[list[Mark]]) -> list[list[Mark]]:
    """The marks of the checks that were made among those of all."""
    places = {one.number: place for place, one in enumerate(made)}
    return [[row[places[one.number]] if one.number in places else None for one in batch.asked] for row in found]


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

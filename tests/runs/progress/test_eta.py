"""How long a run still takes: told from what has ended, and not before that says something."""

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.providers.base import Answer, ModelRequest
from carrel.runs.engine import commands
from carrel.runs.model.log import Event
from carrel.runs.model.schemas import Run
from carrel.runs.model.setup import RunId
from carrel.runs.progress.eta import EtaLogRow, RemainingTasks, by_phase, seconds_left
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels, honest

START = 1_800_000_000.0
REMOTE, BUILT_IN = "openai:some", "local:lead"


def line(seconds: float, event: Event = "task-succeeded", model: str | None = REMOTE) -> EtaLogRow:
    at = datetime.fromtimestamp(START + seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return EtaLogRow(at, event, model)


def log(*lines: EtaLogRow, began: Event = "phase-started") -> list[EtaLogRow]:
    """The newest first, as it is read."""
    return [*lines[::-1], line(0, began, None)]


def test_nothing_is_told_before_twice_as_many_have_ended_as_are_under_way() -> None:
    lines = [line(float(second)) for second in range(1, 5)]
    assert seconds_left(log(*lines[:3]), RemainingTasks(running=2, pending=10, to_come=0), START + 3) is None
    assert seconds_left(log(*lines), RemainingTasks(running=2, pending=10, to_come=0), START + 4) == 12 + 1


def test_what_the_run_waited_for_counts() -> None:
    """Four in the first four seconds, and then nothing for as long again."""
    lines = log(*(line(float(second)) for second in range(1, 5)))
    assert seconds_left(lines, RemainingTasks(running=1, pending=7, to_come=0), START + 8) == 16 + 1


def test_a_rest_does_not_count_nor_does_an_earlier_phase() -> None:
    before = [line(0.01 * number) for number in range(1, 9)]
    after = [line(100.0 + 2 * number) for number in range(1, 5)]
    for bound in ("run-resumed", "phase-started", "round-started"):
        lines = log(*before, line(100, bound, None), *after)
        assert seconds_left(lines, RemainingTasks(running=1, pending=4, to_come=0), START + 108) == 10 + 1


def test_failures_count_as_ended_and_what_needed_no_call_does_not() -> None:
    decided = [line(0.1, "task-decided", None)] * 20
    lines = log(*decided, line(2), line(4, "task-failed"), line(5, "attempt-failed"))
    assert seconds_left(lines, RemainingTasks(running=1, pending=3, to_come=0), START + 6) == 12 + 1


def test_later_phases_are_taken_to_go_as_fast_as_this_one() -> None:
    lines = log(*(line(float(second)) for second in range(1, 5)))
    assert seconds_left(lines, RemainingTasks(1, 3, 6, later=[REMOTE, REMOTE]), START + 4) == 10 + 1


def test_built_in_models_say_nothing_about_language_models() -> None:
    quick = log(*(line(0.01 * number, model=BUILT_IN) for number in range(1, 9)))
    assert seconds_left(quick, RemainingTasks(1, 3, 50, later=[REMOTE]), START + 0.1) is None
    assert seconds_left(quick, RemainingTasks(1, 3, 50, later=[BUILT_IN]), START + 0.1) == 1


def test_built_in_judges_are_not_taken_to_be_as_slow_as_language_models() -> None:
    slow = log(*(line(3.0 * number) for number in range(1, 5)))
    assert seconds_left(slow, RemainingTasks(1, 3, 100, later=[BUILT_IN, BUILT_IN]), START + 12) == 12 + 1 + 1
    # One judge of the two is a language model: half of what is to come is its own.
    assert seconds_left(slow, RemainingTasks(1, 3, 100, later=[BUILT_IN, REMOTE]), START + 12) == 12 + 150 + 1


@settings(max_examples=50)
@given(st.integers(1, 64), st.floats(0.05, 30), st.integers(0, 5_000))
def test_with_even_calls_it_is_right(at_once: int, seconds: float, waiting: int) -> None:
    """Wave after wave, each call as long as the others: right to within the wave that is under way."""
    waves = [line(seconds * (1 + number // at_once)) for number in range(4 * at_once)]
    lines = log(*waves)[:100]
    found = seconds_left(lines, RemainingTasks(at_once, waiting, 0), START + 4 * seconds)
    truth = (at_once + waiting) / at_once * seconds
    assert found is not None
    assert truth * 0.99 - 1 <= found <= truth * 1.01 + 1


class Gated(TestModels):
    """Answers four calls and lets those that come after them wait."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.answered = 0

    def _answer(self, request: ModelRequest) -> Answer:
        self.answered += 1
        if self.answered == 4:
            self.gate.clear()
        return honest(request)


async def succeeded(harness: EngineHarness, run_id: RunId, count: int) -> Run:
    while True:
        run = await harness.until(run_id, "running")
        if run.progress.succeeded >= count:
            return run
        await harness.moved(run_id)


async def test_scores_that_are_planned_with_the_answers_count_among_what_is_to_come(tmp_path: Path) -> None:
    models = Gated()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(documents=6, limits={"concurrency": 2})
        await succeeded(harness, run_id, 4)
        await models.until(in_flight=2)
        ((seq,),) = await harness.rows("SELECT seq FROM runs WHERE id = ?", run_id)
        # Twelve answers and as many scores are planned; as many comparisons are not yet.
        counted = RemainingTasks(running=2, pending=6 + 12, to_come=12)
        found = await harness.read(by_phase, seq, 1, "generate", counted)
        assert found == RemainingTasks(running=2, pending=6, to_come=12 + 12, later=["test:judge"])
        assert await harness.read(by_phase, seq, 1, "score", RemainingTasks(1, 5, 0)) == RemainingTasks(1, 5, 0)


async def test_in_a_run_that_may_stop_early_answers_are_among_what_is_to_come(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        await harness.make(documents=14, comparison={"stop_when_decided": True})
        ((seq,),) = await harness.rows("SELECT seq FROM runs")
        found = await harness.read(by_phase, seq, 1, "compare", RemainingTasks(1, 5, 16))
        assert sorted(found.later) == ["test:judge", "test:one", "test:two"]


async def test_a_run_tells_its_time_left_and_after_a_rest_begins_anew(tmp_path: Path) -> None:
    models = Gated()
    async with engine_harness(tmp_path, models) as harness:
        run_id = await harness.start(documents=6, limits={"concurrency": 2})
        run = await succeeded(harness, run_id, 4)
        await models.until(in_flight=2)
        assert run.progress.eta_seconds is not None
        await harness.write(commands.pause, run_id)
        assert (await harness.run(run_id)).progress.eta_seconds is None
        await harness.write(commands.resume, run_id)
        assert (await harness.run(run_id)).progress.eta_seconds is None
        models.gate.set()
        assert (await harness.ended(run_id)).progress.eta_seconds is None

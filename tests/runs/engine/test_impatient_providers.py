"""Providers that take no more calls for now, or answer none: that costs a run time, and never a task."""

from pathlib import Path

import pytest

from carrel.providers.base import Answer, ModelRequest, ProviderError
from tests.support.engine import engine_harness
from tests.support.fast_time import FastTime
from tests.support.models import TestModels, honest

ONLY_ANSWERS = {"scoring": None, "comparison": None, "models": ("test:one",), "documents": 25}


class Limited:
    """Answers so many calls in each stretch of time, and refuses the others as too fast."""

    def __init__(self, time: FastTime, calls: int, seconds: float, *, tells: bool = False) -> None:
        self.time, self.calls, self.seconds, self.tells = time, calls, seconds, tells
        self.refused = 0
        self.answered: list[float] = []

    def __call__(self, request: ModelRequest) -> Answer:
        now = self.time.clock.monotonic()
        recent = [at for at in self.answered if at > now - self.seconds]
        if len(recent) >= self.calls:
            self.refused += 1
            wait = recent[0] + self.seconds - now if self.tells else None
            raise ProviderError("rate-limited", retryable=True, retry_after_seconds=wait, unbilled=True)
        self.answered.append(now)
        return honest(request)


@pytest.mark.parametrize(("calls", "seconds", "ideal"), [(1, 1.0, 24.0), (10, 20.0, 40.0)])
@pytest.mark.parametrize("tells", [False, True])
async def test_a_limit_without_a_word_loses_no_task_and_little_time(
    tmp_path: Path, calls: int, seconds: float, ideal: float, tells: bool
) -> None:
    time = FastTime("test")
    limited = Limited(time, calls, seconds, tells=tells)
    async with engine_harness(tmp_path, TestModels(limited), time=time) as harness, time.passing():
        run = await harness.finished(**ONLY_ANSWERS)
        took = limited.answered[-1] - limited.answered[0]
    print(f"{calls} in {seconds:g} s, told {tells}: 25 answered in {took:.0f} s, {limited.refused} refused")
    assert (run.state, run.progress.succeeded, run.progress.failed) == ("completed", 25, 0)
    assert took <= 1.5 * ideal


async def test_an_outage_pauses_the_run_which_goes_on_by_itself_and_loses_nothing(tmp_path: Path) -> None:
    time = FastTime("test")
    calls, during = list[float](), list[float]()

    def out_for_a_minute(request: ModelRequest) -> Answer:
        now = time.clock.monotonic()
        calls.append(now)
        if len(calls) > 20 and now < calls[20] + 60.0:
            during.append(now)
            raise ProviderError("provider-overloaded", retryable=True, unbilled=True)
        return honest(request)

    async with engine_harness(tmp_path, TestModels(out_for_a_minute), time=time) as harness, time.passing():
        run_id = await harness.start(**(ONLY_ANSWERS | {"documents": 150}))
        paused = await harness.until(run_id, "paused", "completed")
        assert (paused.state, paused.pause_reason) == ("paused", "provider")
        run = await harness.ended(run_id)
        assert (run.state, run.progress.succeeded, run.progress.failed) == ("completed", 150, 0)
    print(f"an outage of 60 s: 150 of 150 answered, {len(during)} calls while it lasted")
    assert len(during) < 200  # of 450 attempts


async def test_a_text_on_which_a_provider_breaks_down_fails_while_others_are_answered(tmp_path: Path) -> None:
    time = FastTime("test")

    def poisoned(request: ModelRequest) -> Answer:
        if "number 3 " in request.matter.document:
            raise ProviderError("provider-overloaded", retryable=True)
        return honest(request)

    async with engine_harness(tmp_path, TestModels(poisoned), time=time) as harness, time.passing():
        changes = ONLY_ANSWERS | {"documents": 60, "limits": {"concurrency": 2}}
        run = await harness.finished(**changes)
    assert (run.progress.succeeded, run.progress.failed) == (59, 1)


async def test_whoever_is_refused_for_an_hour_fails_in_the_end(tmp_path: Path) -> None:
    time = FastTime("test")

    def never(request: ModelRequest) -> Answer:
        raise ProviderError("rate-limited", retryable=True, retry_after_seconds=900.0, unbilled=True)

    async with engine_harness(tmp_path, TestModels(never), time=time) as harness, time.passing(30.0):
        run = await harness.finished(**(ONLY_ANSWERS | {"documents": 1}))
    assert run.progress.failed == 1

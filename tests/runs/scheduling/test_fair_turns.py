"""Two users' runs of 5,000 tasks do not keep a third user's single task waiting."""

import pytest

from carrel.config import Settings
from tests.support.busy import busy_service
from tests.support.clock import FakeClock
from tests.support.models import GENERATORS, TestModels

ROUNDS = 4
"""How often all permits may go round before the single task gets one: others go on while its claim is committed."""


async def test_a_single_task_waits_for_a_round_of_calls_and_not_for_the_runs_of_others(
    settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = TestModels()
    async with busy_service(settings, clock, models, monkeypatch) as busy:
        long = {"documents": 42, "models": GENERATORS, "repeats": 10, "limits": {"concurrency": 64}}
        owners = [await busy.reader(name) for name in ("ada", "bob")]
        models.gate.clear()
        runs = [await owner.started(**long) for owner in owners]
        await models.until(in_flight=settings.max_provider_calls)
        for owner, run in zip(owners, runs, strict=True):
            assert (await owner.run(run))["progress"]["total"] == 5_040
        eve = await busy.reader("eve")
        single = await eve.started(documents=1, models=("one",))
        assert (await eve.run(single))["progress"]["total"] == 2
        before = len(models.asked)
        models.gate.set()
        await eve.until(single, "completed")
        waited = len(models.asked) - before
        for owner, run in zip(owners, runs, strict=True):
            await owner.ask("POST", f"/runs/{run}/cancel")
        assert waited < 2 * ROUNDS * settings.max_provider_calls

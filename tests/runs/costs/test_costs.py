"""What a task cost: the sum of its calls that ended, or unknown as soon as that of one of them is."""

from pathlib import Path

import pytest

from carrel.providers.base import Answer, ModelRequest, ProviderError
from tests.support.engine import engine_harness
from tests.support.models import TestModels, honest


class Faulty:
    """Calls of unknown cost; the first ones fail, of which the `unbilled` ones cost nothing."""

    def __init__(self, *unbilled: bool) -> None:
        self.models = TestModels(self._answer)
        self.models.name = "paid_"
        self._unbilled = unbilled

    def _answer(self, request: ModelRequest) -> Answer:
        number = len(self.models.asked)
        if number <= len(self._unbilled):
            raise ProviderError("provider-overloaded", retryable=True, unbilled=self._unbilled[number - 1])
        return honest(request)


@pytest.mark.parametrize(
    ("unbilled", "cost", "unknown"),
    [((True,), None, 2), ((False,), None, 3), ((False, True), None, 3), ((True, True, True), 0, 0)],
)
async def test_a_call_of_unknown_cost_is_not_hidden_by_one_that_cost_nothing(
    tmp_path: Path, unbilled: tuple[bool, ...], cost: int | None, unknown: int
) -> None:
    async with engine_harness(tmp_path, Faulty(*unbilled).models) as harness:
        await harness.finished(
            documents=1,
            models=("paid_:one",),
            judges=("paid_:judge",),
            comparison=None,
            limits={"concurrency": 1, "max_attempts": 3},
        )
        assert await harness.rows("SELECT cost_micros FROM tasks WHERE kind = 'generate'") == [(cost,)]
        assert await harness.rows("SELECT cost_micros, unknown_calls FROM runs") == [(0, unknown)]

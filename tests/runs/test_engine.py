"""A run from start to end, and every way of stopping on the way."""

from pathlib import Path

from tests.support.engine import bench
from tests.support.models import TestModels


async def test_a_run_goes_from_start_to_a_verdict(tmp_path: Path) -> None:
    models = TestModels()
    async with bench(tmp_path, models) as desk:
        run = await desk.finished()
        assert run.state == "completed"
        assert run.progress.percent == 100
        assert run.progress.total == 2 * 2 + 2 * 2 + 2 * 2
        assert run.verdict
        assert len(models.asked) == 12

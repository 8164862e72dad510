"""Runs whose answers are checked: marks, rules, rates, and runs with checks alone."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from carrel.checks import work
from carrel.checks.definition import Check
from carrel.evaluation.passing import CheckResults
from carrel.kit.clock import SystemClock
from carrel.kit.processes.jobs import WorkerTimedOut
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.worker import Worker
from carrel.providers.base import Answer, CompareMatter, GenerateMatter, ModelRequest, ScoreMatter
from carrel.runs.checking import marks as check_marks
from carrel.runs.checking import results
from carrel.runs.checking.marks import CheckBatch, CheckedBatch, RunCheck, Waiting
from carrel.runs.engine import answer_checks, jobs
from carrel.runs.model import setup as setups
from tests.support.crashes import Crash, alive
from tests.support.engine import EngineHarness, engine_harness
from tests.support.models import TestModels, honest, said

JSON_ONLY = {"kind": "json", "required": True}


def answers(**by_model: str) -> Any:
    """Each model gives its text as an answer; judges are honest."""

    def script(request: ModelRequest) -> Answer:
        return said(by_model[request.model]) if isinstance(request.matter, GenerateMatter) else honest(request)

    return script


async def checked(harness: EngineHarness) -> CheckResults:
    found = await harness.read(lambda conn: results.kept(conn, 1, 1))
    assert found is not None
    return found


async def marks(harness: EngineHarness) -> list[tuple[bool, list[float | None]]]:
    rows = await harness.rows("SELECT passes, marks FROM check_marks ORDER BY generated")
    return [(bool(passes), json.loads(text)) for passes, text in rows]


async def test_an_answer_that_fails_a_required_check_loses_by_rule_without_a_call(tmp_path: Path) -> None:
    models = TestModels(answers(one='{"a": 1}', two="no JSON"))
    async with engine_harness(tmp_path, models) as harness:
        run = await harness.finished(checks=[JSON_ONLY, {"kind": "length", "most": 1}])
        assert run.state == "completed"
        assert await harness.rows("SELECT word, by_rule FROM comparisons") == [(None, "a")] * 4
        assert not any(isinstance(request.matter, CompareMatter) for request in models.asked)
        # It has the least mark on every criterion, also without a call.
        assert sum(isinstance(request.matter, ScoreMatter) for request in models.asked) == 2
        assert sorted(await marks(harness)) == [(False, [0.0, 0.0])] * 2 + [(True, [1.0, 0.0])] * 2
        found = await checked(harness)
    [one, two] = found.rows
    assert (one.required.share, two.required.share) == (1.0, 0.0) if one.required and two.required else False
    assert [rate.share for rate in one.rates] == [1.0, 0.0]
    assert one.mean.share == 0.5
    assert "All required checks: test:one 100 %" in found.sentence


async def test_two_answers_that_fail_are_compared_by_judges(tmp_path: Path) -> None:
    models = TestModels(answers(one="no JSON", two="nor this"))
    async with engine_harness(tmp_path, models) as harness:
        await harness.finished(documents=1, checks=[JSON_ONLY])
        assert await harness.rows("SELECT by_rule FROM comparisons") == [(None,)] * 2


async def test_a_check_that_is_not_required_changes_no_verdict(tmp_path: Path) -> None:
    models = TestModels(answers(one="{}", two="no JSON"))
    async with engine_harness(tmp_path, models) as harness:
        await harness.finished(documents=1, checks=[{"kind": "json"}])
        assert await harness.rows("SELECT by_rule FROM comparisons") == [(None,)] * 2
        assert (await checked(harness)).rows[0].required is None


async def test_a_run_with_checks_alone_is_ranked_by_them(tmp_path: Path) -> None:
    models = TestModels(answers(one="{}", two="no JSON"))
    async with engine_harness(tmp_path, models) as harness:
        run = await harness.finished(checks=[JSON_ONLY], scoring=None, comparison=None)
    assert run.state == "completed"
    assert run.verdict is not None
    assert run.verdict.startswith("test:one leads; 2 documents cannot decide")
    assert run.verdict.endswith("This is about documents like these, and about nothing but what the checks ask.")
    assert all(isinstance(request.matter, GenerateMatter) for request in models.asked)


async def test_an_answer_that_was_not_delivered_passes_nothing(tmp_path: Path) -> None:
    models = TestModels(answers(one="", two="good"))
    async with engine_harness(tmp_path, models) as harness:
        await harness.finished(documents=1, checks=[{"kind": "not_contains", "texts": ["bad"]}])
        assert sorted(await marks(harness)) == [(False, [0.0]), (True, [1.0])]


async def test_the_expected_output_is_the_reference_of_the_document(tmp_path: Path) -> None:
    models = TestModels(answers(one="42", two="43"))
    async with engine_harness(tmp_path, models) as harness:
        await harness.finished(
            documents=1, checks=[{"kind": "equals"}, {"kind": "equals", "expected": "43", "name": "b"}]
        )
        assert sorted(await marks(harness)) == [(True, [None, 0.0]), (True, [None, 1.0])]
        found = await checked(harness)
        assert found.rows[0].rates[0].missing == 1
        assert found.rows[0].rates[0].share is None


@pytest.mark.parametrize("batch", [1, 3])
async def test_batches_of_any_size_give_the_same(tmp_path: Path, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrel.runs.checking.marks.MAX_ANSWERS", batch)
    async with engine_harness(tmp_path, TestModels(answers(one="{}", two="no JSON"))) as harness:
        await harness.finished(documents=3, checks=[JSON_ONLY])
        assert sorted(await marks(harness)) == [(False, [0.0])] * 3 + [(True, [1.0])] * 3
        assert [row.required and row.required.share for row in (await checked(harness)).rows] == [1.0, 0.0]


async def test_a_later_round_has_the_same_checks(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels(answers(one="{}", two="no JSON"))) as harness:
        await harness.finished(documents=1, checks=[JSON_ONLY])
        now = await harness.read(lambda conn: results.of(conn, setups.load(conn, 1)))  # type: ignore[arg-type]
        assert now == await checked(harness)


async def figures(harness: EngineHarness) -> tuple[Any, ...]:
    """Everything that the checks came to, whatever the order in which answers came."""
    return (
        await harness.rows("SELECT checks, ranking, verdict FROM run_rankings"),
        await harness.rows(
            "SELECT document, candidate, repeat, passes, marks FROM generated JOIN check_marks ON generated = seq"
            " ORDER BY document, candidate, repeat"
        ),
    )


async def test_a_run_that_dies_at_any_commit_ends_with_the_same_marks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.runs.checking.marks.MAX_ANSWERS", 2)
    script = answers(one='{"a": 1}', two="no JSON")
    asked = {"checks": [JSON_ONLY, {"kind": "chrf", "expected": "no JSON"}], "scoring": None, "comparison": None}
    watched = Crash()
    watched.stand_in(monkeypatch)
    async with engine_harness(tmp_path / "undisturbed", TestModels(script)) as harness:
        await harness.finished(**asked)
        wanted = await figures(harness)
    assert watched.done.count("put") == 2
    for when in ("before", "after"):
        for at in range(1, len(watched.done) + 1):
            crash = Crash(at, when)
            crash.stand_in(monkeypatch)
            async with engine_harness(tmp_path / f"{when} {at}", TestModels(script)) as harness:
                run_id = await harness.start(**asked)
                async with asyncio.timeout(60):
                    await crash.dead.wait()
                await harness.die()
                alive(monkeypatch)
                await harness.restart()
                assert (await harness.ended(run_id)).state == "completed"
                assert await figures(harness) == wanted, (when, at)


class SlowPool:
    """Workers in which one check never ends."""

    def __init__(self) -> None:
        self.calls = 0

    async def run(
        self, user: str, fn: Any, checks: list[Check], given: list[work.CheckInput], timeout_seconds: float
    ) -> Any:
        self.calls += 1
        if any(check.name == "slow" for check in checks):
            raise WorkerTimedOut
        return fn(checks, given)


async def test_a_check_that_takes_too_long_is_given_up_and_the_others_are_made() -> None:
    asked = [
        RunCheck(0, Check(kind="json", name="json"), given_up=False),
        RunCheck(1, Check(kind="json", name="slow"), given_up=False),
    ]
    waiting = [Waiting(seq, 1, True, "{}" if seq % 2 else "no JSON", None) for seq in range(10)]
    workers = SlowPool()
    made = await answer_checks.make(workers, "user", CheckBatch(asked, waiting))  # type: ignore[arg-type]
    assert made.marks == [[0.0, None], [1.0, None]] * 5
    assert made.failures == {1: 3}
    assert workers.calls == 1 + 10 + 3
    asked[1] = asked[1]._replace(given_up=True)
    made = await answer_checks.make(workers, "user", CheckBatch(asked, waiting))  # type: ignore[arg-type]
    assert (made.marks, made.failures) == ([[0.0, None], [1.0, None]] * 5, {})
    assert workers.calls == 15


async def test_failures_of_a_check_are_counted_until_it_is_given_up(tmp_path: Path) -> None:
    async with engine_harness(tmp_path, TestModels()) as harness:
        await harness.make(checks=[{"kind": "json"}])
        setup = await harness.read(lambda conn: setups.load(conn, 1))
        assert setup is not None
        for _ in range(3):
            batch = CheckBatch(await harness.read(lambda conn: check_marks.asked(conn, 1)), [])
            assert [one.given_up for one in batch.asked] == [False]
            await harness.write(check_marks.put, setup, CheckedBatch(batch, [], {0: 1}))
        [one] = await harness.read(lambda conn: check_marks.asked(conn, 1))
        assert one.given_up
        assert await harness.rows("SELECT count(*) FROM run_log WHERE event = 'check-failed'") == [(3,)]


async def test_a_real_worker_makes_checks(tmp_path: Path) -> None:
    """It may open no file, so every library of a check has to be loaded before."""
    worker = Worker(jobs.JOBS)
    checks = [
        Check(kind="regex", pattern=r"\d\pL+"),
        Check(
            kind="json_schema", schema_={"type": "object", "required": ["a"], "properties": {"a": {"format": "date"}}}
        ),
        Check(kind="chrf", expected="some text"),
        Check(kind="rouge_l", expected="some text"),
    ]
    try:
        found = await worker.run(work.mark, checks, [work.CheckInput('{"a": "2026-01-02"}')], timeout_seconds=60)
    finally:
        await worker.close()
    assert found[0][:2] == [0.0, 1.0]


async def test_a_check_that_never_ends_keeps_no_other_user_waiting() -> None:
    levels: dict[str, object] = {"a0": {"type": "object"}}
    for level in range(1, 60):
        levels[f"a{level}"] = {"allOf": [{"$ref": f"#/$defs/a{level - 1}"}] * 2}
    endless = Check(kind="json_schema", name="endless", schema_={"$ref": "#/$defs/a59", "$defs": levels})
    assert work.compiles("schema", json.dumps(endless.schema_)).found is None
    waiting = [Waiting(1, 1, True, "{}", None)]
    pool = WorkerPool(jobs.JOBS, 2, SystemClock())
    hers = asyncio.create_task(answer_checks.make(pool, "mallory", CheckBatch([RunCheck(0, endless, False)], waiting)))
    try:
        await pool.run("ada", work.mark, [], [])  # a worker of her own has started
        for _ in range(3):
            made = await answer_checks.make(pool, "ada", CheckBatch([RunCheck(0, Check(kind="json"), False)], waiting))
            assert made.marks == [[1.0]]
        assert not hers.done()
    finally:
        await pool.close()
        hers.cancel()
        await asyncio.wait([hers])

"""Runs at half the price: their calls go in batches, through the real protocols of both providers."""

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest

from carrel.providers.base import Usage
from carrel.providers.prices import price_of
from carrel.runs.engine import commands
from carrel.runs.engine.retry import retry
from tests.support.batched import CALLS, ECONOMY, MODELS, Servers, batch_servers, batched, lead_to
from tests.support.engine import UUID, EngineHarness


@pytest.fixture
async def servers() -> AsyncIterator[Servers]:
    async with batch_servers() as found:
        yield found


@pytest.fixture
async def engine(tmp_path: Path, servers: Servers) -> AsyncIterator[EngineHarness]:
    async with batched(tmp_path, servers) as harness:
        yield harness


async def test_a_run_in_batches_completes_and_costs_half(engine: EngineHarness, servers: Servers) -> None:
    run = await engine.finished(**ECONOMY)
    assert (run.state, run.progress.succeeded) == ("completed", CALLS)
    assert servers.twice == []
    # A batch of each model for answers, scores and comparisons.
    assert servers.batches == 6
    calls = await engine.rows(
        "SELECT model, started_at, input_tokens, cached_tokens, written_tokens, output_tokens, cost_micros, price_id"
        " FROM calls WHERE outcome = 'answered'"
    )
    assert len(calls) == CALLS
    for model, _, read, cached, written, output, cost, price_id in calls:
        price = price_of(model, 1_790_000_000)
        assert price is not None
        assert price_id.endswith("/batch")
        rates, usage = price.rates[0], Usage(input_tokens=read, cached_tokens=cached, written_tokens=written)
        full = (
            rates.input * usage.input_tokens
            + rates.cached_read * cached
            + rates.cached_write * written
            + rates.output * output
        )
        assert Decimal(cost) - full / 2 < 1, "half, rounded up to a millionth of a dollar"
        assert Decimal(cost) >= full / 2


async def test_a_batch_that_is_full_waits_and_is_sent_again(engine: EngineHarness, servers: Servers) -> None:
    servers.openai.shelf.fates = ["full"]
    run_id = await engine.start(**ECONOMY)
    async with engine.workspace() as workspace:
        while not (await engine.rows("SELECT 1 FROM batches WHERE due_at > 0")):
            await engine.moved(run_id)
        await workspace.write(lambda conn: conn.run("UPDATE batches SET due_at = 0"))
    assert (await engine.ended(run_id)).state == "completed"
    assert servers.twice == []


async def test_a_batch_is_answered_by_the_host_that_it_was_sent_to_and_by_no_other(
    engine: EngineHarness, servers: Servers
) -> None:
    servers.openai.shelf.looks = 1_000_000
    run_id = await engine.start(**ECONOMY)
    while not await engine.rows("SELECT 1 FROM batches WHERE state = 'sent' AND model = ?", MODELS[0]):
        await engine.moved(run_id)
    await lead_to(engine, servers.elsewhere)
    (batch,) = servers.openai.shelf.held.values()
    # A look that had begun before has ended.
    engine.naps.clear()
    while len(engine.naps) < 10:
        await asyncio.sleep(0)
    batch.looks, servers.openai.shelf.looks = 0, 1
    engine.naps.clear()
    while len(engine.naps) < 10:
        await asyncio.sleep(0)
    assert batch.looks == 0, "nobody else is asked for its results"
    await lead_to(engine, servers.openai)
    assert (await engine.ended(run_id)).state == "completed"
    assert await engine.rows("SELECT DISTINCT host FROM calls WHERE provider = 'openai'") == [(None,)]


async def test_a_batch_that_was_not_sent_goes_to_the_host_that_the_key_names_now(
    engine: EngineHarness, servers: Servers
) -> None:
    servers.openai.shelf.fates = ["full"]
    run_id = await engine.start(**ECONOMY)
    async with engine.workspace() as workspace:
        while not await engine.rows("SELECT 1 FROM batches WHERE due_at > 0"):
            await engine.moved(run_id)
        await lead_to(engine, servers.elsewhere)
        await workspace.write(lambda conn: conn.run("UPDATE batches SET due_at = 0"))
    run = await engine.ended(run_id)
    assert (run.state, run.hosts) == ("completed", {MODELS[0]: servers.elsewhere.host})
    calls = "SELECT host, outcome, code, count(*) FROM calls WHERE provider = 'openai' GROUP BY 1, 2, 3"
    answered = (servers.elsewhere.host, "answered", None, CALLS // 2)
    assert await engine.rows(calls) == [(None, "failed", "provider-key-changed", 3), answered]
    assert await engine.rows("SELECT DISTINCT failures FROM tasks") == [(0,)], "that was no failure of theirs"


@pytest.mark.parametrize(
    ("fate", "code"), [("expires", "batch-expired"), ("fails", "batch-failed"), ("lost", "batch-lost")]
)
async def test_a_batch_without_results_fails_its_tasks_which_can_be_tried_again(
    engine: EngineHarness, servers: Servers, fate: str, code: str
) -> None:
    servers.openai.shelf.looks = 3
    servers.openai.shelf.fates = [fate]  # type: ignore[list-item]  # one of the parameters
    servers.anthropic.shelf.fates = [fate]  # type: ignore[list-item]  # the same
    run = await engine.finished(**ECONOMY)
    assert run.state in ("completed_with_errors", "failed")
    failed = await engine.rows("SELECT DISTINCT error FROM tasks WHERE state = 'failed'")
    assert failed == [(code,)]
    costs = await engine.rows("SELECT DISTINCT cost_micros FROM calls WHERE code = ?", code)
    assert costs == [(None,)] if fate == "lost" else [(0,)], "only of a lost batch nobody knows what it cost"
    await engine.write(retry, run.id)
    assert (await engine.ended(run.id)).state == "completed"
    assert servers.twice == []


async def test_a_failed_or_malformed_call_of_a_batch_goes_into_another(engine: EngineHarness, servers: Servers) -> None:
    shelf = servers.openai.shelf
    shelf.broken["number 2"] = (500, {"error": {"message": "No.", "code": "server_error"}})
    servers.anthropic.shelf.broken["number 1"] = (529, {"type": "error", "error": {"type": "overloaded_error"}})
    shelf.broken["response_format"] = (
        200,
        {"choices": [{"message": {"content": "no JSON"}, "finish_reason": "stop"}], "usage": None},
    )
    run = await engine.finished(**ECONOMY)
    assert (run.state, run.progress.succeeded) == ("completed", CALLS)
    assert not shelf.broken
    assert servers.twice == []
    outcomes = await engine.rows("SELECT outcome, count(*) FROM calls GROUP BY outcome ORDER BY outcome")
    assert outcomes == [("answered", CALLS), ("failed", 2), ("malformed", 1)]


async def test_a_refused_batch_fails_with_the_code_of_the_provider(engine: EngineHarness, servers: Servers) -> None:
    servers.openai.refuse = [(401, {"error": {"code": "invalid_api_key"}})]
    run = await engine.finished(**ECONOMY)
    assert run.state == "completed_with_errors"
    [(code,)] = await engine.rows("SELECT DISTINCT error FROM tasks WHERE state = 'failed'")
    assert code == "provider-key-rejected"


async def test_a_send_that_breaks_off_is_looked_for_before_it_is_repeated(
    engine: EngineHarness, servers: Servers
) -> None:
    servers.anthropic.refuse = [(500, {"type": "error", "error": {"type": "api_error"}})]
    run = await engine.finished(**ECONOMY)
    assert run.state == "completed"
    assert servers.twice == []
    listed = [one for one in servers.anthropic.asked if one.method == "GET" and "batches?" in one.url]
    assert len(listed) == 4


async def test_a_paused_run_keeps_the_results_that_come_and_sends_no_more(
    engine: EngineHarness, servers: Servers
) -> None:
    for server in servers:
        server.shelf.looks = 40
    run_id = await engine.start(**ECONOMY)
    while servers.batches < 2:
        await engine.moved(run_id)
    await engine.write(commands.pause, run_id)
    paused = await engine.until(run_id, "paused")
    assert (paused.progress.succeeded, servers.batches) == (6, 2)
    await engine.write(commands.resume, run_id)
    assert (await engine.ended(run_id)).state == "completed"
    assert servers.twice == []


async def test_cancelling_a_run_cancels_its_batches_and_records_what_was_spent(
    engine: EngineHarness, servers: Servers
) -> None:
    for server in servers:
        server.shelf.looks = 1_000_000
    run_id = await engine.start(**ECONOMY)
    while len(await engine.rows("SELECT 1 FROM batches WHERE state = 'sent'")) < 2:
        await engine.moved(run_id)
    async with engine.workspace() as workspace:
        await engine.engine.cancel(workspace, run_id)
    while await engine.rows("SELECT 1 FROM batches WHERE state <> 'ended'"):
        await engine.moved(run_id)
    assert all(batch.cancelled for server in servers for batch in server.shelf.held.values())
    assert await engine.rows("SELECT DISTINCT outcome, code, cost_micros FROM calls") == [
        ("failed", "batch-cancelled", 0)
    ]
    assert (await engine.run(run_id)).spend.unknown_calls == 0


async def test_results_are_collected_after_the_next_sign_in(engine: EngineHarness, servers: Servers) -> None:
    for server in servers:
        server.shelf.looks = 3
    run_id = await engine.start(**ECONOMY)
    while servers.batches < 2:
        await engine.moved(run_id)
    await engine.pool.evict(UUID)
    for server in servers:
        server.shelf.looks = 1
    await engine.sign_in()
    assert (await engine.ended(run_id)).state == "completed"
    assert servers.twice == []


async def test_deleting_a_paused_run_cancels_its_batches(engine: EngineHarness, servers: Servers) -> None:
    for server in servers:
        server.shelf.looks = 1_000_000
    run_id = await engine.start(**ECONOMY)
    while len(await engine.rows("SELECT 1 FROM batches WHERE state = 'sent'")) < 2:
        await engine.moved(run_id)
    await engine.write(commands.pause, run_id)
    await engine.write(lambda conn: conn.run("DELETE FROM runs WHERE id = ?", run_id))
    while await engine.rows("SELECT 1 FROM batches WHERE state <> 'ended'"):
        await engine.moved(run_id)
    assert all(batch.cancelled for server in servers for batch in server.shelf.held.values())

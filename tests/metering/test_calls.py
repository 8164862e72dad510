"""The books of calls: begun before the call, ended once, never a price that nobody knows."""

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from carrel.kit.sqlite.database import Connection
from carrel.metering import calls, quota, store
from carrel.metering.calls import CallEnd, Charge
from carrel.providers.base import Usage
from tests.support.clock import FakeClock
from tests.support.workspace import workspace_database


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    with workspace_database(tmp_path) as connection:
        yield connection


def begin(conn: Connection, key: str = "r1.generate.d1.c1.s1", *, free: bool = False) -> str:
    return calls.begin(conn, run_id="run", task_key=key, attempt=1, model="openai:gpt/5", host=None, free=free)


def test_a_call_is_on_the_books_before_it_is_made(conn: Connection) -> None:
    begin(conn)
    row = conn.one("SELECT provider, model, outcome, cost_micros, finished_at FROM calls")
    assert row == ("openai", "openai:gpt/5", "running", None, None)


def test_a_call_ends_once(conn: Connection) -> None:
    call_id = begin(conn)
    ended = CallEnd(outcome="answered", usage=Usage(input_tokens=3, output_tokens=4), cost_micros=7, latency_ms=9)
    assert calls.end(conn, call_id, ended) == Charge(7)
    assert calls.end(conn, call_id, CallEnd(outcome="failed", cost_micros=9)) is None
    row = conn.one("SELECT outcome, input_tokens, cached_tokens, output_tokens, cost_micros, latency_ms FROM calls")
    assert row == ("answered", 3, 0, 4, 7, 9)


def test_an_unknown_price_is_unknown_never_nothing(conn: Connection) -> None:
    call_id = begin(conn)
    assert calls.end(conn, call_id, CallEnd(outcome="answered", usage=Usage())) == Charge(None)
    assert conn.one("SELECT cost_micros FROM calls") == (None,)


def test_a_free_call_costs_nothing_whatever_becomes_of_it(conn: Connection) -> None:
    begin(conn, free=True)
    assert [lost.cost_micros for lost in calls.abandon(conn, "run")] == [0]
    assert conn.one("SELECT outcome, cost_micros FROM calls") == ("unknown-outcome", 0)


def test_what_is_abandoned_is_named_once_and_nobody_knows_its_price(conn: Connection) -> None:
    first = begin(conn)
    begin(conn, "another")
    assert [lost.task_key for lost in calls.abandon(conn, "run", "another")] == ["another"]
    assert [lost.task_key for lost in calls.abandon(conn, "other run")] == []
    assert [lost.cost_micros for lost in calls.abandon(conn, "run")] == [None]
    assert calls.abandon(conn, "run") == []
    assert calls.end(conn, first, CallEnd(outcome="answered", cost_micros=5)) is None


@pytest.mark.parametrize("days", [(None, None), ("2020-01-01", None), ("2020-01-01", "2040-01-01")])
def test_usage_reads_sums_and_no_call(conn: Connection, days: tuple[str | None, str | None]) -> None:
    begin(conn)
    asked: list[tuple[str, Any]] = []

    def note(_: object, sql: str, params: Any) -> bool:
        asked.append((sql, params))
        return True

    conn.exec_trace = note
    store.usage(conn, store.span_of(UTC, *days), ["day", "model"])
    conn.exec_trace = None
    steps = [row[3] for sql, params in asked for row in conn.all(f"EXPLAIN QUERY PLAN {sql}", *params)]
    read = [step for step in steps if "TEMP B-TREE" not in step]
    assert len(read) == len(asked)
    assert all(step.startswith("SEARCH call_sums USING PRIMARY KEY (quarter>") for step in read), read


def test_sums_are_those_of_the_calls_in_as_many_parts_as_it_takes(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PART_ROWS", 1)
    clock = conn.clock
    assert isinstance(clock, FakeClock)
    for cost in (1, None, 2, 3, None, 4):
        calls.end(conn, begin(conn), CallEnd(outcome="answered", cost_micros=cost))
        clock.advance(600)
    begin(conn)
    (item,) = store.usage(conn, store.span_of(UTC, None, None), ["model", "run", "provider", "phase"]).items
    assert (item.model, item.run_id, item.provider, item.phase) == ("openai:gpt/5", "run", "openai", None)
    assert (item.totals.calls, item.totals.unknown_calls, item.totals.cost) == (6, 2, "0.00001")
    assert conn.value("SELECT count(*) FROM call_sums") > 1


def test_a_days_calls_are_counted_only_where_they_can_be_used_up(conn: Connection) -> None:
    clock = conn.clock
    assert isinstance(clock, FakeClock)

    def steps(per_day: int) -> int:
        taken = 0

        def count() -> bool:
            nonlocal taken
            taken += 1
            return False

        conn.set_progress_handler(count, 1)
        assert not quota.is_used_up(conn, per_day)
        conn.set_progress_handler(None)
        return taken

    begin(conn, "yesterday")
    clock.advance(86_400)
    assert not quota.is_used_up(conn, 1)
    few = steps(1_000)
    for number in range(500):
        call_id = begin(conn, str(number))
        if number % 2:
            calls.withdraw(conn, call_id)
    assert steps(1_000) <= few + 10
    assert [quota.is_used_up(conn, per_day) for per_day in (249, 250, 251, None, 0)] == [True, True, False, False, True]
    clock.advance(86_400)
    assert not quota.is_used_up(conn, 1)

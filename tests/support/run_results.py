"""What a run came to, for tests that hold a disturbed run against an undisturbed one."""

from typing import Any, NamedTuple

from tests.support.engine import EngineHarness

RESULTS = (
    "SELECT key, kind, state, error, cost_micros FROM tasks ORDER BY seq",
    "SELECT key, body, finish_reason, delivered FROM generated JOIN tasks ON tasks.seq = task ORDER BY key",
    "SELECT key, fate, marks, said FROM scores JOIN tasks ON tasks.seq = task ORDER BY key",
    "SELECT key, word, by_rule, said FROM comparisons JOIN tasks ON tasks.seq = task ORDER BY key",
    "SELECT * FROM run_sources",
    "SELECT compared, sources, to_come, looks, stopped, saved, saved_micros FROM run_rounds",
    "SELECT round, number, documents, leader, beaten FROM run_looks",
    "SELECT round, ranking, verdict FROM run_rankings",
    "SELECT state, round, phase, verdict, cost_micros FROM runs",
)


class Books(NamedTuple):
    """The calls of the only run of an engine."""

    rows: int
    answered: int
    unknown_outcome: int
    tokens: tuple[int, int]
    """Of the calls whose end is known."""
    unknown_cost: int
    answered_twice: list[str]
    """Tasks that were called again although their answer was there."""
    lost_in_log: bool
    """The log says of every call of unknown outcome that it was lost, and of nothing else."""


async def result_of(harness: EngineHarness) -> list[tuple[Any, ...]]:
    """Everything that a run's result consists of, without times, ids and attempts."""
    return [row for sql in RESULTS for row in await harness.rows(sql)]


async def books_of(harness: EngineHarness) -> Books:
    """What the run's calls came to."""
    [(rows, answered, lost, read, written)] = await harness.rows(
        "SELECT count(*), total(outcome = 'answered'), total(outcome = 'unknown-outcome'), total(input_tokens),"
        " total(output_tokens) FROM calls"
    )
    [(unknown,)] = await harness.rows("SELECT unknown_calls FROM runs")
    twice = await harness.rows(
        "SELECT task_key FROM calls WHERE outcome = 'answered' GROUP BY task_key HAVING count(*) > 1"
    )
    logged = await harness.rows(
        "SELECT task_key, attempt, model, code FROM run_log WHERE event = 'attempt-lost' ORDER BY task_key, attempt"
    )
    called = await harness.rows(
        "SELECT task_key, attempt, model, outcome FROM calls WHERE outcome = 'unknown-outcome'"
        " ORDER BY task_key, attempt"
    )
    return Books(
        rows, int(answered), int(lost), (int(read), int(written)), unknown, [key for (key,) in twice], logged == called
    )

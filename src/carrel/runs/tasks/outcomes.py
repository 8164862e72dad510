"""Records the end of a task: result, cost, state, call and log row, all in one transaction, before it counts."""

from typing import Literal, NamedTuple

from carrel.evaluation.asking import replies
from carrel.evaluation.records import Side
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.metering import calls
from carrel.metering.calls import CallEnd
from carrel.providers.base import FORM_REFUSED, KEY_CHANGED, Criterion, Usage
from carrel.providers.batches import seconds_of
from carrel.providers.registry import needs_key
from carrel.runs.model import log, run_hosts
from carrel.runs.model.setup import Setup
from carrel.runs.model.states import TaskState
from carrel.runs.scheduling import backoff
from carrel.runs.tasks import answers, transitions
from carrel.runs.tasks.attempts import (
    REASKS,
    Attempt,
    CallFailure,
    CompareResult,
    GenerateResult,
    InvalidReply,
    Result,
    ScoreResult,
)

MISSING = "answer-missing"
"""There is nothing to judge, because there is no answer."""
NO_SOURCES = "sources-missing"
"""There is nothing to combine: fewer than two answers were delivered."""
_FORMS_TRIED = 6
"""How many attempts in refused forms do not count. There are fewer forms, but a restart begins with the strongest
again."""


_LONGEST_SECONDS = 3_600.0
"""How long a task is tried while its provider is too busy, or down, before its attempts count."""


class CallUsage(NamedTuple):
    """What a call took.

    `cost_micros` is `None` where the price is unknown; `credit_micros` is the cost with the markup. A call of a batch
    has no `latency_ms`. `is_told`: the cost is the provider's own word.
    """

    usage: Usage | None
    cost_micros: int | None
    latency_ms: int | None
    credit_micros: int | None = None
    is_told: bool = False


class Then(NamedTuple):
    """Whether the task is done, or is to be tried again after a wait."""

    do: Literal["done", "again"]
    wait_seconds: float = 0.0


DONE = Then("done")


TIMED_OUT = CallFailure("provider-timeout", retryable=True)
"""The result of an attempt whose task does not wait any longer."""


def commit(conn: Connection, setup: Setup, attempt: Attempt, result: Result, measured: CallUsage | None) -> Then:
    """Record the result of an attempt. If the task was skipped or cancelled meanwhile, record only the call.

    `measured` is `None` if the call still goes on; `end_call` records its end later.
    """
    cost_micros = None if measured is None else end_call(conn, setup, attempt, result, measured)
    row = conn.one(
        "SELECT failures, malformed, candidate, judge, started_at FROM tasks"
        " WHERE seq = ? AND run = ? AND state = 'running' AND attempts = ?",
        *(attempt.task, setup.seq, attempt.number),
    )
    if row is None:
        return DONE
    failures, malformed, candidate, judge, started_at = row
    if isinstance(result, CallFailure):
        uncounted = attempt.number - 1 - failures - malformed
        if result.code in (FORM_REFUSED, KEY_CHANGED) and uncounted < _FORMS_TRIED:
            # The next attempt asks in another form, or at another host, and this one does not count.
            _log(conn, setup, attempt, "attempt-failed", level="warning", code=result.code)
            return Then("again")
        if _costs_time_only(setup, result) and conn.clock.now() - seconds_of(started_at) < _LONGEST_SECONDS:
            transitions.wait(conn, setup.seq, attempt.task, result.code, result.said)
            _log(conn, setup, attempt, "attempt-failed", level="warning", code=result.code)
            return Then("again", _wait_seconds(attempt, result, uncounted))
        return _failed(conn, setup, attempt, result, failures + 1)
    if needs_key(attempt.model):
        run_hosts.record(conn, setup, setup.asked(candidate, judge), attempt.host)
    if isinstance(result, InvalidReply):
        return _malformed(conn, setup, attempt, result, malformed + 1)
    if isinstance(result, GenerateResult):
        usage = (measured.usage if measured else None) or Usage()
        answers.put(conn, setup.seq, attempt.task, result, usage, cost_micros, attempt.host)
    elif isinstance(result, ScoreResult):
        put_score(conn, attempt.task, "given", result.marks, result.reason)
    else:
        put_comparison(conn, attempt.task, result)
    transitions.succeed(conn, setup.seq, attempt.task)
    _log(conn, setup, attempt, "task-succeeded", state="succeeded", measured=measured)
    return DONE


def _costs_time_only(setup: Setup, result: CallFailure) -> bool:
    """Whether the failure says nothing about this call: the provider takes no more calls now, or answers none.

    Whoever allows one attempt alone wants no other while a provider is down: it may bill each.
    """
    return result.code == "rate-limited" or (result.silent_seconds is not None and setup.max_attempts > 1)


def _wait_seconds(attempt: Attempt, result: CallFailure, before: int) -> float:
    if result.code == "rate-limited":
        # The limiter holds back every call, and lets them go on one by one: more of a wait would only come on top.
        return result.retry_after_seconds or 0.0
    return backoff.wait_seconds(attempt.call_id, before + 1, result.retry_after_seconds)


def decide_text(conn: Connection, setup: Setup, task: int, key: str, text: str) -> None:
    """Store an answer that exists already. It costs nothing."""
    answers.put(conn, setup.seq, task, GenerateResult(text, "stop"), Usage(), 0)
    _decided(conn, setup, task, key)


def decide_score(conn: Connection, setup: Setup, task: int, key: str, criteria: tuple[Criterion, ...]) -> None:
    """Give an answer that was not delivered the lowest score on every criterion."""
    put_score(conn, task, "by_rule", {criterion.name: criterion.minimum for criterion in criteria}, None)
    _decided(conn, setup, task, key)


def decide_comparison(conn: Connection, setup: Setup, task: int, key: str, side: Side) -> None:
    """Record a comparison that a rule decides: an answer that was not delivered loses against one that was."""
    conn.run("INSERT INTO comparisons (task, by_rule) VALUES (?, ?)", task, side)
    _decided(conn, setup, task, key)


def skip_missing(conn: Connection, setup: Setup, task: int, key: str, code: str = MISSING) -> None:
    """Skip a task that has nothing to work on."""
    transitions.skip(conn, setup.seq, task, code)
    log.write(conn, setup.seq, "task-skipped", level="warning", task_key=key, state="skipped", code=code)


def put_score(
    conn: Connection, task: int, fate: Literal["given", "by_rule", "invalid"], marks: dict[str, float], said: str | None
) -> None:
    """Keep a score."""
    text = as_json(marks)
    conn.run("INSERT INTO scores (task, fate, marks, said) VALUES (?, ?, ?, ?)", task, fate, text, said)


def put_comparison(conn: Connection, task: int, compared: CompareResult) -> None:
    """Keep a verdict."""
    conn.run("INSERT INTO comparisons (task, word, said) VALUES (?, ?, ?)", task, compared.word, compared.reason)


def _failed(conn: Connection, setup: Setup, attempt: Attempt, result: CallFailure, failures: int) -> Then:
    transitions.count_failure(conn, setup.seq, attempt.task, failures, result.code, result.said)
    if result.retryable and failures < setup.max_attempts:
        _log(conn, setup, attempt, "attempt-failed", level="warning", code=result.code)
        return Then("again", backoff.wait_seconds(attempt.call_id, failures, result.retry_after_seconds))
    transitions.fail(conn, setup.seq, attempt.task, result.code)
    _log(conn, setup, attempt, "task-failed", level="error", state="failed", code=result.code)
    return DONE


def _malformed(conn: Connection, setup: Setup, attempt: Attempt, result: InvalidReply, malformed: int) -> Then:
    transitions.count_malformed(conn, setup.seq, attempt.task, malformed, result.code)
    if malformed <= REASKS and result.code not in replies.FINAL:
        _log(conn, setup, attempt, "attempt-failed", level="warning", code=result.code)
        return Then("again")
    if attempt.kind == "score":
        put_score(conn, attempt.task, "invalid", {}, result.raw)
    else:
        conn.run("INSERT INTO comparisons (task, word, said) VALUES (?, 'invalid', ?)", attempt.task, result.raw)
    transitions.fail(conn, setup.seq, attempt.task, result.code)
    _log(conn, setup, attempt, "task-failed", level="error", state="failed", code=result.code)
    return DONE


def end_call(conn: Connection, setup: Setup, attempt: Attempt, result: Result, measured: CallUsage) -> int | None:
    """Record the end of the attempt's call and what it cost, whatever became of the task. Returns the cost."""
    code = result.code if isinstance(result, CallFailure | InvalidReply) else None
    call = CallEnd(
        outcome="failed" if isinstance(result, CallFailure) else "malformed" if code is not None else "answered",
        code=code,
        usage=measured.usage,
        cost_micros=measured.cost_micros,
        credit_micros=measured.credit_micros,
        latency_ms=measured.latency_ms,
        is_told=measured.is_told,
    )
    charge = calls.end(conn, attempt.call_id, call)
    if charge is None:
        return None
    add_cost(conn, setup.seq, charge.cost_micros)
    transitions.add_cost(conn, setup.seq, attempt.task, charge.cost_micros)
    return charge.cost_micros


def add_cost(conn: Connection, run: int, cost_micros: int | None) -> None:
    """Add what one call cost to the run's spending."""
    if cost_micros is None:
        conn.run("UPDATE runs SET unknown_calls = unknown_calls + 1 WHERE seq = ?", run)
    elif cost_micros:
        conn.run("UPDATE runs SET cost_micros = cost_micros + ? WHERE seq = ?", cost_micros, run)


def _decided(conn: Connection, setup: Setup, task: int, key: str) -> None:
    transitions.decide(conn, setup.seq, task)
    log.write(conn, setup.seq, "task-decided", task_key=key, state="succeeded")


def _log(
    conn: Connection,
    setup: Setup,
    attempt: Attempt,
    event: log.Event,
    *,
    level: log.Level = "info",
    state: TaskState | None = None,
    code: str | None = None,
    measured: CallUsage | None = None,
) -> None:
    usage = measured.usage if measured else None
    log.write(
        conn,
        setup.seq,
        event,
        level=level,
        task_key=attempt.key,
        state=state,
        code=code,
        model=attempt.model,
        attempt=attempt.number,
        latency_ms=measured.latency_ms if measured else None,
        input_tokens=usage.read_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
    )

"""Claims tasks: the next ones of the plan, with all that their calls need. A claim is recorded before its call.

If a process dies with a claim, the task stays `running` and nobody works on it. `release` puts it back. Tasks that need
no call are decided in the same transaction.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from carrel.keys import store as keys
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.metering import calls, quota
from carrel.providers.prices import Price
from carrel.providers.registry import is_free, lane_of
from carrel.runs.costs import quotes
from carrel.runs.costs.quotes import NO_CREDITS, Credits
from carrel.runs.model import log, run_transitions
from carrel.runs.model.plan import Kind
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.model.states import PauseReason, TaskState
from carrel.runs.tasks import batches, inputs, outcomes, reuse, transitions
from carrel.runs.tasks.attempts import Attempt
from carrel.runs.tasks.inputs import ByRule, ExistingAnswer, TaskRow

LOST: calls.Outcome = "unknown-outcome"
"""The code of a lost attempt."""

_LOOKED_AT = 200
"""About how many tasks one transaction looks at. Many may need no call, and the transaction must not grow with the
run."""
_PAGE = 8
_FRONT = 64
"""How many tasks `ahead` looks at to find which providers are needed next."""

_tasks = Select(TaskRow)


class _Run(NamedTuple):
    phase: Kind
    cost_micros: int


_runs = Select(_Run)


class Ahead(NamedTuple):
    """What is next: the lanes of the next tasks, in the order of the plan; `None` where nobody is called now.

    Those are tasks without a model, and tasks for a batch. `more`: the phase holds further tasks, or waits for a batch.
    `over`: no task is left to be claimed. `halted`: the run must not continue now.
    """

    then: Literal["more", "over", "halted"]
    lanes: list[str | None]


HALTED = Ahead("halted", [])


def ahead(conn: Connection, setup: Setup, room: int, held: Collection[str] = ()) -> Ahead:
    """What could be claimed with permits for `room` calls. Of a long plan, it looks only at the front.

    While other tasks are left, it leaves out those of lanes that are `held` by their provider.
    """
    run = _runs.one(conn, "FROM runs WHERE seq = ? AND state = 'running'", setup.seq)
    if run is None:
        return HALTED
    if room <= 0:
        return Ahead("more", [])
    others = _without(setup, run.phase, held)
    rows = _front(conn, setup, run.phase, room, others)
    if others and not rows:
        rows = _front(conn, setup, run.phase, room)
    if setup.economy:
        full, waits = batches.is_full(conn, setup), batches.waits(conn, setup)
        models = [model_of(setup, candidate, judge) for candidate, judge in rows]
        now = [one for one in models if not (full and one is not None and setup.batches(one))]
        # A batch that is to be prepared needs no permit.
        lanes = [None if one is None or setup.batches(one) else lane_of(one) for one in now]
        return Ahead("more" if rows or waits else "over", lanes)
    return Ahead("more" if rows else "over", [_lane(setup, candidate, judge) for candidate, judge in rows])


def _front(conn: Connection, setup: Setup, phase: Kind, room: int, others: str = "") -> list[tuple[int, int | None]]:
    return conn.all(
        f"SELECT candidate, judge FROM tasks WHERE run = ? AND state = 'pending' AND kind = ?{others}"
        " ORDER BY seq LIMIT ?",
        *(setup.seq, phase, min(room, _FRONT)),
    )


def _without(setup: Setup, phase: Kind, held: Collection[str]) -> str:
    """A condition that leaves out the tasks of these lanes; nothing if there are none."""
    if not held:
        return ""
    judged = phase in ("score", "compare")
    models = [one.model for one in setup.round.judges] if judged else [one.model for one in setup.candidates]
    out = [str(number) for number, one in enumerate(models, 1) if one is not None and lane_of(one) in held]
    return f" AND {'judge' if judged else 'candidate'} NOT IN ({', '.join(out)})" if out else ""


class ClaimResult(NamedTuple):
    """Attempts that have begun. `short`: the next one cannot begin before one under way has ended."""

    attempts: list[Attempt]
    short: bool = False


class _Short(NamedTuple):
    """The call cannot begin, and why: it could cost more than the budget has left, or is one too many today."""

    reason: PauseReason


def claim(
    conn: Connection,
    setup: Setup,
    permits: Mapping[str, int],
    paying: Credits = NO_CREDITS,
    held: Collection[str] = (),
) -> ClaimResult:
    """Begin attempts at the next tasks of the present phase, in the order of the plan, as far as there are `permits`.

    It does not look at tasks of lanes that are `held` and for which there is none.
    If a run's next call does not fit into its budget, or is more than the operator allows on one day, this pauses the
    run once none of its calls is under way.
    """
    run = _runs.one(conn, "FROM runs WHERE seq = ? AND state = 'running'", setup.seq)
    if run is None:
        return ClaimResult([])
    if setup.budget_micros is not None and run.cost_micros > setup.budget_micros:
        run_transitions.pause(conn, setup.seq, "budget")
        return ClaimResult([])
    if setup.economy and _prepare_batch(conn, setup, run.phase, paying):
        return ClaimResult([], short=True)
    attempts: list[Attempt] = []
    left = Counter(permits)
    looked_at, last = 0, 0
    others = _without(setup, run.phase, [lane for lane in held if not permits.get(lane)])
    while looked_at < _LOOKED_AT and (left.total() or not any(permits.values())):
        tasks = _tasks.all(
            conn,
            f"FROM tasks WHERE run = ? AND state = 'pending' AND kind = ? AND seq > ?{others} ORDER BY seq LIMIT ?",
            *(setup.seq, run.phase, last, max(left.total(), _PAGE)),
        )
        for task in tasks:
            model = model_of(setup, task.candidate, task.judge)
            if model is None or (left[lane_of(model)] > 0 and not setup.batches(model)):
                attempt = _begin(conn, setup, task, paying)
                if isinstance(attempt, _Short):
                    _pause_if_idle(conn, setup, attempt)
                    return ClaimResult(attempts, short=True)
                if attempt is not None:
                    left[lane_of(attempt.model)] -= 1
                    attempts.append(attempt)
        if not tasks:
            break
        looked_at += len(tasks)
        last = tasks[-1].seq
    return ClaimResult(attempts)


def _prepare_batch(conn: Connection, setup: Setup, phase: Kind, paying: Credits) -> bool:
    """Claim tasks of one model for a batch. Return whether the first one cannot begin now."""
    if batches.is_full(conn, setup):
        return False
    ready = batches.next_tasks(conn, setup, phase)
    if ready is None:
        return False
    batch = batches.prepare(conn, setup, ready.model, keys.host(conn, ready.model))
    room = batches.BatchCapacity()
    short: _Short | None = None
    for seq in ready.tasks:
        task = _tasks.one(conn, "FROM tasks WHERE seq = ?", seq)
        attempt = None if task is None else _begin(conn, setup, task, paying, batch)
        if isinstance(attempt, _Short):
            short = attempt
            break
        if attempt is not None and not room.takes(attempt):
            break
    if batches.is_empty(conn, batch):
        batches.remove(conn, batch)
        if short is not None:
            _pause_if_idle(conn, setup, short)
        return short is not None
    return False


def _pause_if_idle(conn: Connection, setup: Setup, short: _Short) -> None:
    """Pause a run whose next call cannot begin, if no call under way can make room."""
    if not calls.is_calling(conn, setup.id):
        run_transitions.pause(conn, setup.seq, short.reason)


def withdraw(conn: Connection, setup: Setup, attempts: Sequence[Attempt], *, pause: bool) -> None:
    """Withdraw calls for which there are no credits: their tasks wait. With `pause`, the run pauses, too."""
    for attempt in attempts:
        calls.withdraw(conn, attempt.call_id)
        transitions.withdraw(conn, setup.seq, attempt.task, attempt.number)
    if pause and conn.one("SELECT 1 FROM runs WHERE seq = ? AND state = 'running'", setup.seq) is not None:
        run_transitions.pause(conn, setup.seq, "credits")


def again(conn: Connection, setup: Setup, attempt: Attempt, paying: Credits = NO_CREDITS) -> Attempt | None:
    """The next attempt at a task whose last one failed; `None` if the run or the task must not continue now."""
    task = _tasks.one(
        conn,
        "FROM tasks WHERE seq = ? AND run = ? AND state = 'running' AND attempts = ?",
        *(attempt.task, setup.seq, attempt.number),
    )
    if task is None:
        return None
    if conn.one("SELECT 1 FROM runs WHERE seq = ? AND state = 'running'", setup.seq) is None:
        transitions.put_back(conn, setup.seq, attempt.task, attempt.number)
        return None
    begun = _begin(conn, setup, task, paying)
    if isinstance(begun, _Short):
        # The next claim finds the task, and waits or pauses the run.
        transitions.put_back(conn, setup.seq, attempt.task, attempt.number)
        return None
    return begun


def put_back(conn: Connection, setup: Setup, attempt: Attempt) -> None:
    """Put back a task that waits for its next attempt, because the run halts. The task has no call in flight."""
    transitions.put_back(conn, setup.seq, attempt.task, attempt.number)


def pause_for_provider(conn: Connection, setup: Setup, attempt: Attempt) -> None:
    """Put the task back, and pause the run until its provider may answer again."""
    transitions.put_back(conn, setup.seq, attempt.task, attempt.number)
    if conn.one("SELECT 1 FROM runs WHERE seq = ? AND state = 'running'", setup.seq) is not None:
        run_transitions.pause(conn, setup.seq, "provider")


def release(conn: Connection, seq: int, run_id: RunId, called: Collection[str] | None = None) -> None:
    """Put back every task of the run that was claimed and not completed, because nobody works on it any more.

    If it is known which calls were made, the others were never made, and are not recorded.
    """
    transitions.put_back_all(conn, seq)
    if called is not None:
        for key in calls.withdraw_uncalled(conn, run_id, None, called):
            transitions.discount_attempt(conn, seq, key)
    abandon(conn, seq, run_id, None, "pending")


def abandon(
    conn: Connection,
    seq: int,
    run_id: RunId,
    task_key: str | None,
    state: TaskState,
    called: Collection[str] | None = None,
) -> None:
    """Abandon the calls under way of the whole run or of one task. The task gets the state `state`.

    If the caller knows which calls were made, the other attempts do not count: their calls are never made. Of those
    that were made, the ones that credits pay for go on: whoever made them records their ends. So do those of batches,
    unless the whole run ends: then the provider is asked to cancel them.
    """
    if state != "pending":
        for key in batches.give_up(conn, run_id, task_key):
            transitions.discount_attempt(conn, seq, key)
    if called is not None:
        for key in calls.withdraw_uncalled(conn, run_id, task_key, called):
            transitions.discount_attempt(conn, seq, key)
    for lost in calls.abandon(conn, run_id, task_key, paid=called is None):
        outcomes.add_cost(conn, seq, lost.cost_micros)
        log.write(
            conn, seq, "attempt-lost", level="warning", task_key=lost.task_key, state=state, code=LOST,
            model=lost.model, attempt=lost.attempt,
        )  # fmt: skip


def model_of(setup: Setup, candidate: int, judge: int | None) -> str | None:
    """The model that a task would call."""
    return setup.asked(candidate, judge).model


def _lane(setup: Setup, candidate: int, judge: int | None) -> str | None:
    """The lane in which a task would call."""
    model = model_of(setup, candidate, judge)
    return None if model is None else lane_of(model)


def _begin(
    conn: Connection, setup: Setup, task: TaskRow, paying: Credits, batch: int | None = None
) -> Attempt | _Short | None:
    """Begin the attempt and record it; `None` if the task needed no call and has been decided."""
    need = inputs.of(conn, setup, task)
    if need is None:
        code = outcomes.NO_SOURCES if task.kind == "combine" else outcomes.MISSING
        outcomes.skip_missing(conn, setup, task.seq, task.key, code)
        return None
    if isinstance(need, ExistingAnswer):
        outcomes.decide_text(conn, setup, task.seq, task.key, need.text)
        return None
    if isinstance(need, ByRule):
        if need.side is None:
            outcomes.decide_score(conn, setup, task.seq, task.key, setup.round.criteria)
        else:
            outcomes.decide_comparison(conn, setup, task.seq, task.key, need.side)
        return None
    host = paying.host(need.model) if setup.billing == "credits" else keys.host(conn, need.model)
    asked = None if is_free(need.model) else reuse.asked(task, need, host)
    if setup.reuse and asked is not None and reuse.take(conn, setup, task, asked, host):
        return None
    if quota.is_used_up(conn, paying.calls_per_day):
        return _Short("quota")
    read = quotes.texts_of(need.matter, need.instructions, need.reference, need.criteria, need.schema)
    # The fee of a search is in no price list.
    quote = (
        quotes.UNKNOWN
        if need.grounding != "off"
        else quotes.quote(
            quotes.price_now(conn, setup.billing, need.model, host, batched=batch is not None),
            task.kind,
            need.parameters,
            read,
        )
    )
    if not _fits(conn, setup, quote.most_micros):
        return _Short("budget")
    terms = quotes.terms_of(quote, conn.new_id() if setup.billing == "credits" else None, paying.markup)
    number = task.attempts + 1
    transitions.begin(conn, setup.seq, task.seq, number, asked)
    call_id = calls.begin(
        conn,
        run_id=setup.id,
        task_key=task.key,
        attempt=number,
        model=need.model,
        host=host,
        free=is_free(need.model) or (quote.price is not None and quote.price.is_nothing),
        phase=task.kind,
        terms=terms,
        batch=batch,
    )
    return attempt_of(task, need, number, call_id, host, quote.price, terms.hold)


def attempt_of(
    task: TaskRow,
    need: inputs.ModelCall,
    number: int,
    call_id: str,
    host: str | None,
    price: Price | None,
    hold: calls.Hold | None = None,
) -> Attempt:
    """The attempt at a task with all that its call needs."""
    return Attempt(
        task=task.seq,
        key=task.key,
        kind=task.kind,
        number=number,
        call_id=call_id,
        model=need.model,
        host=host,
        parameters=need.parameters,
        matter=need.matter,
        instructions=need.instructions,
        reference=need.reference,
        criteria=need.criteria,
        fault=task.error,
        grounding=need.grounding,
        schema=need.schema,
        price=price,
        hold=hold,
    )


def _fits(conn: Connection, setup: Setup, most_micros: int | None) -> bool:
    """Whether the budget covers the call besides all that was spent, is under way, or was lost at an unknown cost."""
    if setup.budget_micros is None:
        return True
    spent: int | None = conn.value("SELECT cost_micros FROM runs WHERE seq = ?", setup.seq)
    if spent is None or most_micros is None:
        return False
    open_micros = calls.most_open_micros(conn, setup.id) if most_micros else 0
    return most_micros <= setup.budget_micros - spent - open_micros

"""The phases of a round: which one is next, what is planned for it, and how the round ends.

A phase comes twice where answers are combined: what comes of that is scored and compared in stages of its own. Which
stage a run is in is told by its phase and by whether its sources were chosen.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from carrel.kit.database import Connection
from carrel.runs import combining, deliveries, evidence, log, moves, outputs, plan, votes
from carrel.runs.judgement import Ending
from carrel.runs.plan import Stage, Task
from carrel.runs.setup import Setup
from carrel.runs.states import State


def begin(conn: Connection, setup: Setup) -> None:
    """Plan a new round: generation (in the first one) and scoring now, the rest when it is known whom it concerns."""
    at_once = [stage for stage in _stages(setup) if stage.kind in ("generate", "score") and not stage.combined]
    for stage in at_once:
        _insert(conn, setup, _tasks(setup, stage, ()))
    to_come = sum(stage.tasks for stage in _stages(setup) if stage not in at_once)
    conn.run("UPDATE run_rounds SET to_come = ? WHERE run = ? AND number = ?", to_come, setup.seq, setup.round.number)


def first(setup: Setup) -> Stage:
    """The stage with which the round begins."""
    return next(iter(_stages(setup)), Stage("score", False, 0))


def following(setup: Setup, stage: Stage) -> Stage | None:
    """The stage after `stage`; `None` when the round is over then."""
    stages = _stages(setup)
    return next(iter(stages[stages.index(stage) + 1 :]), None) if stage in stages else None


def present(conn: Connection, setup: Setup) -> Stage:
    """The stage in which the run is."""
    return _entered(conn, setup) or first(setup)


def choose(conn: Connection, setup: Setup, stage: Stage) -> tuple[int, ...]:
    """The candidates that `stage` concerns, where that follows from what was judged. Unbounded: to be scanned."""
    if stage.kind == "combine":
        return combining.rank_sources(conn, setup)
    return evidence.finalists(conn, setup) if stage.kind == "compare" and not stage.combined else ()


def enter(conn: Connection, setup: Setup, stage: Stage, chosen: Sequence[int] = ()) -> None:
    """Go on to `stage` with what `choose` said. Nothing happens twice."""
    if not _is_under_way(conn, setup):
        return
    if _entered(conn, setup) == stage:
        return
    if stage.kind in ("compare", "combine") or stage.combined:
        _insert(conn, setup, _tasks(setup, stage, chosen))
        stages = _stages(setup)
        to_come = sum(later.tasks for later in stages[stages.index(stage) + 1 :])
        conn.run(
            "UPDATE run_rounds SET to_come = ? WHERE run = ? AND number = ?", to_come, setup.seq, setup.round.number
        )
    if stage.kind == "combine":
        combining.keep_sources(conn, setup, chosen)
        _keep(conn, setup, "sources", chosen)
    elif stage.kind == "compare":
        _keep(conn, setup, "compared", (*_met(setup), *setup.shape.makers) if stage.combined else chosen)
    conn.run("UPDATE runs SET phase = ? WHERE seq = ?", stage.kind, setup.seq)
    log.write(conn, setup.seq, "phase-started", code=stage.kind)


def finish(conn: Connection, setup: Setup, ending: Ending) -> None:
    """End the round and the run, unless the run was stopped meanwhile."""
    if not _is_under_way(conn, setup):
        return
    number = setup.round.number
    conn.run(
        "INSERT INTO run_rankings (run, round, ranking, verdict) VALUES (?, ?, ?, ?)",
        *(setup.seq, number, ending.ranking.decode(), ending.verdict),
    )
    conn.run("UPDATE run_rounds SET finished_at = ? WHERE run = ? AND number = ?", conn.now(), setup.seq, number)
    conn.run("UPDATE runs SET verdict = ? WHERE seq = ?", ending.verdict, setup.seq)
    votes.tell(conn, setup.seq)
    state = _final_state(conn, setup, ending)
    if state != "failed":
        outputs.put(conn, setup, ending)
        deliveries.want(conn, setup)
    moves.end(conn, setup.seq, state, "run-finished")


def _is_under_way(conn: Connection, setup: Setup) -> bool:
    """Whether the run is, in this round: it may have been cancelled and evaluated anew while this one was ranked."""
    sql = "SELECT 1 FROM runs WHERE seq = ? AND state = 'running' AND round = ?"
    return conn.one(sql, setup.seq, setup.round.number) is not None


def _final_state(conn: Connection, setup: Setup, ending: Ending) -> State:
    delivered = conn.one("SELECT 1 FROM generated WHERE run = ? AND delivered LIMIT 1", setup.seq)
    if delivered is None or (setup.round.judges and not ending.ranked):
        return "failed"
    counts = conn.one(
        "SELECT failed + skipped FROM run_rounds WHERE run = ? AND number = ?", setup.seq, setup.round.number
    )
    return "completed_with_errors" if counts is not None and counts[0] else "completed"


def _stages(setup: Setup) -> tuple[Stage, ...]:
    number, shape = setup.round.number, setup.shape
    return plan.stages(shape, number, evidence.finalist_count(len(shape.field(number)), setup.round))


def _entered(conn: Connection, setup: Setup) -> Stage | None:
    """The stage that the rows tell of; `None` if the round has not begun."""
    row = conn.one(
        "SELECT phase, sources IS NOT NULL FROM runs JOIN run_rounds ON run = seq AND number = ? WHERE seq = ?",
        *(setup.round.number, setup.seq),
    )
    if row is None or row[0] is None:
        return None
    return next((stage for stage in _stages(setup) if stage[:2] == (row[0], bool(row[1]))), None)


def _tasks(setup: Setup, stage: Stage, chosen: Sequence[int]) -> Iterator[Task]:
    number, shape = setup.round.number, setup.shape
    if stage.kind == "generate":
        return plan.generation(shape, number)
    if stage.kind == "combine":
        return plan.combination(shape, number)
    if stage.kind == "score":
        return plan.scoring(shape, number, shape.makers if stage.combined else shape.field(number))
    if stage.combined:
        return plan.comparison(shape, number, _met(setup), shape.makers)
    return plan.comparison(shape, number, chosen)


def _met(setup: Setup) -> tuple[int, ...]:
    """Those that were compared before anything was combined."""
    return setup.round.compared or ()


def _keep(conn: Connection, setup: Setup, column: str, chosen: Sequence[int]) -> None:
    conn.run(
        f"UPDATE run_rounds SET {column} = ? WHERE run = ? AND number = ?",
        *(msgspec.json.encode(chosen).decode(), setup.seq, setup.round.number),
    )


def _insert(conn: Connection, setup: Setup, tasks: Iterable[Task]) -> None:
    conn.executemany(
        "INSERT INTO tasks (run, round, key, kind, state, document, candidate, repeat, opponent, judge, judge_repeat,"
        f" presented) VALUES ({setup.seq}, {setup.round.number}, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?)",
        tasks,
    )

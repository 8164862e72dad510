"""The phases of a round: which one is next, what is planned for it, and how the round ends.

If a run combines answers, some phases come twice: the combined answers are scored and compared in stages of their own.
The phase of a run, and whether its sources were chosen, determine its stage.

If a run may stop early, comparisons are planned from one look to the next. A task that is not planned yet is certain
only up to the next look. Comparisons that a look makes unnecessary are never planned, so they are neither missing nor
skipped.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from carrel.evaluation.ranking.stopping import Look
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.json_text import as_json
from carrel.runs.judging import combining, evidence, rankings, votes
from carrel.runs.judging.judgement import Ending
from carrel.runs.model import log, plan, run_transitions
from carrel.runs.model.plan import Stage, Task
from carrel.runs.model.setup import Setup
from carrel.runs.model.states import State
from carrel.runs.publishing import deliveries, library


def begin(conn: Connection, setup: Setup) -> None:
    """Plan generation (in the first round) and scoring now. The rest follows when its candidates are known."""
    at_once = [stage for stage in _stages(setup) if stage.kind in ("generate", "score") and not stage.combined]
    for stage in at_once:
        _insert(conn, setup, _tasks(setup, stage, ()))
    _expect(conn, setup, sum(stage.tasks for stage in _stages(setup) if stage not in at_once))


def first(setup: Setup) -> Stage:
    """The stage with which the round begins."""
    return next(iter(_stages(setup)), Stage("score", False, 0))


def following(setup: Setup, stage: Stage) -> Stage | None:
    """The stage after `stage`; `None` if the round is over after it."""
    stages = _stages(setup)
    return next(iter(stages[stages.index(stage) + 1 :]), None) if stage in stages else None


def present(conn: Connection, setup: Setup) -> Stage:
    """The stage of the run."""
    return _entered(conn, setup) or first(setup)


def choose(conn: Connection, setup: Setup, stage: Stage) -> tuple[int, ...]:
    """The candidates that `stage` concerns, if judgements decide that. Unbounded: to be scanned."""
    if stage.kind == "combine":
        return combining.rank_sources(conn, setup)
    return evidence.finalists(conn, setup) if stage.kind == "compare" and not stage.combined else ()


def enter(conn: Connection, setup: Setup, stage: Stage, chosen: Sequence[int] = ()) -> None:
    """Enter `stage` with the result of `choose`. A second call does nothing."""
    if not _is_under_way(conn, setup):
        return
    if _entered(conn, setup) == stage:
        return
    if stage.kind in ("compare", "combine") or stage.combined:
        _insert(conn, setup, _tasks(setup, stage, chosen))
        stages = _stages(setup)
        _expect(
            conn, setup, _beyond(setup, stage, chosen) + sum(one.tasks for one in stages[stages.index(stage) + 1 :])
        )
    if stage.kind == "combine":
        combining.keep_sources(conn, setup, chosen)
        _keep(conn, setup, "sources", chosen)
    elif stage.kind == "compare":
        _keep(conn, setup, "compared", (*_met(setup), *setup.shape.makers) if stage.combined else chosen)
    conn.run("UPDATE runs SET phase = ? WHERE seq = ?", stage.kind, setup.seq)
    log.write(conn, setup.seq, "phase-started", code=stage.kind)


def is_to_look(setup: Setup, stage: Stage) -> bool:
    """Whether the comparisons that were made are to be examined before the others are planned."""
    look = _look(setup, stage)
    return look is not None and not look.is_last and not look.stopped


def look(conn: Connection, setup: Setup, *, decided: bool) -> None:
    """Plan the comparisons up to the next look, or no more if it is `decided`. A second call does nothing."""
    present = conn.one(
        "SELECT looks, stopped FROM run_rounds WHERE run = ? AND number = ?", setup.seq, setup.round.number
    )
    if not _is_under_way(conn, setup) or present != (setup.round.looks, 0):
        return
    log.write(conn, setup.seq, "look-taken", code="decided" if decided else "undecided")
    if decided:
        conn.run(
            "UPDATE run_rounds SET stopped = 1, to_come = 0 WHERE run = ? AND number = ?",
            *(setup.seq, setup.round.number),
        )
        return
    conn.run("UPDATE run_rounds SET looks = looks + 1 WHERE run = ? AND number = ?", setup.seq, setup.round.number)
    going = replace(setup, round=replace(setup.round, looks=setup.round.looks + 1))
    stage, chosen = Stage("compare", False, 0), setup.round.compared or ()
    _insert(conn, going, _tasks(going, stage, chosen))
    _expect(conn, going, _beyond(going, stage, chosen))


def finish(conn: Connection, setup: Setup, ending: Ending) -> None:
    """End the round and the run, unless the run was stopped meanwhile."""
    if not _is_under_way(conn, setup):
        return
    number = setup.round.number
    rankings.put(conn, setup.seq, number, ending)
    conn.run("UPDATE run_rounds SET finished_at = ? WHERE run = ? AND number = ?", conn.now(), setup.seq, number)
    conn.run("UPDATE runs SET verdict = ? WHERE seq = ?", ending.verdict, setup.seq)
    votes.update_verdict(conn, setup.seq)
    state = _final_state(conn, setup, ending)
    if state != "failed":
        library.put(conn, setup, ending)
        deliveries.want(conn, setup)
    run_transitions.end(conn, setup.seq, state, "run-finished")


def _is_under_way(conn: Connection, setup: Setup) -> bool:
    """Whether the run is under way in this round.

    While this round was ranked, the user may have cancelled the run and evaluated it anew.
    """
    sql = "SELECT 1 FROM runs WHERE seq = ? AND state = 'running' AND round = ?"
    return conn.one(sql, setup.seq, setup.round.number) is not None


def _final_state(conn: Connection, setup: Setup, ending: Ending) -> State:
    delivered = conn.one("SELECT 1 FROM generated WHERE run = ? AND delivered LIMIT 1", setup.seq)
    if delivered is None or (setup.round.judges and not ending.ranked):
        return "failed"
    lacking = conn.value(
        "SELECT failed + skipped FROM run_rounds WHERE run = ? AND number = ?", setup.seq, setup.round.number
    )
    return "completed_with_errors" if lacking else "completed"


def _stages(setup: Setup) -> tuple[Stage, ...]:
    number, shape = setup.round.number, setup.shape
    return plan.stages(shape, number, evidence.finalist_count(len(shape.field(number)), setup.round))


def _entered(conn: Connection, setup: Setup) -> Stage | None:
    """The stage that the rows name; `None` if the round has not begun."""
    row = conn.one(
        "SELECT phase, sources IS NOT NULL FROM runs JOIN run_rounds ON run = seq AND number = ? WHERE seq = ?",
        *(setup.round.number, setup.seq),
    )
    if row is None:
        return None
    phase, combined = row
    return next((stage for stage in _stages(setup) if stage[:2] == (phase, bool(combined))), None)


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
    look = _look(setup, stage)
    return plan.comparison(
        shape, number, chosen, part=slice(None) if look is None else slice(look.before, look.documents)
    )


def _look(setup: Setup, stage: Stage) -> Look | None:
    return setup.look if stage.kind == "compare" and not stage.combined else None


def _beyond(setup: Setup, stage: Stage, chosen: Sequence[int]) -> int:
    """How many comparisons of the stage come after its next look, if there is one."""
    look = _look(setup, stage)
    return 0 if look is None else (look.planned - look.documents) * plan.comparisons(setup.shape, chosen)


def _expect(conn: Connection, setup: Setup, tasks: int) -> None:
    """Record how many tasks are still to be planned."""
    conn.run("UPDATE run_rounds SET to_come = ? WHERE run = ? AND number = ?", tasks, setup.seq, setup.round.number)


def _met(setup: Setup) -> tuple[int, ...]:
    """The candidates that were compared before any answers were combined."""
    return setup.round.compared or ()


def _keep(conn: Connection, setup: Setup, column: str, chosen: Sequence[int]) -> None:
    conn.run(
        f"UPDATE run_rounds SET {column} = ? WHERE run = ? AND number = ?",
        *(as_json(chosen), setup.seq, setup.round.number),
    )


def _insert(conn: Connection, setup: Setup, tasks: Iterable[Task]) -> None:
    conn.executemany(
        "INSERT INTO tasks (run, round, key, kind, state, document, candidate, repeat, opponent, judge, judge_repeat,"
        f" presented) VALUES ({setup.seq}, {setup.round.number}, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?)",
        tasks,
    )

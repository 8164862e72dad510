"""The phases of a round: which one is next, what is planned for it, and how the round ends.

If a run combines answers, some phases come twice: the combined answers are scored and compared in stages of their own.
The phase of a run, and whether its sources were chosen, determine its stage.

If a run may stop early, comparisons are planned from one look to the next. If it also compares everybody and its
answers go nowhere else, so are answers and scores: the stages come again for each block of documents. Candidates that
are beaten at a look take no part in the next blocks. A task that is not planned yet is certain only up to the next
look. Tasks that a look makes unnecessary are never planned, so they are neither missing nor skipped.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from carrel.errors import CarrelError
from carrel.evaluation.passing import CheckResults
from carrel.evaluation.ranking.stopping import Decision
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.runs.checking import results
from carrel.runs.model import log, plan, run_transitions
from carrel.runs.model import setup as setups
from carrel.runs.model.plan import Kind, PlannedTask, Stage
from carrel.runs.model.setup import Setup
from carrel.runs.model.states import State
from carrel.runs.publishing import deliveries, library
from carrel.runs.verdicts import combining, evidence, looks, rankings, votes
from carrel.runs.verdicts.judgement import Ending


def begin(conn: Connection, setup: Setup) -> None:
    """Plan generation (in the first round) and scoring now. The rest follows when its candidates are known."""
    _begin_block(conn, setup, 0)


def first(setup: Setup) -> Stage:
    """The stage with which the round begins."""
    return next(iter(looks.stages(setup)), Stage("score", False, 0, 0, 0))


def following(setup: Setup, stage: Stage) -> Stage | None:
    """The stage after `stage`; `None` if the round is over after it."""
    if setup.round.stopped:
        return None
    return next((one for one in looks.stages(setup) if _order(one) > _order(stage)), None)


def present(conn: Connection, setup: Setup) -> Stage:
    """The stage of the run."""
    return _entered(conn, setup) or first(setup)


def choose(conn: Connection, setup: Setup, stage: Stage) -> tuple[int, ...]:
    """The candidates that `stage` concerns, if judgements decide that. Unbounded: to be scanned."""
    if stage.kind == "combine":
        return combining.rank_sources(conn, setup)
    if stage.kind != "compare" or stage.combined:
        return ()
    return _met(setup) or tuple(dict.fromkeys((*evidence.finalists(conn, setup), *_compared_before(conn, setup))))


def enter(conn: Connection, setup: Setup, stage: Stage, chosen: Sequence[int] = ()) -> None:
    """Enter `stage` with the result of `choose`. A second call does nothing."""
    if not _is_under_way(conn, setup):
        return
    if _entered(conn, setup) == stage:
        return
    if stage.kind == "compare":
        compared = tuple(dict.fromkeys((*_met(setup), *setup.shape.makers))) if stage.combined else chosen
        _keep(conn, setup, "compared", compared)
        _plan(conn, replace(setup, round=replace(setup.round, compared=tuple(compared))), stage)
    elif stage.kind == "combine":
        combining.keep_sources(conn, setup, chosen)
        _keep(conn, setup, "sources", chosen)
    if stage.kind == "combine" or (stage.kind == "score" and stage.combined):
        _plan(conn, setup, stage)
    conn.run("UPDATE runs SET phase = ? WHERE seq = ?", stage.kind, setup.seq)
    log.write(conn, setup.seq, "phase-started", code=stage.kind)


def is_to_look(setup: Setup, stage: Stage) -> bool:
    """Whether the comparisons that were made are to be examined before the others are planned."""
    look = setup.look if stage.kind == "compare" and not stage.combined else None
    return look is not None and not look.is_last and not look.stopped


def look(conn: Connection, setup: Setup, *, found: Decision) -> None:
    """Plan up to the next look without those that are beaten, or no more if one is best. A second call does nothing."""
    present = conn.one(
        "SELECT looks, stopped FROM run_rounds WHERE run = ? AND number = ?", setup.seq, setup.round.number
    )
    taken = setup.look
    if taken is None or not _is_under_way(conn, setup) or present != (setup.round.looks, 0):
        return
    ordinals = {candidate.label: candidate.ordinal for candidate in setup.candidates}
    beaten = [ordinals[label] for label in found.beaten]
    conn.run(
        "INSERT INTO run_looks (run, round, number, documents, leader, beaten) VALUES (?, ?, ?, ?, ?, ?)",
        *(setup.seq, setup.round.number, taken.number, taken.documents),
        *(None if found.leader is None else ordinals[found.leader], as_json(beaten)),
    )
    log.write(conn, setup.seq, "look-taken", code="decided" if found.decides else "undecided")
    expected = [one for one in looks.stages(setup) if one.look > setup.round.looks]
    if setup.round.number == 1 and setup.round.in_blocks:
        _end_answers(conn, setup, taken.documents, setup.shape.everyone if found.decides else beaten)
    if found.decides:
        conn.run(
            "UPDATE run_rounds SET stopped = 1, to_come = 0 WHERE run = ? AND number = ?",
            *(setup.seq, setup.round.number),
        )
        _save(conn, setup, expected, [])
        return
    conn.run("UPDATE run_rounds SET looks = looks + 1 WHERE run = ? AND number = ?", setup.seq, setup.round.number)
    going = setups.load(conn, setup.seq)
    if going is None:
        raise CarrelError
    left = [stage for stage in looks.stages(going) if stage.look >= going.round.looks]
    _save(conn, setup, expected, left)
    stage = left[0]
    if stage.kind == "compare":
        _plan(conn, going, stage)
    else:
        _begin_block(conn, going, stage.look)
        enter(conn, going, stage)


def reopen(conn: Connection, setup: Setup, kind: Kind, *, combined: bool) -> None:
    """Go back to a phase of the round, ended or not: to the one of combined answers, or to the earlier one.

    Tasks that are planned stay. What was decided from results that will now change is decided again: which candidates
    are compared, of which answers others are made, and whether the last look stopped the round.
    """
    run, number = setup.seq, setup.round.number
    if not combined:
        field = [one for one in _met(setup) if number > 1 or one not in setup.shape.makers]
        is_open = kind != "compare" and setup.round.looks == 0 and not setup.round.stopped
        conn.run(
            "UPDATE run_rounds SET compared = ?, sources = NULL WHERE run = ? AND number = ?",
            *(None if is_open or not field else as_json(field), run, number),
        )
        combining.remove_unused_sources(conn, run)
        if setup.round.stopped:
            _take_back_look(conn, setup)
    conn.run("UPDATE run_rounds SET finished_at = NULL WHERE run = ? AND number = ?", run, number)
    conn.run("UPDATE runs SET phase = ?, verdict = NULL WHERE seq = ?", kind, run)
    rankings.remove(conn, run, number)
    changed = setups.load(conn, run)
    if changed is not None:
        _expect(conn, changed)
    log.write(conn, run, "phase-started", code=kind)


def finish(conn: Connection, setup: Setup, ending: Ending, checked: CheckResults | None = None) -> None:
    """End the round and the run, unless the run was stopped meanwhile. `checked` is what its checks come to."""
    if not _is_under_way(conn, setup):
        return
    number = setup.round.number
    rankings.put(conn, setup.seq, number, ending)
    if checked is not None:
        results.put(conn, setup.seq, number, checked)
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


def _begin_block(conn: Connection, setup: Setup, number: int) -> None:
    """Plan the answers and scores of the block."""
    _expect(conn, setup)
    for stage in looks.stages(setup):
        if stage.look == number and stage.kind in ("generate", "score") and not stage.combined:
            _plan(conn, setup, stage)


def _plan(conn: Connection, setup: Setup, stage: Stage) -> None:
    """Plan the tasks of a stage, after which only those of later stages are still to be planned."""
    before = conn.total_changes()
    conn.executemany(
        "INSERT INTO tasks (run, round, key, kind, state, document, candidate, repeat, opponent, judge, judge_repeat,"
        f" presented) VALUES ({setup.seq}, {setup.round.number}, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?)"
        # A round that was reopened has planned them before.
        " ON CONFLICT (run, key) DO NOTHING",
        _tasks(setup, stage),
    )
    conn.run(
        "UPDATE run_rounds SET pending = pending + ? WHERE run = ? AND number = ?",
        *(conn.total_changes() - before, setup.seq, setup.round.number),
    )
    _expect(conn, setup)


def _order(stage: Stage) -> tuple[bool, int, bool, int]:
    """Stages of one round by this are in the order in which the round enters them."""
    return stage.combined, stage.look, stage.kind != "combine", plan.PHASES.index(stage.kind)


def _save(conn: Connection, setup: Setup, expected: Iterable[Stage], left: Iterable[Stage]) -> None:
    """Record how many of the expected tasks a look made unnecessary, and about what they would have cost."""
    tasks: Counter[Kind] = Counter()
    for stage in expected:
        tasks[stage.kind] += stage.tasks
    for stage in left:
        tasks[stage.kind] -= stage.tasks
    if not tasks.total():
        return
    known: dict[Kind, float | None] = dict(
        conn.all(
            "SELECT kind, avg(cost_micros) FROM tasks WHERE run = ? AND round = ? GROUP BY kind",
            *(setup.seq, setup.round.number),
        )
    )
    means = [(saved, known.get(kind)) for kind, saved in tasks.items() if saved]
    cost = None if any(mean is None for _, mean in means) else sum(saved * (mean or 0.0) for saved, mean in means)
    conn.run(
        "UPDATE run_rounds SET saved_micros = CASE WHEN saved THEN saved_micros ELSE 0 END + ?, saved = saved + ?"
        " WHERE run = ? AND number = ?",
        *(None if cost is None else round(cost), tasks.total(), setup.seq, setup.round.number),
    )


def _end_answers(conn: Connection, setup: Setup, documents: int, candidates: Iterable[int]) -> None:
    """These candidates answer no more documents."""
    conn.executemany(
        f"UPDATE run_candidates SET answered = {documents}"
        f" WHERE run = {setup.seq} AND ordinal = ? AND answered IS NULL",
        ((candidate,) for candidate in candidates),
    )


def _entered(conn: Connection, setup: Setup) -> Stage | None:
    """The stage that the rows name; `None` if the round has not begun."""
    row = conn.one(
        "SELECT phase, sources IS NOT NULL, looks FROM runs JOIN run_rounds ON run = seq AND number = ? WHERE seq = ?",
        *(setup.round.number, setup.seq),
    )
    if row is None or row[0] is None:
        return None
    phase, combined, taken = row
    named = [one for one in looks.stages(setup) if (one.kind, one.combined) == (phase, bool(combined))]
    # Answers that failed in the first round may be made in a later one, which plans none itself.
    again = Stage("generate", False, 0, 0, 0) if phase == "generate" else None
    # A reopened round may be in a phase that came before the first look only.
    return max((one for one in named if combined or one.look <= taken), key=_order, default=again)


def _compared_before(conn: Connection, setup: Setup) -> list[int]:
    """The candidates that this round has compared already, because it was reopened."""
    rows = conn.all(
        "SELECT DISTINCT candidate, opponent FROM tasks WHERE run = ? AND round = ? AND kind = 'compare'",
        *(setup.seq, setup.round.number),
    )
    makers = setup.shape.makers if setup.round.number == 1 else ()
    return sorted({one for pair in rows for one in pair if one not in makers})


def _take_back_look(conn: Connection, setup: Setup) -> None:
    """Take back the look that stopped the round, with what it saved."""
    run, number, taken = setup.seq, setup.round.number, looks.taken(conn, setup)[-1]
    conn.run("DELETE FROM run_looks WHERE run = ? AND round = ? AND number = ?", run, number, taken.number)
    conn.run(
        "UPDATE run_rounds SET stopped = 0, saved = saved - ?1,"
        " saved_micros = CASE WHEN saved > ?1 THEN saved_micros * (saved - ?1) / saved END"
        " WHERE run = ?2 AND number = ?3",
        *(taken.saved, run, number),
    )
    if number == 1 and setup.round.in_blocks:
        conn.run("UPDATE run_candidates SET answered = NULL WHERE run = ? AND answered = ?", run, taken.documents)


def _tasks(setup: Setup, stage: Stage) -> Iterator[PlannedTask]:
    number, shape, block = setup.round.number, setup.shape, slice(stage.begin, stage.end)
    if stage.kind == "generate":
        return plan.generation(shape, number, block)
    if stage.kind == "combine":
        return plan.combination(shape, number)
    if stage.kind == "score":
        return plan.scoring(shape, number, shape.makers if stage.combined else shape.field(number), block)
    if stage.combined:
        old = [candidate for candidate in _met(setup) if candidate not in shape.makers]
        return plan.comparison(shape, number, old, shape.makers)
    return plan.comparison(shape, number, _met(setup), block=block)


def _expect(conn: Connection, setup: Setup) -> None:
    """Record how many tasks of the round are still to be planned."""
    conn.run(
        "UPDATE run_rounds SET to_come = max(0, ? - pending - running - succeeded - failed - skipped - cancelled)"
        " WHERE run = ? AND number = ?",
        *(sum(one.tasks for one in looks.stages(setup)), setup.seq, setup.round.number),
    )


def _met(setup: Setup) -> tuple[int, ...]:
    """The candidates that were compared before any answers were combined."""
    return setup.round.compared or ()


def _keep(conn: Connection, setup: Setup, column: str, chosen: Sequence[int]) -> None:
    conn.run(
        f"UPDATE run_rounds SET {column} = ? WHERE run = ? AND number = ?",
        *(as_json(chosen), setup.seq, setup.round.number),
    )

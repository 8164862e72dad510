"""The phases of a round: which one is next, what is planned for it, and how the round ends."""

from collections.abc import Iterable, Sequence

import msgspec

from carrel.kit.database import Connection
from carrel.runs import evidence, log, moves, plan
from carrel.runs.judgement import Ending
from carrel.runs.plan import PHASES, Kind, Task
from carrel.runs.setup import Setup
from carrel.runs.states import State


def begin(conn: Connection, setup: Setup) -> None:
    """Plan a new round: generation (in the first one) and scoring now, comparisons when the finalists are known."""
    number = setup.round.number
    if number == 1:
        _insert(conn, setup, plan.generation(setup.shape, number))
    _insert(conn, setup, plan.scoring(setup.shape, number))
    to_come = plan.size(setup.shape, evidence.finalist_count(len(setup.candidates), setup.round)).compare
    conn.run("UPDATE run_rounds SET to_come = ? WHERE run = ? AND number = ?", to_come, setup.seq, number)


def first(setup: Setup) -> Kind:
    """The phase in which the round begins."""
    return "generate" if setup.round.number == 1 else (following(setup, "generate") or "score")


def following(setup: Setup, phase: Kind) -> Kind | None:
    """The phase after `phase`; `None` when the round is over then."""
    size = plan.size(setup.shape, evidence.finalist_count(len(setup.candidates), setup.round))
    later = PHASES[PHASES.index(phase) + 1 :]
    return next((kind for kind in later if getattr(size, kind)), None)


def present(conn: Connection, setup: Setup) -> Kind:
    """The phase in which the run is."""
    row = conn.one("SELECT phase FROM runs WHERE seq = ?", setup.seq)
    phase: Kind | None = row[0] if row else None
    return phase or first(setup)


def enter(conn: Connection, setup: Setup, phase: Kind, compared: Sequence[int] = ()) -> None:
    """Go on to `phase`; for the comparisons, between the candidates in `compared`. Nothing happens twice."""
    row = conn.one("SELECT phase FROM runs WHERE seq = ? AND state = 'running'", setup.seq)
    if row is None or row[0] == phase:
        return
    if phase == "compare":
        _insert(conn, setup, plan.comparison(setup.shape, setup.round.number, compared))
        conn.run(
            "UPDATE run_rounds SET compared = ?, to_come = 0 WHERE run = ? AND number = ?",
            *(msgspec.json.encode(compared).decode(), setup.seq, setup.round.number),
        )
    conn.run("UPDATE runs SET phase = ? WHERE seq = ?", phase, setup.seq)
    log.write(conn, setup.seq, "phase-started", code=phase)


def finish(conn: Connection, setup: Setup, ending: Ending) -> None:
    """End the round and the run, unless the run was stopped meanwhile."""
    if conn.one("SELECT 1 FROM runs WHERE seq = ? AND state = 'running'", setup.seq) is None:
        return
    number = setup.round.number
    conn.run(
        "INSERT INTO run_rankings (run, round, ranking, verdict) VALUES (?, ?, ?, ?)",
        *(setup.seq, number, ending.ranking.decode(), ending.verdict),
    )
    conn.run("UPDATE run_rounds SET finished_at = ? WHERE run = ? AND number = ?", conn.now(), setup.seq, number)
    conn.run("UPDATE runs SET verdict = ? WHERE seq = ?", ending.verdict, setup.seq)
    moves.end(conn, setup.seq, _final_state(conn, setup, ending), "run-finished")


def _final_state(conn: Connection, setup: Setup, ending: Ending) -> State:
    delivered = conn.one("SELECT 1 FROM generated WHERE run = ? AND delivered LIMIT 1", setup.seq)
    if delivered is None or (setup.round.judges and not ending.ranked):
        return "failed"
    counts = conn.one(
        "SELECT failed + skipped FROM run_rounds WHERE run = ? AND number = ?", setup.seq, setup.round.number
    )
    return "completed_with_errors" if counts is not None and counts[0] else "completed"


def _insert(conn: Connection, setup: Setup, tasks: Iterable[Task]) -> None:
    conn.executemany(
        "INSERT INTO tasks (run, round, key, kind, state, document, candidate, repeat, opponent, judge, judge_repeat,"
        f" presented) VALUES ({setup.seq}, {setup.round.number}, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?)",
        tasks,
    )

"""What finished runs tell of each candidate beside its rank: answers, checks, cost and time."""

import math
from collections import defaultdict
from typing import Final, NamedTuple

import msgspec

from carrel.evaluation.statistics.rates import PassRate
from carrel.kit.money import DollarsText, text_of
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.checking import marks, results
from carrel.runs.findings.finished_runs import FinishedRun, Together
from carrel.runs.model.setup import RunId

FEWEST_FOR_P95: Final = 20
"""With fewer times, the slowest one would be called the slowest twentieth."""


class BoardCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate of a leaderboard, by its label in the ranking; `runs` are those that it took part in, newest first.

    `host` is where its model answers, null if it is the provider's own.
    `passes` is how often it passes every required check, or the mean of all checks, in its newest run that makes the
    checks of the board's newest run with checks: rates of different checks are not comparable. `cost_per_answer` is the
    mean over its answers in all runs, with the answers that a combined one is made of; null if a cost is unknown, or if
    the answers existed before. The times are those of the calls that made answers; `p95_latency_ms` needs 20 of them.
    """

    candidate: str
    model: str | None
    host: str | None
    runs: list[RunId]
    answers: int
    delivered: int
    mean_words: float | None
    passes: PassRate | None
    cost_per_answer: DollarsText | None
    median_latency_ms: int | None
    p95_latency_ms: int | None


class _Answers(NamedTuple):
    """A candidate's answers in one run. `priced` are those that a call made which is still known."""

    candidate: int
    answers: int
    delivered: int
    words: int
    priced: int
    unpriced: int
    cost_micros: int


class _Sum:
    """What is added up of one candidate over runs."""

    def __init__(self) -> None:
        self.runs: list[RunId] = []
        self.model: str | None = None
        self.host: str | None = None
        self.answers = self.delivered = self.words = 0
        self.priced = self.unpriced = 0
        self.cost_micros = 0.0
        self.latencies: list[int] = []
        self.passes: PassRate | None = None


_ORIGIN = "LEFT JOIN tasks AS origin ON origin.seq = coalesce(task.reused, task.seq)"
_answers = Select(
    _Answers,
    candidate="g.candidate",
    answers="count(*)",
    delivered="sum(g.delivered)",
    words="sum(g.words * g.delivered)",
    priced="sum(origin.seq IS NOT NULL AND x.text IS NULL)",
    unpriced="sum(origin.seq IS NOT NULL AND x.text IS NULL AND origin.cost_micros IS NULL)",
    cost_micros="coalesce(sum(iif(x.text IS NULL, origin.cost_micros, 0)), 0)",
)


def of(conn: Connection, found: Together) -> list[BoardCandidate]:
    """The candidates of the pooled runs, in the order of their labels."""
    sums: dict[str, _Sum] = defaultdict(_Sum)
    checks: bytes | None = None
    for run, names in zip(found.chosen, found.names, strict=True):
        asked = _checks(conn, run)
        checks = checks or asked
        rates = _rates(conn, run) if asked is not None and asked == checks else {}
        for one in run.setup.candidates:
            total = sums[names[one.label]]
            if run.member.id not in total.runs:
                total.runs.append(run.member.id)
            total.model, total.host = one.model, one.host
            total.passes = total.passes or rates.get(one.label)
        _add_answers(conn, run, names, sums)
        _add_latencies(conn, run, names, sums)
    return [_candidate(label, total) for label, total in sums.items()]


def _candidate(label: str, total: _Sum) -> BoardCandidate:
    times = sorted(total.latencies)
    is_known = total.priced > 0 and not total.unpriced
    return BoardCandidate(
        candidate=label,
        model=total.model,
        host=total.host,
        runs=total.runs,
        answers=total.answers,
        delivered=total.delivered,
        mean_words=round(total.words / total.delivered, 1) if total.delivered else None,
        passes=total.passes,
        cost_per_answer=text_of(round(total.cost_micros / total.priced)) if is_known else None,
        median_latency_ms=times[len(times) // 2] if times else None,
        p95_latency_ms=times[math.ceil(0.95 * len(times)) - 1] if len(times) >= FEWEST_FOR_P95 else None,
    )


def _add_answers(conn: Connection, run: FinishedRun, names: dict[str, str], sums: dict[str, _Sum]) -> None:
    setup = run.setup
    rows = _answers.all(
        conn,
        f"FROM generated AS g JOIN tasks AS task ON task.seq = g.task {_ORIGIN} LEFT JOIN run_existing AS x"
        " ON x.run = g.run AND x.candidate = g.candidate AND x.document = g.document"
        " WHERE g.run = ? GROUP BY g.candidate",
        setup.seq,
    )
    combined = _sources(conn, setup.seq) if setup.shape.combined else None
    for row in rows:
        one = setup.candidate(row.candidate)
        total = sums[names[one.label]]
        total.answers += row.answers
        total.delivered += row.delivered
        total.words += row.words
        total.priced += row.priced
        total.unpriced += row.unpriced
        total.cost_micros += row.cost_micros
        if one.combines:
            total.cost_micros += row.priced * (combined or 0.0)
            total.unpriced += combined is None


def _sources(conn: Connection, run: int) -> float | None:
    """The mean cost of the answers of which a combined one is made; `None` if one is unknown."""
    documents, unknown, cost = conn.all(
        "SELECT count(DISTINCT s.document), sum(origin.cost_micros IS NULL), sum(origin.cost_micros)"
        " FROM run_sources AS s JOIN generated AS g USING (run, document, candidate, repeat)"
        f" JOIN tasks AS task ON task.seq = g.task {_ORIGIN} WHERE s.run = ?",
        run,
    )[0]
    return cost / documents if documents and not unknown else None


def _add_latencies(conn: Connection, run: FinishedRun, names: dict[str, str], sums: dict[str, _Sum]) -> None:
    labels = {one.ordinal: names[one.label] for one in run.setup.candidates}
    rows = conn.all(
        "SELECT candidate, latency_ms FROM calls JOIN tasks ON tasks.run = ? AND key = task_key"
        " WHERE run_id = ? AND outcome = 'answered' AND latency_ms IS NOT NULL AND phase IN ('generate', 'combine')",
        *(run.setup.seq, run.member.id),
    )
    for candidate, latency_ms in rows:
        sums[labels[candidate]].latencies.append(latency_ms)


def _checks(conn: Connection, run: FinishedRun) -> bytes | None:
    """What the run checks, to be compared with other runs; `None` if nothing."""
    if not run.setup.checks:
        return None
    return msgspec.json.encode([(one.check, one.candidates) for one in marks.asked(conn, run.setup.seq)])


def _rates(conn: Connection, run: FinishedRun) -> dict[str, PassRate]:
    kept = results.kept(conn, run.setup.seq, run.setup.round.number)
    return {} if kept is None else {row.candidate: row.required or row.mean for row in kept.rows}

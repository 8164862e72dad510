"""Reads the finished runs of a preset one by one, and asks the gate about each if there is a baseline."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from carrel.errors import BadInput, NotFound
from carrel.evaluation import verdict
from carrel.evaluation.gate import GateResult
from carrel.evaluation.passing import CheckResults
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.statistics.rates import PassRate
from carrel.kit.money import text_if_known, text_of
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.worker import Worker
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.providers import endings
from carrel.providers.hosts import ModelAt
from carrel.runs.checking import marks, results
from carrel.runs.findings import gate, gate_decision, trend
from carrel.runs.findings.trend import Aspect, CheckRate, TrendPoint, Trends
from carrel.runs.model import setup as setups
from carrel.runs.model import texts
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.model.states import FINISHED, in_sql
from carrel.runs.verdicts import rankings
from carrel.runs.verdicts.computing import computed
from carrel.vault.ids import PresetId
from carrel.vault.workspace import Workspace

MOST_RUNS: Final = 50
_MOST_TASKS: Final = 50_000
"""So many tasks the runs may have together; older runs are left out beyond that, but never the newest."""


class TrendQuestion(NamedTuple):
    """Of which candidate (`None`: the first that is not the baseline), against which baseline, with which margin."""

    candidate: str | None
    baseline: str | None
    margin: float


class _Row(NamedTuple):
    seq: int
    id: RunId
    name: str
    created_at: str
    finished_at: str | None
    cost_micros: int
    unknown_calls: int
    tasks: int


class _RunResults(NamedTuple):
    """A run with all that does not depend on the candidate. `aspects` are digests of what may change between runs."""

    row: _Row
    setup: Setup
    ranking: Ranking | None
    checks: CheckResults | None
    data_set_version: int | None
    aspects: dict[Aspect, str]


_rows = Select(
    _Row,
    tasks="(SELECT sum(pending + succeeded + failed + skipped + cancelled) FROM run_rounds WHERE run = runs.seq)",
)


async def answer(workspace: Workspace, workers: WorkerPool, preset_id: PresetId, question: TrendQuestion) -> Trends:
    """The trends. They cost no calls.

    Of 50 runs with 600 comparisons each, they take about a second with a baseline, most of it in the worker, and less
    than a tenth of that without. The event loop waits for neither.

    Raises:
        NotFound: there is no such preset.
        BadInput: no run has the candidate or the baseline.
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        found = await workspace.scan(_gather, preset_id, question)
        if found.baseline is None or found.candidate is None:
            return _finished(found)
        points = []
        for point in found.points:
            asked = await _asked(workspace, worker, point.run, question._replace(candidate=found.candidate))
            points.append(point if asked is None else _with(point, asked))
        return _finished(replace(found, points=tuple(points)))


def _finished(found: Trends) -> Trends:
    points = trend.judged(found.points, by_gate=found.baseline is not None)
    return replace(found, points=points, last_good=trend.last_good(points))


async def _asked(workspace: Workspace, worker: Worker, run_id: RunId, question: TrendQuestion) -> GateResult | None:
    """What the gate says of one run; `None` if the candidate or the baseline is not in it."""
    asked = gate.GateQuestion(question.baseline or "", question.margin, question.candidate)
    try:
        gathered = await workspace.scan(gate.gather, run_id, asked)
    except (BadInput, NotFound):
        # Another set-up, or a run that was deleted meanwhile.
        return None
    packed, pair, given = gathered
    return await computed(worker, gate_decision.decide, packed, pair, question.margin, given)


def _with(point: TrendPoint, asked: GateResult) -> TrendPoint:
    by_judges = next((one.change for one in asked.sources if one.kind in ("comparisons", "scores")), None)
    return replace(point, gate=asked.outcome, against=by_judges)


def _gather(conn: Connection, preset_id: PresetId, question: TrendQuestion) -> Trends:
    if conn.one("SELECT 1 FROM presets WHERE id = ?", preset_id) is None:
        raise NotFound
    runs, left_out = _runs(conn, preset_id)
    found = [_found(conn, row) for row in runs]
    labels = tuple(dict.fromkeys(one.label for run in found for one in run.setup.candidates))
    for field, label in (("candidate", question.candidate), ("baseline", question.baseline)):
        if label is not None and label not in labels:
            raise BadInput.at(field, "must be a candidate of a finished run of the preset")
    candidate = question.candidate or next((label for label in labels if label != question.baseline), None)
    if candidate is not None and candidate == question.baseline:
        raise BadInput.at("candidate", "must be another one than the baseline")
    befores = [*found[1:], None][: len(found)]
    points = tuple(_point(conn, run, before, candidate) for run, before in zip(found, befores, strict=True))
    checks = tuple(dict.fromkeys(one.check for point in points for one in point.checks))
    return Trends(
        preset_id=preset_id,
        candidate=candidate,
        baseline=question.baseline,
        margin=question.margin,
        candidates=labels,
        checks=checks,
        points=points,
        last_good=None,
        rule=trend.rule(candidate, question.baseline, question.margin, checked=bool(checks)),
        left_out=left_out,
        endings=endings.soon(_models(found[0].setup), conn.clock.now()) if found else (),
    )


def _models(setup: Setup) -> Iterator[ModelAt]:
    for one in setup.candidates:
        if one.model is not None:
            yield ModelAt(one.model, one.host)
    for judge in setup.round.judges:
        yield ModelAt(judge.model, judge.host)


def _runs(conn: Connection, preset_id: PresetId) -> tuple[list[_Row], int]:
    """The newest finished runs, and how many older ones there are."""
    where = f"FROM runs WHERE preset_id = ? AND state IN ({in_sql(FINISHED)})"
    chosen: list[_Row] = []
    tasks = 0
    for row in _rows.all(conn, f"{where} ORDER BY seq DESC LIMIT ?", preset_id, MOST_RUNS):
        tasks += row.tasks
        if chosen and tasks > _MOST_TASKS:
            break
        chosen.append(row)
    return chosen, conn.value(f"SELECT count(*) {where}", preset_id) - len(chosen)


def _found(conn: Connection, row: _Row) -> _RunResults:
    setup = setups.load(conn, row.seq)
    if setup is None:
        raise NotFound
    version = conn.value(
        "SELECT json_extract(configuration, '$.rows.version') FROM run_snapshots WHERE run = ?", row.seq
    )
    number = setup.round.number
    return _RunResults(
        row,
        setup,
        rankings.get(conn, row.seq, number),
        results.kept(conn, row.seq, number),
        version,
        _aspects(conn, setup),
    )


def _aspects(conn: Connection, setup: Setup) -> dict[Aspect, str]:
    way = setup.round

    def text(number: int | None) -> str | None:
        return None if number is None else texts.digest(conn, number).hex()

    def digest(sql: str) -> str:
        found = hashlib.sha256()
        for row in conn.each(sql, setup.seq):
            found.update(repr(row).encode())
        return found.hexdigest()

    judges = [(one.name, one.parameters, one.scoring_weight, one.comparison_weight) for one in way.judges]
    judging = [text(number) for number in (way.scoring_instructions, way.comparison_instructions)]
    return {
        "documents": digest(
            "SELECT digest FROM run_documents JOIN run_texts ON seq = text WHERE run_documents.run = ? ORDER BY ordinal"
        ),
        "answers": digest(
            "SELECT candidate, document, digest FROM run_existing JOIN run_texts ON seq = text"
            " WHERE run_existing.run = ? ORDER BY candidate, document"
        ),
        "prompts": _digest([text(one.instructions) for one in setup.candidates]),
        "candidates": _digest(
            [
                (one.label, one.model, one.host, one.parameters, one.grounding, text(one.response_schema))
                for one in setup.candidates
            ]
        ),
        "judging": _digest((judges, way.criteria, judging)),
        "checks": _digest([one.check for one in marks.asked(conn, setup.seq)]),
    }


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()


def _point(conn: Connection, run: _RunResults, before: _RunResults | None, candidate: str | None) -> TrendPoint:
    row, ranking = run.row, run.ranking
    point = TrendPoint(
        run=row.id,
        name=row.name,
        created_at=row.created_at,
        finished_at=row.finished_at,
        changed=()
        if before is None
        else tuple(name for name, one in run.aspects.items() if before.aspects[name] != one),
        data_set_version=run.data_set_version,
        documents=run.setup.documents,
        outcome="nothing" if ranking is None else verdict.state(ranking).outcome,
        best=None if ranking is None else ranking.best,
        basis="answers" if ranking is None else ranking.basis,
        cost=text_of(row.cost_micros),
        unknown_calls=row.unknown_calls,
    )
    ordinal = next((one.ordinal for one in run.setup.candidates if one.label == candidate), None)
    if ordinal is None or candidate is None:
        return point
    rates = next((one for one in run.checks.rows if one.candidate == candidate), None) if run.checks else None
    names = [one.name for one in run.checks.checks] if run.checks else []
    return replace(
        point,
        preferred=None if ranking is None else _preferred(ranking, candidate),
        passes=None if rates is None else rates.required or rates.mean,
        checks=()
        if rates is None
        else tuple(CheckRate(check=name, rate=rate) for name, rate in zip(names, rates.rates, strict=True)),
        cost_per_answer=text_if_known(_cost_per_answer(conn, row.seq, ordinal)),
        median_latency_ms=_median_latency(conn, row, ordinal),
    )


def _preferred(ranking: Ranking, candidate: str) -> PassRate | None:
    found = next((one for one in ranking.rows if one.candidate == candidate), None)
    if found is None:
        return None
    by_score = ranking.basis == "scores"
    share = found.score if by_score else found.win_share
    if share is None:
        return None
    return PassRate(
        share=share,
        low=found.score_low if by_score else found.low,
        high=found.score_high if by_score else found.high,
        documents=found.documents,
        missing=ranking.documents - found.documents,
    )


def _cost_per_answer(conn: Connection, run: int, candidate: int) -> int | None:
    """The mean cost of the candidate's own calls; `None` without any, or if one is unknown."""
    row: Sequence[int | None] = conn.all(
        "SELECT count(*), sum(cost_micros), sum(cost_micros IS NULL) FROM tasks"
        " WHERE run = ? AND state = 'succeeded' AND kind IN ('generate', 'combine') AND candidate = ?",
        *(run, candidate),
    )[0]
    count, cost, unknown = row
    return round(cost / count) if count and cost is not None and not unknown else None


def _median_latency(conn: Connection, row: _Row, candidate: int) -> int | None:
    """The median time of the candidate's answers, in milliseconds; the upper one of two."""
    latencies: list[int] = conn.column(
        "SELECT latency_ms FROM calls JOIN tasks ON tasks.run = ? AND key = task_key"
        " WHERE run_id = ? AND outcome = 'answered' AND latency_ms IS NOT NULL"
        " AND kind IN ('generate', 'combine') AND candidate = ? ORDER BY latency_ms",
        *(row.seq, row.id, candidate),
    )
    return latencies[len(latencies) // 2] if latencies else None

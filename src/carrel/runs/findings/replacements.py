"""Reads what a run says of today's candidate and all others, and has a worker choose one in its place."""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

import msgspec

from carrel.errors import BadInput
from carrel.evaluation.replacement import Cost, Replacement
from carrel.kit.money import micros_of
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.providers import endings
from carrel.runs.findings import gate, gate_decision
from carrel.runs.findings.gate_decision import ReplacementQuestion
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import evidence
from carrel.runs.verdicts.computing import computed
from carrel.runs.verdicts.judgement import PackedEvidence
from carrel.vault.workspace import Workspace

_costs = msgspec.json.Decoder(dict[str, Decimal])


class Wanted(NamedTuple):
    """What takes the place of the baseline: not worse by the margin, at so many calls a month.

    `costs` is JSON: dollars for an answer of candidates whose answers existed before, or have another price elsewhere.
    """

    baseline: str
    margin: float
    calls_per_month: int
    costs: str | None = None


async def answer(workspace: Workspace, workers: WorkerPool, run_id: RunId, wanted: Wanted) -> Replacement:
    """The choice. It costs no calls.

    Raises:
        NotFound: there is no such run.
        BadInput: it has no such baseline, or nobody else, or the costs are not those of its candidates.
        Unavailable: it takes too much time or memory.
    """
    given = _given(wanted.costs)
    async with workers.turn(workspace.uuid) as worker:
        packed, question = await workspace.scan(_gather, run_id, wanted, given)
        return await computed(worker, gate_decision.replace, packed, question)


def _gather(
    conn: Connection, run_id: RunId, wanted: Wanted, given: Mapping[str, int]
) -> tuple[PackedEvidence, ReplacementQuestion]:
    setup = setups.require(conn, run_id, None)
    ordinals = {one.label: one.ordinal for one in setup.candidates}
    if wanted.baseline not in ordinals:
        raise BadInput.at("baseline", "must be a candidate of the run")
    if not given.keys() <= ordinals.keys():
        raise BadInput.at("costs", "must name candidates of the run only")
    others = [one.ordinal for one in setup.candidates if one.label != wanted.baseline]
    if not others:
        raise BadInput.at("baseline", "is the only candidate of the run")
    pairs = gate.marked(conn, setup, ordinals[wanted.baseline], others)
    costs = {one.label: _cost(conn, setup, one.ordinal, given.get(one.label)) for one in setup.candidates}
    return evidence.packed(conn, setup), ReplacementQuestion(wanted.margin, wanted.calls_per_month, pairs, costs)


def _cost(conn: Connection, setup: Setup, ordinal: int, given: int | None) -> Cost:
    """What an answer costs: what somebody says, or else the mean of the calls that made the answers."""
    candidate = setup.candidate(ordinal)
    end = None if candidate.model is None else endings.end_of(candidate.model, candidate.host)
    mean, unknown = conn.one(
        "SELECT avg(origin.cost_micros), sum(origin.cost_micros IS NULL) FROM tasks AS task"
        " JOIN tasks AS origin ON origin.seq = coalesce(task.reused, task.seq) LEFT JOIN run_existing AS x"
        " ON x.run = task.run AND x.candidate = task.candidate AND x.document = task.document"
        " WHERE task.run = ? AND task.candidate = ? AND task.state = 'succeeded' AND x.text IS NULL"
        " AND task.kind IN ('generate', 'combine')",
        *(setup.seq, ordinal),
    ) or (None, None)
    known = None if mean is None or unknown else round(mean)
    return Cost(known if given is None else given, None if end is None else str(end.on))


def _given(text: str | None) -> dict[str, int]:
    if text is None:
        return {}
    try:
        return {label: micros_of(amount) for label, amount in _costs.decode(text).items()}
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError, ValueError):
        raise BadInput.at("costs", 'must be JSON such as {"today": "0.002"}') from None

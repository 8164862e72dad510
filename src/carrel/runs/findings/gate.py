"""Reads what judges and checks say of a candidate and its baseline, and has a worker decide."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from carrel.errors import BadInput
from carrel.evaluation.gate import GateResult
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import as_json
from carrel.runs.checking import marks
from carrel.runs.findings import gate_decision
from carrel.runs.findings.gate_decision import GateMarks, GatePair
from carrel.runs.model import setup as setups
from carrel.runs.model import units
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import evidence
from carrel.runs.verdicts.computing import computed
from carrel.runs.verdicts.judgement import PackedEvidence
from carrel.vault.workspace import Workspace

_marks = msgspec.json.Decoder(list[float | None]).decode


class GateQuestion(NamedTuple):
    """Is the candidate worse than the baseline by the margin? Without a `candidate`: the only other one of the run.

    `round`: by the judges of which round (`None`: the present one).
    """

    baseline: str
    margin: float
    candidate: str | None = None
    round: int | None = None


class GateInput(NamedTuple):
    """What a worker decides from."""

    packed: PackedEvidence
    pair: GatePair
    marks: list[GateMarks]


async def answer(workspace: Workspace, workers: WorkerPool, run_id: RunId, question: GateQuestion) -> GateResult:
    """The answer. It costs no calls.

    Raises:
        NotFound: there is no such run, or it has no such round.
        BadInput: it has no such candidates.
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        found = await workspace.scan(gather, run_id, question)
        return await computed(worker, gate_decision.decide, found.packed, found.pair, question.margin, found.marks)


def gather(conn: Connection, run_id: RunId, question: GateQuestion) -> GateInput:
    """What judges and checks say of both. Unbounded: to be scanned.

    Raises:
        NotFound: there is no such run, or it has no such round.
        BadInput: it has no such candidates.
    """
    setup = setups.require(conn, run_id, question.round)
    candidate, baseline = _ordinals(setup, question)
    [(pair, found)] = marked(conn, setup, baseline, [candidate])
    return GateInput(evidence.packed(conn, setup), pair, found)


def marked(
    conn: Connection, setup: Setup, baseline: int, candidates: Sequence[int]
) -> list[tuple[GatePair, list[GateMarks]]]:
    """Each candidate with the baseline, and what the checks say of both. Unbounded: to be scanned."""
    documents = units.of(conn, setup.seq)
    there: defaultdict[int, set[str]] = defaultdict(set)
    planned: defaultdict[int, set[str]] = defaultdict(set)
    given: defaultdict[int, list[tuple[str, bool, list[float | None]]]] = defaultdict(list)
    for document, ordinal, came, passes, marks_of in _rows(conn, setup.seq, [baseline, *candidates]):
        name = documents.same.get(f"d{document}", f"d{document}")
        planned[ordinal].add(name)
        if came:
            there[ordinal].add(name)
        if passes is not None and marks_of is not None:
            given[ordinal].append((name, passes, marks_of))
    every = planned[baseline].union(*(planned[one] for one in candidates))
    asked = marks.asked(conn, setup.seq)
    found = []
    for one in candidates:
        pair = GatePair(
            setup.candidate(one).label,
            setup.candidate(baseline).label,
            frozenset((there[baseline] & planned[one]) - there[one]),
            # Whoever was beaten at a look was asked for no more.
            frozenset(every - (there[baseline] & planned[one])),
        )
        shared = [check.is_of(one) and check.is_of(baseline) for check in asked]
        checks = [check.check for check in asked]
        found.append((pair, gate_decision.marks_of(checks, shared, pair, given[one], given[baseline])))
    return found


def _rows(
    conn: Connection, run: int, candidates: Sequence[int]
) -> Iterator[tuple[int, int, bool, bool | None, list[float | None] | None]]:
    """Every answer planned of these candidates: document, candidate, whether it came, and what the checks say of it."""
    for document, candidate, came, passes, given in conn.each(
        "SELECT tasks.document, tasks.candidate, generated.seq NOTNULL, passes, marks FROM tasks"
        " LEFT JOIN generated ON generated.task = tasks.seq LEFT JOIN check_marks ON generated = generated.seq"
        " WHERE tasks.run = ? AND kind IN ('generate', 'combine')"
        " AND tasks.candidate IN (SELECT value FROM json_each(?))"
        " ORDER BY tasks.document, tasks.candidate, tasks.repeat",
        *(run, as_json(candidates)),
    ):
        marks_of = None if given is None else _marks(given)
        yield document, candidate, bool(came), None if passes is None else bool(passes), marks_of


def _ordinals(setup: Setup, question: GateQuestion) -> tuple[int, int]:
    by_label = defaultdict(lambda: 0, {one.label: one.ordinal for one in setup.candidates})
    baseline = by_label[question.baseline]
    if not baseline:
        raise BadInput.at("baseline", "must be a candidate of the run")
    others = [one.ordinal for one in setup.candidates if one.ordinal != baseline]
    if question.candidate is None and len(others) != 1:
        raise BadInput.at("candidate", "is required unless the run has two candidates")
    candidate = others[0] if question.candidate is None else by_label[question.candidate]
    if candidate not in others:
        raise BadInput.at("candidate", "must be a candidate of the run other than the baseline")
    return candidate, baseline

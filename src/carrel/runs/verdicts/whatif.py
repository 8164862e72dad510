"""The ranking of a round as it was when the round ended, as it is now, or as it would be with other weights."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from carrel.errors import BadInput
from carrel.evaluation.passing import CheckResults
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.records import HUMAN
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.processes.worker import Worker
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.presets.configuration import DroppedPart
from carrel.runs.checking import results
from carrel.runs.model import run_transitions
from carrel.runs.model import setup as setups
from carrel.runs.model.schemas import LookTaken, RankingOut
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import combining, evidence, judgement, looks, rankings, votes, wording
from carrel.runs.verdicts.computing import computed
from carrel.runs.verdicts.judgement import Conclusion, PackedEvidence
from carrel.runs.verdicts.wording import CandidateModel
from carrel.vault.workspace import Workspace

MAX_WEIGHT = 1_000.0
MAX_CHARACTERS = 10_000

_weights = msgspec.json.Decoder(dict[str, float])


class WhatIfQuestion(msgspec.Struct, frozen=True):
    """The question: of which round (`None`: the present one), without which judge, with which weights as JSON.

    `with_human`: with the person's votes among the judges.
    """

    round: int | None = None
    without_judge: str | None = None
    weights: str | None = None
    with_human: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the question wants the ranking of the run itself."""
        return self.without_judge is None and self.weights is None and not self.with_human


async def ranking(workspace: Workspace, workers: WorkerPool, run_id: RunId, question: WhatIfQuestion) -> RankingOut:
    """The ranking. It costs no calls.

    Raises:
        NotFound: there is no such run, or it has no such round.
        BadInput: the weights or the judge are not what the round knows.
        Unavailable: it takes too much time or memory.
    """
    if question.is_plain:
        kept = workspace.read(_kept, run_id, question.round)
        if kept is not None:
            return kept
    async with workers.turn(workspace.uuid) as worker:
        found = await workspace.scan(_evidence, run_id, question)
        weights = _weights_of(found.packed.judges, question)
        told = await answered(worker, found.packed, found.kept, weights, with_human=question.with_human)
    ranked = told.ranking
    stated = wording.worded(ranked, told.human, found.answering, found.combined, found.dropped)
    return RankingOut(
        found.round,
        stated,
        ranked,
        told.human,
        told.people,
        found.looks,
        found.checks,
        hosts=_hosts(found.answering),
    )


async def answered(
    worker: Worker,
    packed: PackedEvidence,
    kept: Ranking | None = None,
    weights: Mapping[str, float] | None = None,
    *,
    with_human: bool = False,
) -> Conclusion:
    """The ranking and the check of votes, by a worker.

    Raises:
        Unavailable: it takes too much time or memory.
    """
    return await computed(worker, judgement.answer, packed, kept, weights, with_human)


class _RoundData(NamedTuple):
    """A round's evidence, its stored ranking if the question wants that, who combined answers, its looks and checks.

    `answering` is what answered for the candidates, `dropped` what an imported suite asks and nobody checked.
    """

    round: int
    packed: PackedEvidence
    kept: Ranking | None
    combined: tuple[str, ...]
    looks: tuple[LookTaken, ...]
    checks: CheckResults | None
    answering: list[CandidateModel]
    dropped: list[DroppedPart]


_answering = Select(CandidateModel)
_CANDIDATES = "FROM run_candidates WHERE run = ? ORDER BY ordinal"


def _hosts(answering: Sequence[CandidateModel]) -> dict[str, str]:
    return {one.label: one.host for one in answering if one.host is not None}


def _kept(conn: Connection, run_id: RunId, round_number: int | None) -> RankingOut | None:
    """The whole answer, if nobody voted. A comparison of votes with verdicts has to read more."""
    run = run_transitions.present(conn, run_id)
    number = round_number or run.round
    ranked = None if votes.count(conn, run.seq) else rankings.get(conn, run.seq, number)
    if ranked is None:
        return None
    answering = _answering.all(conn, _CANDIDATES, run.seq)
    combined, dropped = combining.labels(conn, run.seq), wording.dropped_parts(conn, run.seq)
    stated = wording.worded(ranked, None, answering, combined, dropped)
    setup = None if ranked.look is None else setups.load(conn, run.seq, number)
    taken = () if setup is None else looks.taken(conn, setup)
    checked = results.kept(conn, run.seq, number)
    return RankingOut(number, stated, ranked, looks=taken, checks=checked, hosts=_hosts(answering))


def _evidence(conn: Connection, run_id: RunId, question: WhatIfQuestion) -> _RoundData:
    setup = setups.require(conn, run_id, question.round)
    number = setup.round.number
    kept = rankings.get(conn, setup.seq, number) if question.is_plain else None
    packed = evidence.packed(conn, setup, has_marks=kept is None)
    checked = results.kept(conn, setup.seq, number) or results.of(conn, setup)
    return _RoundData(
        number,
        packed,
        kept,
        combining.labels(conn, setup.seq),
        looks.taken(conn, setup),
        checked,
        _answering.all(conn, _CANDIDATES, setup.seq),
        wording.dropped_parts(conn, setup.seq),
    )


def _weights_of(judges: frozenset[str], question: WhatIfQuestion) -> dict[str, float] | None:
    """The weights in the question; `None` if it changes none.

    Raises:
        BadInput: they are not numbers, or not of these judges, or leave none.
    """
    if question.without_judge is None and question.weights is None:
        return None
    judges |= {HUMAN} if question.with_human else set()
    weights = _parsed(question.weights) if question.weights is not None else {}
    if not weights.keys() <= judges:
        raise BadInput.at("weights", "must name judges of this round only")
    if question.without_judge is not None:
        if question.without_judge not in judges:
            raise BadInput.at("without_judge", "must be a judge of this round")
        weights[question.without_judge] = 0.0
    if all(weights.get(judge, 1.0) == 0 for judge in judges):
        raise BadInput.at("weights", "must leave at least one judge")
    return weights


def _parsed(text: str) -> dict[str, float]:
    try:
        weights = _weights.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise BadInput.at("weights", 'must be JSON such as {"local:reader": 2}') from None
    # NaN is no weight, and JSON has none; but 1e999 would be infinite.
    if not all(0 <= weight <= MAX_WEIGHT for weight in weights.values()):
        raise BadInput.at("weights", "must be numbers from 0 to 1000")
    return weights

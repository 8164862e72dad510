"""What finished runs show together: a leaderboard of those that share inputs and judges, and records of judges."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from carrel.errors import Unavailable
from carrel.evaluation import verdict
from carrel.evaluation.judges import agreement, health
from carrel.evaluation.judges.agreement import PairAgreement
from carrel.evaluation.judges.health import JudgeHealth
from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.verdict import Statement
from carrel.kit.processes.jobs import WorkerError
from carrel.kit.processes.pool import WorkerPool
from carrel.runs.judging import judgement, whatif
from carrel.runs.judging.judgement import Packed
from carrel.runs.judging.whatif import RANKING_SECONDS
from carrel.runs.leaderboard import finished
from carrel.runs.leaderboard.finished import Finished, Member
from carrel.runs.model.setup import RunId, Setup
from carrel.vault.workspace import Workspace

LATER = "Exploratory: runs that are added after results were seen can make anything lead by chance."


class Board(msgspec.Struct, frozen=True):
    """Another leaderboard; ask for it by one of its runs."""

    runs: list[Member]
    documents: int
    judges: list[str]


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Runs over the same documents, with the same judges, criteria and instructions, ranked as if they were one run.

    `others` are the leaderboards of further runs. `note` is a doubt that belongs to every result of several runs.
    `verdict` and `ranking` are null if no run has finished.
    """

    runs: list[Member]
    documents: int
    judges: list[str]
    verdict: Statement | None
    ranking: Ranking | None
    human: HumanCheck | None
    note: str | None
    others: list[Board]


class JudgeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One judge over all finished runs. A model that judges twice in a run has a number after its name."""

    judge: str
    family: str | None
    runs: int
    health: JudgeHealth
    agreement: list[PairAgreement]


class JudgeRecords(msgspec.Struct, frozen=True):
    """Every judge of the newest finished runs, by name; `runs` is how many runs it covers."""

    items: list[JudgeRecord]
    runs: int


async def leaderboard(workspace: Workspace, workers: WorkerPool, like: RunId | None) -> Leaderboard:
    """The runs that share inputs and judges with the run `like`, or with the newest finished one.

    Raises:
        NotFound: there is no such run, or it has not finished.
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        found = await workspace.scan(finished.alike, like)
        if found is None:
            return Leaderboard(
                runs=[], documents=0, judges=[], verdict=None, ranking=None, human=None, note=None, others=[]
            )
        told = await whatif.answered(worker, found.packed)
    board = _board(found.chosen)
    return Leaderboard(
        runs=board.runs,
        documents=board.documents,
        judges=board.judges,
        verdict=verdict.state(told.ranking, human=told.human),
        ranking=told.ranking,
        human=told.human,
        note=LATER if len(found.chosen) > 1 else None,
        others=[_board(group) for group in _grounds(found.left).values()],
    )


async def judges(workspace: Workspace, workers: WorkerPool) -> JudgeRecords:
    """The record of each judge in the newest finished runs.

    Raises:
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        found = await workspace.scan(finished.newest)
        if found is None:
            return JudgeRecords([], 0)
        families = {judge.name: judge.family for run in found.chosen for judge in run.setup.round.judges}
        try:
            seen = await worker.run(records, found.packed, found.families, families, timeout_seconds=RANKING_SECONDS)
        except WorkerError:
            raise Unavailable from None
    runs = {name: sum(name in _judges(run.setup) for run in found.chosen) for name in families}
    items = [
        JudgeRecord(
            judge=one.judge,
            family=families.get(one.judge),
            runs=runs.get(one.judge, 0),
            health=one,
            agreement=[pair for pair in seen.pairs if one.judge in (pair.first, pair.second)],
        )
        for one in seen.health
    ]
    return JudgeRecords(items, len(found.chosen))


class Records(NamedTuple):
    """What several runs show of their judges."""

    health: tuple[JudgeHealth, ...]
    pairs: tuple[PairAgreement, ...]


def records(packed: Packed, families: Mapping[str, str | None], own: Mapping[str, str | None]) -> Records:
    pooled = judgement.unpack(packed)
    return Records(
        health.health(pooled.candidates, pooled.verdicts, pooled.scores, families, own),
        agreement.agreement(pooled.verdicts, (), ()).pairs,
    )


def _board(runs: Sequence[Finished]) -> Board:
    return Board([run.member for run in runs], len(set(runs[0].documents)), sorted(_judges(runs[0].setup)))


def _judges(setup: Setup) -> set[str]:
    return {judge.name for judge in setup.round.judges}


def _grounds(runs: Iterable[Finished]) -> dict[str, list[Finished]]:
    groups: dict[str, list[Finished]] = {}
    for run in runs:
        groups.setdefault(run.ground, []).append(run)
    return groups

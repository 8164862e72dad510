"""The leaderboard of finished runs that share inputs and judges."""

from collections.abc import Iterable, Sequence

import msgspec

from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.people.people import PeopleVerdict
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.verdict import Statement
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.presets.configuration import DroppedPart
from carrel.runs.findings import board_figures, finished_runs
from carrel.runs.findings.board_figures import BoardCandidate
from carrel.runs.findings.finished_runs import BoardRun, FinishedRun, Together
from carrel.runs.model.setup import RunId, Setup
from carrel.runs.verdicts import whatif, wording
from carrel.runs.verdicts.wording import CandidateModel
from carrel.vault.workspace import Workspace

LATER = "Exploratory: runs that are added after results were seen can make anything lead by chance."


class Board(msgspec.Struct, frozen=True):
    """Another leaderboard; ask for it by one of its runs. `labels` are those of the candidates in these runs."""

    runs: list[BoardRun]
    documents: int
    judges: list[str]
    labels: list[str]


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """Runs over the same documents, with the same judges, criteria and instructions, ranked as if they were one run.

    `others` are the leaderboards of further runs, the newest first. `note` is a doubt that belongs to every result of
    several runs. `verdict` and `ranking` are null if no run has finished. `people` is what people would say, from the
    votes in all of these runs; it stands beside the ranking of the judges. `candidates` are in the order in which the
    newest run has them. `left_out` older runs are on no leaderboard.
    """

    runs: list[BoardRun]
    documents: int
    judges: list[str]
    verdict: Statement | None
    ranking: Ranking | None
    candidates: list[BoardCandidate]
    human: HumanCheck | None
    people: PeopleVerdict | None
    note: str | None
    others: list[Board]
    left_out: int


_EMPTY = Leaderboard(
    runs=[],
    documents=0,
    judges=[],
    verdict=None,
    ranking=None,
    candidates=[],
    human=None,
    people=None,
    note=None,
    others=[],
    left_out=0,
)


async def leaderboard(workspace: Workspace, workers: WorkerPool, like: RunId | None) -> Leaderboard:
    """The runs that share inputs and judges with the run `like`, or with the newest finished one.

    Raises:
        NotFound: there is no such run, or it has not finished.
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        gathered = await workspace.scan(_gather, like)
        if gathered is None:
            return _EMPTY
        found, candidates, dropped = gathered
        told = await whatif.answered(worker, found.packed)
    board = _board(found.chosen)
    return Leaderboard(
        runs=board.runs,
        documents=board.documents,
        judges=board.judges,
        verdict=wording.worded(
            told.ranking,
            told.human,
            [CandidateModel(one.candidate, one.model, one.host) for one in candidates],
            dropped=dropped,
        ),
        ranking=told.ranking,
        candidates=candidates,
        human=told.human,
        people=told.people,
        note=LATER if len(found.chosen) > 1 else None,
        others=[_board(group) for group in _grounds(found.left).values()],
        left_out=found.left_out,
    )


def _gather(conn: Connection, like: RunId | None) -> tuple[Together, list[BoardCandidate], list[DroppedPart]] | None:
    found = finished_runs.alike(conn, like)
    if found is None:
        return None
    dropped = [part for run in found.chosen for part in wording.dropped_parts(conn, run.setup.seq)]
    return found, board_figures.of(conn, found), list(dict.fromkeys(dropped))


def _board(runs: Sequence[FinishedRun]) -> Board:
    return Board(
        runs=[run.member for run in runs],
        documents=len(set(runs[0].documents)),
        judges=sorted(_judges(runs[0].setup)),
        labels=[*dict.fromkeys(one.label for run in runs for one in run.setup.candidates)],
    )


def _judges(setup: Setup) -> set[str]:
    return {judge.name for judge in setup.round.judges}


def _grounds(runs: Iterable[FinishedRun]) -> dict[str, list[FinishedRun]]:
    groups: dict[str, list[FinishedRun]] = {}
    for run in runs:
        groups.setdefault(run.ground, []).append(run)
    return groups

"""The figures of a run's grid, a list for each candidate. Without texts, so that a client can hold all rows."""

import gzip
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from carrel.evaluation import records
from carrel.evaluation.records import Verdict
from carrel.evaluation.statistics.intervals import rounded_or_none
from carrel.evaluation.statistics.means import mean
from carrel.kit.processes.pool import WorkerPool
from carrel.kit.sqlite.database import Connection
from carrel.reports import by_document
from carrel.runs.model import setup as setups
from carrel.runs.model.setup import RunId
from carrel.runs.verdicts import evidence, judgement
from carrel.runs.verdicts.computing import computed
from carrel.runs.verdicts.judgement import PackedEvidence
from carrel.vault.workspace import Workspace

Figure = float | None
_LEVEL: Final = 1
"""Of gzip: the others take several times as long for a few percent."""


class CandidateFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's figures between 0 and 1, one for each document in order; a list is empty if it would hold none.

    `checks` is the mean of an answer's marks. The other lists have numbers of documents, counted from 1: where it is
    still to answer, where it has no answer that was delivered, where a limit of tokens cut its answer off, and where a
    judge flipped about it.
    """

    candidate: str
    win_share: list[Figure]
    score: list[Figure]
    checks: list[Figure]
    awaited: list[int]
    failed: list[int]
    cut_off: list[int]
    flipped: list[int]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of every answer of a round. Candidates are in the order of the plan; of repeats the first counts.

    `flips` counts the flips on each document, and is empty if there are none. `disagreements` are the numbers of the
    documents on which two judges name opposite winners of the same answers.
    """

    documents: int
    candidates: list[CandidateFigures]
    flips: list[int]
    disagreements: list[int]


class Cells(NamedTuple):
    """What the rows say of the candidates' answers, in the order of the candidates."""

    documents: int
    checks: list[list[Figure]]
    awaited: list[list[int]]
    failed: list[list[int]]
    cut_off: list[list[int]]


async def answer(
    workspace: Workspace, workers: WorkerPool, run_id: RunId, round_number: int | None, *, is_packed: bool
) -> bytes:
    """The figures of a round, or of the present one, as JSON; `is_packed` packs it with gzip.

    Raises:
        NotFound: there is no such run, or it has no such round.
        Unavailable: it takes too much time or memory.
    """
    async with workers.turn(workspace.uuid) as worker:
        packed, cells = await workspace.scan(_gather, run_id, round_number)
        return await computed(worker, encoded, packed, cells, is_packed)


def _gather(conn: Connection, run_id: RunId, round_number: int | None) -> tuple[PackedEvidence, Cells]:
    setup = setups.require(conn, run_id, round_number)
    none: list[list[int]] = [[] for _ in setup.candidates]
    cells = Cells(
        documents=setup.documents,
        checks=[[None] * setup.documents for _ in setup.candidates],
        awaited=none,
        failed=[[] for _ in none],
        cut_off=[[] for _ in none],
    )
    for document, candidate, state, delivered, reason, marks in conn.each(
        "SELECT tasks.document, tasks.candidate, state, delivered, finish_reason, marks FROM tasks"
        " LEFT JOIN generated ON task = tasks.seq LEFT JOIN check_marks ON generated = generated.seq"
        " WHERE tasks.run = ? AND round = 1 AND kind IN ('generate', 'combine') AND tasks.repeat = 1"
        " ORDER BY tasks.document",
        setup.seq,
    ):
        if state in ("pending", "running"):
            cells.awaited[candidate - 1].append(document)
        elif not delivered:
            cells.failed[candidate - 1].append(document)
        if reason == "length":
            cells.cut_off[candidate - 1].append(document)
        given = [] if marks is None else [mark for mark in msgspec.json.decode(marks) if mark is not None]
        if given:
            cells.checks[candidate - 1][document - 1] = rounded_or_none(mean(given))
    return evidence.packed(conn, setup, has_marks=False), cells


def encoded(packed: PackedEvidence, cells: Cells, is_packed: bool) -> bytes:
    """The figures as JSON, from what judges said and what the rows say. Pure, and fit for the worker process."""
    made = msgspec.json.encode(_of(packed, cells))
    # Columns of numbers become a fraction of their size; no text is in them that somebody else could have put there.
    return gzip.compress(made, _LEVEL, mtime=0) if is_packed else made


def _of(packed: PackedEvidence, cells: Cells) -> Figures:
    found = judgement.unpack(packed)
    heard = list(by_document.heard(found, [f"d{number}" for number in range(1, cells.documents + 1)]))
    labels = found.candidates
    flipped: list[list[int]] = [[] for _ in labels]
    flips = []
    for number, one in enumerate(heard, start=1):
        turned = [verdict for verdict in one.verdicts if records.fate(verdict) == "flip"]
        flips.append(len(turned))
        for place in sorted({labels.index(name) for verdict in turned for name in (verdict.a, verdict.b)}):
            flipped[place].append(number)
    return Figures(
        documents=cells.documents,
        candidates=[
            CandidateFigures(
                candidate=label,
                win_share=_if_any([one.standing[place].win_share for one in heard]),
                score=_if_any([one.standing[place].score for one in heard]),
                checks=_if_any(cells.checks[place]),
                awaited=cells.awaited[place],
                failed=cells.failed[place],
                cut_off=cells.cut_off[place],
                flipped=flipped[place],
            )
            for place, label in enumerate(labels)
        ],
        flips=flips if any(flips) else [],
        disagreements=[number for number, one in enumerate(heard, start=1) if _disagree(one.verdicts)],
    )


def _if_any(figures: Sequence[Figure]) -> list[Figure]:
    return list(figures) if any(figure is not None for figure in figures) else []


def _disagree(verdicts: Iterable[Verdict]) -> bool:
    """Whether two judges name opposite winners of the same two answers."""
    winners: dict[tuple[frozenset[str], int], str] = {}
    for verdict in verdicts:
        if records.fate(verdict) != "agreed" or verdict.ab not in ("first", "second"):
            continue
        winner = verdict.a if verdict.ab == "first" else verdict.b
        if winners.setdefault((frozenset((verdict.a, verdict.b)), verdict.repeat), winner) != winner:
            return True
    return False

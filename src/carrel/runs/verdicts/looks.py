"""The looks that a round took on its way: whom each of them dropped, and how many calls it made unnecessary."""

from typing import NamedTuple

from msgspec.structs import replace

from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select
from carrel.runs.model import plan
from carrel.runs.model.plan import DocumentBlock, Stage
from carrel.runs.model.schemas import LookTaken
from carrel.runs.model.setup import Setup
from carrel.runs.verdicts import evidence


class _Look(NamedTuple):
    """A row; candidates are ordinals."""

    number: int
    documents: int
    leader: int | None
    beaten: list[int]


_looks = Select(_Look)


def stages(setup: Setup) -> tuple[Stage, ...]:
    """The stages of the setup's round, without those that its looks made unnecessary."""
    number, shape, compared = setup.round.number, setup.shape, setup.round.compared
    blocks = [DocumentBlock(look.before, look.documents) for look in setup.looks]
    return plan.stages(
        shape,
        number,
        evidence.finalist_count(len(shape.field(number)), setup.round) if compared is None else compared,
        blocks,
        in_blocks=setup.round.in_blocks,
    )


def taken(conn: Connection, setup: Setup) -> tuple[LookTaken, ...]:
    """Every look that the round took before its end, in order; none if it looks only at its end.

    What a look saved is the difference of two plans, the one before it and the one after it.
    """
    found = []
    for row in _looks.all(
        conn, "FROM run_looks WHERE run = ? AND round = ? ORDER BY number", setup.seq, setup.round.number
    ):
        decided = setup.round.stopped and row.number == setup.round.looks + 1
        saved = _tasks_after(setup, row.number - 1, row.number)
        if not decided:
            saved -= _tasks_after(setup, row.number, row.number)
        found.append(
            LookTaken(
                number=row.number,
                documents=row.documents,
                leader=None if row.leader is None else setup.candidate(row.leader).label,
                dropped=tuple(setup.candidate(ordinal).label for ordinal in row.beaten),
                decided=decided,
                saved=saved,
            )
        )
    return tuple(found)


def _tasks_after(setup: Setup, known: int, begun: int) -> int:
    """The tasks from block `begun` on, by the plan of a round that has taken `known` looks."""
    documents = setup.looks[known - 1].documents if known else 0
    candidates = setup.candidates
    if setup.round.number == 1:
        # Their answers ended at a look of this round, which the plan follows from those that were beaten.
        candidates = tuple(replace(one, answered=None) for one in candidates)
    beaten = tuple(one for one in setup.round.beaten if one.documents <= documents)
    then = replace(setup, candidates=candidates, round=replace(setup.round, looks=known, stopped=False, beaten=beaten))
    return sum(stage.tasks for stage in stages(then) if stage.look >= begun)

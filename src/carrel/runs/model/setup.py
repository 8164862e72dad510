"""What the engine knows of a run while it works on it: candidates, judges and limits, but no texts."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, NewType

import msgspec
from msgspec.structs import replace

from carrel.errors import NotFound
from carrel.evaluation.ranking import stopping
from carrel.evaluation.ranking.stopping import Look
from carrel.kit.ids import Id
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select, SqlColumn
from carrel.providers.base import Criterion, Grounding, Parameters
from carrel.providers.catalogue import has_batches
from carrel.providers.registry import provider_of
from carrel.runs.model import plan

RunId = NewType("RunId", Id)


class RunCandidate(msgspec.Struct, frozen=True):
    """One candidate; `model` is `None` if all its answers exist already, `host` at the model's own provider.

    A candidate that `combines` makes its answers from those of the others. Without instructions it gets the default
    ones. `answered` is on how many of the ordered documents it answers, if the run asked it for no more.
    `response_schema` is the number of a text, as `instructions` are.
    """

    ordinal: int
    label: str
    model: str | None
    family: str | None
    parameters: Parameters
    instructions: int | None
    repeats: int
    combines: bool = False
    answered: int | None = None
    grounding: Grounding = "off"
    response_schema: int | None = None
    host: str | None = None


class Elimination(NamedTuple):
    """A candidate that another one beat at a look. Both are ordinals; `documents` had been compared."""

    candidate: int
    by: int
    documents: int


class RunJudge(msgspec.Struct, frozen=True, omit_defaults=True):  # so that seeds are those of runs without hosts
    """One judge of a round; a weight is `None` in the phase in which it does not judge.

    `name` tells the host, too; `host` is `None` at the provider's own.
    """

    ordinal: int
    name: str
    model: str
    family: str | None
    parameters: Parameters
    scoring_weight: float | None
    comparison_weight: float | None
    score_repeats: int
    host: str | None = None


class Round(msgspec.Struct, frozen=True):
    """How one round judges.

    Instructions are numbers of texts. `compared` are the candidates that are compared, once they are chosen. `sources`
    are all candidates that answered by themselves, the best first, once answers are combined. `looks` are the looks
    after which comparing continued; with `stopped`, the look after them decided. The `beaten` take no further part.
    With `in_blocks`, answers and scores go from look to look, too.
    """

    number: int
    criteria: tuple[Criterion, ...]
    scoring_instructions: int | None
    comparison_instructions: int | None
    finalists: int | None
    compared: tuple[int, ...] | None
    judges: tuple[RunJudge, ...]
    sources: tuple[int, ...] | None = None
    looks: int = 0
    stopped: bool = False
    in_blocks: bool = False
    beaten: tuple[Elimination, ...] = ()


class Setup(msgspec.Struct, frozen=True):
    """The part of a run that does not change.

    `seq` is its row. Every random choice follows from `seed`. The marks around texts in prompts are derived from the
    secret `fence`. `sources` is how many answers go into a combined one, and `billing` says whose keys pay. `stops`:
    the run stops comparing once the result is decided. `checks` is how many checks of each answer need no judge. With
    `economy`, calls go in batches wherever the provider takes batches. With `reuse`, tasks take results of earlier
    runs.
    """

    seq: int
    id: RunId
    seed: str
    fence: str
    documents: int
    candidates: tuple[RunCandidate, ...]
    round: Round
    concurrency: int
    timeout_seconds: float
    max_attempts: int
    budget_micros: int | None
    show_criteria: bool
    sources: int = 0
    billing: Literal["own_keys", "credits"] = "own_keys"
    stops: bool = False
    checks: int = 0
    economy: bool = False
    reuse: bool = False

    def batches(self, model: str) -> bool:
        """Whether calls of the model go in batches."""
        return self.economy and has_batches(provider_of(model))

    @property
    def looks(self) -> tuple[Look, ...]:
        """The looks of the round; empty if it only looks after all comparisons."""
        first = self.round.number == 1
        answered = [self.documents if first or one.answered is None else one.answered for one in self.candidates]
        return looks(max(answered), stops=self.stops, combines=first and self.shape.combined > 0)

    @property
    def look(self) -> Look | None:
        """The next look of the round, or the one with which it ended; `None` if it only looks after all comparisons."""
        planned = self.looks
        if not planned:
            return None
        return replace(
            planned[self.round.looks],
            stopped=self.round.stopped,
            beaten=tuple(
                stopping.Beaten(self.candidate(one.candidate).label, self.candidate(one.by).label, one.documents)
                for one in self.round.beaten
            ),
        )

    def candidate(self, ordinal: int) -> RunCandidate:
        """The candidate with this number."""
        return self.candidates[ordinal - 1]

    def judge(self, ordinal: int) -> RunJudge:
        """The judge of this round with this number."""
        return self.round.judges[ordinal - 1]

    def asked(self, candidate: int, judge: int | None) -> RunCandidate | RunJudge:
        """Who is asked for a task: its judge, or its candidate where it has none."""
        return self.candidate(candidate) if judge is None else self.judge(judge)

    @property
    def shape(self) -> plan.Shape:
        """What determines the plan."""
        repeats = [candidate.repeats for candidate in self.candidates]
        combined = sum(1 for candidate in self.candidates if candidate.combines)
        shape = shape_of(self.documents, repeats, self.round.judges, self.seed, combined)
        ends = {one.candidate: one.documents for one in self.round.beaten}
        answered = [self.documents if one.answered is None else one.answered for one in self.candidates]
        return shape._replace(reach=tuple(min(every, ends.get(i, every)) for i, every in enumerate(answered, start=1)))


def looks(documents: int, *, stops: bool, combines: bool) -> tuple[Look, ...]:
    """The looks of a round that may stop early.

    A round that combines answers has none: which answers it combines follows from all comparisons, and the combined
    answers have to meet the others on the same documents.
    """
    return stopping.looks(documents) if stops and not combines else ()


def shape_of(
    documents: int, repeats: Sequence[int], judges: Sequence[RunJudge], seed: str, combined: int = 0
) -> plan.Shape:
    """What determines a plan.

    `repeats` are how often each candidate answers, and the last `combined` candidates combine.
    """
    return plan.Shape(
        documents,
        tuple(repeats),
        tuple(
            plan.JudgePlan(
                judge.ordinal,
                judge.score_repeats if judge.scoring_weight is not None else 0,
                judge.comparison_weight is not None,
            )
            for judge in judges
        ),
        seed,
        combined,
    )


def require(conn: Connection, run_id: RunId, round_number: int | None = None) -> Setup:
    """The setup of the run with this id, in its present round or in an earlier one.

    Raises:
        NotFound: there is no such run or round.
    """
    seq: int | None = conn.value("SELECT seq FROM runs WHERE id = ?", run_id)
    found = None if seq is None else load(conn, seq, round_number)
    if found is None:
        raise NotFound
    return found


def load(conn: Connection, seq: int, round_number: int | None = None) -> Setup | None:
    """The setup of a run in its present round, or in an earlier one; `None` when there is no such run or round."""
    row = _runs.one(conn, "FROM runs JOIN run_snapshots ON run = seq WHERE seq = ?", seq)
    if row is None:
        return None
    number = row.round if round_number is None else round_number
    found = _rounds.one(conn, "FROM run_rounds WHERE run = ? AND number = ?", seq, number)
    if found is None:
        return None
    judges = _judges.all(conn, "FROM run_judges WHERE run = ? AND round = ? ORDER BY ordinal", seq, number)
    return Setup(
        seq=seq,
        id=row.id,
        seed=row.seed,
        fence=row.fence,
        documents=row.documents,
        candidates=tuple(_candidates.all(conn, "FROM run_candidates WHERE run = ? ORDER BY ordinal", seq)),
        round=replace(found, judges=tuple(judges), beaten=_beaten_before(conn, seq, found)),
        concurrency=row.concurrency,
        timeout_seconds=row.timeout_seconds,
        max_attempts=row.max_attempts,
        budget_micros=row.budget_micros,
        show_criteria=row.show_criteria,
        sources=row.sources,
        billing=row.billing,
        stops=row.stops,
        checks=row.checks,
        economy=row.economy,
        reuse=row.reuse,
    )


def _beaten_before(conn: Connection, seq: int, present: Round) -> tuple[Elimination, ...]:
    """Those whom a look of the round told the leader to be better than; a look that decided ended the round anyway."""
    return tuple(
        _beaten.all(
            conn,
            "FROM run_looks, json_each(beaten) WHERE run = ? AND round = ? AND number <= ? ORDER BY number, value",
            *(seq, present.number, present.looks),
        )
    )


class _Run(NamedTuple):
    id: RunId
    round: int
    seed: str
    fence: str
    concurrency: int
    timeout_seconds: float
    max_attempts: int
    budget_micros: int | None
    show_criteria: bool
    sources: int
    documents: int
    billing: Literal["own_keys", "credits"]
    stops: bool
    checks: int
    economy: bool
    reuse: bool


_runs = Select(
    _Run,
    id="runs.id",
    round="runs.round",
    documents="(SELECT count(*) FROM run_documents WHERE run = seq)",
    billing="coalesce(json_extract(configuration, '$.billing'), 'own_keys')",
    stops="coalesce(json_extract(configuration, '$.comparison.stop_when_decided'), 0)",
    checks="(SELECT count(*) FROM run_checks WHERE run = seq)",
    economy=SqlColumn("coalesce(json_extract(configuration, '$.economy'), 0)", bool),
    reuse=SqlColumn("coalesce(json_extract(configuration, '$.reuse'), 0)", bool),
)
_candidates = Select(RunCandidate)
_judges = Select(RunJudge)
_beaten = Select(Elimination, candidate="value", by="leader")
# The judges of a round and those that it beat are rows of their own.
_rounds = Select(Round, judges=SqlColumn("NULL", lambda _: ()), beaten=SqlColumn("NULL", lambda _: ()))

"""The report of a run: what was asked, what came back, what may be concluded. This module says what it consists of.

Everything outside of `run` follows from the configuration, the texts and the answers alone: a run that was killed and
resumed reports the same bytes as one that was not. `run` holds what is a run's own: ids, times, lost calls.
"""

from typing import Literal

import msgspec

from carrel.evaluation.agreement import Agreement
from carrel.evaluation.health import JudgeHealth
from carrel.evaluation.human import HumanCheck
from carrel.evaluation.ranking import Ranking
from carrel.evaluation.records import Fate, Side, Word
from carrel.evaluation.verdict import Statement
from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.money import DollarsText
from carrel.providers.base import Criterion, Parameters
from carrel.runs.model.plan import Kind
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import PauseReason, State, TaskState


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What two runs of the same thing do not have in common.

    `generated` are the ids of the answers by task key, `outputs` those of the contents that answers became, `contents`
    those of the inputs in the order of the documents, `configuration` is the configuration as it was executed.
    `lost_calls` ended without anybody learning how.
    """

    id: RunId
    name: str
    preset_id: Id | None
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    lost_calls: int
    seed: str
    contents: tuple[Id, ...]
    generated: dict[str, Id]
    configuration: msgspec.Raw
    outputs: dict[str, Id] = {}


class ProgressReport(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of the round, those that are planned later included."""

    total: int
    pending: int
    succeeded: int
    failed: int
    skipped: int
    cancelled: int


class CandidateReport(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate and what it brought.

    `instructions` is a number in the configuration's list. `mean_words` is of delivered answers. `existing` of the
    answers were there before: they took no call, which does not mean that they cost nothing. A cost is `None` where a
    price is not known; `cost` is what the candidate's own calls took, `cost_per_answer` what it takes to have one, so
    for one that combines it counts the answers that went in, and leaves existing ones out where there are others.
    """

    candidate: str
    model: str | None
    family: str | None
    parameters: Parameters
    instructions: int | None
    repeats: int
    compared: bool
    answers: int
    delivered: int
    mean_words: float | None
    input_tokens: int
    output_tokens: int
    cost: DollarsText | None
    cost_per_answer: DollarsText | None
    combines: bool = False
    existing: int = 0


class PairShare(msgspec.Struct, frozen=True, kw_only=True):
    """How much of its comparisons with `b` candidate `a` won, each document with one voice."""

    a: str
    b: str
    share: float
    documents: int


class JudgeReport(msgspec.Struct, frozen=True, kw_only=True):
    """A judge of the round; a weight is `None` in the phase in which it does not judge."""

    judge: str
    model: str
    family: str | None
    parameters: Parameters
    scoring_weight: float | None
    comparison_weight: float | None
    score_repeats: int
    health: JudgeHealth | None


class MarkReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge gave to an answer, on the criteria's own scales, and what it said."""

    judge: str
    repeat: int
    fate: Literal["given", "by_rule", "invalid"]
    values: dict[str, float]
    said: str | None


class AnswerReport(msgspec.Struct, frozen=True, kw_only=True):
    """A planned answer. `text` is `None` if it was not given, or where the report had no room for it.

    One that was `existing` took no call. `sources` are the candidates whose answers it was made from, in the order in
    which they were shown.
    """

    candidate: str
    repeat: int
    task_key: str
    state: TaskState
    error: str | None
    finish_reason: Literal["stop", "length", "refused"] | None
    delivered: bool
    words: int
    input_tokens: int
    output_tokens: int
    cost: DollarsText | None
    text: str | None
    marks: tuple[MarkReport, ...]
    existing: bool = False
    sources: tuple[str, ...] = ()


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate on one document: how much it won, and its score between 0 and 1."""

    candidate: str
    win_share: float | None
    score: float | None


class VerdictReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge said about two answers, `ab` when `a`'s was shown first, `ba` when `b`'s was."""

    judge: str
    a: str
    b: str
    repeat: int
    fate: Fate
    by_rule: Side | None
    ab: Word
    ba: Word
    said_ab: str | None
    said_ba: str | None


class DocumentReport(msgspec.Struct, frozen=True, kw_only=True):
    """One document, its answers in the order of the plan, and the verdicts; `None` if there are too many to list.

    `reference` is `None` where there is none, or no room for it.
    """

    document: str
    name: str
    characters: int
    text: str | None
    flips: int
    standing: tuple[Cell, ...]
    answers: tuple[AnswerReport, ...]
    verdicts: tuple[VerdictReport, ...] | None
    has_reference: bool = False
    reference: str | None = None


class CombinationReport(msgspec.Struct, frozen=True, kw_only=True):
    """How answers were combined: from how many, those of whom (the best first), and what that means for the ranking.

    `without` documents had fewer than two answers to combine.
    """

    candidates: tuple[str, ...]
    sources: int
    order: tuple[str, ...]
    without: int
    notes: tuple[str, ...]


class SpendRow(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one kind of task to one model; `cost` adds up those whose cost is known."""

    kind: Kind
    model: str
    calls: int
    failed: int
    malformed: int
    input_tokens: int
    output_tokens: int
    cost: DollarsText
    unknown_calls: int


class SpendReport(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of all rounds that ended, and what they cost; `unknown_calls` come on top."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: DollarsText
    unknown_calls: int
    rows: tuple[SpendRow, ...]


class TroubleReport(msgspec.Struct, frozen=True, kw_only=True):
    """A task that failed or was skipped, with the code that says why."""

    task_key: str
    kind: Kind
    state: TaskState
    error: str | None
    failed_calls: int
    malformed_replies: int


class ConfigurationReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the run worked from, with every text resolved. A text is `None` where the report had no room for it.

    `references` is how many of the documents have one; on the others, judges had none to hold answers to.
    """

    instructions: tuple[str | None, ...]
    scoring_instructions: str | None
    comparison_instructions: str | None
    finalists: int | None
    show_criteria: bool
    concurrency: int
    timeout_seconds: float
    max_attempts: int
    budget: DollarsText | None
    references: int = 0


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate in one of two runs."""

    place: int | None
    win_share: float | None
    low: float | None
    high: float | None
    score: float | None
    cost_per_answer: DollarsText | None


class AgainstRow(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate, known by its label, in this run and in the other; `None` where it did not take part."""

    candidate: str
    here: Standing | None
    there: Standing | None


class OtherRun(msgspec.Struct, frozen=True):
    """The other run's own."""

    id: RunId
    name: str


class Against(msgspec.Struct, frozen=True, kw_only=True):
    """This run beside another one. Win shares depend on who takes part; `notes` say what else differs."""

    run: OtherRun
    finished: bool
    verdict: str
    documents: int
    shared_documents: int
    notes: tuple[str, ...]
    rows: tuple[AgainstRow, ...]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A run's report. Lists go by the plan, the ranking's rows by place. `left_out` texts found no room in it."""

    run: RunFacts
    state: State
    pause_reason: PauseReason | None
    round: int
    rounds: int
    finished: bool
    verdict: Statement
    progress: ProgressReport
    ranking: Ranking
    candidates: tuple[CandidateReport, ...]
    pairs: tuple[PairShare, ...]
    criteria: tuple[Criterion, ...]
    judges: tuple[JudgeReport, ...]
    agreement: Agreement
    human: HumanCheck | None
    documents: tuple[DocumentReport, ...]
    spend: SpendReport
    troubles: tuple[TroubleReport, ...]
    more_troubles: int
    configuration: ConfigurationReport
    left_out: int
    combination: CombinationReport | None = None
    against: Against | None = None

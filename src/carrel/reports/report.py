"""The structs of a run's report: what was asked, what was answered, what may be concluded.

Everything outside of `run` follows from the configuration, the texts and the answers alone: a run that was killed and
resumed reports the same bytes as one that was not. `run` holds what differs between equal runs: ids, times, lost calls.
"""

from typing import Literal

import msgspec

from carrel.evaluation.judges.agreement import Agreement
from carrel.evaluation.judges.health import JudgeHealth
from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.judges.passport import Passport
from carrel.evaluation.passing import CheckResults
from carrel.evaluation.people.people import PeopleVerdict
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.records import Fate, Side, Word
from carrel.evaluation.split import Split
from carrel.evaluation.verdict import Statement
from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.money import DollarsText
from carrel.providers.base import Citation, Criterion, Parameters, Turn
from carrel.reports.against_report import Against
from carrel.runs.model.plan import Kind
from carrel.runs.model.schemas import LookTaken
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import PauseReason, State, TaskState


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts that differ between two equal runs.

    `generated` are the ids of the answers by task key, `outputs` those of the contents that answers became, `contents`
    those of the inputs in the order of the documents. `median_ms` is how long the calls for a candidate's answers took,
    by its label. `configuration` is the configuration as it was executed. Nobody
    knows how the `lost_calls` ended.
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
    median_ms: dict[str, int] = {}


class ProgressReport(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of the round, including those that are planned later.

    `saved` counts those that looks on the way made unnecessary, and `saved_cost` is about what they would have cost.
    """

    total: int
    pending: int
    succeeded: int
    failed: int
    skipped: int
    cancelled: int
    saved: int = 0
    saved_cost: str | None = None


class CandidateReport(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate and its answers. `host` is that of its model, `None` at the provider's own.

    `instructions` is a number in the configuration's list. `mean_words` counts delivered answers. `existing` answers
    existed before the run: they took no call, but they may have had a cost. A cost is `None` where a price is not
    known. `cost` is the cost of the candidate's own calls. `cost_per_answer` is the whole cost of an answer: if the
    candidate combines, it includes the answers that went in. It leaves existing answers out unless there are no others.
    """

    candidate: str
    model: str | None
    host: str | None
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
    """The share of its comparisons with `b` that candidate `a` won; each document counts once.

    `better` counts the documents on which `a` was preferred, `worse` those on which `b` was; they are level on others.
    """

    a: str
    b: str
    share: float
    documents: int
    better: int = 0
    worse: int = 0


class Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict in everyday words: what to do, and why, with money.

    `marks`, of 4, are how sure that is, and `sure` says it in words.
    `beside` is weighed against the `first`: the best of those that cost much less, or else the next one. `doubt` is the
    one that matters most; `settled_by` says what would settle it, where something can. `beside` is worse on
    `worse_total` documents; `worse_on` are the numbers of the worst.
    """

    headline: str
    reason: str
    marks: int
    sure: str
    first: str | None = None
    beside: str | None = None
    doubt: str | None = None
    settled_by: Literal["votes", "documents"] | None = None
    worse_on: tuple[int, ...] = ()
    worse_total: int = 0


class JudgeReport(msgspec.Struct, frozen=True, kw_only=True):
    """A judge of the round, whose name tells its host; a weight is `None` in the phase in which it does not judge."""

    judge: str
    model: str
    host: str | None
    family: str | None
    parameters: Parameters
    scoring_weight: float | None
    comparison_weight: float | None
    score_repeats: int
    health: JudgeHealth | None
    passport: Passport | None


class MarkReport(msgspec.Struct, frozen=True, kw_only=True):
    """The marks of one judge for an answer, on the criteria's own scales, and the judge's reason."""

    judge: str
    repeat: int
    fate: Literal["given", "by_rule", "invalid"]
    values: dict[str, float]
    said: str | None


class AnswerReport(msgspec.Struct, frozen=True, kw_only=True):
    """A planned answer. `text` is `None` if there is no answer, or the report has no room for it.

    An `existing` answer took no call. `sources` are the candidates from whose answers it was made, in the order in
    which the prompt showed them. `checks` are its marks, in the order of the report's checks. `citations`
    are the pages on which it rests. `thought` is what its model wrote before it and nobody judged; whole reports leave
    it out. A `reused` answer is an earlier run's and was not paid again.
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
    checks: tuple[float | None, ...] = ()
    citations: tuple[Citation, ...] = ()
    thought: str | None = None
    reused: bool = False


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate on one document: its win share, and its score between 0 and 1."""

    candidate: str
    win_share: float | None
    score: float | None


class VerdictReport(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of one judge on two answers: `ab` if the judge saw `a`'s first, `ba` if it saw `b`'s first."""

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

    `reference` is `None` if the document has none, or the report has no room for it. So are `turns`, a conversation,
    with whose transcript the text begins.
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
    turns: tuple[Turn, ...] | None = None


class CombinationReport(msgspec.Struct, frozen=True, kw_only=True):
    """How answers were combined: from how many, of which candidates (best first), and what that means for the ranking.

    `without` documents had fewer than two answers to combine.
    """

    candidates: tuple[str, ...]
    sources: int
    order: tuple[str, ...]
    without: int
    notes: tuple[str, ...]


class SpendRow(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one kind of task to one model at one host; `cost` is the sum of the known costs."""

    kind: Kind
    model: str
    host: str | None
    calls: int
    failed: int
    malformed: int
    input_tokens: int
    output_tokens: int
    cost: DollarsText
    unknown_calls: int


class SpendReport(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of all rounds that ended, and their cost. `unknown_calls` are the calls whose cost is unknown."""

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
    """The configuration of the run, with every text resolved. A text is `None` if the report has no room for it.

    `references` is how many of the documents have a reference.
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


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A run's report. Lists follow the plan, and the ranking's rows follow the places.

    `documents_total` counts the documents, also where a client wanted a report without them; then it has no ids of
    answers and contents either. The report has no room for `left_out` texts. `looks` are those that a run which may
    stop early took on its way.
    `split` is there if somebody asked for the results by a column.
    """

    run: RunFacts
    state: State
    pause_reason: PauseReason | None
    round: int
    rounds: int
    finished: bool
    verdict: Statement
    decision: Recommendation
    progress: ProgressReport
    ranking: Ranking
    candidates: tuple[CandidateReport, ...]
    pairs: tuple[PairShare, ...]
    criteria: tuple[Criterion, ...]
    judges: tuple[JudgeReport, ...]
    agreement: Agreement
    human: HumanCheck | None
    people: PeopleVerdict | None
    documents: tuple[DocumentReport, ...]
    spend: SpendReport
    troubles: tuple[TroubleReport, ...]
    more_troubles: int
    configuration: ConfigurationReport
    left_out: int
    combination: CombinationReport | None = None
    looks: tuple[LookTaken, ...] = ()
    against: Against | None = None
    checks: CheckResults | None = None
    split: Split | None = None
    documents_total: int
    both_bad: int = 0
    """Blind votes that found neither answer good enough. Each counts as a tie."""

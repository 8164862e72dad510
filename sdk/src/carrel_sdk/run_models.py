"""What the service reports about runs. Fields that a newer service adds are ignored."""

from typing import Final, Literal, TypeAlias

import msgspec

from carrel_sdk.configuration import Configuration

RunState: TypeAlias = Literal[
    "pending", "running", "paused", "completed", "completed_with_errors", "failed", "cancelled"
]
TaskState: TypeAlias = Literal["pending", "running", "succeeded", "failed", "skipped", "cancelled"]
FINISHED: Final = frozenset[RunState]({"completed", "completed_with_errors"})
"""The run has a result."""
ENDED: Final = FINISHED | frozenset[RunState]({"failed", "cancelled"})
"""A run leaves these states only by a new round."""


class AnswerNote(msgspec.Struct, frozen=True, kw_only=True):
    """A person's star and note on an answer of a run."""

    document: int
    document_name: str
    candidate: str
    repeat: int
    starred: bool
    note: str
    updated_at: str


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of the current round, including those that are planned later.

    `saved` counts the tasks that the looks of a run made unnecessary, and `saved_cost` about what they would have cost.
    """

    total: int
    percent: int
    pending: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    cancelled: int = 0
    eta_seconds: int | None = None
    saved: int = 0
    saved_cost: str | None = None

    @property
    def done(self) -> int:
        """How many tasks have ended."""
        return self.succeeded + self.failed + self.skipped + self.cancelled


class Spend(msgspec.Struct, frozen=True, kw_only=True):
    """What all calls together cost, in US dollars as a decimal string; the cost of `unknown_calls` more is unknown.

    `reused` counts the tasks that took the result of an earlier run in place of a call.
    """

    cost: str
    unknown_calls: int = 0
    reused: int = 0


class RunSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. A `trial` only tried its candidates on one input."""

    id: str
    name: str
    state: RunState
    round: int
    progress: Progress
    spend: Spend
    created_at: str
    preset_id: str | None = None
    pause_reason: str | None = None
    phase: str | None = None
    verdict: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    pinned: bool = False
    tags: list[str] = msgspec.field(default_factory=list)
    trial: bool = False

    @property
    def ended(self) -> bool:
        """Nothing more happens to it, unless somebody asks for a new round."""
        return self.state in ENDED

    @property
    def halted(self) -> bool:
        """Nothing happens to it by itself: it has ended, or it is paused."""
        return self.ended or self.state == "paused"

    @property
    def has_result(self) -> bool:
        """It ended with a ranking; some of its tasks may have failed."""
        return self.state in FINISHED


class Run(RunSummary, frozen=True, kw_only=True):
    """A run with its snapshot of the configuration. `quiesced`: no call is in flight, so the service can be killed."""

    configuration: Configuration
    quiesced: bool = False
    version: int = 1
    etag: str = ""


class RunCount(msgspec.Struct, frozen=True):
    """How many runs there are, in total and in each state."""

    total: int
    by_state: dict[str, int]


class Refused(msgspec.Struct, frozen=True):
    """A run that was not deleted, with a code that says why."""

    id: str
    code: str


class Deleted(msgspec.Struct, frozen=True):
    """The result of a bulk deletion."""

    deleted: list[str]
    refused: list[Refused]


class TaskError(msgspec.Struct, frozen=True):
    """Why a task has no result."""

    code: str
    message: str


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a run; `cost` is in US dollars.

    In a comparison, `order` says which answer the judge saw first: the candidate's (`ab`) or the opponent's (`ba`).
    """

    key: str
    kind: str
    state: str
    attempts: int
    document: int
    candidate: str
    repeat: int
    round: int = 1
    document_name: str = ""
    opponent: str | None = None
    judge: str | None = None
    order: str | None = None
    generated_id: str | None = None
    error: TaskError | None = None
    started_at: str | None = None
    finished_at: str | None = None
    cost: str | None = None
    reused: bool = False


class TaskCounts(msgspec.Struct, frozen=True):
    """Tasks of the present round by state."""

    pending: int
    running: int
    succeeded: int
    failed: int
    skipped: int
    cancelled: int


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The durable state of a run. The tasks that have not begun, `counts.pending`, are told in three parts.

    `remaining` names the planned tasks, at most 10,000 of them; `unlisted` is how many more are planned; `unplanned` is
    how many tasks belong to phases that are not planned yet.
    """

    state: RunState
    round: int
    counts: TaskCounts
    remaining: list[str]
    spend: Spend
    quiesced: bool
    committed_at: str
    phase: str | None = None
    unlisted: int = 0
    unplanned: int = 0


class Tokens(msgspec.Struct, frozen=True):
    """Tokens as the provider counted them. Built-in models count words."""

    input: int
    output: int


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """One judge's scores for an answer, by criterion."""

    judge: str
    repeat: int
    fate: str
    marks: dict[str, float]
    round: int = 1
    reason: str | None = None


class Citation(msgspec.Struct, frozen=True):
    """A page on which an answer rests, as the provider names it."""

    url: str
    title: str = ""


class Generated(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of one candidate to one document; `cost` is in US dollars.

    `content_id` is set if the answer was written into the library. `checks` has the mark of each check, from 0 to 1.
    `citations` are the pages that the answer rests on; one that `lacks_citations` had to name some.
    """

    id: str
    task_key: str
    input: str
    candidate: str
    repeat: int
    body: str
    finish_reason: str
    tokens: Tokens
    created_at: str
    input_name: str = ""
    cost: str | None = None
    scores: list[Marks] = msgspec.field(default_factory=list)
    content_id: str | None = None
    checks: dict[str, float | None] = {}
    citations: list[Citation] = msgspec.field(default_factory=list)
    lacks_citations: bool = False
    version: int = 1


class SharedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, in numbers and codes. `state` and `code` are the run's or the task's."""

    at: str
    level: str
    event: str
    task_key: str | None = None
    state: str | None = None
    code: str | None = None
    model: str | None = None
    attempt: int | None = None
    latency_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class LogEntry(SharedEntry, frozen=True, kw_only=True):
    """A row of a run's log. `kind` is the kind of the task that `task_key` names."""

    seq: int
    kind: str | None = None


class AnswerPart(msgspec.Struct, frozen=True):
    """A part of an answer while a model writes it: its beginning, or what follows the part before, or a gap."""

    task_key: str
    candidate: str
    document: str
    after: Literal["nothing", "text", "gap"]
    text: str


class RunEvent(msgspec.Struct, frozen=True):
    """An event: a row of the log (`kind` is its event), or the run as it is now (`progress`, and at last `end`).

    `id` is what to go on after. An event of the kind `text` is a `part` of an answer, if texts were asked for.
    """

    id: str
    kind: str
    entry: LogEntry | None = None
    run: RunSummary | None = None
    part: AnswerPart | None = None


class LogCount(msgspec.Struct, frozen=True):
    """How many rows the log has."""

    count: int


class Calls(msgspec.Struct, frozen=True):
    """Calls of each phase; those that judge combined answers are among `score` and `compare`."""

    generate: int
    score: int
    compare: int
    total: int
    combine: int = 0


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """The chance, from `chance` to `chance_high`, that so many documents find a true lead of 69 % preferred.

    About `documents_enough_low` to `documents_enough` documents find it in 80 of 100 runs.
    """

    documents: int
    candidates: int
    chance: float
    sentence: str
    documents_enough: int | None = None
    chance_high: float = 0.0
    documents_enough_low: int | None = None


class Saving(msgspec.Struct, frozen=True, kw_only=True):
    """What a run that may stop early would probably not need, in calls and US dollars.

    Both hold if the best is preferred to the second in 69 %.
    """

    calls: int
    cost: str | None = None


class EconomyCosts(msgspec.Struct, frozen=True, kw_only=True):
    """What a run costs if its calls go in batches, and what it costs if each goes by itself. In US dollars."""

    likely_cost: str | None = None
    worst_cost: str | None = None
    likely_cost_at_once: str | None = None
    worst_cost_at_once: str | None = None


class KnownPart(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the costs where some price is not, in US dollars.

    The unknown calls of the likely and of the worst cost come on top. `unpriced_models` are those whose price is not
    known; the fee of a web search is in no price list either.
    """

    likely_cost: str
    worst_cost: str
    likely_unknown_calls: int
    worst_unknown_calls: int
    unpriced_models: list[str]


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What executing would take, and what it could decide. Costs are US dollars, None where a price is not known.

    All of it is for a run that compares everything; `stopping` says in words when it may stop earlier, if it is to.
    `economy` has both prices where the calls can go in batches; the other costs are those that this run pays.
    `known_part` says what is known where some price is not.
    """

    calls: Calls
    documents: int
    candidates: int
    power: Power
    likely_cost: str | None = None
    worst_cost: str | None = None
    stopping: str | None = None
    saving: Saving | None = None
    economy: EconomyCosts | None = None
    known_part: KnownPart | None = None


class SharedLog(msgspec.Struct, frozen=True):
    """A copy of a log that the operator can read until `expires_at`; `fields` are all that it holds."""

    share_id: str
    expires_at: str
    fields: list[str]

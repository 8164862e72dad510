"""What goes over the wire about runs."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from carrel.contents.schemas import GivenVariables
from carrel.evaluation.judges.human import HumanCheck
from carrel.evaluation.passing import CheckResults
from carrel.evaluation.people.people import PeopleVerdict
from carrel.evaluation.ranking.power import Power
from carrel.evaluation.ranking.ranking import Ranking
from carrel.evaluation.verdict import Statement
from carrel.http.requests.schema import Ids, In, Name, Tags
from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.money import DollarsText
from carrel.presets.configuration import MAX_INPUTS, Configuration, DocumentGroups, Judges, Rows
from carrel.providers.base import Citation, FinishReason
from carrel.providers.endings import ModelEnding
from carrel.runs.model.plan import Kind, Presented
from carrel.runs.model.setup import RunId
from carrel.runs.model.states import PauseReason, State, TaskState
from carrel.vault.ids import ContentId, PresetId

Inputs = Annotated[list[ContentId], Meta(min_length=1, max_length=MAX_INPUTS)]


class ExecuteIn(In, frozen=True):
    """How a preset is executed: texts for open variables, and other inputs, rows or groups than the preset's.

    So are `economy`, whether calls go in batches at half the price, and `reuse`, whether results of earlier runs are
    taken. With `trial`, every candidate answers the first input once, and nobody judges. Lists and leaderboards leave
    such a run out, and a run with `reuse` takes its answers.
    """

    name: Name | None = None
    variables: GivenVariables = msgspec.field(default_factory=dict)
    inputs: Inputs | None = None
    rows: Rows | None = None
    groups: DocumentGroups | None = None
    economy: bool | None = None
    reuse: bool | None = None
    trial: bool = False


class RunIn(ExecuteIn, frozen=True):
    """A run to be made, from either a preset or a configuration of its own."""

    MAX_ELEMENTS: ClassVar[int] = Configuration.MAX_ELEMENTS

    preset_id: PresetId | None = None
    configuration: Configuration | None = None


class ReevaluateIn(In, frozen=True):
    """Another round over the same answers. A field that is left out stays as it was in the round before.

    `judges` score and compare; `criteria` and `instructions` name contents. If the run was made without judges, they
    compare the answers of two or more candidates, and with `criteria` they also score every answer.
    """

    judges: Judges | None = None
    criteria: ContentId | None = None
    instructions: ContentId | None = None


class BulkIn(In, frozen=True):
    """The runs to delete."""

    ids: Ids


class Progress(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The tasks of the present round, including those that are planned later.

    `eta_seconds` is known while the run is under way, once enough of its phase has ended to measure its speed. `saved`
    counts the tasks that the looks of a run that may stop early made unnecessary, and `saved_cost` is about what they
    would have cost, by the mean of those that were done; null if that is not known.
    """

    total: int
    pending: int
    running: int
    succeeded: int
    failed: int
    skipped: int
    cancelled: int
    percent: int
    eta_seconds: int | None
    saved: int = 0
    saved_cost: DollarsText | None = None


class Spend(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """What all calls together cost. `unknown_calls` are the calls whose cost is unknown; their cost comes on top.

    `reused` counts the tasks that took the result of an earlier run in place of a call.
    """

    cost: DollarsText
    unknown_calls: int
    reused: int = 0


class RunSummary(msgspec.Struct, frozen=True, gc=False):
    """A run in a list. A `trial` only tried its candidates on one input."""

    id: RunId
    name: str
    preset_id: PresetId | None
    state: State
    pause_reason: PauseReason | None
    phase: Kind | None
    round: int
    progress: Progress
    spend: Spend
    verdict: str | None
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    pinned: bool
    tags: list[str]
    trial: bool


class Run(RunSummary, frozen=True, kw_only=True):
    """A run with the configuration that it was made from. `quiesced`: no call is in flight, it is safe to kill.

    `hosts` has the host of each of its models that answers elsewhere than at its provider's own host.
    """

    configuration: Configuration
    hosts: dict[str, str]
    quiesced: bool
    version: int


class RunChange(In, frozen=True):
    """A run's name and tags, and whether the run stays when `retention_days` are over.

    A field that is left out is emptied.

    The client may send back all other fields of a run as they are stored.
    """

    name: Name
    tags: Tags = msgspec.field(default_factory=list)
    pinned: bool = False
    id: RunId | UnsetType = UNSET
    preset_id: PresetId | UnsetType | None = UNSET
    state: State | UnsetType = UNSET
    pause_reason: PauseReason | UnsetType | None = UNSET
    phase: Kind | UnsetType | None = UNSET
    round: int | UnsetType = UNSET
    progress: Progress | UnsetType = UNSET
    spend: Spend | UnsetType = UNSET
    verdict: str | UnsetType | None = UNSET
    created_at: Time | UnsetType = UNSET
    started_at: Time | UnsetType | None = UNSET
    finished_at: Time | UnsetType | None = UNSET
    trial: bool | UnsetType = UNSET
    configuration: Configuration | UnsetType = UNSET
    hosts: dict[str, str] | UnsetType = UNSET
    quiesced: bool | UnsetType = UNSET
    version: int | UnsetType = UNSET


class RunCount(msgspec.Struct, frozen=True):
    """How many runs there are, in total and in each state."""

    total: int
    by_state: dict[State, int]


class Refused(msgspec.Struct, frozen=True):
    """A run that was not deleted, and the code of the error that says why."""

    id: str
    code: str


class Deleted(msgspec.Struct, frozen=True):
    """The result of a bulk deletion."""

    deleted: list[str]
    refused: list[Refused]


class TaskError(msgspec.Struct, frozen=True):
    """Why a task brought no result. `said` are the provider's own words about it, where it said any."""

    code: str
    message: str
    said: str | None = None


class Task(msgspec.Struct, frozen=True):
    """One step. `document` is the number of the input; candidates are named by label, judges by name.

    In a comparison, `order` says whether the judge saw the candidate's answer first (`ab`) or the opponent's (`ba`).
    `reused`: the result is that of an earlier run.
    """

    key: str
    kind: Kind
    state: TaskState
    round: int
    attempts: int
    document: int
    document_name: str
    candidate: str
    opponent: str | None
    judge: str | None
    repeat: int
    order: Presented | None
    generated_id: Id | None
    error: TaskError | None
    started_at: Time | None
    finished_at: Time | None
    cost: DollarsText | None
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
    """Where a run stands, durably. Three fields divide the tasks that have not begun, `counts.pending`.

    `remaining` names the planned tasks, at most 10,000 of them; `unlisted` is how many more are planned; `unplanned` is
    how many tasks will be planned in later phases, once it is known which candidates they concern.
    """

    state: State
    phase: Kind | None
    round: int
    counts: TaskCounts
    remaining: list[str]
    unlisted: int
    unplanned: int
    spend: Spend
    quiesced: bool
    committed_at: Time


class Tokens(msgspec.Struct, frozen=True):
    """Tokens as the provider counted them; built-in models count words."""

    input: int
    output: int


class Marks(msgspec.Struct, frozen=True):
    """What one judge gave an answer: a number for each criterion. `by_rule`: the answer was not delivered."""

    round: int
    judge: str
    repeat: int
    fate: Literal["given", "by_rule", "invalid"]
    marks: dict[str, float]
    reason: str | None


class GeneratedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One answer of one candidate to one input, by a `model` at a `host` (null: the provider's own).

    `input` is the id of the document, or that of the row of a data set. `content_id` is set if a run wrote the
    answer into the library and the content still exists. `checks` has the mark of each check, from 0 to 1; null where
    a check could not be made. `citations` are the pages that the answer rests on; an answer that `lacks_citations`
    had to name some, and counts as not delivered. `thought` is what the model wrote before its answer, where its server
    does not keep that apart: it is neither judged nor counted.
    """

    id: Id
    task_key: str
    input: str
    input_name: str
    candidate: str
    model: str | None
    host: str | None
    repeat: int
    body: str
    finish_reason: FinishReason
    tokens: Tokens
    cost: DollarsText | None
    scores: list[Marks]
    created_at: Time
    version: int
    content_id: ContentId | None = None
    thought: str | None = None
    checks: dict[str, float | None] = {}
    citations: list[Citation] = []
    lacks_citations: bool = False


class LogCount(msgspec.Struct, frozen=True):
    """How many rows the log has."""

    count: int


class LookTaken(msgspec.Struct, frozen=True, kw_only=True):
    """What a round found at a look on its way, when so many `documents` were compared.

    `leader` led alone, or nobody did. The `dropped` took no further part. `decided`: the round ended here. `saved` is
    the number of calls that the look made unnecessary.
    """

    number: int
    documents: int
    leader: str | None
    dropped: tuple[str, ...]
    decided: bool
    saved: int


class RankingOut(msgspec.Struct, frozen=True):
    """The ranking of a round, in words and in figures, with what blind votes say, and what people would say.

    `looks` are those that a run which may stop early took on its way. `checks` is what the checks come to that need no
    judge; null if the run has none. `hosts` has the host of each candidate whose model did not answer at its provider's
    own host; judges are named with theirs.
    """

    round: int
    verdict: Statement
    ranking: Ranking
    human: HumanCheck | None = None
    people: PeopleVerdict | None = None
    looks: tuple[LookTaken, ...] = ()
    checks: CheckResults | None = None
    hosts: dict[str, str] = {}


class Calls(msgspec.Struct, frozen=True):
    """Calls of each phase. Calls that judge combined answers count among `score` and `compare`."""

    generate: int
    score: int
    compare: int
    total: int
    combine: int


class Saving(msgspec.Struct, frozen=True):
    """What a run that may stop early would probably not need, if the best is preferred to the second in 69 %."""

    calls: int
    cost: DollarsText | None


class EconomyCosts(msgspec.Struct, frozen=True):
    """What a run costs if its calls go in batches, and what it costs if each goes by itself."""

    likely_cost: DollarsText | None
    worst_cost: DollarsText | None
    likely_cost_at_once: DollarsText | None
    worst_cost_at_once: DollarsText | None


class KnownPart(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the costs where some price is not: the sums over all other calls, in US dollars.

    `likely_unknown_calls` of the likely cost and `worst_unknown_calls` of the worst one come on top, at a price that
    nobody knows. `unpriced_models` are those whose price is not known; a search of the web has a fee that is in no
    price list, so the calls of a model that searches count among these too, whatever its tokens cost.
    """

    likely_cost: DollarsText
    worst_cost: DollarsText
    likely_unknown_calls: int
    worst_unknown_calls: int
    unpriced_models: list[str]


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """What executing would take, and what it could decide. A cost is null where a price is not known.

    `known_part` says what is known where some price is not. Calls and costs are those of a run that compares
    everything. `stopping` says when the run may stop earlier; it is null unless that is wanted. `saving` is what it
    would then probably not need. `economy` has both prices where the calls can go in batches; `likely_cost` and
    `worst_cost` are the one that this run pays. `over_budget` says what does not fit into the budget, before the run
    pauses there. `endings` are models that are switched off within 60 days, or were.
    """

    calls: Calls
    likely_cost: DollarsText | None
    worst_cost: DollarsText | None
    documents: int
    candidates: int
    power: Power
    stopping: str | None = None
    saving: Saving | None = None
    economy: EconomyCosts | None = None
    known_part: KnownPart | None = None
    over_budget: str | None = None
    endings: tuple[ModelEnding, ...] = ()

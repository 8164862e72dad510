"""What a run is made from: documents, candidates, judges, limits. A preset keeps a configuration; a run copies one."""

from collections.abc import Collection, Iterable, Iterator
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Meta

from carrel.checks.definition import Checks
from carrel.http.requests.schema import In
from carrel.http.requests.validation import join, name_of
from carrel.kit.money import DollarsIn
from carrel.providers.base import Grounding, Parameters
from carrel.providers.registry import fold
from carrel.vault.ids import ContentId, DataSetId

MAX_INPUTS = 1_000
MAX_CANDIDATES = 20
MAX_JUDGES = 10
MAX_LABEL_CHARACTERS = 100
MAX_DROPPED_KINDS = 50

ModelName = Annotated[
    str, Meta(min_length=3, max_length=200, description="`provider:name`", examples=["local:lexrank"])
]
Repeats = Annotated[int, Meta(ge=1, le=10)]
Weight = Annotated[float, Meta(gt=0, le=1_000)]
ByInput = Annotated[dict[ContentId, ContentId], Meta(max_length=MAX_INPUTS)]
"""A content for each of some inputs, by the input's id."""
ColumnName = Annotated[str, Meta(min_length=1, max_length=100)]
GroupName = Annotated[str, Meta(min_length=1, max_length=100)]


class Candidate(In, frozen=True):
    """One way to do the job: a model with its parameters and its prompt, or texts that exist already.

    `label` names the candidate in the ranking; without one it has the model's name. `instructions` replace the
    preset's. `existing` holds finished answers; with rows of a data set, `column` names the column that does. `model`
    answers the inputs that have none; it is required unless every input has an answer, or a column is named. With
    `grounding`, the model may search the web by its provider's own tool; where it is `required`, an answer that
    names no page loses against one that does. With `response_schema`, a JSON schema, the model answers in JSON that
    follows it; an answer that does not loses against one that does.
    """

    label: Annotated[str, Meta(max_length=MAX_LABEL_CHARACTERS)] = ""
    model: ModelName | None = None
    parameters: Parameters = Parameters()
    instructions: ContentId | None = None
    existing: ByInput = msgspec.field(default_factory=dict)
    column: ColumnName | None = None
    grounding: Grounding = "off"
    response_schema: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        fold(self, "model")


class Judge(In, frozen=True):
    """A model that judges. Only the ratio of the judges' weights counts."""

    model: ModelName
    weight: Weight = 1.0
    parameters: Parameters = Parameters()

    def __post_init__(self) -> None:
        fold(self, "model")


Candidates = Annotated[list[Candidate], Meta(min_length=1, max_length=MAX_CANDIDATES)]
Judges = Annotated[list[Judge], Meta(min_length=1, max_length=MAX_JUDGES)]


class Generation(In, frozen=True):
    """How answers are made. With `show_criteria`, the candidates see the criteria by which judges judge them."""

    candidates: Candidates
    repeats: Repeats = 1
    show_criteria: bool = False


class Scoring(In, frozen=True):
    """How judges score each answer by itself, criterion by criterion."""

    judges: Judges
    criteria: ContentId
    instructions: ContentId | None = None
    repeats: Repeats = 1


class Comparison(In, frozen=True):
    """How judges compare answers, in pairs and in both orders.

    `finalists` is how many of the candidates that scored best are compared; with null it follows from the number of
    candidates. With `stop_when_decided` the run looks at every tenth of the documents, or at every fifth one if that is
    later: it goes on without the candidates that the leader has beaten by then, and ends once one is best. Each look is
    stricter than a single test would be. It never stops early with fewer than 13 documents, or where answers are
    combined.
    """

    judges: Judges
    instructions: ContentId | None = None
    finalists: Annotated[int, Meta(ge=2, le=MAX_CANDIDATES)] | None = None
    stop_when_decided: bool = False


class Combination(In, frozen=True):
    """How models combine the best answers to each document into one.

    Each of `candidates` combines with a model and takes part under its own label (default: "combined by" and the
    model). Judges judge its answers like any others. `sources` is how many answers go in: those of the candidates that
    the judges put first over all documents. A candidate's `instructions` replace the shared ones.
    """

    candidates: Candidates
    instructions: ContentId | None = None
    sources: Annotated[int, Meta(ge=2, le=MAX_CANDIDATES)] = 2


class RunLimits(In, frozen=True):
    """What a run may use: calls at once, seconds and attempts for each call, US dollars in all (null: no limit)."""

    concurrency: Annotated[int, Meta(ge=1, le=64)] = 8
    timeout_seconds: Annotated[int, Meta(ge=1, le=3_600)] = 120
    max_attempts: Annotated[int, Meta(ge=1, le=10)] = 3
    budget: DollarsIn | None = None


class Output(In, frozen=True):
    """Where answers go besides the run itself.

    With `library`, the run writes them into the library when it completes, as contents of type `output_document`: one
    for each document of the `best` candidate, or of all. With `github`, Carrel sends them through a `connection` into
    the folder `path`, as one commit on `branch`, or on the connection's own branch without one. If sending fails, the
    run's log says so, and the run does not fail.
    """

    destination: Literal["none", "library", "github"] = "none"
    answers: Literal["best", "all"] = "best"
    connection: Annotated[str, Meta(max_length=100)] | None = None
    path: Annotated[str, Meta(max_length=500)] = ""
    branch: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class DocumentGroups(In, frozen=True):
    """What makes documents belong together. Those of one group count together, because they tell much the same.

    `tag`: the first of a document's tags that begins with `prefix`, such as `topic:`. `name`: the folder in its name
    (`letters/anna 1`), or else the words before the first mark or number. `map`: `of` has the group of each input.
    A document without a group stands alone.
    """

    by: Literal["tag", "name", "map"]
    prefix: Annotated[str, Meta(max_length=50)] = ""
    of: Annotated[dict[ContentId, GroupName], Meta(max_length=MAX_INPUTS)] = msgspec.field(default_factory=dict)


class Rows(In, frozen=True):
    """Rows of a data set as inputs.

    Of all rows, those whose columns have exactly the values in `where`; an empty value stands for an empty cell. With
    `row`, only the row of this number, counted from 1. With null, `version` is the newest one when the run is made.
    """

    data_set: DataSetId
    where: Annotated[dict[ColumnName, str], Meta(max_length=10)] = msgspec.field(default_factory=dict)
    version: Annotated[int, Meta(ge=1, lt=1 << 31)] | None = None
    row: Annotated[int, Meta(ge=1, lt=1 << 31)] | None = None


class DroppedPart(In, frozen=True):
    """How many parts of one kind an imported suite has that the preset leaves out, such as `assertion llm-rubric`."""

    kind: Annotated[str, Meta(min_length=1, max_length=100)]
    count: Annotated[int, Meta(ge=1, le=1_000_000)]


class Configuration(In, frozen=True, kw_only=True):
    """Everything that determines a run.

    Its inputs are either documents, `inputs`, or `rows` of a data set. `references` holds, for some of the inputs, a
    text that good answers agree with; `groups` says which documents belong together. With null, only those with nearly
    the same text do. Columns of a data set say both for its rows.
    Judges score or compare the answers, or `checks` are made, which need no judge. Without any of them, a run only
    makes answers, which judges can judge later. `headline` says by which of both the verdict is: by judges if there are
    any, else by checks, unless it is given. `macro_f1` is the mean F1 over the classes that the expected outputs of a
    check `equals` are. With `economy`, calls go in batches at half the price, which a provider
    answers within a day; it goes with models of OpenAI and Anthropic, and with built-in ones. With `reuse`, answers and
    verdicts are those of earlier runs wherever the same was asked of the same model with the same parameters.
    """

    MAX_ELEMENTS: ClassVar[int] = 50_000
    """Twenty candidates may have answers to a thousand inputs each."""

    inputs: Annotated[list[ContentId], Meta(max_length=MAX_INPUTS)] = msgspec.field(default_factory=list)
    rows: Rows | None = None
    generation: Generation
    instructions: ContentId | None = None
    references: ByInput = msgspec.field(default_factory=dict)
    scoring: Scoring | None = None
    comparison: Comparison | None = None
    combination: Combination | None = None
    limits: RunLimits = RunLimits()
    billing: Literal["own_keys", "credits"] = "own_keys"
    economy: bool = False
    reuse: bool = False
    output: Output = Output()
    groups: DocumentGroups | None = None
    checks: Checks = msgspec.field(default_factory=list)
    headline: Literal["judges", "checks", "macro_f1"] | None = None
    dropped: Annotated[list[DroppedPart], Meta(max_length=MAX_DROPPED_KINDS)] = msgspec.field(default_factory=list)


class ContentReference(NamedTuple):
    """Contents that a configuration names in one place, and the types of content that fit there.

    A path is `at` and one of the `endings`, which are as many as there are ids.
    """

    at: str
    ids: Collection[ContentId]
    types: tuple[str, ...]
    endings: Iterable[str] = ("",)

    def paths(self) -> Iterator[tuple[str, ContentId]]:
        """Each content with its path, for an error: a configuration may name 20,000, so it is put together only then.

        Only once.
        """
        return ((self.at + ending, content_id) for ending, content_id in zip(self.endings, self.ids, strict=True))


def contents_of(configuration: Configuration) -> Iterator[ContentReference]:
    """Every content that the configuration names, each time that it names it."""
    documents, answers = ("input_document", "output_document"), ("output_document", "input_document")
    places = (f"[{index}]" for index in range(len(configuration.inputs)))
    yield ContentReference("inputs", configuration.inputs, documents, places)
    yield _by_input("references", configuration.references, ("reference_document",))
    for index, candidate in enumerate(configuration.generation.candidates):
        path = f"generation.candidates[{index}]"
        yield from _instructions(path, candidate.instructions, "generation_instructions")
        yield _by_input(f"{path}.existing", candidate.existing, answers)
    yield from _instructions("", configuration.instructions, "generation_instructions")
    if configuration.scoring is not None:
        yield ContentReference("scoring.criteria", (configuration.scoring.criteria,), ("criteria",))
        yield from _instructions("scoring", configuration.scoring.instructions, "scoring_instructions")
    if configuration.comparison is not None:
        yield from _instructions("comparison", configuration.comparison.instructions, "comparison_instructions")
    if configuration.combination is not None:
        yield from _instructions("combination", configuration.combination.instructions, "combination_instructions")
        for index, candidate in enumerate(configuration.combination.candidates):
            path = f"combination.candidates[{index}]"
            yield from _instructions(path, candidate.instructions, "combination_instructions")


def ids_of(held: Iterable[ContentReference]) -> list[ContentId]:
    """The id of every content that is named, once, in no order."""
    return list(set().union(*(one.ids for one in held)))


def _by_input(at: str, named: dict[ContentId, ContentId], types: tuple[str, ...]) -> ContentReference:
    return ContentReference(at, named.values(), types, (f".{name_of(key)}" for key in named))


def _instructions(path: str, content_id: ContentId | None, kind: str) -> Iterator[ContentReference]:
    if content_id is not None:
        yield ContentReference(join(path, "instructions"), (content_id,), (kind,))

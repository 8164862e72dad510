"""What a run is made from: documents, candidates, judges, limits. A preset keeps one; a run snapshots one."""

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from carrel.kit.http.schema import In
from carrel.kit.http.validation import join, name_of
from carrel.kit.money import DollarsAmount
from carrel.providers.base import Parameters
from carrel.vault.ids import ContentId

MAX_INPUTS = 1_000
MAX_CANDIDATES = 20
MAX_JUDGES = 10
MAX_LABEL_CHARACTERS = 100

ModelName = Annotated[
    str, Meta(min_length=3, max_length=200, description="`provider:name`", examples=["local:lexrank"])
]
Repeats = Annotated[int, Meta(ge=1, le=10)]
Weight = Annotated[float, Meta(gt=0, le=1_000)]
ByInput = Annotated[dict[ContentId, ContentId], Meta(max_length=MAX_INPUTS)]
"""For some of the inputs, a content that belongs to it."""


class Candidate(In, frozen=True):
    """One way of doing the job: a model with its parameters and its prompt, or texts that exist already.

    `label` names it in the ranking; without one it is the model's name. `instructions` replace the preset's. `existing`
    holds finished answers; inputs that have none are given to `model`, which is needed unless every input has one.
    """

    label: Annotated[str, Meta(max_length=MAX_LABEL_CHARACTERS)] = ""
    model: ModelName | None = None
    parameters: Parameters = Parameters()
    instructions: ContentId | None = None
    existing: ByInput = msgspec.field(default_factory=dict)


class Judge(In, frozen=True):
    """A model that judges. Only the ratio of the judges' weights counts."""

    model: ModelName
    weight: Weight = 1.0
    parameters: Parameters = Parameters()


Candidates = Annotated[list[Candidate], Meta(min_length=1, max_length=MAX_CANDIDATES)]
Judges = Annotated[list[Judge], Meta(min_length=1, max_length=MAX_JUDGES)]


class Generation(In, frozen=True):
    """How answers are made. `show_criteria` tells the candidates what they will be judged by."""

    candidates: Candidates
    repeats: Repeats = 1
    show_criteria: bool = False


class Scoring(In, frozen=True):
    """How each answer is marked by itself, criterion by criterion."""

    judges: Judges
    criteria: ContentId
    instructions: ContentId | None = None
    repeats: Repeats = 1


class Comparison(In, frozen=True):
    """How answers are held against each other, in pairs and both ways round.

    `finalists` is how many of the candidates that scored best are compared; null leaves it to the number of candidates.
    `stop_when_decided` compares no further once one is told from all others. The run looks at every sixth of the
    documents, or at every fifth one if that is later, each time more strictly than one that looks once. Over fewer than
    13 documents, and where answers are combined, it never looks early.
    """

    judges: Judges
    instructions: ContentId | None = None
    finalists: Annotated[int, Meta(ge=2, le=MAX_CANDIDATES)] | None = None
    stop_when_decided: bool = False


class Combination(In, frozen=True):
    """How the best answers to each document are made into one.

    Every one of `candidates` does so with a model, takes part under its own label (default: "combined by" and the
    model), and is judged like any other. `sources` is how many answers go in: those of the candidates that the judges
    put first over all documents. A candidate's `instructions` replace those for all.
    """

    candidates: Candidates
    instructions: ContentId | None = None
    sources: Annotated[int, Meta(ge=2, le=MAX_CANDIDATES)] = 2


class RunLimits(In, frozen=True):
    """What a run may take: calls at once, seconds and attempts for each call, US dollars in all (null: no bound)."""

    concurrency: Annotated[int, Meta(ge=1, le=64)] = 8
    timeout_seconds: Annotated[int, Meta(ge=1, le=3_600)] = 120
    max_attempts: Annotated[int, Meta(ge=1, le=10)] = 3
    budget: DollarsAmount | None = None


class Output(In, frozen=True):
    """Where answers go besides the run itself.

    Into the `library` they go when the run completes, as contents of type `output_document`: of the `best` candidate,
    or of all, one for each document. To `github` they go through a `connection`, into the folder `path`, as one
    commit on `branch`, or else the connection's own; a failure of that is told in the run's log and fails nothing.
    """

    destination: Literal["none", "library", "github"] = "none"
    answers: Literal["best", "all"] = "best"
    connection: Annotated[str, Meta(max_length=100)] | None = None
    path: Annotated[str, Meta(max_length=500)] = ""
    branch: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class Configuration(In, frozen=True):
    """Everything that a run follows from. `references` holds, for some of the inputs, what a good answer is held to."""

    inputs: Annotated[list[ContentId], Meta(min_length=1, max_length=MAX_INPUTS)]
    generation: Generation
    instructions: ContentId | None = None
    references: ByInput = msgspec.field(default_factory=dict)
    scoring: Scoring | None = None
    comparison: Comparison | None = None
    combination: Combination | None = None
    limits: RunLimits = RunLimits()
    billing: Literal["own_keys", "credits"] = "own_keys"
    output: Output = Output()


class Held(NamedTuple):
    """A content that a configuration names: where, and which types of content fit there."""

    path: str
    id: ContentId
    types: tuple[str, ...]


def contents_of(configuration: Configuration) -> Iterator[Held]:
    """Every content that the configuration names, as often as it names it."""
    documents, answers = ("input_document", "output_document"), ("output_document", "input_document")
    for index, content_id in enumerate(configuration.inputs):
        yield Held(f"inputs[{index}]", content_id, documents)
    for input_id, content_id in configuration.references.items():
        yield Held(f"references.{name_of(input_id)}", content_id, ("reference_document",))
    for index, candidate in enumerate(configuration.generation.candidates):
        path = f"generation.candidates[{index}]"
        yield from _instructions(path, candidate.instructions, "generation_instructions")
        for input_id, content_id in candidate.existing.items():
            yield Held(f"{path}.existing.{name_of(input_id)}", content_id, answers)
    yield from _instructions("", configuration.instructions, "generation_instructions")
    if configuration.scoring is not None:
        yield Held("scoring.criteria", configuration.scoring.criteria, ("criteria",))
        yield from _instructions("scoring", configuration.scoring.instructions, "scoring_instructions")
    if configuration.comparison is not None:
        yield from _instructions("comparison", configuration.comparison.instructions, "comparison_instructions")
    if configuration.combination is not None:
        yield from _instructions("combination", configuration.combination.instructions, "combination_instructions")
        for index, candidate in enumerate(configuration.combination.candidates):
            path = f"combination.candidates[{index}]"
            yield from _instructions(path, candidate.instructions, "combination_instructions")


def _instructions(path: str, content_id: ContentId | None, kind: str) -> Iterator[Held]:
    if content_id is not None:
        yield Held(join(path, "instructions"), content_id, (kind,))

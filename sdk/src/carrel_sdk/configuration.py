"""What a run is made from: documents, candidates, judges, limits. A preset keeps one; a run snapshots one.

Contents are named by their ids. What is left out takes the service's default.
"""

from typing import Any, Literal

import msgspec


class Parameters(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Parameters of a model. None leaves the choice to the provider.

    `thinking_budget` is the most tokens that a model thinks, which count as output.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    top_k: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    thinking_budget: int | None = None


class Candidate(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One way to do the job: a model with its parameters and prompt, or texts that exist already.

    `label` names it in the ranking (default: the model's name). `instructions` replace the preset's. `existing` holds
    finished answers, by the id of the input; with rows of a data set, `column` names the column that holds them. With
    `grounding`, the model may search the web; where it is `required`, an answer without citations loses. With
    `response_schema`, a JSON schema, the model answers in JSON that follows it; an answer that does not loses.
    """

    label: str = ""
    model: str | None = None
    parameters: Parameters = msgspec.field(default_factory=Parameters)
    instructions: str | None = None
    existing: dict[str, str] = msgspec.field(default_factory=dict)
    column: str | None = None
    grounding: Literal["off", "allowed", "required"] = "off"
    response_schema: dict[str, Any] | None = None


class Judge(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A model that judges. Only the ratio of the judges' weights counts."""

    model: str
    weight: float = 1.0
    parameters: Parameters = msgspec.field(default_factory=Parameters)


class Generation(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How answers are made. `show_criteria` tells the candidates what they will be judged by."""

    candidates: list[Candidate]
    repeats: int = 1
    show_criteria: bool = False


class Scoring(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How judges score each answer by itself, on each criterion."""

    judges: list[Judge]
    criteria: str
    instructions: str | None = None
    repeats: int = 1


class Comparison(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How judges compare answers in pairs, in both orders.

    `finalists` is how many of the candidates that scored best are compared.
    """

    judges: list[Judge]
    instructions: str | None = None
    finalists: int | None = None
    stop_when_decided: bool = False


class Combination(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How a model combines the best answers to each document into one.

    Every one of `candidates` does so, under its own label (default: "combined by" and its model), and is judged like
    any other. `sources` is how many answers go in.
    """

    candidates: list[Candidate]
    instructions: str | None = None
    sources: int = 2


class RunLimits(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a run may take: calls at once, seconds and attempts for each call, US dollars in all (a decimal string)."""

    concurrency: int = 8
    timeout_seconds: int = 120
    max_attempts: int = 3
    budget: str | None = None


class Output(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Where answers go besides the run itself: `none`, `library` or `github`; of the `best` candidate or of `all`.

    To GitHub they go through a `connection`, into the folder `path`, on `branch` or else the connection's own.
    """

    destination: str = "none"
    answers: str = "best"
    connection: str | None = None
    path: str = ""
    branch: str | None = None


class DocumentGroups(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What makes documents belong together: `tag` (the first that begins with `prefix`), `name` or `map`.

    By `name` it is the folder in a document's name, or its first words. With `map`, `of` has the group of each input.
    """

    by: Literal["tag", "name", "map"]
    prefix: str = ""
    of: dict[str, str] = msgspec.field(default_factory=dict)


class Rows(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Rows of a data set as inputs: all, or those whose columns have the values in `where`.

    With `row`, only the row of this number, counted from 1. Without `version`, the newest one when the run is made.
    """

    data_set: str
    where: dict[str, str] = msgspec.field(default_factory=dict)
    version: int | None = None
    row: int | None = None


class Check(msgspec.Struct, kw_only=True, omit_defaults=True, rename={"schema_": "schema"}):
    """One check of every answer, without a judge. Which fields go with which `kind` is in the user guide.

    `contains`, `not_contains` and `forbidden` look for `texts`, `regex` for `pattern`; `equals`, `rouge_l` and `chrf`
    compare with `expected`, or else with the document's reference. An answer that fails a `required` check loses.
    """

    kind: Literal[
        "contains", "not_contains", "forbidden", "regex", "equals", "json", "json_schema", "length", "rouge_l", "chrf"
    ]
    name: str = ""
    required: bool = False
    texts: list[str] = msgspec.field(default_factory=list)
    pattern: str | None = None
    expected: str | None = None
    schema_: dict[str, Any] | None = None
    least: float | None = None
    most: float | None = None
    tolerance: float | None = None
    ignore_case: bool = False
    ignore_space: bool = False


class Configuration(msgspec.Struct, kw_only=True, omit_defaults=True):
    """Everything that determines a run. Its inputs are either documents, `inputs`, or `rows` of a data set.

    `references` names, for some inputs, a text that shows a good answer.

    `groups` says which documents belong together, because they tell much the same. `checks` need no judge; a run may
    have them alone, with neither `scoring` nor `comparison`. With `economy`, calls go in batches at half the price,
    which OpenAI and Anthropic answer within a day. With `reuse`, answers and verdicts are those of earlier runs
    wherever the same was asked of the same model with the same parameters.
    """

    inputs: list[str] = msgspec.field(default_factory=list)
    rows: Rows | None = None
    generation: Generation
    instructions: str | None = None
    references: dict[str, str] = msgspec.field(default_factory=dict)
    scoring: Scoring | None = None
    comparison: Comparison | None = None
    combination: Combination | None = None
    limits: RunLimits = msgspec.field(default_factory=RunLimits)
    billing: Literal["own_keys", "credits"] = "own_keys"
    economy: bool = False
    reuse: bool = False
    output: Output = msgspec.field(default_factory=Output)
    groups: DocumentGroups | None = None
    checks: list[Check] = msgspec.field(default_factory=list)

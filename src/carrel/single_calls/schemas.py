"""What goes over the wire about single generations, scores and comparisons."""

from typing import Annotated

import msgspec
from msgspec import Meta

from carrel.evaluation.records import Fate, Side, Word
from carrel.http.requests.schema import CriteriaText, In, Text
from carrel.kit.ids import Id
from carrel.kit.money import DollarsText
from carrel.providers.base import FinishReason, Parameters, Usage
from carrel.providers.registry import fold

Seconds = Annotated[int, Meta(ge=1, le=3_600)]


class GenerationIn(In, frozen=True):
    """One prompt for one model. `model` is `provider:name`.

    Built-in models read `prompt` as the document and `system` as what to look for in it.
    """

    model: Annotated[str, Meta(min_length=1, max_length=300)]
    prompt: Text
    system: Text = ""
    parameters: Parameters = Parameters()
    timeout_seconds: Seconds = 120

    def __post_init__(self) -> None:
        fold(self, "model")


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `id` is the id of its metering row; `cost` is null if the price or the tokens are unknown.

    `host` is the host that answered, null if it is the provider's own.

    `finish_reason`: the answer was complete, it reached the output limit, or the model refused. `thought` is what the
    model wrote before its answer, where its server does not keep that apart itself.
    """

    id: Id
    model: str
    host: str | None
    text: str
    thought: str | None
    finish_reason: FinishReason
    usage: Usage | None
    cost: DollarsText | None
    latency_ms: int


class Piece(msgspec.Struct, frozen=True):
    """The next part of a streamed answer. All pieces together are its text."""

    text: str


class SingleJudge(In, frozen=True):
    """Who judges. `model` is `provider:name`."""

    model: Annotated[str, Meta(min_length=1, max_length=300)]
    parameters: Parameters = Parameters()
    timeout_seconds: Annotated[int, Meta(ge=1, le=3_600)] = 120

    def __post_init__(self) -> None:
        fold(self, "model")


class ScoreIn(In, frozen=True):
    """One answer to one document. `criteria` is YAML as in contents of that type; instructions take `{{document}}`."""

    judge: SingleJudge
    document: Text
    answer: Text
    criteria: CriteriaText
    reference: Text | None = None
    instructions: Text | None = None


class CompareIn(In, frozen=True):
    """Two answers to one document; the judge sees them both ways round and without their names."""

    judge: SingleJudge
    document: Text
    a: Text
    b: Text
    criteria: CriteriaText | None = None
    reference: Text | None = None
    instructions: Text | None = None


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A score on each criterion, on its own scale, by the `judge`; `host` answered, null if it is the provider's own.

    `marks` and `reason` are null if the judge's replies stayed malformed; `fault` says how the last one was. `calls`
    are ids of rows in the metering, re-asks included; `cost` is null where that of one of them is unknown.
    """

    judge: str
    host: str | None
    marks: dict[str, float] | None
    reason: str | None
    fault: str | None
    calls: list[str]
    cost: DollarsText | None
    latency_ms: int


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge said in one order; `fault` if it stayed malformed."""

    word: Word
    reason: str | None
    fault: str | None


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Which answer is better. `fate` is `agreed` only if the judge said the same in both orders.

    `winner` is null where it did not, or did not say. In `ab` the answer `a` was shown first, in `ba` second. `host` is
    the host that answered, null if it is the provider's own.
    """

    judge: str
    host: str | None
    winner: Side | None
    fate: Fate
    ab: Said
    ba: Said
    calls: list[str]
    cost: DollarsText | None
    latency_ms: int

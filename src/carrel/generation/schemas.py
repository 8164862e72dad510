"""What goes over the wire about a single generation."""

from typing import Annotated

import msgspec
from msgspec import Meta

from carrel.http.requests.schema import In, Text
from carrel.kit.ids import Id
from carrel.kit.money import DollarsText
from carrel.providers.base import FinishReason, Parameters, Usage

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


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. `id` is the id of its metering row; `cost` is null if the price or the tokens are unknown.

    `host` is the host that answered, null if it is the provider's own.

    `finish_reason`: the answer was complete, it reached the output limit, or the model refused.
    """

    id: Id
    model: str
    host: str | None
    text: str
    finish_reason: FinishReason
    usage: Usage | None
    cost: DollarsText | None
    latency_ms: int


class Piece(msgspec.Struct, frozen=True):
    """The next part of a streamed answer. All pieces together are its text."""

    text: str

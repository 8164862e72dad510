"""What a provider is: it takes one request for one model and returns one answer, or raises one typed error."""

from typing import Annotated, Literal, Protocol

import msgspec
from msgspec import Meta

Role = Literal["generate", "judge"]
FinishReason = Literal["stop", "length", "refused"]


class Parameters(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a caller may set on a model; `None` leaves it to the model."""

    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    max_output_tokens: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    seed: Annotated[int, Meta(ge=0, lt=1 << 53)] | None = None
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None


class Criterion(msgspec.Struct, frozen=True):
    """One thing that an answer is judged by; `minimum` and `maximum` bound its scale, `weight` its share."""

    name: str
    description: str
    weight: float = 1.0
    minimum: float = 1.0
    maximum: float = 5.0


class GenerateMatter(msgspec.Struct, frozen=True, tag="generate"):
    """The unrendered matter of a generation, for models that are not language models."""

    document: str
    instructions: str


class CombineMatter(msgspec.Struct, frozen=True, tag="combine"):
    """The unrendered matter of making one answer out of several to the same document."""

    document: str
    answers: tuple[str, ...]
    instructions: str


class ScoreMatter(msgspec.Struct, frozen=True, tag="score"):
    """The unrendered matter of scoring one answer to one document."""

    document: str
    answer: str
    criteria: tuple[Criterion, ...]
    reference: str | None = None


class CompareMatter(msgspec.Struct, frozen=True, tag="compare"):
    """The unrendered matter of comparing two answers to one document, in the order in which the judge sees them."""

    document: str
    first: str
    second: str
    criteria: tuple[Criterion, ...]
    reference: str | None = None


Matter = GenerateMatter | CombineMatter | ScoreMatter | CompareMatter


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One call. A language model reads `system` and `prompt`; a built-in model reads `matter`, which says the same.

    `model` is the name without its provider (`lexrank`). `schema` is the JSON schema that a judge's answer must
    satisfy, `None` for free text.
    """

    model: str
    system: str
    prompt: str
    matter: Matter
    parameters: Parameters = Parameters()
    schema: dict[str, object] | None = None
    timeout_seconds: float = 120.0


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one call as the provider counted them; built-in models count words."""

    input_tokens: int = 0
    output_tokens: int = 0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back: for a judge, `text` is the JSON that `schema` asked for."""

    text: str
    finish_reason: FinishReason
    usage: Usage


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One model of a provider; `context_tokens` is `None` where it is not limited."""

    name: str
    family: str
    roles: tuple[Role, ...]
    description: str
    context_tokens: int | None = None


class ProviderError(Exception):
    """A call that brought no answer. `code` is stable and holds no text of the provider's.

    `retryable` says whether the same call may succeed later; `retry_after_seconds` is the provider's own word.
    """

    def __init__(self, code: str, *, retryable: bool, retry_after_seconds: float | None = None) -> None:
        self.code = code
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        super().__init__(code)


class Provider(Protocol):
    """A source of answers. One instance serves every user; what belongs to one user comes in with the request."""

    name: str

    def models(self) -> tuple[ModelInfo, ...]:
        """Every model that can be called now."""
        ...

    async def complete(self, request: Request) -> Answer:
        """One answer.

        Raises:
            ProviderError: no answer; the code says why.
        """
        ...

    async def close(self) -> None:
        """Give back what is held; calls in flight end with `ProviderError`."""
        ...

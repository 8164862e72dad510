"""What a provider is: it takes one request for one model and returns one answer, or raises one typed error."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol, runtime_checkable

import msgspec
from msgspec import Meta

from carrel.config import Secret
from carrel.providers import extra as extra_fields

if TYPE_CHECKING:
    from carrel.providers.answer_room import AnswerMemory

Role = Literal["generate", "judge"]
FinishReason = Literal["stop", "length", "refused"]
Speaker = Literal["system", "user", "assistant"]
Grounding = Literal["off", "allowed", "required"]
"""Whether a model may search the web with the tool of its provider. `required`: an answer without citations loses."""

FORM_REFUSED = "structured-output-refused"
"""The server refuses this form of a structured answer; the next call asks in a weaker form."""
NOT_LISTED = "models-not-listed"
"""Nothing lists models at the address: its path is wrong, or the server has no list."""
ANSWER_TOO_LARGE = "answer-too-large"
"""The answer is longer, or has more elements, than any should have. The same call would bring it again."""
SERVICE_BUSY = "service-busy"
"""Long answers of the same user take all the memory that they may have."""
KEY_CHANGED = "provider-key-changed"
"""The key names another host than the one that the call was recorded for; another attempt records the new one."""

ASSUMED_OUTPUT_TOKENS: Final[dict[Role, int]] = {"generate": 16_384, "judge": 8_192}
"""The output limit of a call for which none is set. Every call to a server sends it, and estimates and holds of credits
are made with it, so no answer costs more than was expected. Thoughts count, too: a lower limit would cut them off."""


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
StopText = Annotated[str, Meta(min_length=1, max_length=200)]


class Parameters(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a caller may set on a model; `None` leaves it to the model.

    `thinking_budget` is the most tokens that a model thinks, which count as output. The answer ends before the first
    text of `stop`. `extra` are fields of the protocol that are sent as they are: at most 4,096 bytes, and none that
    Carrel sets itself.
    """

    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    max_output_tokens: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    seed: Annotated[int, Meta(ge=0, lt=1 << 53)] | None = None
    reasoning_effort: Effort | None = None
    top_k: Annotated[int, Meta(ge=1, le=1_000)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    thinking_budget: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    stop: Annotated[tuple[StopText, ...], Meta(min_length=1, max_length=16)] | None = None
    extra: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        found = extra_fields.fault(self.extra) if self.extra else None
        if found is not None:
            raise ValueError(f"[{found[0]}] {found[1]}")


class Criterion(msgspec.Struct, frozen=True):
    """One thing that an answer is judged by; `minimum` and `maximum` bound its scale, `weight` its share."""

    name: str
    description: str
    weight: float = 1.0
    minimum: float = 1.0
    maximum: float = 5.0


class Turn(msgspec.Struct, frozen=True):
    """What somebody says in a conversation."""

    role: Speaker
    content: str


class GenerateMatter(msgspec.Struct, frozen=True, tag="generate", omit_defaults=True):
    """The content of a generation without a prompt around it, for models that are not language models.

    `turns` are a conversation that language models get turn by turn; `document` begins with its transcript.
    """

    document: str
    instructions: str
    turns: tuple[Turn, ...] = ()


class CombineMatter(msgspec.Struct, frozen=True, tag="combine"):
    """The content for combining several answers to the same document, without a prompt around it."""

    document: str
    answers: tuple[str, ...]
    instructions: str


class ScoreMatter(msgspec.Struct, frozen=True, tag="score"):
    """The content for scoring one answer to one document, without a prompt around it."""

    document: str
    answer: str
    criteria: tuple[Criterion, ...]
    reference: str | None = None


class CompareMatter(msgspec.Struct, frozen=True, tag="compare"):
    """The content for comparing two answers to one document, in the order in which the judge sees them."""

    document: str
    first: str
    second: str
    criteria: tuple[Criterion, ...]
    reference: str | None = None


Matter = GenerateMatter | CombineMatter | ScoreMatter | CompareMatter


def output_limit(role: Role, parameters: Parameters) -> int:
    """The most tokens that a model may write in this role: what the caller set, or what is assumed."""
    return parameters.max_output_tokens or ASSUMED_OUTPUT_TOKENS[role]


class Access(msgspec.Struct, frozen=True):
    """What a caller needs to call a remote provider; `base_url` is `None` for the provider's own."""

    key: Secret
    base_url: str | None = None


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One call. A language model reads `system` and `prompt`; a built-in model reads `matter`, which says the same.

    `model` is the name without its provider (`lexrank`). `schema` is the JSON schema that the answer must
    satisfy, `None` for free text. `access` is the key of the caller; built-in models need none. `user` is who waits
    for the answer: users take turns. It is sent to nobody. What the answer of a remote provider takes in memory is held
    by `place`, until whoever made the place releases it. With `grounding` the model may search the web. `turns` are a
    conversation in place of `prompt`: user and assistant take turns, and the user begins and ends.
    """

    model: str
    system: str
    prompt: str
    matter: Matter
    parameters: Parameters = Parameters()
    schema: dict[str, object] | None = None
    timeout_seconds: float = 120.0
    access: Access | None = None
    user: str = ""
    place: "AnswerMemory | None" = None
    grounding: Grounding = "off"
    turns: tuple[Turn, ...] = ()

    @property
    def said(self) -> tuple[Turn, ...]:
        """What a language model reads besides `system`."""
        return self.turns or (Turn("user", self.prompt),)

    @property
    def role(self) -> Role:
        """What the model does."""
        return "judge" if isinstance(self.matter, ScoreMatter | CompareMatter) else "generate"

    @property
    def output_limit(self) -> int:
        """The most tokens that a language model may write: what the caller set, or what is assumed."""
        return output_limit(self.role, self.parameters)


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one call as the provider counted them; built-in models count words.

    The provider read `cached_tokens` from its cache, and they cost less. It wrote `written_tokens` to the cache, and
    they may cost more. `input_tokens` are the other tokens that the model read. A model's thoughts are output.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0

    @property
    def read_tokens(self) -> int:
        """All tokens that the model read."""
        return self.input_tokens + self.cached_tokens + self.written_tokens

    def can_be(self, text: str) -> bool:
        """Whether a model can have written this text for so many tokens: no prompt and no text takes none."""
        return self.read_tokens > 0 and (self.output_tokens > 0 or not text)

    def plus(self, other: "Usage") -> "Usage":
        """The tokens of two calls."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
        )


class Citation(msgspec.Struct, frozen=True):
    """A page on which an answer rests, as the provider names it."""

    url: str
    title: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the provider answered. For a judge, `text` is the JSON that `schema` asked for.

    `usage` is `None` where the provider did not report it, or reported what cannot be. `thought` is what the model
    wrote before its answer, between marks that its server did not read. `told_micros` is what the call cost, by the
    provider's own word, in millionths of a dollar.
    """

    text: str
    finish_reason: FinishReason
    usage: Usage | None
    citations: tuple[Citation, ...] = ()
    thought: str = ""
    told_micros: int | None = None


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One model of a provider; `context_tokens` is `None` where it has no limit."""

    name: str
    family: str
    roles: tuple[Role, ...]
    description: str
    context_tokens: int | None = None


class Offer(msgspec.Struct, frozen=True):
    """The names of models that a remote provider lists, and how long it took to list them.

    Not `is_listed`: the server is there, and has no list.
    """

    models: tuple[str, ...]
    latency_ms: int
    is_listed: bool = True


class ProviderError(Exception):
    """A call that returned no answer. `code` is stable and holds no text of the provider's.

    `retryable` says whether the same call may succeed later; `retry_after_seconds` is what the provider asked for.
    `unbilled`: the provider did no work, so the call certainly cost nothing. `said` are the provider's own sentences,
    for the person whose key it is and for nobody else.
    """

    def __init__(
        self,
        code: str,
        *,
        retryable: bool,
        retry_after_seconds: float | None = None,
        unbilled: bool = False,
        said: str = "",
    ) -> None:
        self.code = code
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        self.unbilled = unbilled
        self.said = said
        super().__init__(code)


class ParametersNotTaken(ProviderError):
    """A protocol has no word for parameters, or for what they are set to: `names`. Nothing was sent."""

    def __init__(self, *names: str) -> None:
        self.names = names
        super().__init__("parameter-not-supported", retryable=False, unbilled=True, said=", ".join(names))


class OtherProtocolError(ProviderError):
    """The model does not answer in the protocol in which it was asked."""

    def __init__(self) -> None:
        super().__init__("model-unknown", retryable=False, unbilled=True)


class Provider(Protocol):
    """A source of answers. One instance serves every user; what belongs to one user comes with the request."""

    name: str

    def models(self) -> tuple[ModelInfo, ...]:
        """Every model that can be called now."""
        ...

    async def complete(self, request: ModelRequest) -> Answer:
        """Return one answer.

        Raises:
            ProviderError: no answer; the code says why.
        """
        ...

    async def close(self) -> None:
        """Close everything that the provider holds; calls in flight end with `ProviderError`."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A provider that can send its answers piece by piece."""

    async def stream(self, request: ModelRequest, on_piece: Callable[[str], None]) -> Answer:
        """Return one answer, and call `on_piece` with each piece of its text as it comes.

        Raises:
            ProviderError: no answer, or it broke off; the code says why.
        """
        ...

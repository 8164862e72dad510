"""The chat completions protocol as bytes: builds requests and reads answers. Pure."""

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from carrel.providers.base import (
    Answer,
    Citation,
    Effort,
    FinishReason,
    ModelRequest,
    ParametersNotTaken,
    ProviderError,
    Turn,
    Usage,
)
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols import citations
from carrel.providers.protocols.streamed import has_error
from carrel.providers.protocols.wire import NO_QUIRKS, Form, Quirks, check_thinking_budget

_Tokens = Annotated[int, Meta(ge=0, le=1 << 40)]


class Dialect(NamedTuple):
    """How a server's chat completions differ from another's. The server accepts no field whose name is `None`."""

    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    output_limit: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    seed: Literal["seed", "random_seed"] | None = "seed"
    reasoning_effort: Literal["reasoning_effort"] | None = "reasoning_effort"
    top_k: Literal["top_k"] | None = None
    thinking_budget: Literal["reasoning"] | None = None
    verbosity: Literal["verbosity"] | None = "verbosity"
    efforts: frozenset[Effort] | None = None
    """The values of `reasoning_effort` that it knows; `None`: they differ from model to model."""
    most_stops: int = 16
    stream_options: bool = True
    """Whether a request must ask for the token counts at the end of a stream. Other servers always send them, and
    accept no such field."""
    forms: tuple[Form, ...] = ("json_schema", "json_object", "words")
    """The strongest first. Once a server has refused a form for a model, the next one is used."""
    web_search: Literal["web_search_options", "openrouter:web_search"] | None = None
    """How a model may search the web: by an option, or by a tool of this type. `None`: it may not."""
    deployment_version: str | None = None
    """The `api-version` of URLs that name a deployment, `None` where there are none."""


_OTHER_LIMIT: dict[str, Literal["max_completion_tokens", "max_tokens"]] = {
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_completion_tokens",
}
PLAIN = Dialect()
"""What most servers accept."""


class _Schema(msgspec.Struct, frozen=True):
    name: str
    schema: dict[str, object]
    strict: bool


class _Format(msgspec.Struct, frozen=True, omit_defaults=True):
    type: Form
    json_schema: _Schema | None = None


class _StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool = True


class _Tool(msgspec.Struct, frozen=True):
    type: str


class _Reasoning(msgspec.Struct, frozen=True):
    max_tokens: int


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    """Every field of every dialect; the request omits the fields that are unset."""

    model: str
    messages: Sequence[Turn]
    temperature: float | UnsetType = UNSET
    top_p: float | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET
    max_completion_tokens: int | UnsetType = UNSET
    seed: int | UnsetType = UNSET
    random_seed: int | UnsetType = UNSET
    reasoning_effort: str | UnsetType = UNSET
    top_k: int | UnsetType = UNSET
    frequency_penalty: float | UnsetType = UNSET
    presence_penalty: float | UnsetType = UNSET
    verbosity: str | UnsetType = UNSET
    stop: tuple[str, ...] | UnsetType = UNSET
    reasoning: _Reasoning | UnsetType = UNSET
    response_format: _Format | UnsetType = UNSET
    web_search_options: dict[str, str] | UnsetType = UNSET
    tools: tuple[_Tool, ...] | UnsetType = UNSET
    stream: bool | UnsetType = UNSET
    stream_options: _StreamOptions | UnsetType = UNSET


class ContentPart(msgspec.Struct, frozen=True):
    """A piece of an answer; those that are not text are a model's thoughts."""

    type: str = "text"
    text: str | None = None


class _UrlCitation(msgspec.Struct, frozen=True):
    url: str | None = None
    title: str | None = None


class _Annotation(msgspec.Struct, frozen=True):
    type: str = ""
    url_citation: _UrlCitation = _UrlCitation()


class _Message(msgspec.Struct, frozen=True):
    content: str | list[ContentPart | str] | None = None
    refusal: str | None = None
    annotations: msgspec.Raw = msgspec.Raw(b"null")


class _Choice(msgspec.Struct, frozen=True):
    message: _Message
    finish_reason: str | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")


class _Completion(msgspec.Struct, frozen=True):
    choices: Annotated[list[_Choice], Meta(min_length=1)]
    usage: msgspec.Raw = msgspec.Raw(b"null")
    error: msgspec.Raw = msgspec.Raw(b"null")


class _CacheTokens(msgspec.Struct, frozen=True):
    cached_tokens: _Tokens | None = None
    cache_write_tokens: _Tokens | None = None


class _Thought(msgspec.Struct, frozen=True):
    reasoning_tokens: _Tokens | None = None


class _Usage(msgspec.Struct, frozen=True):
    """`prompt_tokens` includes the tokens that came from the cache and those that went into it.

    `prompt_cache_hit_tokens` is DeepSeek's word for the former.
    """

    prompt_tokens: _Tokens
    completion_tokens: _Tokens
    total_tokens: _Tokens | None = None
    prompt_tokens_details: _CacheTokens | None = None
    completion_tokens_details: _Thought | None = None
    prompt_cache_hit_tokens: _Tokens | None = None


class _Counts(msgspec.Struct, frozen=True):
    """The same where the details are in no known form."""

    prompt_tokens: _Tokens
    completion_tokens: _Tokens


class _Bill(msgspec.Struct, frozen=True):
    cost: Annotated[float, Meta(ge=0, le=1e6)]


_ENDS: dict[str, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "repetition_truncation": "length",
    "content_filter": "refused",
    "content_filtered": "refused",
    "refusal": "refused",
    "safety": "refused",
    "sensitive": "refused",
    "prohibited_content": "refused",
    "blocklist": "refused",
    "recitation": "refused",
    "spii": "refused",
}
"""With every other word the text ended by itself."""
_BREAKDOWNS = frozenset(
    {"error", "abort", "canceled", "cancelled", "network_error", "insufficient_system_resource", "timeout"}
)
_MICROS = 1_000_000

_encode = msgspec.json.Encoder().encode
_annotations = msgspec.json.Decoder(list[_Annotation])
_completion = msgspec.json.Decoder(_Completion)
_usage = msgspec.json.Decoder(_Usage)
_counts = msgspec.json.Decoder(_Counts)
_bill = msgspec.json.Decoder(_Bill)


def encoded(
    request: ModelRequest, dialect: Dialect, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False
) -> bytes:
    """Build the body of a call in the server's dialect. With `stream` it asks for an answer piece by piece.

    Raises:
        ParametersNotTaken: the dialect has no word for a parameter that was set.
    """
    parameters = request.parameters
    if dialect.thinking_budget is not None:
        check_thinking_budget(request)
    limit = _OTHER_LIMIT[dialect.output_limit] if quirks.other_limit_word else dialect.output_limit
    budget = parameters.thinking_budget
    named = (
        ("max_output_tokens", limit, request.output_limit),
        ("seed", dialect.seed, parameters.seed),
        ("reasoning_effort", dialect.reasoning_effort, parameters.reasoning_effort),
        ("top_k", dialect.top_k, parameters.top_k),
        ("thinking_budget", dialect.thinking_budget, None if budget is None else _Reasoning(budget)),
        ("frequency_penalty", "frequency_penalty", parameters.frequency_penalty),
        ("presence_penalty", "presence_penalty", parameters.presence_penalty),
        ("temperature", "temperature", parameters.temperature),
        ("top_p", "top_p", parameters.top_p),
        ("verbosity", dialect.verbosity, parameters.verbosity),
        ("stop", "stop", parameters.stop),
        ("grounding", dialect.web_search, None if request.grounding == "off" else True),
    )
    unknown = {name for name, field, value in named if field is None and value is not None}
    if dialect.efforts is not None and parameters.reasoning_effort not in (None, *dialect.efforts):
        unknown.add("reasoning_effort")
    if len(parameters.stop or ()) > dialect.most_stops:
        unknown.add("stop")
    if unknown:
        raise ParametersNotTaken(*sorted(unknown))
    searches = dialect.web_search if request.grounding != "off" else None
    asked = _Body(
        model=request.model,
        messages=(Turn("system", request.system), *request.said) if request.system else request.said,
        response_format=_format(request.schema, form),
        web_search_options={} if searches == "web_search_options" else UNSET,
        tools=(_Tool(searches),) if searches == "openrouter:web_search" else UNSET,
        stream=stream or UNSET,
        stream_options=_StreamOptions()
        if stream and dialect.stream_options and not quirks.no_stream_options
        else UNSET,
        **{field: value for _, field, value in named[:-1] if field is not None and value is not None},  # type: ignore[arg-type]  # paired above
    )
    return _encode(asked)


def _format(schema: dict[str, object] | None, form: Form) -> _Format | UnsetType:
    if schema is None or form == "words":
        return UNSET
    return _Format(form, _Schema("reply", schema, is_closed(schema)) if form == "json_schema" else None)


def is_closed(schema: object) -> bool:
    """Whether every object in the schema names all that it holds and requires it: servers enforce only such schemas."""
    if isinstance(schema, list):
        return all(map(is_closed, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        named = list(properties) if isinstance(properties, dict) else []
        required = schema.get("required")
        if schema.get("additionalProperties") is not False or not isinstance(required, list):
            return False
        if any(name not in required for name in named):
            return False
    return all(map(is_closed, schema.values()))


def answered(body: bytes) -> Answer | None:
    """Read the body of a 200; `None` if it is not a completion, or tells an error.

    Raises:
        ProviderError: `provider-overloaded`, the server says that it failed on the way; `answer-too-large`.
    """
    completion = decoded(_completion, body)
    if completion is None or has_error(completion.error) or has_error(completion.choices[0].error):
        return None
    choice = completion.choices[0]
    finish = "stop" if not choice.finish_reason else end_of(choice.finish_reason)
    message = choice.message
    text, told = text_of(message.content), told_micros(completion.usage)
    if message.refusal and not text:
        return Answer(text=message.refusal, finish_reason="refused", usage=counted(completion.usage), told_micros=told)
    found = _citations(message.annotations)
    usage = counted(completion.usage)
    return Answer(text=text, finish_reason=finish, usage=usage, citations=found, told_micros=told)


def end_of(word: str) -> FinishReason:
    """Why a text ended.

    Raises:
        ProviderError: `provider-overloaded`, the server failed on the way.
    """
    if word.lower() in _BREAKDOWNS:
        raise ProviderError("provider-overloaded", retryable=True)
    return _ENDS.get(word.lower(), "stop")


def _citations(raw: msgspec.Raw) -> tuple[Citation, ...]:
    """The pages that the answer cites; none if the server names them in an unknown way."""
    found = decoded(_annotations, raw) or []
    return citations.bounded((one.url_citation.url, one.url_citation.title) for one in found)


def text_of(content: str | list[ContentPart | str] | None) -> str:
    """The text that the model wrote, without thoughts."""
    if isinstance(content, list):
        texts = (part if isinstance(part, str) else part.text for part in content if _is_text(part))
        return "".join(text for text in texts if text)
    return content or ""


def _is_text(part: ContentPart | str) -> bool:
    return isinstance(part, str) or part.type == "text"


def told_micros(raw: msgspec.Raw) -> int | None:
    """What the server says that the call cost, in millionths of a dollar."""
    bill = decoded(_bill, raw) if b'"cost"' in bytes(raw) else None
    return None if bill is None else round(bill.cost * _MICROS)


def counted(raw: msgspec.Raw) -> Usage | None:
    """The tokens of a call; `None` if the server did not count them in a known way."""
    usage = decoded(_usage, raw)
    if usage is None:
        plain = decoded(_counts, raw)
        # The answer was paid for and is good; only its tokens are unknown.
        return None if plain is None else Usage(input_tokens=plain.prompt_tokens, output_tokens=plain.completion_tokens)
    details = usage.prompt_tokens_details or _CacheTokens()
    cached = min(details.cached_tokens or usage.prompt_cache_hit_tokens or 0, usage.prompt_tokens)
    written = min(details.cache_write_tokens or 0, usage.prompt_tokens - cached)
    return Usage(
        input_tokens=usage.prompt_tokens - cached - written,
        output_tokens=usage.completion_tokens + _apart(usage),
        cached_tokens=cached,
        written_tokens=written,
    )


def _apart(usage: _Usage) -> int:
    """The thoughts that are billed beside the completion.

    xAI counts them beside the completion, other servers within it. The total shows which.
    """
    thoughts = (usage.completion_tokens_details or _Thought()).reasoning_tokens or 0
    return thoughts if usage.total_tokens == usage.prompt_tokens + usage.completion_tokens + thoughts else 0

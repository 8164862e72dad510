"""OpenAI's Responses API: the only protocol in which some of its models answer, and in which the others search the web.

Written to the public reference of `POST /v1/responses`. Nothing is kept at the provider (`store`). A model's summary of
its reasoning is asked for, and so is what it says on its way to an answer: both are thought. The protocol has no seed,
no penalties, no top k and no texts to stop at, and no output limit below 16.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from carrel.providers.base import Answer, FinishReason, ModelRequest, ParametersNotTaken, Turn, Usage
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols import citations, names
from carrel.providers.protocols.openai_wire import is_closed
from carrel.providers.protocols.streamed import StreamReader, event_of, has_error
from carrel.providers.protocols.wire import NO_QUIRKS, Form, ModelPage, Quirks

_FOREIGN: Final = ("seed", "top_k", "frequency_penalty", "presence_penalty", "thinking_budget", "stop")
_LEAST_OUTPUT: Final = 16
_NULL: Final = b"null"
_Tokens = Annotated[int, Meta(ge=0, le=1 << 40)]


# Requests -------------------------------------------------------------------------------------------------------------


class _Reasoning(msgspec.Struct, frozen=True):
    effort: str | UnsetType = UNSET
    summary: Literal["auto"] | UnsetType = UNSET


class _Format(msgspec.Struct, frozen=True):
    type: Form
    name: str | UnsetType = UNSET
    schema: dict[str, object] | UnsetType = UNSET
    strict: bool | UnsetType = UNSET


class _Text(msgspec.Struct, frozen=True):
    format: _Format | UnsetType = UNSET
    verbosity: str | UnsetType = UNSET


class _Search(msgspec.Struct, frozen=True, tag="web_search"):
    pass


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    input: tuple[Turn, ...]
    store: Literal[False] = False
    instructions: str | UnsetType = UNSET
    max_output_tokens: int
    temperature: float | UnsetType = UNSET
    top_p: float | UnsetType = UNSET
    reasoning: _Reasoning | UnsetType = UNSET
    text: _Text | UnsetType = UNSET
    tools: tuple[_Search, ...] | UnsetType = UNSET
    stream: bool | UnsetType = UNSET


# Answers --------------------------------------------------------------------------------------------------------------


class _Annotation(msgspec.Struct, frozen=True):
    url: str | None = None
    title: str | None = None


class _Part(msgspec.Struct, frozen=True):
    """A piece of a message, or of a summary."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None
    annotations: list[_Annotation] | None = None


class _Item(msgspec.Struct, frozen=True):
    """What a model did: it reasoned, used a tool, or wrote a message; `phase` tells answers from words on the way."""

    type: str = ""
    phase: str | None = None
    content: list[_Part] | None = None
    summary: list[_Part] | None = None

    @property
    def is_answer(self) -> bool:
        return self.type == "message" and self.phase != "commentary"


class _Why(msgspec.Struct, frozen=True):
    reason: str | None = None


class _Response(msgspec.Struct, frozen=True):
    output: list[_Item]
    status: str | None = None
    error: msgspec.Raw = msgspec.Raw(_NULL)
    incomplete_details: _Why | None = None
    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _CacheTokens(msgspec.Struct, frozen=True):
    cached_tokens: _Tokens | None = None


class _Usage(msgspec.Struct, frozen=True):
    """`input_tokens` includes those that came from the cache, and `output_tokens` the reasoning that nobody sees."""

    input_tokens: _Tokens
    output_tokens: _Tokens
    input_tokens_details: _CacheTokens | None = None


class _Event(msgspec.Struct, frozen=True):
    """Any event. Those of other kinds carry nothing that Carrel reads."""

    type: str
    delta: msgspec.Raw = msgspec.Raw(_NULL)
    output_index: int = 0
    item: msgspec.Raw = msgspec.Raw(_NULL)
    response: msgspec.Raw = msgspec.Raw(_NULL)


_ENDS: dict[str | None, FinishReason] = {"max_output_tokens": "length", "content_filter": "refused"}
_UNFINISHED = ("queued", "in_progress", "cancelled", "failed")

_encode = msgspec.json.Encoder().encode
_response = msgspec.json.Decoder(_Response)
_usage = msgspec.json.Decoder(_Usage)
_event = msgspec.json.Decoder(_Event)
_item = msgspec.json.Decoder(_Item)
_piece = msgspec.json.Decoder(str)


class ResponsesWire:
    """The Responses API as bytes. Pure."""

    forms: tuple[Form, ...] = ("json_schema", "json_object", "words")
    stops_empty = False

    def headers(self, key: str) -> dict[str, str]:
        """The key."""
        return {"Authorization": f"Bearer {key}"}

    def call_url(self, base: str, model: str) -> str:
        """The same URL for every model. Azure has it beside the deployments, not below one of them."""
        resource, below, _ = base.partition("/deployments/")
        return f"{resource}/v1/responses" if below else f"{base}/responses"

    def stream_url(self, base: str, model: str) -> str:
        """The same URL: the body asks for an answer piece by piece."""
        return self.call_url(base, model)

    def models_url(self, base: str) -> str:
        """The URL that lists the models."""
        return f"{base}/models"

    def encoded(self, request: ModelRequest, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False) -> bytes:
        """The body of a call.

        Raises:
            ParametersNotTaken: for what the protocol has no word for, and an output limit below 16.
        """
        parameters = request.parameters
        foreign = [name for name in _FOREIGN if getattr(parameters, name) is not None]
        if request.output_limit < _LEAST_OUTPUT:
            foreign.append("max_output_tokens")
        if foreign:
            raise ParametersNotTaken(*foreign)
        text = _Text(_format(request.schema, form), parameters.verbosity or UNSET)
        reasoning = _Reasoning(
            effort=parameters.reasoning_effort or UNSET, summary=UNSET if quirks.no_summary else "auto"
        )
        return _encode(
            _Body(
                model=request.model,
                input=request.said,
                instructions=request.system or UNSET,
                max_output_tokens=request.output_limit,
                temperature=UNSET if parameters.temperature is None else parameters.temperature,
                top_p=UNSET if parameters.top_p is None else parameters.top_p,
                reasoning=UNSET if reasoning == _Reasoning() else reasoning,
                text=UNSET if text == _Text() else text,
                tools=UNSET if request.grounding == "off" else (_Search(),),
                stream=stream or UNSET,
            )
        )

    def answered(self, body: bytes) -> Answer | None:
        """Read the body of a 200; `None` if it is no response that came to an end, or tells an error."""
        found = decoded(_response, body)
        return None if found is None else _answer(found)

    def streamed(self) -> StreamReader:
        """Make a reader for one stream."""
        return ResponseStreamReader()

    def models(self, body: bytes) -> ModelPage | None:
        """The models in a list, which is never cut into pages."""
        found = names.entries(body)
        return None if found is None else ModelPage(names.listed(found))


def _format(schema: dict[str, object] | None, form: Form) -> _Format | UnsetType:
    if schema is None or form == "words":
        return UNSET
    return _Format(form, "reply", schema, is_closed(schema)) if form == "json_schema" else _Format(form)


def _answer(response: _Response) -> Answer | None:
    if has_error(response.error) or response.status in _UNFINISHED:
        return None
    parts = [part for item in response.output if item.is_answer for part in item.content or ()]
    text = "".join(part.text or "" for part in parts if part.type == "output_text")
    refusal = "".join(part.refusal or "" for part in parts if part.type == "refusal")
    finish = _ENDS.get((response.incomplete_details or _Why()).reason, "stop")
    thoughts = (
        part.text
        for item in response.output
        if not item.is_answer
        for part in (item.summary or (item.content if item.type == "message" else None) or ())
        if part.text
    )
    found = ((one.url, one.title) for part in parts for one in part.annotations or ())
    return Answer(
        text=text or refusal,
        finish_reason="refused" if refusal and not text else finish,
        usage=_counted(response.usage),
        citations=citations.bounded(found),
        thought="\n\n".join(thoughts),
    )


def _counted(raw: msgspec.Raw) -> Usage | None:
    usage = decoded(_usage, raw)
    if usage is None:
        # The answer was paid for and is good; only its tokens are unknown.
        return None
    cached = min((usage.input_tokens_details or _CacheTokens()).cached_tokens or 0, usage.input_tokens)
    return Usage(input_tokens=usage.input_tokens - cached, output_tokens=usage.output_tokens, cached_tokens=cached)


class ResponseStreamReader(StreamReader):
    """Events of one response. The last one holds it whole, as a call without a stream returns it."""

    def __init__(self) -> None:
        super().__init__()
        self._aside: set[int] = set()
        """The places of messages that are not the answer."""
        self._answer: Answer | None = None

    def answer(self) -> Answer | None:
        """The whole answer, once the server has told it."""
        return self._answer

    def _event(self, data: bytes) -> str:
        if self._answer is not None:
            return ""
        event = event_of(_event, data)
        if event.type == "response.output_text.delta":
            return "" if event.output_index in self._aside else decoded(_piece, event.delta) or ""
        if event.type == "response.output_item.added":
            item = decoded(_item, event.item)
            if item is not None and not item.is_answer:
                self._aside.add(event.output_index)
        elif event.type in ("response.completed", "response.incomplete", "response.failed"):
            response = event_of(_response, bytes(event.response))
            self._answer = _answer(response)
            if self._answer is None:
                raise self.broken_off(bytes(response.error))
        elif event.type == "error":
            raise self.broken_off(data)
        return ""

"""Anthropic's messages API: builds requests.

Written to the public documentation of version 2023-06-01. It has no seed and no penalties, its temperatures end at 1,
and its effort begins at low.
"""

from typing import Literal
from urllib.parse import quote

import msgspec
from msgspec import UNSET, UnsetType

from carrel.providers.base import Answer, ModelRequest, Parameters, ParametersNotTaken, Turn
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols import anthropic_answers, names
from carrel.providers.protocols.anthropic_answers import MessageStreamReader
from carrel.providers.protocols.names import versioned
from carrel.providers.protocols.streamed import StreamReader
from carrel.providers.protocols.wire import NO_QUIRKS, Form, ModelPage, Quirks, check_thinking_budget

_VERSION = "2023-06-01"
_HIGHEST_TEMPERATURE = 1.0
_EFFORTS = frozenset({"low", "medium", "high", "xhigh", "max"})
_FOREIGN = ("seed", "frequency_penalty", "presence_penalty", "verbosity")
_TOOL = "reply"


class _Format(msgspec.Struct, frozen=True, tag="json_schema"):
    schema: dict[str, object]


class _Thinking(msgspec.Struct, frozen=True, tag="enabled"):
    budget_tokens: int


class _Output(msgspec.Struct, frozen=True):
    effort: str | UnsetType = UNSET
    format: _Format | UnsetType = UNSET


class _Tool(msgspec.Struct, frozen=True):
    name: str
    description: str
    input_schema: dict[str, object]


class _Search(msgspec.Struct, frozen=True, tag="web_search_20250305"):
    name: Literal["web_search"] = "web_search"
    max_uses: int = 5


class _Choice(msgspec.Struct, frozen=True, tag="tool"):
    name: str


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    max_tokens: int
    messages: tuple[Turn, ...]
    system: str | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    top_p: float | UnsetType = UNSET
    top_k: int | UnsetType = UNSET
    stop_sequences: tuple[str, ...] | UnsetType = UNSET
    thinking: _Thinking | UnsetType = UNSET
    output_config: _Output | UnsetType = UNSET
    tools: tuple[_Tool | _Search, ...] | UnsetType = UNSET
    tool_choice: _Choice | UnsetType = UNSET
    stream: bool | UnsetType = UNSET


class _Following(msgspec.Struct, frozen=True):
    has_more: bool | None = None
    last_id: str | None = None


_encode = msgspec.json.Encoder().encode
_following = msgspec.json.Decoder(_Following)


class MessagesWire:
    """The messages API as bytes. Pure."""

    forms: tuple[Form, ...] = ("json_schema", "tool", "words")
    stops_empty = False

    def headers(self, key: str) -> dict[str, str]:
        """The key, and the version of the protocol."""
        return {"x-api-key": key, "anthropic-version": _VERSION}

    def call_url(self, base: str, model: str) -> str:
        """The same URL for every model."""
        return f"{versioned(base, 'v1')}/messages"

    def stream_url(self, base: str, model: str) -> str:
        """The same URL: the body asks for an answer piece by piece."""
        return self.call_url(base, model)

    def models_url(self, base: str) -> str:
        """The URL of one page that lists as many models as a page can hold."""
        return f"{versioned(base, 'v1')}/models?limit=1000"

    def encoded(self, request: ModelRequest, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False) -> bytes:
        """The body of a call.

        Raises:
            ParametersNotTaken: for a seed, a penalty, verbosity, a temperature above 1, or no or minimal effort.
            ProviderError: `thinking-budget-too-high`.
        """
        parameters = request.parameters
        _check(parameters)
        check_thinking_budget(request)
        schema = request.schema if form != "words" else None
        tool = _Tool(_TOOL, "Give the reply.", schema) if schema is not None and form == "tool" else None
        tools: tuple[_Tool | _Search, ...] = () if tool is None else (tool,)
        if request.grounding != "off":
            tools = (*tools, _Search())
        output = _Output(
            effort=parameters.reasoning_effort or UNSET,
            format=_Format(unbounded(schema)) if schema is not None and form == "json_schema" else UNSET,
        )
        return _encode(
            _Body(
                model=request.model,
                max_tokens=request.output_limit,
                messages=request.said,
                system=request.system or UNSET,
                temperature=UNSET if parameters.temperature is None else parameters.temperature,
                top_p=UNSET if parameters.top_p is None else parameters.top_p,
                top_k=UNSET if parameters.top_k is None else parameters.top_k,
                stop_sequences=parameters.stop or UNSET,
                thinking=UNSET if parameters.thinking_budget is None else _Thinking(parameters.thinking_budget),
                output_config=UNSET if output == _Output() else output,
                tools=tools or UNSET,
                tool_choice=UNSET if tool is None else _Choice(_TOOL),
                stream=stream or UNSET,
            )
        )

    def answered(self, body: bytes) -> Answer | None:
        """Read the body of a 200; see `anthropic_answers.answered`."""
        return anthropic_answers.answered(body)

    def streamed(self) -> StreamReader:
        """Make a reader for one stream."""
        return MessageStreamReader()

    def models(self, body: bytes) -> ModelPage | None:
        """The models in a page of a list."""
        found = names.entries(body)
        if found is None:
            return None
        following = decoded(_following, body) or _Following()
        after = f"after_id={quote(following.last_id, safe='')}" if following.has_more and following.last_id else None
        return ModelPage(names.listed(found), after)


def _check(parameters: Parameters) -> None:
    foreign = [name for name in _FOREIGN if getattr(parameters, name) is not None]
    if parameters.temperature is not None and parameters.temperature > _HIGHEST_TEMPERATURE:
        foreign.append("temperature")
    if parameters.reasoning_effort not in (None, *_EFFORTS):
        foreign.append("reasoning_effort")
    if foreign:
        raise ParametersNotTaken(*foreign)


def unbounded(schema: dict[str, object]) -> dict[str, object]:
    """The schema without the bounds of its numbers. This form refuses bounds, so a description states them instead."""
    plain = {key: unbounded(value) if isinstance(value, dict) else value for key, value in schema.items()}
    if schema.get("type") == "number" and "minimum" in schema and "maximum" in schema:
        low, high = plain.pop("minimum"), plain.pop("maximum")
        plain["description"] = f"From {low} to {high}."
    return plain

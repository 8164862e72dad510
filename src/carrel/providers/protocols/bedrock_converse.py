"""Amazon Bedrock's Converse: one protocol for the models of many makers.

Written to the public reference of 2023-09-30. What only some makers' models take goes into the additional fields, in
the maker's own words.
"""

from typing import Literal
from urllib.parse import quote

import msgspec
from msgspec import UNSET, UnsetType

from carrel.providers.base import Answer, ModelRequest, ParametersNotTaken
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols import bedrock_answers, names
from carrel.providers.protocols.anthropic_messages import unbounded
from carrel.providers.protocols.bedrock_answers import ConverseStreamReader
from carrel.providers.protocols.streamed import StreamReader
from carrel.providers.protocols.wire import NO_QUIRKS, Form, ModelPage, Quirks, check_thinking_budget

_TOOL = "reply"
_CALLS, _LISTS = "https://bedrock-runtime", "https://bedrock"
_FOREIGN = ("seed", "frequency_penalty", "presence_penalty", "verbosity")
_OF_CLAUDE = ("top_k", "thinking_budget", "reasoning_effort")


class _Text(msgspec.Struct, frozen=True):
    text: str


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: tuple[_Text, ...]


class _Inference(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    max_tokens: int
    temperature: float | UnsetType = UNSET
    top_p: float | UnsetType = UNSET
    stop_sequences: tuple[str, ...] | UnsetType = UNSET


class _JsonSchema(msgspec.Struct, frozen=True):
    schema: str
    name: str = _TOOL


class _Structure(msgspec.Struct, frozen=True, rename="camel"):
    json_schema: _JsonSchema


class _TextFormat(msgspec.Struct, frozen=True):
    structure: _Structure
    type: Literal["json_schema"] = "json_schema"


class _Output(msgspec.Struct, frozen=True, rename="camel"):
    text_format: _TextFormat


class _InputSchema(msgspec.Struct, frozen=True):
    json: dict[str, object]


class _ToolSpec(msgspec.Struct, frozen=True, rename="camel"):
    input_schema: _InputSchema
    name: str = _TOOL
    description: str = "Give the reply."


class _Tool(msgspec.Struct, frozen=True, rename="camel"):
    tool_spec: _ToolSpec


class _Named(msgspec.Struct, frozen=True):
    name: str = _TOOL


class _Choice(msgspec.Struct, frozen=True):
    tool: _Named = _Named()


class _Tools(msgspec.Struct, frozen=True, rename="camel"):
    tools: tuple[_Tool, ...]
    tool_choice: _Choice = _Choice()


class _Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    messages: tuple[_Message, ...]
    system: tuple[_Text, ...] | UnsetType = UNSET
    inference_config: _Inference
    output_config: _Output | UnsetType = UNSET
    tool_config: _Tools | UnsetType = UNSET
    additional_model_request_fields: dict[str, object] | UnsetType = UNSET


class _Following(msgspec.Struct, frozen=True, rename="camel"):
    next_token: str | None = None


_encode = msgspec.json.Encoder().encode
_following = msgspec.json.Decoder(_Following)


class ConverseWire:
    """Converse and ConverseStream as bytes. Pure."""

    forms: tuple[Form, ...] = ("json_schema", "tool", "words")
    stops_empty = False

    def headers(self, key: str) -> dict[str, str]:
        """An API key. Answers are JSON, and streams are frames of AWS's own."""
        return {"Authorization": f"Bearer {key}", "Accept": "*/*"}

    def call_url(self, base: str, model: str) -> str:
        """The URL of the model: every model has a path of its own."""
        return f"{base}/model/{_segment(model)}/converse"

    def stream_url(self, base: str, model: str) -> str:
        """The URL of the other operation."""
        return f"{base}/model/{_segment(model)}/converse-stream"

    def models_url(self, base: str) -> str:
        """The URL that lists the inference profiles, which AWS serves at another host than the calls."""
        listing = _LISTS + base.removeprefix(_CALLS) if base.startswith(_CALLS) else base
        return f"{listing}/inference-profiles?maxResults=1000"

    def encoded(self, request: ModelRequest, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False) -> bytes:
        """The body of a call, which is the same for a stream.

        Raises:
            ParametersNotTaken: for a seed, a penalty, verbosity, a search, or what only models of other makers take.
            ProviderError: `thinking-budget-too-high`.
        """
        parameters = request.parameters
        foreign = [name for name in _FOREIGN if getattr(parameters, name) is not None]
        additional = _of_maker(request, foreign)
        if request.grounding != "off":
            foreign.append("grounding")
        if foreign:
            raise ParametersNotTaken(*foreign)
        check_thinking_budget(request)
        schema = request.schema if form != "words" else None
        return _encode(
            _Body(
                messages=tuple(_Message(turn.role, (_Text(turn.content),)) for turn in request.said),
                system=(_Text(request.system),) if request.system else UNSET,
                inference_config=_Inference(
                    max_tokens=request.output_limit,
                    temperature=UNSET if parameters.temperature is None else parameters.temperature,
                    top_p=UNSET if parameters.top_p is None else parameters.top_p,
                    stop_sequences=parameters.stop or UNSET,
                ),
                output_config=_format(schema) if schema is not None and form == "json_schema" else UNSET,
                tool_config=_Tools((_Tool(_ToolSpec(_InputSchema(schema))),))
                if schema is not None and form == "tool"
                else UNSET,
                additional_model_request_fields=additional or UNSET,
            )
        )

    def answered(self, body: bytes) -> Answer | None:
        """Read the body of a 200; see `bedrock_answers.answered`."""
        return bedrock_answers.answered(body)

    def streamed(self) -> StreamReader:
        """Make a reader for one stream."""
        return ConverseStreamReader()

    def models(self, body: bytes) -> ModelPage | None:
        """The profiles in a page of a list. Models that need none are called by their names, and not listed."""
        found = names.entries(body)
        if found is None:
            return None
        following = (decoded(_following, body) or _Following()).next_token
        return ModelPage(names.listed(found), f"nextToken={quote(following, safe='')}" if following else None)


def _segment(model: str) -> str:
    return quote(model, safe="") if set(model) != {"."} else "%2E" * len(model)


def _format(schema: dict[str, object]) -> _Output:
    text = _encode(unbounded(schema)).decode()
    return _Output(_TextFormat(_Structure(_JsonSchema(text))))


def _of_maker(request: ModelRequest, foreign: list[str]) -> dict[str, object]:
    """What goes beside the parameters that all models take. What this maker's do not take joins what is `foreign`."""
    parameters = request.parameters
    taken = _OF_CLAUDE if "anthropic." in request.model else ("reasoning_effort",) if "openai." in request.model else ()
    foreign += [name for name in _OF_CLAUDE if name not in taken and getattr(parameters, name) is not None]
    effort, budget = parameters.reasoning_effort, parameters.thinking_budget
    if taken is not _OF_CLAUDE:
        return {} if effort is None else {"reasoning_effort": effort}
    fields = {
        "top_k": parameters.top_k,
        "thinking": None if budget is None else {"type": "enabled", "budget_tokens": budget},
        "output_config": None if effort is None else {"effort": effort},
    }
    return {name: value for name, value in fields.items() if value is not None}

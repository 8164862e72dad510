"""Google's generateContent: builds requests.

Written to the public documentation of v1beta. The key goes into a header, never into the URL. The amount of thinking is
a level from Gemini 3 on; older models take a number of tokens.
"""

from collections.abc import Collection, Mapping
from typing import Literal
from urllib.parse import quote

import msgspec
from msgspec import UNSET, UnsetType

from carrel.providers.base import Answer, Effort, ModelRequest, Parameters, ParametersNotTaken
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols import google_answers, names
from carrel.providers.protocols.google_answers import ContentStreamReader
from carrel.providers.protocols.names import versioned
from carrel.providers.protocols.streamed import StreamReader
from carrel.providers.protocols.wire import NO_QUIRKS, Form, ModelPage, Quirks

_VERSION = "v1beta"
_HIGHEST_SEED = (1 << 31) - 1
_KINDS = ("models", "tunedModels")
_BUDGETED = ("gemini-1", "gemini-2")
_BUDGETS: dict[Effort, int] = {"none": 0, "minimal": 1_024, "low": 1_024, "medium": 8_192, "high": 24_576}
"""The tokens that stand for OpenAI's levels of effort in Google's own translation for older models."""
_LEVELS = ("minimal", "low", "medium", "high")
_MOST_STOPS = 5
_JSON = "application/json"


class _Part(msgspec.Struct, frozen=True):
    text: str


class _Content(msgspec.Struct, frozen=True):
    parts: tuple[_Part, ...]
    role: Literal["user", "model"] | UnsetType = UNSET


class _Thinking(msgspec.Struct, frozen=True, rename="camel"):
    thinking_level: str | UnsetType = UNSET
    thinking_budget: int | UnsetType = UNSET


class _Config(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    temperature: float | UnsetType = UNSET
    top_p: float | UnsetType = UNSET
    top_k: int | UnsetType = UNSET
    frequency_penalty: float | UnsetType = UNSET
    presence_penalty: float | UnsetType = UNSET
    max_output_tokens: int
    seed: int | UnsetType = UNSET
    stop_sequences: tuple[str, ...] | UnsetType = UNSET
    thinking_config: _Thinking | UnsetType = UNSET
    response_mime_type: str | UnsetType = UNSET
    response_json_schema: dict[str, object] | UnsetType = UNSET


class _Tool(msgspec.Struct, frozen=True, rename="camel"):
    google_search: dict[str, str]


class _Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    contents: tuple[_Content, ...]
    system_instruction: _Content | UnsetType = UNSET
    generation_config: _Config
    tools: tuple[_Tool, ...] | UnsetType = UNSET


class _Following(msgspec.Struct, frozen=True, rename="camel"):
    next_page_token: str | None = None


_encode = msgspec.json.Encoder().encode
_following = msgspec.json.Decoder(_Following)


class GenerateWire:
    """The generateContent method of the Gemini API as bytes. Pure."""

    forms: tuple[Form, ...] = ("json_schema", "json_object", "words")
    stops_empty = True

    def headers(self, key: str) -> dict[str, str]:
        """The key. The URL may hold it too, but others would read it there."""
        return {"x-goog-api-key": key}

    def call_url(self, base: str, model: str) -> str:
        """The URL of the model: every model has a path of its own."""
        return f"{versioned(base, _VERSION)}/{_path_of(model)}:generateContent"

    def stream_url(self, base: str, model: str) -> str:
        """The URL of another method. It sends events if the client asks for them, otherwise pieces of one array."""
        return f"{versioned(base, _VERSION)}/{_path_of(model)}:streamGenerateContent?alt=sse"

    def models_url(self, base: str) -> str:
        """The URL of one page that lists as many models as a page can hold."""
        return f"{versioned(base, _VERSION)}/models?pageSize=1000"

    def encoded(self, request: ModelRequest, form: Form, quirks: Quirks = NO_QUIRKS, *, stream: bool = False) -> bytes:
        """The body of a call, which is the same for a stream.

        Raises:
            ParametersNotTaken: for a seed of more than 31 bits, thinking set twice, an effort that the model does not
                know, verbosity, or more than five texts to stop at.
        """
        parameters = request.parameters
        _check(request.model, parameters)
        schema = request.schema if form != "words" else None
        config = _Config(
            temperature=UNSET if parameters.temperature is None else parameters.temperature,
            top_p=UNSET if parameters.top_p is None else parameters.top_p,
            top_k=UNSET if parameters.top_k is None else parameters.top_k,
            frequency_penalty=UNSET if parameters.frequency_penalty is None else parameters.frequency_penalty,
            presence_penalty=UNSET if parameters.presence_penalty is None else parameters.presence_penalty,
            max_output_tokens=request.output_limit,
            seed=UNSET if parameters.seed is None else parameters.seed,
            stop_sequences=parameters.stop or UNSET,
            thinking_config=_thinking(request),
            response_mime_type=UNSET if schema is None else _JSON,
            response_json_schema=schema if schema is not None and form == "json_schema" else UNSET,
        )
        return _encode(
            _Body(
                contents=tuple(
                    _Content((_Part(turn.content),), "user" if turn.role == "user" else "model")
                    for turn in request.said
                ),
                system_instruction=_Content((_Part(request.system),)) if request.system else UNSET,
                generation_config=config,
                tools=UNSET if request.grounding == "off" else (_Tool({}),),
            )
        )

    def answered(self, body: bytes) -> Answer | None:
        """Read the body of a 200; see `google_answers.answered`."""
        return google_answers.answered(body)

    def streamed(self) -> StreamReader:
        """Make a reader for one stream."""
        return ContentStreamReader()

    def models(self, body: bytes) -> ModelPage | None:
        """The models in a page of a list, of those that write text."""
        found = names.entries(body)
        if found is None:
            return None
        following = (decoded(_following, body) or _Following()).next_page_token
        writing = [model for model in found if _writes(model)]
        listed = (one._replace(name=one.name.removeprefix("models/")) for one in names.listed(writing))
        return ModelPage(tuple(listed), f"pageToken={quote(following, safe='')}" if following else None)


def _writes(entry: Mapping[str, object]) -> bool:
    methods = entry.get("supportedGenerationMethods")
    return not isinstance(methods, list) or "generateContent" in methods


def _path_of(model: str) -> str:
    """Where the model is below the address. It may be named as Google's own list writes it."""
    kind, slash, name = model.partition("/")
    if slash and kind in _KINDS:
        return f"{kind}/{quote(name, safe='')}"
    return f"models/{quote(model, safe='')}"


def _check(model: str, parameters: Parameters) -> None:
    known: Collection[str] = _BUDGETS if model.startswith(_BUDGETED) else _LEVELS
    foreign = [] if parameters.verbosity is None else ["verbosity"]
    if parameters.seed is not None and parameters.seed > _HIGHEST_SEED:
        foreign.append("seed")
    if len(parameters.stop or ()) > _MOST_STOPS:
        foreign.append("stop")
    if parameters.reasoning_effort is not None and (
        parameters.thinking_budget is not None or parameters.reasoning_effort not in known
    ):
        foreign.append("reasoning_effort")
    if foreign:
        raise ParametersNotTaken(*foreign)


def _thinking(request: ModelRequest) -> _Thinking | UnsetType:
    effort, budget = request.parameters.reasoning_effort, request.parameters.thinking_budget
    if budget is not None:
        return _Thinking(thinking_budget=budget)
    if effort is None:
        return UNSET
    if request.model.startswith(_BUDGETED):
        # Thoughts count as output: half of the limit stays for the answer.
        return _Thinking(thinking_budget=min(_BUDGETS[effort], request.output_limit // 2))
    return _Thinking(thinking_level=effort.upper())

"""A local server that takes what the reference of OpenAI's Responses API describes, and nothing else.

Its models answer in no other protocol: chat completions are refused in OpenAI's words. Some of their reasoning is
billed and never shown.
"""

from typing import Annotated, Any, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from tests.support.strict_servers import KEY, Strict, StrictServer, says, schemas

HIDDEN = 64
"""Tokens of reasoning in every answer."""


class _Told(Strict):
    role: Literal["user", "assistant", "system", "developer"]
    content: Annotated[str, Meta(min_length=1)]


class _Reasoning(Strict):
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None


class _Format(Strict):
    type: Literal["text", "json_schema", "json_object"]
    name: Annotated[str, Meta(pattern="^[a-zA-Z0-9_-]{1,64}$")] | None = None
    schema: dict[str, Any] | None = None
    strict: bool | None = None


class _Text(Strict):
    format: _Format | None = None
    verbosity: Literal["low", "medium", "high"] | None = None


class _Search(Strict):
    type: Literal["web_search", "web_search_preview"]


class ResponsesAsked(Strict):
    """The body of `POST /v1/responses`, as far as texts go."""

    model: str
    input: Annotated[str, Meta(min_length=1)] | Annotated[list[_Told], Meta(min_length=1)]
    instructions: str | None = None
    max_output_tokens: Annotated[int, Meta(ge=16)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    reasoning: _Reasoning | None = None
    text: _Text | None = None
    tools: list[_Search] | None = None
    tool_choice: Literal["none", "auto", "required"] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    service_tier: Literal["auto", "default", "flex", "priority"] | None = None
    metadata: dict[str, str] | None = None
    store: bool = True
    stream: bool = False


def responses_fault(asked: ResponsesAsked) -> str | None:
    """What the service would say of a request of the right shape; `None` if nothing."""
    form = asked.text.format if asked.text is not None else None
    if form is not None and form.type == "json_schema":
        if form.name is None or form.schema is None:
            return "Missing required parameter: 'text.format.name'."
        if form.strict and any(one.get("additionalProperties") is not False for one in schemas(form.schema)[:1]):
            return "Invalid schema for response_format 'reply': 'additionalProperties' is required to be false."
    if form is not None and form.type == "json_object" and "json" not in str(asked.input).lower():
        return "Response input messages must contain the word 'json' in some form to use 'text.format' of 'json_object'"
    if asked.tools and asked.reasoning is not None and asked.reasoning.effort == "minimal":
        return "The following tools cannot be used with reasoning.effort 'minimal': web_search."
    return None


class OpenAiResponses(StrictServer):
    """`POST /v1/responses`, `POST /v1/chat/completions` and `GET /v1/models`; `verified` accounts get summaries."""

    verified = True

    @property
    def base_url(self) -> str:
        return f"{super().base_url}/v1"

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/responses", self.call),
            web.post("/v1/chat/completions", self.chat),
            web.get("/v1/models", self.listing),
        ]

    def unwelcome(self, request: web.Request) -> web.Response | None:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return self._error(401, "Incorrect API key provided", code="invalid_api_key")
        return None

    async def chat(self, request: web.Request) -> web.Response:
        await self._take(request)
        message = "This model is only supported in v1/responses and not in v1/chat/completions."
        return self.unwelcome(request) or self._error(404, message, param="model")

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        try:
            asked = msgspec.json.decode(body, type=ResponsesAsked)
        except msgspec.DecodeError as refused:
            return self._error(400, f"Unknown or invalid parameter: {refused}")
        trouble = responses_fault(asked)
        if trouble is not None:
            return self._error(400, trouble)
        if asked.model not in self.models:
            return self._error(404, f"The model '{asked.model}' does not exist", code="model_not_found")
        if asked.reasoning is not None and asked.reasoning.summary is not None and not self.verified:
            message = "Your organization must be verified to generate reasoning summaries."
            return self._error(400, message, param="reasoning.summary", code="unsupported_value")
        said = _said(asked, body)
        if not asked.stream:
            return web.json_response(response_of(asked.model, said, body, searched=_searches(asked)))
        events = "".join(response_events((said[:9], said[9:]), whole=response_of(asked.model, said, body)))
        return web.Response(text=events, content_type="text/event-stream")

    def listed(self) -> dict[str, Any]:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "openai"} for name in self.models]
        return {"object": "list", "data": data}

    def _error(self, status: int, message: str, **fields: str) -> web.Response:
        said = {"message": message, "type": "invalid_request_error", "param": None, "code": None} | fields
        return web.json_response({"error": said}, status=status, headers=self.headers)


def _said(asked: ResponsesAsked, body: bytes) -> str:
    form = asked.text.format if asked.text is not None else None
    turn = asked.input if isinstance(asked.input, str) else asked.input[-1].content
    return says(asked.model, asked.instructions or "", turn, form.schema if form is not None else None, body)


def _searches(asked: ResponsesAsked) -> bool:
    return bool(asked.tools) and "offline" not in str(asked.input)


def response_of(model: str, said: str, body: bytes, *, searched: bool = False) -> dict[str, Any]:
    """A response as it comes whole: a summary, perhaps a search, words on the way, and the answer."""
    page = {"type": "url_citation", "url": "https://example.org/ships", "title": "Ships", "start_index": 0}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    read, written = max(len(body) // 4, 8), max(len(said) // 4, 1)
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
            *([search] if searched else []),
            _message("I look at it.", "commentary"),
            _message(said, "final_answer", [page | {"end_index": 1}] if searched else []),
        ],
        "store": False,
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 5},
            "output_tokens": written + HIDDEN,
            "output_tokens_details": {"reasoning_tokens": HIDDEN},
            "total_tokens": read + written + HIDDEN,
        },
    }


def _message(text: str, phase: str, annotations: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": annotations or [], "logprobs": []}
    return {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "role": "assistant",
        "phase": phase,
        "content": [part],
    }


def response_events(pieces: tuple[str, ...], *, whole: dict[str, Any] | None, error: Any = None) -> list[str]:
    """The events of a stream, to its end if there is a `whole` one."""
    begun: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "status": "in_progress",
        "output": [],
        "error": None,
        "usage": None,
    }
    aside, answer = _message("I look at it.", "commentary"), _message("".join(pieces), "final_answer")
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "summary": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm."},
        {"type": "response.output_item.added", "output_index": 1, "item": aside | {"content": []}},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "I look at it."},
        {"type": "response.output_item.done", "output_index": 1, "item": aside},
        {"type": "response.output_item.added", "output_index": 2, "item": answer | {"content": []}},
        *({"type": "response.output_text.delta", "output_index": 2, "delta": piece} for piece in pieces),
    ]
    if error is not None:
        failed = begun | {"status": "failed", "error": error}
        events.append({"type": "response.failed", "response": failed})
    if whole is not None:
        events += [
            {"type": "response.output_text.done", "output_index": 2, "text": "".join(pieces)},
            {"type": "response.output_item.done", "output_index": 2, "item": answer},
            {"type": "response.completed", "response": whole},
        ]
    numbered = (event | {"sequence_number": number} for number, event in enumerate(events))
    return [f"event: {event['type']}\ndata: {msgspec.json.encode(event).decode()}\n\n" for event in numbered]

"""A local server that takes what the documentation of Anthropic's messages API describes, and nothing else."""

import json
import re
from typing import Annotated, Any, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from tests.support.strict_servers import KEY, Strict, StrictServer, says, schemas


class _Text(Strict, tag="text"):
    text: Annotated[str, Meta(min_length=1)]


class _Lock(Strict):
    role: Literal["user", "assistant"]
    content: Annotated[str, Meta(min_length=1)] | list[_Text]


class _JsonFormat(Strict, tag="json_schema"):
    schema: dict[str, Any]


class _OutputConfig(Strict):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: _JsonFormat | None = None


class _Tool(Strict):
    name: Annotated[str, Meta(pattern="^[a-zA-Z0-9_-]{1,128}$")]
    input_schema: dict[str, Any]
    description: str = ""


class _Thinking(Strict):
    type: Literal["enabled"]
    budget_tokens: Annotated[int, Meta(ge=1_024)]


class _Search(Strict):
    type: Literal["web_search_20250305"]
    name: Literal["web_search"]
    max_uses: Annotated[int, Meta(ge=1)] | None = None


class _ToolChoice(Strict):
    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None


class MessagesAsked(Strict):
    """The body of `POST /v1/messages`, as far as texts go."""

    model: str
    max_tokens: Annotated[int, Meta(ge=1, le=128_000)]
    messages: Annotated[list[_Lock], Meta(min_length=1)]
    system: Annotated[str, Meta(min_length=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: int | None = None
    thinking: _Thinking | None = None
    stop_sequences: list[str] | None = None
    stream: bool = False
    output_config: _OutputConfig | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: _ToolChoice | None = None


def own_tools(asked: MessagesAsked) -> list[_Tool]:
    """The tools that the caller runs itself, and not the service."""
    searching = [tool for tool in asked.tools or () if str(tool.get("type", "")).startswith("web_search")]
    for tool in searching:
        msgspec.convert(tool, _Search)
    return [msgspec.convert(tool, _Tool) for tool in asked.tools or () if tool not in searching]


_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


def messages_fault(asked: MessagesAsked) -> str | None:
    """What the service would say of a request of the right shape; `None` if nothing."""
    if asked.messages[0].role != "user" or asked.messages[-1].role != "user":
        return "messages: first and last message must use the user role"
    form = asked.output_config.format if asked.output_config is not None else None
    for schema in schemas(form.schema) if form is not None else ():
        if schema.get("type") in ("number", "integer") and {"minimum", "maximum"} & set(schema):
            return "output_config.format.schema: For 'number' type, property 'minimum' is not supported"
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            return "output_config.format.schema: 'additionalProperties' must be explicitly set to false"
    try:
        tools = own_tools(asked)
    except msgspec.ValidationError as refused:
        return f"tools: {refused}"
    for tool in tools:
        if tool.input_schema.get("type") != "object":
            return "tools.0.custom.input_schema.type: Input should be 'object'"
        names = [name for part in schemas(tool.input_schema) for name in part.get("properties", ())]
        if not all(_PROPERTY.fullmatch(name) for name in names):
            return "tools.0.custom.input_schema.properties: Property keys should match pattern"
    choice = asked.tool_choice
    if choice is not None and choice.type == "tool" and choice.name not in {tool.name for tool in tools}:
        return "tool_choice.name: Tool not found in provided tools"
    return None


class Anthropic(StrictServer):
    """`POST /v1/messages` and `GET /v1/models`."""

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/messages", self.call), web.get("/v1/models", self.listing)]

    def unwelcome(self, request: web.Request) -> web.Response | None:
        if request.headers.get("x-api-key") != KEY or "authorization" in request.headers:
            return self._error(401, "authentication_error", "invalid x-api-key")
        if request.headers.get("anthropic-version") != "2023-06-01":
            return self._error(400, "invalid_request_error", "anthropic-version: header is required")
        if request.method == "POST" and (request.content_type != "application/json" or request.query_string):
            return self._error(400, "invalid_request_error", "JSON alone")
        return None

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        try:
            asked = msgspec.json.decode(body, type=MessagesAsked)
        except msgspec.DecodeError as refused:
            return self._error(400, "invalid_request_error", f"Extra inputs are not permitted: {refused}")
        trouble = messages_fault(asked)
        if trouble is not None:
            return self._error(400, "invalid_request_error", trouble)
        if asked.model not in self.models:
            return self._error(404, "not_found_error", "model")
        return web.json_response(message(asked, body))

    def listed(self) -> dict[str, Any]:
        data = [{"type": "model", "id": name, "display_name": name, "created_at": ""} for name in self.models]
        return {"data": data, "has_more": False, "first_id": self.models[0], "last_id": self.models[-1]}

    def _error(self, status: int, kind: str, message: str) -> web.Response:
        said = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
        return web.json_response(said, status=status, headers=self.headers)


def message(asked: MessagesAsked, body: bytes) -> dict[str, Any]:
    tool = next(iter(own_tools(asked)), None)
    searches = tool is None and bool(asked.tools)
    form = asked.output_config.format if asked.output_config is not None else None
    schema = tool.input_schema if tool is not None else form.schema if form is not None else None
    turn = asked.messages[-1].content
    said = says(asked.model, asked.system or "", turn if isinstance(turn, str) else "", schema, body)
    block: dict[str, Any] = {"type": "text", "text": said}
    if tool is not None:
        block = {"type": "tool_use", "id": "toolu_1", "name": tool.name, "input": json.loads(said)}
    found: list[dict[str, Any]] = []
    if searches and "offline" not in str(turn):
        page = {"type": "web_search_result", "url": "https://example.org/ships", "title": "Ships", "page_age": None}
        found = [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "ships"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [page]},
        ]
        cited = {"type": "web_search_result_location", "url": page["url"], "title": "Ships", "cited_text": "Ahoy."}
        block["citations"] = [cited]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, *found, block],
        "stop_reason": "tool_use" if tool is not None else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": len(body) // 4,
            "cache_creation_input_tokens": 3,
            "cache_read_input_tokens": 5,
            "output_tokens": len(said) // 4,
            "service_tier": "standard",
        },
    }

"""A local server that takes what the documentation of Google's generateContent describes, and nothing else."""

import re
from typing import Annotated, Any, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from tests.support.strict_servers import KEY, Camel, StrictServer, says, schemas


class _Part(Camel):
    text: str


class _Content(Camel):
    parts: Annotated[list[_Part], Meta(min_length=1)]
    role: Literal["user", "model"] | None = None


class _ThinkingConfig(Camel):
    include_thoughts: bool = False
    thinking_budget: int | None = None
    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH"] | None = None


class _GenerationConfig(Camel):
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: int | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, lt=2)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, lt=2)] | None = None
    candidate_count: Literal[1] | None = None
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    stop_sequences: list[str] | None = None
    seed: Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)] | None = None
    response_mime_type: Literal["text/plain", "application/json"] | None = None
    response_json_schema: dict[str, Any] | None = None
    thinking_config: _ThinkingConfig | None = None


class _SearchTool(Camel):
    google_search: dict[str, str]


class GenerateAsked(Camel):
    """The body of `POST /v1beta/models/{model}:generateContent`, as far as texts go."""

    contents: Annotated[list[_Content], Meta(min_length=1)]
    system_instruction: _Content | None = None
    tools: list[_SearchTool] | None = None
    generation_config: _GenerationConfig = msgspec.field(default_factory=_GenerationConfig)


_SCHEMA_WORDS = re.compile(
    r"\$(id|defs|ref|anchor)|type|format|title|description|enum|items|prefixItems|minItems|maxItems|minimum|maximum|anyOf"
    r"|oneOf|properties|additionalProperties|required|propertyOrdering"
)


def generate_fault(model: str, asked: GenerateAsked) -> str | None:
    """What the service would say of a request of the right shape; `None` if nothing."""
    roles = [content.role for content in asked.contents]
    if roles != [("user", "model")[place % 2] for place in range(len(roles))] or roles[-1] != "user":
        return "Please ensure that multiturn requests alternate between user and model."
    config = asked.generation_config
    schema = config.response_json_schema
    if schema is not None and config.response_mime_type != "application/json":
        return "response_json_schema is only supported with response_mime_type application/json"
    if not all(_SCHEMA_WORDS.fullmatch(word) for part in schemas(schema or {}) for word in part):
        return "response_json_schema: unsupported keyword"
    thinking = config.thinking_config
    if thinking is not None and thinking.thinking_level is not None:
        if thinking.thinking_budget is not None:
            return "thinking_budget and thinking_level cannot both be set"
        if model.startswith("gemini-2"):
            return "Thinking level is not supported for this model."
    return None


class Google(StrictServer):
    """`POST /v1beta/models/{model}:generateContent` and `GET /v1beta/models`."""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1beta/models/{model}:generateContent", self.call),
            web.get("/v1beta/models", self.listing),
        ]

    def unwelcome(self, request: web.Request) -> web.Response | None:
        if KEY in str(request.url) or "key" in request.query:
            return self._error(400, "INVALID_ARGUMENT", "The key stands in the URL.")
        if request.headers.get("x-goog-api-key") != KEY:
            return self._error(400, "INVALID_ARGUMENT", "API key not valid.", reason="API_KEY_INVALID")
        return None

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        try:
            asked = msgspec.json.decode(body, type=GenerateAsked)
        except msgspec.DecodeError as refused:
            return self._error(400, "INVALID_ARGUMENT", f"Invalid JSON payload received. Unknown name: {refused}")
        model = request.match_info["model"]
        if model not in self.models:
            return self._error(404, "NOT_FOUND", f"models/{model} is not found")
        trouble = generate_fault(model, asked)
        if trouble is not None:
            return self._error(400, "INVALID_ARGUMENT", trouble)
        return web.json_response(content(model, asked, body))

    def listed(self) -> dict[str, Any]:
        methods = ["generateContent", "countTokens"]
        named = [
            {"name": f"models/{name}", "version": "1", "supportedGenerationMethods": methods} for name in self.models
        ]
        other = {"name": "models/embedding-one", "version": "1", "supportedGenerationMethods": ["embedContent"]}
        return {"models": [*named, other]}

    def _error(self, status: int, word: str, message: str, **details: str) -> web.Response:
        said: dict[str, Any] = {"code": status, "message": message, "status": word}
        if details:
            said["details"] = [details]
        return web.json_response({"error": said}, status=status, headers=self.headers)


def content(model: str, asked: GenerateAsked, body: bytes) -> dict[str, Any]:
    system = asked.system_instruction.parts[0].text if asked.system_instruction is not None else ""
    prompt = asked.contents[-1].parts[0].text
    said = says(model, system, prompt, asked.generation_config.response_json_schema, body)
    parts = [{"text": "Hm.", "thought": True}, {"text": said[:5]}, {"text": said[5:], "thoughtSignature": "x"}]
    counted = {"promptTokenCount": len(body) // 4, "cachedContentTokenCount": 2, "thoughtsTokenCount": 7}
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}
    if asked.tools:
        chunk = {"web": {"uri": "https://example.org/ships", "title": "example.org"}}
        candidate["groundingMetadata"] = {"webSearchQueries": ["ships"], "groundingChunks": [chunk]}
    return {
        "candidates": [candidate],
        "usageMetadata": counted | {"candidatesTokenCount": len(said) // 4, "totalTokenCount": 0},
        "modelVersion": model,
        "responseId": "x",
    }

"""A local server that takes what the reference of Azure OpenAI describes, for a key or for a token of Entra ID."""

import json
from typing import Annotated, Any, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from tests.support.strict_servers import KEY, Strict, StrictServer, says, schemas

TENANT, CLIENT, SECRET = (
    "0f8fad5b-d9cb-469f-a165-70867728950e",
    "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "Canary~Secret.8Q",
)
_SCOPE = "https://cognitiveservices.azure.com/.default"


class _Turn(Strict):
    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[str, Meta(min_length=1)]


class _JsonSchema(Strict):
    name: Annotated[str, Meta(pattern="^[a-zA-Z0-9_-]{1,64}$")]
    schema: dict[str, Any]
    strict: bool = False


class _Format(Strict):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: _JsonSchema | None = None


class _StreamOptions(Strict):
    include_usage: bool


class ChatAsked(Strict):
    """The body of `POST /openai/v1/chat/completions`, as far as texts go."""

    model: str
    messages: Annotated[list[_Turn], Meta(min_length=1)]
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    seed: int | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    response_format: _Format | None = None
    stream: bool = False
    stream_options: _StreamOptions | None = None


class Azure(StrictServer):
    """Chat completions of version 1, the list of models, and the tokens of an application."""

    def __init__(self, *models: str) -> None:
        super().__init__(*models)
        self.tokens: list[str] = []
        self.answers: list[dict[str, Any]] = []

    @property
    def key(self) -> str:
        """The application, as the key of a user."""
        application = {"tenant_id": TENANT, "client_id": CLIENT, "client_secret": SECRET}
        return json.dumps(application | {"authority": self.base_url}, indent=2)

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post(f"/{TENANT}/oauth2/v2.0/token", self.grant),
            web.post("/openai/v1/chat/completions", self.call),
            web.get("/openai/v1/models", self.listing),
        ]

    async def grant(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        application = {"client_id": CLIENT, "client_secret": SECRET, "scope": _SCOPE}
        if form != {"grant_type": "client_credentials", **application}:
            said = {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."}
            return web.json_response(said, status=401)
        self.tokens.append(f"eyJ0.canary-{len(self.tokens)}")
        return web.json_response({"token_type": "Bearer", "expires_in": 3_599, "access_token": self.tokens[-1]})

    def unwelcome(self, request: web.Request) -> web.Response | None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in self.tokens and request.headers.get("api-key") != KEY:
            return self._error(401, "401", "Access denied due to invalid subscription key or wrong API endpoint.")
        return None

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        try:
            asked = msgspec.json.decode(body, type=ChatAsked)
        except msgspec.DecodeError as refused:
            return self._error(400, "unknown_parameter", f"Unrecognized request argument supplied: {refused}")
        if asked.model not in self.models:
            return self._error(404, "DeploymentNotFound", "The API deployment for this resource does not exist.")
        form = asked.response_format.json_schema if asked.response_format is not None else None
        for schema in schemas(form.schema) if form is not None and form.strict else ():
            names = set(schema.get("properties", ()))
            is_closed = schema.get("additionalProperties") is False and names == set(schema.get("required", ()))
            if schema.get("type") == "object" and not is_closed:
                return self._error(400, "invalid_request_error", "Invalid schema for response_format 'reply'")
        said = self._said(asked, form.schema if form is not None else None, body)
        return _events(said) if asked.stream else web.json_response(said)

    def listed(self) -> dict[str, Any]:
        return {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}

    def _said(self, asked: ChatAsked, schema: dict[str, Any] | None, body: bytes) -> dict[str, Any]:
        system = next((turn.content for turn in asked.messages if turn.role in ("system", "developer")), "")
        said = says(asked.model, system, asked.messages[-1].content, schema, body)
        read, written = len(body) // 4, len(said) // 4 + 64
        usage: dict[str, Any] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        usage["prompt_tokens_details"] = {"cached_tokens": 2}
        usage["completion_tokens_details"] = {"reasoning_tokens": 64}
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        answer = {"id": "x", "object": "chat.completion", "model": asked.model, "choices": [choice], "usage": usage}
        self.answers.append(answer)
        return answer

    def _error(self, status: int, code: str, message: str) -> web.Response:
        return web.json_response({"error": {"code": code, "message": message}}, status=status, headers=self.headers)


def _events(answer: dict[str, Any]) -> web.Response:
    text = answer["choices"][0]["message"]["content"]
    chunks: list[dict[str, Any]] = [
        {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
        *({"choices": [{"index": 0, "delta": {"content": part}}]} for part in (text[:5], text[5:])),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": answer["usage"]},
    ]
    lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return web.Response(text=f"{lines}data: [DONE]\n\n", content_type="text/event-stream")

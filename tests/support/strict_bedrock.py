"""A local server that takes what the reference of Bedrock's Converse describes, from whoever signs or has an API key.

Signatures are made here a second time, from AWS's description of Signature Version 4.
"""

import hashlib
import hmac
import json
import struct
import time
import zlib
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, quote

import msgspec
from aiohttp import web
from msgspec import Meta

from tests.support.strict_servers import KEY, Camel, StrictServer, says, schemas

ACCESS_KEY, SECRET, SESSION = "AKIDCANARY0123456789", "wJalr/XUtnFEMI+bPxRfiCYCANARY", "IQoJb3JpZ2lu+/canary=="
_SKEW_SECONDS = 300


class _Block(Camel):
    text: Annotated[str, Meta(min_length=1)]


class _Message(Camel):
    role: Literal["user", "assistant"]
    content: Annotated[list[_Block], Meta(min_length=1)]


class _Inference(Camel):
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    stop_sequences: list[str] | None = None


class _JsonSchema(Camel):
    schema: str
    name: str | None = None
    description: str | None = None


class _Structure(Camel):
    json_schema: _JsonSchema


class _TextFormat(Camel):
    type: Literal["json_schema"]
    structure: _Structure


class _Output(Camel):
    text_format: _TextFormat | None = None


class _InputSchema(Camel):
    json: dict[str, Any]


class _ToolSpec(Camel):
    name: Annotated[str, Meta(pattern="^[a-zA-Z0-9_-]{1,64}$")]
    input_schema: _InputSchema
    description: Annotated[str, Meta(min_length=1)] | None = None


class _Tool(Camel):
    tool_spec: _ToolSpec


class _Named(Camel):
    name: str


class _Choice(Camel):
    tool: _Named


class _Tools(Camel):
    tools: Annotated[list[_Tool], Meta(min_length=1)]
    tool_choice: _Choice | None = None


class ConverseAsked(Camel):
    """The body of `POST /model/{model}/converse`, as far as texts go."""

    messages: Annotated[list[_Message], Meta(min_length=1)]
    system: Annotated[list[_Block], Meta(min_length=1)] | None = None
    inference_config: _Inference = msgspec.field(default_factory=_Inference)
    output_config: _Output | None = None
    tool_config: _Tools | None = None
    additional_model_request_fields: dict[str, Any] | None = None


def converse_fault(model: str, asked: ConverseAsked, *, structured: bool) -> str | None:
    """What the service would say of a request of the right shape; `None` if nothing."""
    roles = [message.role for message in asked.messages]
    if roles != [("user", "assistant")[place % 2] for place in range(len(roles))] or roles[-1] != "user":
        return "A conversation must alternate between user and assistant roles."
    if asked.output_config is not None and not structured:
        return "This model doesn't support the outputConfig.textFormat field. Remove it and try again."
    for schema in schemas(_schema(asked) or {}) if asked.output_config is not None else ():
        if {"minimum", "maximum"} & set(schema):
            return "outputConfig.textFormat: For 'number' type, properties maximum, minimum are not supported"
        if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
            return "outputConfig.textFormat: 'additionalProperties' must be explicitly set to false"
    extra = set(asked.additional_model_request_fields or ())
    taken = {"top_k", "thinking", "output_config"} if "anthropic." in model else {"reasoning_effort"}
    if extra - (taken if "anthropic." in model or "openai." in model else set()):
        return f"Malformed input request: extraneous key {sorted(extra)} is not permitted"
    return None


def signature(method: str, path: str, query: str, headers: dict[str, str], body: bytes, signed: str, scope: str) -> str:
    """Signature Version 4 of a request; `headers` are in small letters, `signed` names those that are signed."""
    pairs = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in parse_qsl(query, True))
    canonical = "\n".join(
        [
            method,
            quote(path, safe="/-_.~"),
            "&".join(f"{name}={value}" for name, value in pairs),
            "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in signed.split(";")),
            signed,
            hashlib.sha256(body).hexdigest(),
        ]
    )
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    told = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashed])
    key = b"AWS4" + SECRET.encode()
    for part in (*scope.split("/"), told):
        key = hmac.digest(key, part.encode(), "sha256")
    return key.hex()


class Bedrock(StrictServer):
    """`POST /model/{model}/converse`, the same as a stream, and `GET /inference-profiles`.

    Not `structured`: no model takes a schema for its answer. Not `lists`: nobody may list the profiles.
    """

    structured = True
    lists = True

    def __init__(self, *models: str) -> None:
        super().__init__(*models)
        self.answers: list[dict[str, Any]] = []
        self._body = b""

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/model/{model}/converse", self.call),
            web.post("/model/{model}/converse-stream", self.call),
            web.get("/inference-profiles", self.listing),
        ]

    async def call(self, request: web.Request) -> web.Response:
        self._body = await request.read()
        return await super().call(request)

    def unwelcome(self, request: web.Request) -> web.Response | None:
        told = request.headers.get("Authorization", "")
        if told != f"Bearer {KEY}" and (trouble := self._untrue(request, told)) is not None:
            return self._error(403, "AccessDeniedException", trouble)
        if request.method == "POST" and request.content_type != "application/json":
            return self._error(415, "ValidationException", "Unsupported media type")
        return None

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        try:
            asked = msgspec.json.decode(body, type=ConverseAsked)
        except msgspec.DecodeError as refused:
            return self._error(400, "ValidationException", f"Malformed input request: {refused}")
        model = request.match_info["model"]
        if model not in self.models:
            return self._error(400, "ValidationException", "The provided model identifier is invalid.")
        trouble = converse_fault(model, asked, structured=self.structured)
        if trouble is not None:
            return self._error(400, "ValidationException", trouble)
        said = self._said(model, asked, body)
        if request.path.endswith("-stream"):
            frames = b"".join(frame(kind, event) for kind, event in _events(said))
            return web.Response(body=frames, content_type="application/vnd.amazon.eventstream")
        return web.json_response(said)

    async def listing(self, request: web.Request) -> web.Response:
        self._body = b""
        if self.lists:
            return await super().listing(request)
        said = "User is not authorized to perform: bedrock:ListInferenceProfiles"
        return self._error(403, "AccessDeniedException", said)

    def listed(self) -> dict[str, Any]:
        found = [
            {"inferenceProfileId": name, "inferenceProfileName": "A profile", "models": [{"modelArn": "arn:x"}]}
            for name in self.models
        ]
        return {"inferenceProfileSummaries": found, "nextToken": None}

    def _untrue(self, request: web.Request, told: str) -> str | None:
        """Why a signature is none; `None` if it is good."""
        algorithm, _, rest = told.partition(" ")
        parts = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
        if algorithm != "AWS4-HMAC-SHA256" or set(parts) != {"Credential", "SignedHeaders", "Signature"}:
            return "Authentication failed: Please make sure your API Key is valid."
        access_key, _, scope = parts["Credential"].partition("/")
        headers = {name.lower(): value for name, value in request.headers.items()}
        at = headers.get("x-amz-date", "")
        if scope != f"{at[:8]}/us-east-1/bedrock/aws4_request" or access_key != ACCESS_KEY:
            return "The security token included in the request is invalid."
        if abs(time.mktime(time.strptime(at, "%Y%m%dT%H%M%SZ")) - time.mktime(time.gmtime())) > _SKEW_SECONDS:
            return "Signature expired"
        needed = {"host", "x-amz-date"} | {name for name in headers if name == "x-amz-security-token"}
        if (
            not needed <= set(parts["SignedHeaders"].split(";"))
            or headers.get("x-amz-security-token", SESSION) != SESSION
        ):
            return "The security token included in the request is invalid."
        path, _, query = request.raw_path.partition("?")
        mine = signature(request.method, path, query, headers, self._body, parts["SignedHeaders"], scope)
        return (
            None
            if hmac.compare_digest(mine, parts["Signature"])
            else "The request signature we calculated does not match"
        )

    def _said(self, model: str, asked: ConverseAsked, body: bytes) -> dict[str, Any]:
        system = asked.system[0].text if asked.system is not None else ""
        said = says(model, system, asked.messages[-1].content[0].text, _schema(asked), body)
        block: dict[str, Any] = {"text": said}
        if asked.tool_config is not None:
            name = asked.tool_config.tools[0].tool_spec.name
            block = {"toolUse": {"toolUseId": "tooluse_1", "name": name, "input": json.loads(said)}}
        thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "x"}}}
        # Thoughts are counted, also those that are not shown.
        read, written = len(body) // 4, len(said) // 4 + 90
        answer: dict[str, Any] = {
            "output": {"message": {"role": "assistant", "content": [thought, block]}},
            "stopReason": "tool_use" if asked.tool_config is not None else "end_turn",
            "usage": {
                "inputTokens": read,
                "outputTokens": written,
                "totalTokens": read + written + 8,
                "cacheReadInputTokens": 5,
                "cacheWriteInputTokens": 3,
            },
            "metrics": {"latencyMs": 7},
        }
        self.answers.append(answer)
        return answer

    def _error(self, status: int, kind: str, message: str) -> web.Response:
        headers = {"x-amzn-errortype": f"{kind}:http://internal.amazon.com/", **self.headers}
        return web.json_response({"message": message}, status=status, headers=headers)


def frame(kind: str, event: dict[str, Any], message_type: str = "event") -> bytes:
    """One frame of `application/vnd.amazon.eventstream`."""
    name = ":event-type" if message_type == "event" else ":exception-type"
    texts = {name: kind, ":content-type": "application/json", ":message-type": message_type}
    headers = b"".join(
        struct.pack(f">B{len(one)}sBH", len(one), one.encode(), 7, len(value)) + value.encode()
        for one, value in texts.items()
    )
    payload = json.dumps(event).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    whole = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def _events(said: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "messageStart", {"role": "assistant"}
    for place, block in enumerate(said["output"]["message"]["content"]):
        if "toolUse" in block:
            text = json.dumps(block["toolUse"]["input"])
            yield (
                "contentBlockStart",
                {"contentBlockIndex": place, "start": {"toolUse": {"toolUseId": "x", "name": "y"}}},
            )
            deltas = [{"toolUse": {"input": text[:5]}}, {"toolUse": {"input": text[5:]}}]
        elif "text" in block:
            deltas = [{"text": block["text"][:5]}, {"text": block["text"][5:]}]
        else:
            deltas = [{"reasoningContent": {"text": "Hm."}}, {"reasoningContent": {"signature": "x"}}]
        for delta in deltas:
            yield "contentBlockDelta", {"contentBlockIndex": place, "delta": delta}
        yield "contentBlockStop", {"contentBlockIndex": place}
    yield "messageStop", {"stopReason": said["stopReason"]}
    yield "metadata", {"usage": said["usage"], "metrics": said["metrics"]}


def _schema(asked: ConverseAsked) -> dict[str, Any] | None:
    if asked.tool_config is not None:
        return asked.tool_config.tools[0].tool_spec.input_schema.json
    if asked.output_config is not None and asked.output_config.text_format is not None:
        found: dict[str, Any] = json.loads(asked.output_config.text_format.structure.json_schema.schema)
        return found
    return None

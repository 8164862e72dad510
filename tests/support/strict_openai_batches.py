"""A local server that takes batches as OpenAI's documentation describes them, and nothing else."""

import json
from email.parser import BytesParser
from email.policy import HTTP
from typing import Annotated, Any, Literal

import msgspec
from aiohttp import web
from msgspec import Meta

from tests.support.batch_shelf import Held, Shelf
from tests.support.model_server import Chat, answer_to, prompt_of
from tests.support.strict_servers import KEY, Asked, Strict, StrictServer


class _Message(Strict):
    role: Literal["system", "user", "assistant"]
    content: Annotated[str, Meta(min_length=1)]


class _Schema(Strict):
    name: str
    schema: dict[str, Any]
    strict: bool = False


class _Format(Strict):
    type: Literal["json_schema", "json_object", "text"]
    json_schema: _Schema | None = None


class ChatAsked(Strict):
    """The body of a chat completion, as far as texts go."""

    model: str
    messages: Annotated[list[_Message], Meta(min_length=1)]
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    seed: int | None = None
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = None
    response_format: _Format | None = None


class _Line(Strict):
    custom_id: Annotated[str, Meta(min_length=1, max_length=64)]
    method: Literal["POST"]
    url: Literal["/v1/chat/completions"]
    body: msgspec.Raw


class _Create(Strict):
    input_file_id: str
    endpoint: Literal["/v1/chat/completions"]
    completion_window: Literal["24h"]
    metadata: Annotated[dict[str, Annotated[str, Meta(max_length=512)]], Meta(max_length=16)] | None = None


class OpenAiBatches(StrictServer):
    """`/v1/files` and `/v1/batches`; calls by themselves are refused."""

    def __init__(self, *models: str) -> None:
        super().__init__(*models)
        self.shelf = Shelf()
        self.files: dict[str, bytes] = {}
        self.uploads = 0

    @property
    def base_url(self) -> str:
        return f"{super().base_url}/v1"

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/v1/files", self.upload),
            web.get("/v1/files/{id}/content", self.content),
            web.post("/v1/batches", self.create),
            web.get("/v1/batches", self.list_all),
            web.get("/v1/batches/{id}", self.retrieve),
            web.post("/v1/batches/{id}/cancel", self.cancel),
            web.get("/v1/models", self.listing),
        ]

    def unwelcome(self, request: web.Request) -> web.Response | None:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return self._error(401, "invalid_api_key")
        return None

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        return self._error(400, "no calls by themselves here")

    def listed(self) -> dict[str, Any]:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self.models]
        return {"object": "list", "data": data}

    async def upload(self, request: web.Request) -> web.Response:
        body, refused = await self._taken(request)
        if refused is not None:
            return refused
        head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
        parts = {
            part.get_param("name", header="content-disposition"): part
            for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts()
        }
        if parts.keys() != {"purpose", "file"} or parts["purpose"].get_content().strip() != "batch":
            return self._error(400, "invalid_purpose")
        if not (parts["file"].get_filename() or "").endswith(".jsonl"):
            return self._error(400, "invalid_file_format")
        self.uploads += 1
        file = f"file-{self.uploads}"
        self.files[file] = bytes(parts["file"].get_content())
        return web.json_response({"id": file, "object": "file", "bytes": len(body), "purpose": "batch"})

    async def create(self, request: web.Request) -> web.Response:
        body, refused = await self._taken(request)
        if refused is not None:
            return refused
        try:
            wanted = msgspec.json.decode(body, type=_Create)
        except msgspec.DecodeError as error:
            return self._error(400, f"invalid_request: {error}")
        if wanted.input_file_id not in self.files:
            return self._error(400, "no such file")
        lines = [
            msgspec.json.decode(line, type=_Line) for line in self.files[wanted.input_file_id].splitlines() if line
        ]
        calls = [(line.custom_id, bytes(line.body)) for line in lines]
        batch = self.shelf.hold("batch", calls, wanted.metadata or {})
        models = {msgspec.json.decode(call, type=Chat).model for _, call in calls}
        if len(models) != 1 or len({call for call, _ in calls}) != len(calls):
            batch.fate = "fails"
        return web.json_response(self._shown(batch))

    async def list_all(self, request: web.Request) -> web.Response:
        _, refused = await self._taken(request)
        if refused is not None:
            return refused
        held = list(reversed(self.shelf.held.values()))
        ids = [batch.id for batch in held]
        start = ids.index(request.query["after"]) + 1 if "after" in request.query else 0
        page = held[start : start + int(request.query.get("limit", 20))]
        more = start + len(page) < len(held)
        return web.json_response({"object": "list", "data": [self._shown(batch) for batch in page], "has_more": more})

    async def retrieve(self, request: web.Request) -> web.Response:
        _, refused = await self._taken(request)
        batch = self.shelf.look_at(request.match_info["id"])
        return refused or (self._error(404, "not_found") if batch is None else web.json_response(self._shown(batch)))

    async def cancel(self, request: web.Request) -> web.Response:
        _, refused = await self._taken(request)
        batch = self.shelf.held.get(request.match_info["id"])
        if refused is not None or batch is None:
            return refused or self._error(404, "not_found")
        if batch.ended:
            return self._error(409, "cannot be cancelled")
        batch.cancelled = True
        return web.json_response(self._shown(batch))

    async def content(self, request: web.Request) -> web.Response:
        _, refused = await self._taken(request)
        file = self.files.get(request.match_info["id"])
        if refused is not None or file is None:
            return refused or self._error(404, "not_found")
        return web.Response(body=file, content_type="application/octet-stream")

    def _shown(self, batch: Held) -> dict[str, Any]:
        status = "in_progress" if batch.looks else "validating"
        shown: dict[str, Any] = {"errors": None, "output_file_id": None, "error_file_id": None}
        if batch.ended:
            status = "cancelled" if batch.cancelled else {"expires": "expired"}.get(batch.fate, "completed")
            if batch.fate in ("fails", "full"):
                status = "failed"
                code = "token_limit_exceeded" if batch.fate == "full" else "invalid_json_line"
                shown["errors"] = {"object": "list", "data": [{"code": code, "message": "No.", "line": None}]}
            else:
                shown |= self._results(batch)
        return shown | {
            "id": batch.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "status": status,
            "created_at": int(batch.created.timestamp()),
            "metadata": batch.metadata,
            "request_counts": {"total": len(batch.calls), "completed": 0, "failed": 0},
        }

    def _results(self, batch: Held) -> dict[str, str | None]:
        """Write the two files of results, once, in another order than that of the calls."""
        names = {"output_file_id": f"out-{batch.id}", "error_file_id": f"err-{batch.id}"}
        if names["output_file_id"] not in self.files:
            lines: dict[str, list[Any]] = {"output_file_id": [], "error_file_id": []}
            for number, (call, body) in enumerate(reversed(batch.done)):
                status, said = self.shelf.said_to(body, self._completion)
                line = {
                    "id": f"batch_req_{number}",
                    "custom_id": call,
                    "response": {"status_code": status, "request_id": "r", "body": said},
                    "error": None,
                }
                lines["output_file_id" if status == 200 else "error_file_id"].append(line)
            code = "batch_cancelled" if batch.cancelled else "batch_expired"
            lines["error_file_id"] += [
                {"id": "r", "custom_id": call, "response": None, "error": {"code": code, "message": "No."}}
                for call in batch.undone
            ]
            for name, file in names.items():
                self.files[file] = b"".join(json.dumps(line).encode() + b"\n" for line in lines[name])
        return {name: file if self.files[file] else None for name, file in names.items()}

    def _completion(self, body: bytes) -> tuple[int, Any]:
        try:
            msgspec.json.decode(body, type=ChatAsked)
        except msgspec.DecodeError as error:
            return 400, {"error": {"message": str(error), "type": "invalid_request_error"}}
        chat = msgspec.json.decode(body, type=Chat)
        if chat.model not in self.models:
            return 404, {"error": {"code": "model_not_found", "message": "No."}}
        said = answer_to(chat, prompt_of(body))
        usage = {"prompt_tokens": len(prompt_of(body)) // 4, "completion_tokens": len(said) // 4}
        message = {"role": "assistant", "content": said, "refusal": None}
        return 200, {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}

    async def _taken(self, request: web.Request) -> tuple[bytes, web.Response | None]:
        body = await request.read()
        is_json = bool(body) and request.content_type == "application/json"
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.method, str(request.url), headers, json.loads(body) if is_json else None))
        refused = self.unwelcome(request)
        if refused is None and self.refuse and request.method == "POST":
            status, said = self.refuse.pop(0)
            refused = web.json_response(said, status=status, headers=self.headers)
        return body, refused

    def _error(self, status: int, code: str) -> web.Response:
        return web.json_response({"error": {"code": code, "message": "No."}}, status=status, headers=self.headers)

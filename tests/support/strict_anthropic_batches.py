"""A local server that takes batches as Anthropic's documentation describes them, and nothing else."""

import json
from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from tests.support.batch_shelf import Held, Shelf
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_servers import Strict


class _Request(Strict):
    custom_id: Annotated[str, Meta(pattern="^[a-zA-Z0-9_-]{1,64}$")]
    params: msgspec.Raw


class _Requests(Strict):
    requests: Annotated[list[_Request], Meta(min_length=1, max_length=100_000)]


class AnthropicBatches(Anthropic):
    """`/v1/messages/batches` beside the messages API."""

    def __init__(self, *models: str) -> None:
        super().__init__(*models)
        self.shelf = Shelf()

    def routes(self) -> list[web.RouteDef]:
        return [
            *super().routes(),
            web.post("/v1/messages/batches", self.create),
            web.get("/v1/messages/batches", self.list_all),
            web.get("/v1/messages/batches/{id}", self.retrieve),
            web.post("/v1/messages/batches/{id}/cancel", self.cancel),
            web.get("/v1/messages/batches/{id}/results", self.results),
        ]

    def unwelcome(self, request: web.Request) -> web.Response | None:
        # A cancellation has no body.
        refused = super().unwelcome(request)
        return None if request.path.endswith("/cancel") and refused and refused.status == 400 else refused

    async def create(self, request: web.Request) -> web.Response:
        body, refused = await self._taken(request)
        if refused is not None:
            return refused
        try:
            wanted = msgspec.json.decode(body, type=_Requests).requests
        except msgspec.DecodeError as error:
            return self._error(400, "invalid_request_error", str(error))
        if len({one.custom_id for one in wanted}) != len(wanted):
            return self._error(400, "invalid_request_error", "requests: custom_id must be unique")
        batch = self.shelf.hold("msgbatch", [(one.custom_id, bytes(one.params)) for one in wanted], {})
        return web.json_response(self._shown(batch))

    async def list_all(self, request: web.Request) -> web.Response:
        _, refused = await self._taken(request)
        if refused is not None:
            return refused
        held = list(reversed(self.shelf.held.values()))
        ids = [batch.id for batch in held]
        start = ids.index(request.query["after_id"]) + 1 if "after_id" in request.query else 0
        page = held[start : start + int(request.query.get("limit", 20))]
        for batch in page:
            # Time passes for whoever looks at the list, too.
            self.shelf.look_at(batch.id)
        more = start + len(page) < len(held)
        return web.json_response({"data": [self._shown(batch) for batch in page], "has_more": more})

    async def retrieve(self, request: web.Request) -> web.Response:
        _, refused = await self._taken(request)
        batch = self.shelf.look_at(request.match_info["id"])
        return refused or (self._missing() if batch is None else web.json_response(self._shown(batch)))

    async def cancel(self, request: web.Request) -> web.Response:
        _, refused = await self._taken(request)
        batch = self.shelf.held.get(request.match_info["id"])
        if refused is not None or batch is None:
            return refused or self._missing()
        batch.cancelled = batch.cancelled or not batch.ended
        return web.json_response(self._shown(batch))

    async def results(self, request: web.Request) -> web.Response:
        _, refused = await self._taken(request)
        batch = self.shelf.held.get(request.match_info["id"])
        if refused is not None or batch is None or not batch.ended:
            return refused or self._missing()
        lines = []
        for call, body in reversed(batch.done):
            status, said = self.shelf.said_to(body, lambda body: self._answered(request, body))
            result = {"type": "succeeded", "message": said} if status == 200 else {"type": "errored", "error": said}
            lines.append({"custom_id": call, "result": result})
        kind = "canceled" if batch.cancelled else "expired"
        lines += [{"custom_id": call, "result": {"type": kind}} for call in batch.undone]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        return web.Response(text=text, content_type="application/x-jsonl")

    def _answered(self, request: web.Request, body: bytes) -> tuple[int, Any]:
        response = self.judged(request, body)
        return response.status, json.loads(response.text or "{}")

    def _shown(self, batch: Held) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        undone = "canceled" if batch.cancelled else "expired"
        if batch.ended:
            counts |= {"succeeded": len(batch.done), undone: len(batch.undone)}
        else:
            counts["processing"] = len(batch.calls)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if batch.ended else "canceling" if batch.cancelled else "in_progress",
            "request_counts": counts,
            "created_at": batch.created.isoformat().replace("+00:00", "Z"),
            "expires_at": batch.created.isoformat().replace("+00:00", "Z"),
            "results_url": f"{self.base_url}/v1/messages/batches/{batch.id}/results" if batch.ended else None,
        }

    async def _taken(self, request: web.Request) -> tuple[bytes, web.Response | None]:
        body = await self._take(request)
        refused = self.unwelcome(request)
        if refused is None and self.refuse and request.method == "POST":
            status, said = self.refuse.pop(0)
            refused = web.json_response(said, status=status, headers=self.headers)
        return body, refused

    def _missing(self) -> web.Response:
        return self._error(404, "not_found_error", "batch")

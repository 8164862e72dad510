"""A local server that streams an answer in each of the three protocols, as their public documentation describes it.

It takes what the strict servers take, with the key in its header.

It says `pieces`, one event each, and then what the protocol says at an end. `fault` is what it does after the first
piece instead of going on: wait until it is let go, tell an error of its own, or break off, politely or not.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import msgspec
from aiohttp import web

from tests.support.strict_anthropic import MessagesAsked, messages_fault
from tests.support.strict_google import GenerateAsked, generate_fault
from tests.support.strict_responses import response_events, response_of
from tests.support.strict_servers import KEY

PIECES = ("Forty ", "ships came, ", "and the lämp 💡 was lit.")
TEXT = "".join(PIECES)
MODELS = ("openai:gpt-4o-mini", "anthropic:claude-3-5-haiku-latest", "google:gemini-2.0-flash")
"""One of each protocol, all with a list price."""
USAGE = {"input_tokens": 90, "output_tokens": 17, "cached_tokens": 10, "written_tokens": 0}
"""What every protocol's words for the tokens come to."""

_WORDS = "Your organization must be verified to stream this model."
_UNVERIFIED = {
    "error": {"message": _WORDS, "type": "invalid_request_error", "param": "stream", "code": "unsupported_value"}
}
_WHOLE = {
    "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 100, "completion_tokens": 17, "prompt_tokens_details": {"cached_tokens": 10}},
}

StreamingFault = Literal["wait", "error", "cut", "abort"]


def openai_events(pieces: tuple[str, ...], *, ended: bool = True, failed: bool = False) -> Iterator[str]:
    """Chunks of a completion; the tokens come in one without choices."""
    for text in ("", *pieces):
        yield _data({"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}], "usage": None})
    if failed:
        yield _data({"error": {"message": f"Broken, {KEY}", "type": "server_error"}})
    if ended:
        yield _data({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None})
        counted = {"prompt_tokens": 100, "completion_tokens": 17, "total_tokens": 117}
        yield _data({"choices": [], "usage": counted | {"prompt_tokens_details": {"cached_tokens": 10}}})
        yield "data: [DONE]\n\n"


def anthropic_events(pieces: tuple[str, ...], *, ended: bool = True, failed: bool = False) -> Iterator[str]:
    """Events of a message: a thought before the text, pings in between."""

    def named(kind: str, **fields: Any) -> str:
        return f"event: {kind}\n" + _data({"type": kind, **fields})

    usage = {"input_tokens": 90, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 0, "output_tokens": 1}
    yield named("message_start", message={"id": "msg_1", "type": "message", "content": [], "usage": usage})
    yield named("content_block_start", index=0, content_block={"type": "thinking", "thinking": ""})
    yield named("content_block_delta", index=0, delta={"type": "thinking_delta", "thinking": "Hm."})
    yield named("content_block_stop", index=0)
    yield named("content_block_start", index=1, content_block={"type": "text", "text": ""})
    yield named("ping")
    for text in pieces:
        yield named("content_block_delta", index=1, delta={"type": "text_delta", "text": text})
    if failed:
        yield named("error", error={"type": "overloaded_error", "message": f"Overloaded, {KEY}"})
    if ended:
        yield named("content_block_stop", index=1)
        yield named("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 17})
        yield named("message_stop")


def google_events(pieces: tuple[str, ...], *, ended: bool = True, failed: bool = False) -> Iterator[str]:
    """Answers that go on from one another, each with the tokens up to it; lines end as Google ends them."""
    counted = {"promptTokenCount": 100, "cachedContentTokenCount": 10, "thoughtsTokenCount": 7}
    parts = [{"text": "Hm.", "thought": True}]
    yield _data({"candidates": [{"content": {"parts": parts, "role": "model"}}], "usageMetadata": counted}, "\r\n")
    for number, text in enumerate(pieces):
        usage = counted | {"candidatesTokenCount": number}
        candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}
        yield _data({"candidates": [candidate], "usageMetadata": usage}, "\r\n")
    if failed:
        yield _data({"error": {"code": 503, "message": f"Overloaded, {KEY}", "status": "UNAVAILABLE"}}, "\r\n")
    if ended:
        usage = counted | {"candidatesTokenCount": 10}
        yield _data({"candidates": [{"finishReason": "STOP", "index": 0}], "usageMetadata": usage}, "\r\n")


def responses_events(pieces: tuple[str, ...], *, ended: bool = True, failed: bool = False) -> Iterator[str]:
    """Events of a response: a thought and words on the way before the text."""
    whole = response_of("gpt-5.3-codex", "".join(pieces), b"")
    whole["usage"] = {"input_tokens": 100, "output_tokens": 17, "input_tokens_details": {"cached_tokens": 10}}
    error = {"code": "server_error", "message": f"Broken, {KEY}"} if failed else None
    yield from response_events(pieces, whole=whole if ended else None, error=error)


def _data(value: dict[str, Any], end: str = "\n") -> str:
    return f"data: {json.dumps(value)}{end}{end}"


class StreamingServer:
    """One server for all protocols, on a free port."""

    def __init__(self) -> None:
        self.pieces = PIECES
        self.fault: StreamingFault | None = None
        self.refuses = False
        """OpenAI refuses to stream some models to accounts that it has not verified."""
        self.go_on = asyncio.Event()
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.ended = 0
        """Streams that came to their good end."""
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def base_urls(self) -> dict[str, str]:
        """Where each provider is served."""
        return {"openai": f"{self.base_url}/openai", "anthropic": self.base_url, "google": self.base_url}

    async def openai(self, request: web.Request) -> web.StreamResponse:
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        if self.refuses:
            asked = await request.json()
            self.asked.append((request.path_qs, asked))
            return web.json_response(_UNVERIFIED, status=400) if "stream" in asked else web.json_response(_WHOLE)
        return await self._speak(request, openai_events)

    async def anthropic(self, request: web.Request) -> web.StreamResponse:
        assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == (KEY, "2023-06-01")
        asked = msgspec.json.decode(await request.read(), type=MessagesAsked)
        assert (messages_fault(asked), asked.stream) == (None, True)
        return await self._speak(request, anthropic_events)

    async def google(self, request: web.Request) -> web.StreamResponse:
        assert (request.headers["x-goog-api-key"], dict(request.query)) == (KEY, {"alt": "sse"})
        asked = msgspec.json.decode(await request.read(), type=GenerateAsked)
        assert generate_fault(request.match_info["model"], asked) is None
        return await self._speak(request, google_events)

    async def _speak(self, request: web.Request, events: Any) -> web.StreamResponse:
        self.asked.append((request.path_qs, await request.json()))
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await answer.prepare(request)
        first, rest = self.pieces[:1], self.pieces[1:]
        begun = list(events(first, ended=False, failed=self.fault == "error"))
        for event in begun:
            await answer.write(event.encode())
        if self.fault == "abort":
            assert request.transport is not None
            request.transport.abort()
        if self.fault in ("error", "cut", "abort"):
            return answer
        if self.fault == "wait":
            await self.go_on.wait()
        # The beginning was said already.
        for event in list(events(first + rest))[len(begun) :]:
            await answer.write(event.encode())
        self.ended += 1
        return answer


@asynccontextmanager
async def streaming() -> AsyncIterator[StreamingServer]:
    """The server in this event loop."""
    server = StreamingServer()
    app = web.Application()
    app.add_routes(
        [
            web.post("/openai/chat/completions", server.openai),
            web.post("/v1/messages", server.anthropic),
            web.post("/v1beta/models/{model}:streamGenerateContent", server.google),
        ]
    )
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        server.go_on.set()
        await runner.cleanup()

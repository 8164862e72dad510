"""A server of twenty lines that anybody can write: it answers in OpenAI's protocol, and prefers what says PICKME."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.support.strict_servers import serving

PICK = "PICKME"


class Preferring:
    """Answers as every model, or with a `status` of failure; calls wait until they may `go_on`."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[dict[str, Any]] = []
        self.status = 200
        self.go_on = asyncio.Event()
        self.go_on.set()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def key(self) -> dict[str, str]:
        """The body that stores a key for `openai` that leads here."""
        return {"provider": "openai", "key": "any-key-will-do", "base_url": f"http://{self.host}/v1"}

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/chat/completions", self.complete)]

    async def complete(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(body)
        await self.go_on.wait()
        if self.status != 200:
            return web.json_response({"error": {"message": "no"}}, status=self.status)
        prompt = body["messages"][-1]["content"]
        text = _verdict(prompt) if "BEGIN FIRST ANSWER" in prompt else f"An answer from port {self.port}. {PICK}"
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        choices = [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]
        return web.json_response({"id": "x", "choices": choices, "usage": usage})


def _verdict(prompt: str) -> str:
    first, second = prompt.index("BEGIN FIRST ANSWER"), prompt.index("BEGIN SECOND ANSWER")
    winner = "first" if first < prompt.find(PICK) < second else "second"
    return f'{{"reason": "So it is.", "winner": "{winner}"}}'


@asynccontextmanager
async def preferring() -> AsyncIterator[Preferring]:
    async with serving(Preferring()) as server:
        yield server

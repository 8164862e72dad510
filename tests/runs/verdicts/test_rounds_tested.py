"""Whether another question follows people better, over HTTP: tested on the half that no criteria were written from."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import msgspec
import pytest
from aiohttp import web
from msgspec.structs import replace

from carrel.config import Settings
from tests.runs.verdicts.voting import bring_in
from tests.support.credit_runs import until
from tests.support.run_setup import text_of
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_servers import KEY, serving
from tests.support.web_runs import add_keys, completed, content

DOCUMENTS = 24
HEAD = "document,first,second,verdict,voter,reason\n"
TASTES = {"conciseness": "short", "language": "flips"}


class Taste(Anthropic):
    """Likes the longer answer; where a criterion asks for conciseness the shorter one, and for language the first."""

    def __init__(self) -> None:
        super().__init__("claude-one")
        self.is_open = asyncio.Event()
        self.is_open.set()

    async def call(self, request: web.Request) -> web.Response:
        await self.is_open.wait()
        return await super().call(request)

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        answer = super().judged(request, body)
        found = json.loads(answer.text or "")
        prompt = json.loads(body)["messages"][-1]["content"]
        first, second = (len(prompt.split(f"«BEGIN {side} ANSWER")[1].split("«END")[0]) for side in ("FIRST", "SECOND"))
        winner = "first" if (first < second) == ("- conciseness" in prompt) or "- language" in prompt else "second"
        for block in found["content"]:
            if block["type"] == "text":
                block["text"] = json.dumps({"reason": "So.", "winner": winner})
            elif block["type"] == "tool_use":
                block["input"] = {"reason": "So.", "winner": winner}
        return web.json_response(found, status=answer.status)


@pytest.fixture
async def judge() -> AsyncIterator[Taste]:
    async with serving(Taste()) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, judge: Taste) -> Settings:
    return replace(settings, provider_hosts=(judge.host,))


@pytest.fixture
async def run(ada: httpx.AsyncClient, judge: Taste) -> str:
    """A run whose judge likes long answers: `long` beats `short` on every document."""
    await add_keys(ada, KEY, {"anthropic": judge.base_url})
    models = {"short": "local:lead", "long": "local:lexrank"}
    configuration = {
        "inputs": [await content(ada, {}, "input_document", text_of(n), f"D{n}") for n in range(1, DOCUMENTS + 1)],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": model, "label": label} for label, model in models.items()]},
        "comparison": {"judges": [{"model": "anthropic:claude-one"}]},
    }
    return f"/api/runs/{(await completed(ada, configuration))['id']}"

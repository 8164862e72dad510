"""A local server that takes requests as strictly as a public documentation describes them: what all of them share.

What such a server knows of its protocol is written a second time, so that the client is not held against itself: fields
that are not documented, values out of range, and missing headers are refused as the real service refuses them.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
from aiohttp import web

from tests.support.model_server import Chat, Message, answer_to, prompt_of

KEY = "canary-key-0123456789"
_MARK = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A part of a request, in snake case."""


class Camel(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """A part of a request, in camel case."""


class Asked(NamedTuple):
    """One request as it came."""

    method: str
    url: str
    headers: dict[str, str]
    body: Any


class StrictServer(ABC):
    """What was asked, and what is refused next; each refusal once."""

    def __init__(self, *models: str) -> None:
        self.models = models
        self.asked: list[Asked] = []
        self.refuse: list[tuple[int, dict[str, Any]]] = []
        self.headers: dict[str, str] = {}
        """What refusals carry."""
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def host(self) -> str:
        """What `CARREL_PROVIDER_HOSTS` must name."""
        return f"localhost:{self.port}"

    @abstractmethod
    def routes(self) -> list[web.RouteDef]: ...

    @abstractmethod
    def unwelcome(self, request: web.Request) -> web.Response | None:
        """The refusal of a request without the right headers; `None` if it has them."""

    @abstractmethod
    def judged(self, request: web.Request, body: bytes) -> web.Response:
        """The answer to a call with the right headers."""

    async def call(self, request: web.Request) -> web.Response:
        body = await self._take(request)
        refused = self.unwelcome(request)
        if refused is None and self.refuse:
            status, said = self.refuse.pop(0)
            refused = web.json_response(said, status=status, headers=self.headers)
        return refused or self.judged(request, body)

    async def listing(self, request: web.Request) -> web.Response:
        await self._take(request)
        return self.unwelcome(request) or web.json_response(self.listed())

    @abstractmethod
    def listed(self) -> dict[str, Any]: ...

    async def _take(self, request: web.Request) -> bytes:
        body = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(request.method, str(request.url), headers, json.loads(body) if body else None))
        return body


def says(model: str, system: str, prompt: str, schema: dict[str, Any] | None, body: bytes) -> str:
    """A text, or JSON that satisfies the schema: the same to the same question."""
    form = None if schema is None else {"type": "json_schema", "json_schema": {"schema": schema}}
    chat = Chat(model, [Message("system", system), Message("user", _MARK.sub("", prompt))], form)
    return answer_to(chat, prompt_of(body))


def schemas(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """A schema and every schema within it."""
    return [schema, *(inner for part in schema.get("properties", {}).values() for inner in schemas(part))]


class Servable(Protocol):
    """What `serving` can start."""

    port: int

    def routes(self) -> list[web.RouteDef]:
        """What it answers."""


_Kind = TypeVar("_Kind", bound=Servable)


@asynccontextmanager
async def serving(server: _Kind, most_bytes: int = 1024**2) -> AsyncIterator[_Kind]:
    """The server on a free port of this machine, in this event loop."""
    app = web.Application(client_max_size=most_bytes)
    app.add_routes(server.routes())
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        await runner.cleanup()

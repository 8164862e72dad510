"""Written by `sdk/generate.py` from `carrel_sdk.calls`. Change that, and run it again."""

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import msgspec

from carrel_sdk.aio.transport import AsyncTransport
from carrel_sdk.calls import Query, T, _checked, _conditional, _form, _Page, _texts, _typed, _with_body
from carrel_sdk.errors import RENEWABLE_CODES, CarrelApiError
from carrel_sdk.transport import Answer, Request

AsyncTokenSource = str | Callable[[], Awaitable[str]]


class AsyncCalls:
    """What all groups of routes share: one transport and the user's current token."""

    def __init__(
        self, transport: AsyncTransport, token_source: AsyncTokenSource, renewable: frozenset[str] = RENEWABLE_CODES
    ) -> None:
        self._transport = transport
        self._source = token_source
        self._renewable = renewable
        self._token: str | None = None

    def __repr__(self) -> str:
        return f"Calls({self._transport!r})"

    async def get(self, path: str, kind: type[T], query: Query | None = None) -> T:
        """Read one thing."""
        return _typed(await self.send(Request("GET", path, query=_texts(query), repeatable=True)), kind)

    async def get_bytes(self, path: str, query: Query | None = None, *, accept: str = "*/*") -> bytes:
        """Read something that is not JSON."""
        request = Request("GET", path, query=_texts(query), headers={"Accept": accept}, repeatable=True)
        return (await self.send(request)).content

    async def post(self, path: str, kind: type[T], body: object = None, query: Query | None = None) -> T:
        """Post. The request is sent only once."""
        return _typed(await self.send(_with_body("POST", path, body, query)), kind)

    async def post_once(
        self, path: str, kind: type[T], body: object = None, query: Query | None = None, *, key: str | None = None
    ) -> T:
        """Post with an Idempotency-Key (a new one unless given), so that it can be sent again with one effect."""
        request = _with_body("POST", path, body, query)
        headers = {**request.headers, "Idempotency-Key": key or secrets.token_urlsafe(24)}
        return _typed(await self.send(replace(request, headers=headers, repeatable=True)), kind)

    async def post_file(
        self,
        path: str,
        kind: type[T],
        file: tuple[str, bytes],
        fields: Mapping[str, str],
        *,
        if_match: str | None = None,
    ) -> T:
        """Post a file, its name and its bytes, as the field `file` of a form, under an Idempotency-Key of its own."""
        boundary, content = _form(file, fields)
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Idempotency-Key": secrets.token_urlsafe(24),
        }
        request = Request("POST", path, headers=headers, content=content, repeatable=True)
        return _typed(await self.send(_conditional(request, if_match)), kind)

    async def post_nothing(self, path: str) -> None:
        """Post without a body, and ignore the body of the answer."""
        await self.send(_with_body("POST", path, None, None))

    async def put(self, path: str, kind: type[T], body: object, *, if_match: str | None = None) -> T:
        """Replace. With `if_match`, only if nobody has changed it since."""
        request = _with_body("PUT", path, body, None)
        return _typed(await self.send(_conditional(request, if_match)), kind)

    async def delete(self, path: str, *, if_match: str | None = None) -> None:
        """Delete. With `if_match`, only if nobody has changed it since."""
        await self.send(_conditional(Request("DELETE", path), if_match))

    async def delete_many(self, path: str, kind: type[T], body: object = None, query: Query | None = None) -> T:
        """Delete what the body or the query names, and return the result."""
        return _typed(await self.send(_with_body("DELETE", path, body, query)), kind)

    async def each(self, path: str, kind: type[T], query: Query | None = None) -> AsyncIterator[T]:
        """Every item of a list, newest first, fetched page by page as it is iterated."""
        cursor: str | None = None
        while True:
            page = await self.get(path, _Page, {**(query or {}), "cursor": cursor})
            for item in page.items:
                yield msgspec.json.decode(item, type=kind)
            cursor = page.next_cursor
            if cursor is None:
                return

    async def send(self, request: Request) -> Answer:
        """Send with the token. If it has expired and the source can fetch another, send once more with that.

        Raises:
            CarrelUnreachable, CarrelApiError
        """
        try:
            return await self._transport.send(await self._signed(request))
        except CarrelApiError as error:
            if not self._renew(error):
                raise
        return await self._transport.send(await self._signed(request))

    @asynccontextmanager
    async def open_stream(self, request: Request) -> AsyncGenerator[httpx.Response, None]:
        """A good answer whose body the caller reads piece by piece. The token is not renewed here."""
        async with self._transport.stream(await self._signed(request)) as response:
            yield response

    def forget_token(self) -> bool:
        """Whether another token can be fetched. If so, the next call fetches it."""
        if isinstance(self._source, str):
            return False
        self._token = None
        return True

    def _renew(self, error: CarrelApiError) -> bool:
        return error.code in self._renewable and self.forget_token()

    async def _signed(self, request: Request) -> Request:
        if self._token is None:
            self._token = _checked(self._source if isinstance(self._source, str) else await self._source())
        return replace(request, headers={**request.headers, "X-SVC-Session-Token": self._token})

"""Written by `sdk/generate.py` from `carrel_sdk.transport`. Change that, and run it again."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Mapping,
)
from contextlib import asynccontextmanager

import httpx

from carrel_sdk.errors import CarrelUnreachable
from carrel_sdk.transport import (
    _LOOPBACK,
    MAX_RETRIES,
    READ_SECONDS,
    Answer,
    Request,
    _as_error,
    _lost_behind,
    _unreachable,
    _wait_before_next,
)


class AsyncTransport:
    """A pool of connections to one service. Sends `headers` with every request."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        connect_seconds: float = 5.0,
        read_seconds: float = READ_SECONDS,
        max_retries: int = MAX_RETRIES,
        allow_http: bool = False,
        http: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        url = httpx.URL(base_url)
        loopback = _LOOPBACK.fullmatch(url.host) is not None
        if url.scheme != "https" and (not (url.scheme == "http" and (loopback or allow_http))):
            raise ValueError("base_url must be https:// (plain http:// only to this machine, or with allow_http=True)")
        if read_seconds <= 0 or max_retries < 0:
            raise ValueError("timeout must be more than 0 and max_retries at least 0")
        self.base_url = str(url).rstrip("/")
        self._connect_seconds = min(connect_seconds, read_seconds)
        self._read_seconds = read_seconds
        self._max_retries = max_retries
        self._sleep = sleep
        self._client = httpx.AsyncClient(
            base_url=f"{self.base_url}/api",
            headers=dict(headers or {}),
            transport=http,
            trust_env=not loopback,
            limits=httpx.Limits(keepalive_expiry=2.0),
            follow_redirects=False,
        )

    def __repr__(self) -> str:
        return f"Transport({self.base_url!r})"

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def exchange(self, request: Request) -> Answer | CarrelUnreachable:
        """Send once and read the whole answer. A failure is returned, not raised.

        So no frame that held the request's body, and no exception of the HTTP client (which holds the request), can
        become part of a traceback.
        """
        try:
            response = await self._client.send(self._build(request))
        except httpx.HTTPError as error:
            return _unreachable(error)
        lost = _lost_behind(response.status_code, response.content)
        return lost or Answer(response.status_code, response.headers, response.content)

    async def send(self, request: Request) -> Answer:
        """Send, again if that is safe, and return a good answer.

        Raises:
            CarrelUnreachable, CarrelApiError
        """
        attempt = 0
        while True:
            result = await self.exchange(request)
            error = result if isinstance(result, CarrelUnreachable) else result.error()
            if isinstance(result, Answer) and error is None:
                return result
            wait = _wait_before_next(request, attempt, error, self._max_retries)
            if wait is None:
                raise error or AssertionError
            await self._sleep(wait)
            attempt += 1

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncGenerator[httpx.Response, None]:
        """A good answer whose body the caller reads piece by piece. Reading may raise httpx's errors.

        Raises:
            CarrelUnreachable, CarrelApiError: before the first byte of the body.
        """
        failure: CarrelUnreachable | None = None
        response: httpx.Response | None = None
        try:
            response = await self._client.send(self._build(request), stream=True)
        except httpx.HTTPError as error:
            failure = _unreachable(error)
        if response is None:
            raise failure or AssertionError
        try:
            if response.status_code >= 300:
                content = await _read_all(response)
                lost = _lost_behind(response.status_code, content)
                if lost is not None:
                    raise lost
                raise _as_error(response.status_code, response.headers, content)
            yield response
        finally:
            await response.aclose()

    def _build(self, request: Request) -> httpx.Request:
        read = request.read_seconds or self._read_seconds
        return self._client.build_request(
            request.method,
            request.path,
            params=dict(request.query) or None,
            headers=dict(request.headers),
            content=request.content,
            timeout=httpx.Timeout(read, connect=self._connect_seconds),
        )


async def _read_all(response: httpx.Response) -> bytes:
    try:
        return await response.aread()
    except httpx.HTTPError:
        return b""

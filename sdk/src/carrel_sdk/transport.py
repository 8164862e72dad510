"""HTTP exchanges with the service: requests, answers, retries, and errors as types."""

import os
import re
import ssl
import time
from collections.abc import AsyncIterable, Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from carrel_sdk.errors import CarrelApiError, CarrelUnreachable, FieldError, TryLater, api_error

T = TypeVar("T")

READ_SECONDS: Final = 30.0
MAX_RETRIES: Final = 2
_FIRST_WAIT_SECONDS: Final = 0.2
_WAIT_FACTOR: Final = 4
_LONGEST_WAIT_SECONDS: Final = 10
_CAUSES: Final = 8
"""How far down the chain of an error's causes is looked."""
_OF_PROXIES: Final = frozenset({502, 503, 504})
_UNSENT: Final = "service-unreachable"
_LOST: Final = frozenset({"service-lost", "service-silent", "node-lost", "node-silent"})
"""What the proxies of `deploy` and of a cluster say in the service's place."""
_LOOPBACK: Final = re.compile(r"localhost|127(\.\d{1,3}){3}|::1|\[::1\]")


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """One request below `/api`. Its `repr` shows nothing: a body may hold a key, a header a secret."""

    method: str
    path: str
    query: Mapping[str, str | list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | Iterable[bytes] | AsyncIterable[bytes] | None = None
    read_seconds: float | None = None
    """The longest wait for a byte of the answer; None means the transport's default."""
    repeatable: bool = False
    """Whether sending it twice has one effect: a GET, or a POST with an Idempotency-Key."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """A whole answer, whatever its status."""

    status: int
    headers: httpx.Headers
    content: bytes

    def decode(self, kind: type[T]) -> T:
        """The JSON body as `kind`; fields that `kind` does not know are ignored.

        Raises:
            CarrelApiError: `unexpected-answer`, it is something else.
        """
        try:
            return msgspec.json.decode(self.content, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise _unexpected(self.status, self.headers) from None

    def error(self) -> CarrelApiError | None:
        """The error that this answer is, or None for 2xx and 304."""
        if self.status < 300 or self.status == 304:
            return None
        return _as_error(self.status, self.headers, self.content)


class Transport:
    """A pool of connections to one service. Sends `headers` with every request. Thread-safe, like httpx's client."""

    def __init__(
        self,
        base_url: str,
        *,
        headers: Mapping[str, str] | None = None,
        connect_seconds: float = 5.0,
        read_seconds: float = READ_SECONDS,
        max_retries: int = MAX_RETRIES,
        allow_http: bool = False,
        http: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        url = httpx.URL(base_url)
        loopback = _LOOPBACK.fullmatch(url.host) is not None
        if url.scheme != "https" and not (url.scheme == "http" and (loopback or allow_http)):
            raise ValueError("base_url must be https:// (plain http:// only to this machine, or with allow_http=True)")
        if read_seconds <= 0 or max_retries < 0:
            raise ValueError("timeout must be more than 0 and max_retries at least 0")
        self.base_url = str(url).rstrip("/")
        self._connect_seconds = min(connect_seconds, read_seconds)
        self._read_seconds = read_seconds
        self._max_retries = max_retries
        self._sleep = sleep
        # Redirects would carry the secret headers elsewhere; a proxy from the environment is not for loopback.
        self._client = httpx.Client(
            base_url=f"{self.base_url}/api",
            headers=dict(headers or {}),
            transport=http,
            trust_env=not loopback,
            # Shorter than servers keep idle connections: one that ends just as a login is sent would fail the login.
            limits=httpx.Limits(keepalive_expiry=2.0),
            follow_redirects=False,
        )

    def __repr__(self) -> str:
        return f"Transport({self.base_url!r})"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def exchange(self, request: Request) -> Answer | CarrelUnreachable:
        """Send once and read the whole answer. A failure is returned, not raised.

        So no frame that held the request's body, and no exception of the HTTP client (which holds the request), can
        become part of a traceback.
        """
        try:
            response = self._client.send(self._build(request))
        except httpx.HTTPError as error:
            return _unreachable(error)
        lost = _lost_behind(response.status_code, response.content)
        return lost or Answer(response.status_code, response.headers, response.content)

    def send(self, request: Request) -> Answer:
        """Send, again if that is safe, and return a good answer.

        Raises:
            CarrelUnreachable, CarrelApiError
        """
        attempt = 0
        while True:
            result = self.exchange(request)
            error = result if isinstance(result, CarrelUnreachable) else result.error()
            if isinstance(result, Answer) and error is None:
                return result
            wait = _wait_before_next(request, attempt, error, self._max_retries)
            if wait is None:
                raise error or AssertionError
            self._sleep(wait)
            attempt += 1

    @contextmanager
    def stream(self, request: Request) -> Generator[httpx.Response, None, None]:
        """A good answer whose body the caller reads piece by piece. Reading may raise httpx's errors.

        Raises:
            CarrelUnreachable, CarrelApiError: before the first byte of the body.
        """
        failure: CarrelUnreachable | None = None
        response: httpx.Response | None = None
        try:
            response = self._client.send(self._build(request), stream=True)
        except httpx.HTTPError as error:
            failure = _unreachable(error)
        if response is None:
            raise failure or AssertionError
        try:
            if response.status_code >= 300:
                content = _read_all(response)
                lost = _lost_behind(response.status_code, content)
                if lost is not None:
                    raise lost
                raise _as_error(response.status_code, response.headers, content)
            yield response
        finally:
            response.close()

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


def segment(text: str) -> str:
    """`text` as one segment of a path."""
    return quote(text, safe="")


class _Fault(msgspec.Struct):
    path: str
    message: str


class _Problem(msgspec.Struct):
    """The service's `Problem`, of which the code alone has to be there: an error is told however little it says."""

    code: str
    status: int = 500
    detail: str = ""
    request_id: str = ""
    errors: list[_Fault] = []


def _wait_before_next(
    request: Request, attempt: int, error: CarrelUnreachable | CarrelApiError | None, max_retries: int
) -> float | None:
    """Seconds to wait before the next attempt; None if there is no next one."""
    if attempt >= max_retries or not request.repeatable:
        return None
    wait: float = min(_FIRST_WAIT_SECONDS * _WAIT_FACTOR ** min(attempt, 8), _LONGEST_WAIT_SECONDS)
    if isinstance(error, CarrelUnreachable):
        return wait
    # Our own first attempt may still be at work when the second arrives.
    if isinstance(error, TryLater) or (error is not None and attempt and error.code == "idempotency-in-progress"):
        return min(max(error.retry_after_seconds or 0, wait), _LONGEST_WAIT_SECONDS)
    return None


def _lost_behind(status: int, content: bytes) -> CarrelUnreachable | None:
    """What the answer of a proxy means that has none of the service's; None if the service itself has answered."""
    if status not in _OF_PROXIES:
        return None
    try:
        code = msgspec.json.decode(content, type=_Problem).code
    except (msgspec.DecodeError, UnicodeDecodeError):
        code = ""
    if code and code != _UNSENT and code not in _LOST:
        return None
    return CarrelUnreachable(
        "the service could not be reached behind its proxy", sent=code != _UNSENT, cause=str(status)
    )


def told_error(content: str) -> CarrelApiError:
    """The error in an event: the answer had begun already, so its status could not say it."""
    try:
        status = msgspec.json.decode(content, type=_Problem).status
    except (msgspec.DecodeError, UnicodeDecodeError):
        status = 500
    return _as_error(status, httpx.Headers(), content.encode())


def _as_error(status: int, headers: httpx.Headers, content: bytes) -> CarrelApiError:
    try:
        problem = msgspec.json.decode(content, type=_Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _unexpected(status, headers)
    return api_error(
        status,
        problem.code,
        problem.detail,
        problem.request_id or headers.get("x-request-id"),
        tuple(FieldError(fault.path, fault.message) for fault in problem.errors),
        _retry_after(headers),
    )


def _unexpected(status: int, headers: httpx.Headers) -> CarrelApiError:
    # What such a body says is not repeated: it may come from anything that answers at this address.
    return api_error(
        status,
        "unexpected-answer",
        "The answer is not one of Carrel's.",
        headers.get("x-request-id"),
        (),
        _retry_after(headers),
    )


def _retry_after(headers: httpx.Headers) -> int | None:
    text = headers.get("retry-after", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _unreachable(error: httpx.HTTPError) -> CarrelUnreachable:
    cause = cause_of(error)
    if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
        return CarrelUnreachable("the service could not be reached in time", sent=False, cause=cause)
    if isinstance(error, httpx.ConnectError):
        return CarrelUnreachable("the service could not be reached", sent=False, cause=cause)
    if isinstance(error, httpx.TimeoutException):
        return CarrelUnreachable("the service did not answer in time", sent=True, cause=cause)
    return CarrelUnreachable("the connection to the service broke off", sent=True, cause=cause)


def cause_of(error: httpx.HTTPError) -> str:
    """What the operating system said, or else the name of the error's class.

    Never the HTTP client's own text: it may repeat a header, and thereby a token.
    """
    told: BaseException | None = error
    for _ in range(_CAUSES):
        if isinstance(told, ssl.SSLCertVerificationError):
            return f"certificate refused: {told.verify_message}"
        if isinstance(told, OSError) and told.errno:
            # Event loops put a text of their own in its place, and name look-ups have negative numbers.
            return os.strerror(told.errno) if told.errno > 0 else told.strerror or type(told).__name__
        told = told.__cause__ or told.__context__ if told is not None else None
    return type(error).__name__


def _read_all(response: httpx.Response) -> bytes:
    try:
        return response.read()
    except httpx.HTTPError:
        return b""

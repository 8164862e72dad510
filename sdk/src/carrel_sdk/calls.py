"""A user's calls: each sends the session token, takes and returns typed values, and lists fetch page by page."""

import secrets
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import httpx
import msgspec

from carrel_sdk.errors import RENEWABLE_CODES, CarrelApiError
from carrel_sdk.transport import Answer, Request, Transport

T = TypeVar("T")

TokenSource = str | Callable[[], str]
"""A session token, or a function that fetches one and is called again when the token has expired."""

Query = Mapping[str, str | int | bool | list[str] | None]
"""Query parameters. Those that are None are left out, and a list is sent as often as it has texts."""


class Calls:
    """What all groups of routes share: one transport and the user's current token."""

    def __init__(
        self, transport: Transport, token_source: TokenSource, renewable: frozenset[str] = RENEWABLE_CODES
    ) -> None:
        self._transport = transport
        self._source = token_source
        self._renewable = renewable
        self._token: str | None = None

    def __repr__(self) -> str:
        return f"Calls({self._transport!r})"

    def get(self, path: str, kind: type[T], query: Query | None = None) -> T:
        """Read one thing."""
        return _typed(self.send(Request("GET", path, query=_texts(query), repeatable=True)), kind)

    def get_bytes(self, path: str, query: Query | None = None, *, accept: str = "*/*") -> bytes:
        """Read something that is not JSON."""
        request = Request("GET", path, query=_texts(query), headers={"Accept": accept}, repeatable=True)
        return self.send(request).content

    def post(self, path: str, kind: type[T], body: object = None, query: Query | None = None) -> T:
        """Post. The request is sent only once."""
        return _typed(self.send(_with_body("POST", path, body, query)), kind)

    def post_once(
        self, path: str, kind: type[T], body: object = None, query: Query | None = None, *, key: str | None = None
    ) -> T:
        """Post with an Idempotency-Key (a new one unless given), so that it can be sent again with one effect."""
        request = _with_body("POST", path, body, query)
        headers = {**request.headers, "Idempotency-Key": key or secrets.token_urlsafe(24)}
        return _typed(self.send(replace(request, headers=headers, repeatable=True)), kind)

    def post_file(
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
        return _typed(self.send(_conditional(request, if_match)), kind)

    def post_nothing(self, path: str) -> None:
        """Post without a body, and ignore the body of the answer."""
        self.send(_with_body("POST", path, None, None))

    def put(self, path: str, kind: type[T], body: object, *, if_match: str | None = None) -> T:
        """Replace. With `if_match`, only if nobody has changed it since."""
        request = _with_body("PUT", path, body, None)
        return _typed(self.send(_conditional(request, if_match)), kind)

    def delete(self, path: str, *, if_match: str | None = None) -> None:
        """Delete. With `if_match`, only if nobody has changed it since."""
        self.send(_conditional(Request("DELETE", path), if_match))

    def delete_many(self, path: str, kind: type[T], body: object = None, query: Query | None = None) -> T:
        """Delete what the body or the query names, and return the result."""
        return _typed(self.send(_with_body("DELETE", path, body, query)), kind)

    def each(self, path: str, kind: type[T], query: Query | None = None) -> Iterator[T]:
        """Every item of a list, newest first, fetched page by page as it is iterated."""
        cursor: str | None = None
        while True:
            page = self.get(path, _Page, {**(query or {}), "cursor": cursor})
            for item in page.items:
                yield msgspec.json.decode(item, type=kind)
            cursor = page.next_cursor
            if cursor is None:
                return

    def send(self, request: Request) -> Answer:
        """Send with the token. If it has expired and the source can fetch another, send once more with that.

        Raises:
            CarrelUnreachable, CarrelApiError
        """
        try:
            return self._transport.send(self._signed(request))
        except CarrelApiError as error:
            # Refused at the door: nothing was carried out, so that every request may be sent again.
            if not self._renew(error):
                raise
        return self._transport.send(self._signed(request))

    @contextmanager
    def open_stream(self, request: Request) -> Generator[httpx.Response, None, None]:
        """A good answer whose body the caller reads piece by piece. The token is not renewed here."""
        with self._transport.stream(self._signed(request)) as response:
            yield response

    def forget_token(self) -> bool:
        """Whether another token can be fetched. If so, the next call fetches it."""
        if isinstance(self._source, str):
            return False
        self._token = None
        return True

    def _renew(self, error: CarrelApiError) -> bool:
        return error.code in self._renewable and self.forget_token()

    def _signed(self, request: Request) -> Request:
        if self._token is None:
            self._token = _checked(self._source if isinstance(self._source, str) else self._source())
        return replace(request, headers={**request.headers, "X-SVC-Session-Token": self._token})


class _Page(msgspec.Struct):
    items: list[msgspec.Raw]
    next_cursor: str | None = None


def _checked(token: str) -> str:
    if not token or not all("!" <= character <= "~" for character in token):
        raise ValueError("a session token consists of visible ASCII characters")
    return token


def _typed(answer: Answer, kind: type[T]) -> T:
    value = answer.decode(kind)
    _keep_etag(value, answer.headers.get("etag", ""))
    return value


def _keep_etag(value: object, etag: str) -> None:
    """Set the answer's ETag on a struct that has the field, because the body does not hold it."""
    if isinstance(value, msgspec.Struct) and hasattr(value, "etag"):
        # Frozen structs, too: the struct was just made here.
        msgspec.structs.force_setattr(value, "etag", etag)


def _texts(query: Query | None) -> dict[str, str | list[str]]:
    return {name: _text(value) for name, value in (query or {}).items() if value is not None}


def _text(value: str | int | bool | list[str]) -> str | list[str]:
    if isinstance(value, list):
        return value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _with_body(method: str, path: str, body: object, query: Query | None) -> Request:
    if body is None:
        return Request(method, path, query=_texts(query))
    headers = {"Content-Type": "application/json"}
    return Request(method, path, query=_texts(query), headers=headers, content=msgspec.json.encode(body))


def _form(file: tuple[str, bytes], fields: Mapping[str, str]) -> tuple[str, bytes]:
    """The boundary and the body of a form. A name is escaped as browsers do it, so that it cannot end its quotes."""
    boundary = secrets.token_hex(16)
    begin = f"--{boundary}\r\nContent-Disposition: form-data; name="
    name, body = file
    for character, escaped in (('"', "%22"), ("\r", "%0D"), ("\n", "%0A")):
        name = name.replace(character, escaped)
    texts = "".join(f'{begin}"{field}"\r\n\r\n{text}\r\n' for field, text in fields.items())
    head = f'{texts}{begin}"file"; filename="{name}"\r\nContent-Type: application/octet-stream\r\n\r\n'
    return boundary, b"".join((head.encode(), body, f"\r\n--{boundary}--\r\n".encode()))


def _conditional(request: Request, if_match: str | None) -> Request:
    return request if if_match is None else replace(request, headers={**request.headers, "If-Match": if_match})

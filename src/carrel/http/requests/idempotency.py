"""A request sent twice under one `Idempotency-Key` has one effect, and both get the first answer."""

import hashlib
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Concatenate, ParamSpec, Protocol, TypeVar

import msgspec

from carrel.errors import BadInput, CarrelError, Conflict
from carrel.http.answers.etag import etag
from carrel.http.answers.response import Response, encoded
from carrel.http.request import Request
from carrel.http.requests.routing import Header
from carrel.kit.clock import rfc3339
from carrel.kit.sqlite.database import Connection

T = TypeVar("T")
P = ParamSpec("P")

KEPT_SECONDS = 24 * 3600
MAX_KEYS = 10_000
"""Of one user within a day. None is forgotten early: a repetition would have its effect again."""
_COME_BACK_SECONDS = 3600
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class Mismatch(Conflict):
    """The key was used for another request."""

    code = "idempotency-mismatch"
    detail = "This Idempotency-Key was used for another request; take a new one."


class InProgress(Conflict):
    """The first request with this key is still running."""

    code = "idempotency-in-progress"
    detail = "A request with this Idempotency-Key is still running."


class TooManyKeys(CarrelError):
    """The user, or the host for the user, has sent as many keys within a day as are remembered."""

    status = 429
    code = "too-many-idempotency-keys"
    detail = "As many Idempotency-Keys as are remembered were used within a day; wait, or send no key."


class Write(Protocol):
    """Runs a store function in one transaction, as `Workspace.write` does."""

    def __call__(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]:
        """The result of `fn`, as soon as it is durable."""
        ...


class StoredResponse(msgspec.Struct, frozen=True):
    """The first answer: its status, its body, and its ETag if it is a resource that counts its changes."""

    status: int
    body: bytes
    etag: str | None


def once(
    conn: Connection, route: str, key: str, digest: bytes, status: int, fn: Callable[[Connection], object]
) -> StoredResponse:
    """The stored answer for (`route`, `key`); if there is none, run `fn` and store its answer, in this transaction.

    Errors of `fn` are not stored. The function also deletes answers that are older than a day.

    Raises:
        Mismatch: the key was used with another `digest`.
        TooManyKeys: no further key can be remembered.
    """
    conn.run("DELETE FROM idempotency WHERE created_at < ?", rfc3339(conn.clock.now() - KEPT_SECONDS))
    found = conn.one(
        "SELECT body_digest, status, response, etag FROM idempotency WHERE route = ? AND key = ?", route, key
    )
    if found is not None:
        if found[0] != digest:
            raise Mismatch
        return StoredResponse(*found[1:])
    if conn.value("SELECT count(*) FROM idempotency") >= MAX_KEYS:
        raise TooManyKeys(retry_after_seconds=_COME_BACK_SECONDS)
    value = fn(conn)
    answer = StoredResponse(status, encoded(value), _etag(value))
    conn.run(
        "INSERT INTO idempotency (route, key, body_digest, status, response, etag, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(route, key, digest, answer.status, answer.body, answer.etag, conn.now()),
    )
    return answer


class Once:
    """What a route does once per key: `return await once(workspace.uuid, workspace.write, store.create, data)`.

    Without a key it simply runs the function.
    """

    __slots__ = ("_digest", "_key", "_request", "_running")

    def __init__(self, request: Request, key: str | None, running: set[tuple[str, str, str]]) -> None:
        self._request = request
        self._key = key
        self._running = running
        self._digest: bytes | None = None

    def over(self, matter: bytes) -> "Once":
        """Compare `matter` instead of the raw body, for bodies whose bytes differ between two equal requests."""
        self._digest = matter
        return self

    async def __call__(
        self,
        owner: str,
        write: Write,
        fn: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Response[T]:
        """Run `fn` through `write` for `owner`, and answer with the route's status and the result.

        Raises:
            Mismatch: the key was used with another path, query or body.
            InProgress: the first request with this key has not ended.
            TooManyKeys: no further key can be remembered.
        """
        status = self._request.status
        if self._key is None:
            value = await write(fn, *args, **kwargs)
            return Response(value, status_code=status, etag=_etag(value))
        scope = self._request.scope
        route = f"{scope['method']} {scope['path_template']}"
        claim = (owner, route, self._key)
        if claim in self._running:
            raise InProgress
        self._running.add(claim)
        try:
            matter = await self._request.body() if self._digest is None else self._digest
            target = f"{scope['path']}?".encode() + scope["query_string"] + b"\n"
            digest = hashlib.sha256(target + matter).digest()
            # The same write may run twice, because SQLite may roll its batch back; so keep nothing outside the
            # connection.
            first = await write(once, route, self._key, digest, status, lambda conn: fn(conn, *args, **kwargs))
        finally:
            self._running.discard(claim)
        return _Raw(first)


def _etag(value: object) -> str | None:
    """The ETag that a read of the resource returns."""
    version = getattr(value, "version", None)
    return etag(version) if isinstance(version, int) else None


class _Raw(Response[Any]):
    """An encoded answer."""

    def __init__(self, first: StoredResponse) -> None:
        super().__init__(first.body, status_code=first.status, etag=first.etag)


class Idempotency:
    """The requests that are running under a key, in this process."""

    def __init__(self) -> None:
        self._running: set[tuple[str, str, str]] = set()

    def provide(
        self,
        request: Request,
        idempotency_key: Annotated[
            str | None,
            Header(name="Idempotency-Key", description="Makes a repetition harmless; kept for 24 hours."),
        ] = None,
    ) -> Once:
        """The dependency `once: Once`.

        Raises:
            BadInput: the key is not 1 to 255 visible ASCII characters.
        """
        if idempotency_key is not None and not _KEY.fullmatch(idempotency_key):
            raise BadInput.at("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
        return Once(request, idempotency_key, self._running)

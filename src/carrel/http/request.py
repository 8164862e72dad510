"""A request as guards and routes see it."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.types import Receive, Scope

from carrel.errors import Malformed, TooLarge
from carrel.kit.sqlite.database import wipe


class Request:
    """One request. `scope` is ASGI's, `opt` what the route says about itself, `state` what the service gave its routes.

    `status` is that of the route's usual answer, `max_body_bytes` the most that it takes.
    """

    __slots__ = ("_body", "_pieces", "max_body_bytes", "opt", "receive", "scope", "state", "status")

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        opt: Mapping[str, Any],
        state: Mapping[str, Any],
        status: int,
        max_body_bytes: int | None,
    ) -> None:
        self.scope = scope
        self.receive = receive
        self.opt = opt
        self.state = state
        self.status = status
        self.max_body_bytes = max_body_bytes
        self._pieces: list[bytes] = []
        self._body: bytes | None = None

    def header(self, name: bytes) -> str | None:
        """The header of this name, which is in lower case; several are one list (RFC 9110, section 5.3)."""
        values = [value for key, value in self.scope["headers"] if key == name]
        return b", ".join(values).decode("latin-1") if values else None

    def credential(self, name: bytes) -> bytes | None:
        """The header of this name, which is in lower case; `None` if it is missing, empty, or was sent twice."""
        values = [value for key, value in self.scope["headers"] if key == name]
        return values[0] or None if len(values) == 1 else None

    async def stream(self) -> AsyncIterator[bytes]:
        """The pieces of the body, as they come. The reader counts them.

        Raises:
            Malformed: the client has left before the end.
        """
        more = True
        while more:
            message = await self.receive()
            if message["type"] != "http.request":
                raise Malformed
            more = message.get("more_body", False)
            if piece := message.get("body", b""):
                yield piece

    async def body(self) -> bytes:
        """The whole body.

        Raises:
            TooLarge: it is longer than the route takes.
            Malformed: the client has left before the end.
        """
        if self._body is None:
            size = 0
            async for piece in self.stream():
                self._pieces.append(piece)
                size += len(piece)
                if self.max_body_bytes is not None and size > self.max_body_bytes:
                    raise TooLarge
            self._body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        return self._body

    def forget(self) -> None:
        """Overwrite what was read of the body, which may hold a key."""
        for piece in self._pieces:
            wipe(piece)
        if self._body is not None:
            wipe(self._body)

"""Who waits for the work of a request: when the client leaves, work that only it waits for is stopped."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

CLIENT: Final = "carrel.client"
"""The key in the scope under which the server tells which connection a request came from."""
_connections: dict["asyncio.Task[Any] | None", "ClientConnection"] = {}


class ClientConnection:
    """One connection of a client. `drop` ends it, and `taken` returns when the client has taken everything."""

    def __init__(
        self, drop: Callable[[], None] = lambda: None, taken: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self.drop = drop
        self.taken = taken
        self.has_left = False
        self._stops: set[Callable[[], None]] = set()

    def leave(self) -> None:
        """The connection is lost: stop what it waits for."""
        self.has_left = True
        for stop in [*self._stops]:
            stop()

    @contextmanager
    def stopping(self, stop: Callable[[], None]) -> Iterator[None]:
        """Call `stop` if the client leaves during the block, or has left already."""
        if self.has_left:
            stop()
        self._stops.add(stop)
        try:
            yield
        finally:
            self._stops.discard(stop)

    def serve(self, task: "asyncio.Task[Any] | None") -> None:
        """From now on the task works for this client; the tasks that it starts do not. `served` ends it."""
        _connections[task] = self


def served(task: "asyncio.Task[Any] | None") -> None:
    """The task works for no client any more."""
    _connections.pop(task, None)


def current() -> ClientConnection | None:
    """The client for which the current task works."""
    return _connections.get(asyncio.current_task())

"""Lets an answer out only while this process may serve, where several processes share the users."""

import asyncio
from typing import Any, Final, Protocol

from starlette.types import Message, Send

from carrel.errors import CarrelError
from carrel.http.answers import problem
from carrel.http.client_connection import CLIENT, ClientConnection

USER: Final = "carrel.user"
"""The key in the scope under which a guard stores the user's uuid, for the access log and for the fence."""
IS_DROPPED: Final = "carrel.dropped"
"""The key in the scope of a request whose connection was ended without an answer."""


class ServingFence(Protocol):
    """Knows what this process may serve now."""

    def refusal(self, path: str) -> CarrelError | None:
        """Why a request may not begin now; `None` if it may."""
        ...

    def may_answer(self, path: str, user: str, code: str) -> bool:
        """Whether an answer may leave now. `user` is whom it is about, `code` is an error's; either may be empty."""
        ...


class FencedSend:
    """Sends the messages of one answer, and asks before each.

    If one may not leave, the connection ends. Any answer would tell that what was done, or read, holds; and an error
    would tell that nothing was done.
    """

    def __init__(self, fence: ServingFence, scope: dict[str, Any], send: Send) -> None:
        self._fence = fence
        self._scope = scope
        self._send = send

    async def __call__(self, message: Message) -> None:
        """Send it, or end the connection."""
        scope = self._scope
        if IS_DROPPED in scope:
            return
        if self._fence.may_answer(scope["path"], scope.get(USER, ""), scope.get(problem.CODE, "")):
            await self._send(message)
            return
        scope[IS_DROPPED] = True
        caller: ClientConnection | None = scope.get(CLIENT)
        if caller is not None:
            caller.drop()
        # The server hears of the end of the connection a moment later, and has nothing to add then.
        await asyncio.sleep(0)

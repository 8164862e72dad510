"""The memory that uploads may take: of all users together, and how many of one user at once."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Final

from carrel.errors import Malformed, Unavailable
from carrel.http.request import Request
from carrel.vault.keyring import UserUuid

_AT_ONCE: Final = 8
"""The memory for all uploads together, as a number of files of the greatest size."""
_OF_ONE_USER: Final = 3
_SILENCE_SECONDS: Final = 30.0
_LATER_SECONDS: Final = 5


class UploadsBusy(Unavailable):
    """Other uploads take all the memory that uploads have."""

    code = "uploads-busy"
    detail = "Too many files are being uploaded right now; try again in a moment."


class UploadMemory:
    """The uploads that are under way. Owned by the event loop. `max_bytes` is the greatest size of one."""

    def __init__(self, max_bytes: int) -> None:
        self._most = _AT_ONCE * max_bytes
        self._held = 0
        self._users: dict[UserUuid, int] = {}

    @contextmanager
    def place(self, uuid: UserUuid) -> Iterator["UploadReservation"]:
        """Reserve room for one upload of a user; the end of the block releases it.

        Raises:
            UploadsBusy: the user's other uploads take all the room.
        """
        if self._users.get(uuid, 0) >= _OF_ONE_USER:
            raise UploadsBusy(retry_after_seconds=_LATER_SECONDS)
        self._users[uuid] = self._users.get(uuid, 0) + 1
        place = UploadReservation(self)
        try:
            yield place
        finally:
            self._held -= place.held
            self._users[uuid] -= 1
            if not self._users[uuid]:
                del self._users[uuid]

    def hold(self, size: int) -> None:
        """Count bytes that are kept from now on.

        Raises:
            UploadsBusy: there is no room for them.
        """
        if self._held + size > self._most:
            raise UploadsBusy(retry_after_seconds=_LATER_SECONDS)
        self._held += size


class UploadReservation:
    """The room of one upload."""

    def __init__(self, room: UploadMemory) -> None:
        self.held = 0
        self._room = room

    def take(self, size: int) -> None:
        """Count bytes before they are kept.

        Raises:
            UploadsBusy: there is no room for them.
        """
        self._room.hold(size)
        self.held += size


async def brisk(request: Request) -> AsyncGenerator[bytes, None]:
    """The body as it arrives; refuses a client that sends nothing for a while, because it keeps the workspace open.

    Raises:
        Malformed: nothing came for half a minute, or the client has left.
    """
    stream = request.stream()
    try:
        while True:
            async with asyncio.timeout(_SILENCE_SECONDS):
                chunk = await anext(stream, None)
            if chunk is None:
                return
            yield chunk
    except TimeoutError:
        raise Malformed(detail="The upload broke off.") from None

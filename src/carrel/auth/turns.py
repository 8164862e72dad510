"""Whose turn it is: sign-in, re-encryption, creation, deletion and membership of one user go one after the other.

Each of them reads the user's account and acts on what it says, over many awaits. Requests take no turn.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Busy

PATIENCE_SECONDS = 5.0
"""How long a caller waits for its turn that would rather come again."""


class _Turn:
    """The lock of one user, kept while anybody holds it or waits for it."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.wanted = 0


class Turns:
    """One turn at a time for each user; different users never wait for each other."""

    def __init__(self) -> None:
        self._turns: dict[UserUuid, _Turn] = {}

    def __len__(self) -> int:
        return len(self._turns)

    @asynccontextmanager
    async def of(self, uuid: UserUuid, patience_seconds: float | None = None) -> AsyncIterator[None]:
        """The block is this user's turn.

        Raises:
            Busy: it did not come within `patience_seconds`; without them it is waited for.
        """
        turn = self._turns.setdefault(uuid, _Turn())
        turn.wanted += 1
        try:
            try:
                async with asyncio.timeout(patience_seconds):
                    await turn.lock.acquire()
            except TimeoutError:
                raise Busy from None
            try:
                yield
            finally:
                turn.lock.release()
        finally:
            turn.wanted -= 1
            if not turn.wanted:
                del self._turns[uuid]

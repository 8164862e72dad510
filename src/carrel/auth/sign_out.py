"""Sign-out: all sessions of a user, or one of them. With all of them goes the key, unless work of the user needs it.

Keys that nobody uses leave the memory after some time as well, if the operator says so.
"""

import asyncio
from contextlib import suppress
from typing import Final

from carrel.accounts import accounts as account_rows
from carrel.auth.known_sessions import KnownSession
from carrel.auth.sessions import Session, Sessions
from carrel.errors import CarrelError, NotFound
from carrel.kit.clock import Clock, rfc3339
from carrel.vault.keyring import UserUuid

LOOK_SECONDS: Final = 1.0
"""Between two looks at a workspace that a user left at work. Two looks in a row have to find it free, because what
follows a run, such as the delivery of its answers, takes a lease of its own."""
PROGRAM_LOOK_SECONDS: Final = 5.0
"""Between two looks while a session of a program may need the workspace."""
_USED_SECONDS: Final = 60
"""The time of the last use is told to the minute."""


class SessionUnknown(NotFound):
    """The user has no such session, or it has ended."""

    code = "session-not-found"
    detail = "There is no such session, or it has ended already."


class SignOut:
    """Ends sessions, and evicts the keys that were left for a run."""

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock
        self._waiting: dict[UserUuid, asyncio.Task[None]] = {}

    async def stop(self) -> None:
        """Wait for nobody's run any more: every key goes with the process."""
        for task in self._waiting.values():
            task.cancel()
        if self._waiting:
            await asyncio.wait(self._waiting.values())

    async def end_all(self, uuid: UserUuid) -> None:
        """End every session of the user, durably. The key goes at once, or when the user's work under way has ended.

        A client that disconnects does not stop it.

        Raises:
            UserUnknown: nobody was created under this uuid.
        """
        await self._sessions.run_to_completion(self._end_all(uuid))

    async def _end_all(self, uuid: UserUuid) -> None:
        sessions, pool = self._sessions, self._sessions.pool
        # A user whose key came from another process may have a run here, which goes on now.
        await sessions.settle(uuid)
        async with sessions.locks.of(uuid):
            account = await sessions.accounts.read(uuid, account_rows.get)
            valid_from = sessions.issuer.next_valid_from(uuid, account.valid_from)
            sessions.account_changed(await sessions.accounts.run(uuid, account_rows.raise_valid_from, valid_from))
            sessions.known.forget(uuid)
            sessions.programs.end(uuid)
            if uuid not in pool.keyring:
                return
            if not pool.is_leased(uuid):
                await pool.evict(uuid)
                return
            sessions.signed_out.add(uuid)
            self.evict_when_free(uuid)

    def evict_when_free(self, uuid: UserUuid) -> None:
        """Evict the key of a user who is away as soon as neither work of the user nor a program needs it."""
        if uuid in self._sessions.signed_out and uuid not in self._waiting:
            task = self._waiting[uuid] = asyncio.create_task(self._evict_later(uuid))
            task.add_done_callback(lambda _: self._waiting.pop(uuid, None))

    async def _evict_later(self, uuid: UserUuid) -> None:
        sessions, pool = self._sessions, self._sessions.pool
        free = 0
        while uuid in sessions.signed_out:
            serves = sessions.programs.serves(uuid)
            await asyncio.sleep(PROGRAM_LOOK_SECONDS if serves else LOOK_SECONDS)
            free = 0 if serves or pool.is_leased(uuid) else free + 1
            if free < 2:
                continue
            async with sessions.locks.of(uuid):
                if uuid in sessions.signed_out and not pool.is_leased(uuid) and not sessions.programs.serves(uuid):
                    sessions.signed_out.discard(uuid)
                    sessions.programs.end(uuid)
                    # Even if the last write of its runs failed, the key is gone.
                    with suppress(CarrelError):
                        await pool.evict(uuid)

    async def end_one(self, uuid: UserUuid, issued_at: int) -> None:
        """End the session that was issued in this second, durably.

        Raises:
            SessionUnknown: it is not one of those that `open` lists.
        """
        await self._sessions.run_to_completion(self._end_one(uuid, issued_at))

    async def _end_one(self, uuid: UserUuid, issued_at: int) -> None:
        sessions = self._sessions
        async with sessions.locks.of(uuid):
            if all(known.issued_at != issued_at for known in sessions.known.of(uuid)):
                raise SessionUnknown
            sessions.account_changed(await sessions.accounts.run(uuid, account_rows.end_session, issued_at))
            sessions.known.forget(uuid, issued_at)

    async def evict_idle(self, idle_seconds: float) -> None:
        """Evict the keys of users without requests and refreshes for `idle_seconds` and without active runs."""
        sessions, now = self._sessions, self._clock.monotonic

        def is_idle(uuid: UserUuid) -> bool:
            used = sessions.last_used.get(uuid)
            return used is not None and now() - used >= idle_seconds and not sessions.pool.is_leased(uuid)

        for uuid in filter(is_idle, list(sessions.last_used)):
            async with sessions.locks.of(uuid):
                # The user may have come back while this code waited for the lock.
                if is_idle(uuid):
                    del sessions.last_used[uuid]
                    # Even if the last write of its runs failed, the key is gone, and the other users' keys still have
                    # to go.
                    with suppress(CarrelError):
                        await sessions.pool.evict(uuid)

    def used_at(self, known: KnownSession) -> str:
        """When the session was last used, to the minute."""
        used_at = self._clock.now() - (self._clock.monotonic() - known.used_at)
        return rfc3339(max(used_at // _USED_SECONDS * _USED_SECONDS, known.issued_at))

    def open(self, session: Session) -> tuple[list[KnownSession], bool]:
        """The sessions of the user that this process knows, and whether there can be no others."""
        known, uuid = self._sessions.known, session.user.uuid
        return known.of(uuid), known.is_complete(uuid)

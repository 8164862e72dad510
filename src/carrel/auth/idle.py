"""Keys that nobody uses leave the memory after some time, if the operator says so."""

from contextlib import suppress

from carrel.auth.sessions import Sessions
from carrel.errors import CarrelError
from carrel.kit.clock import Clock
from carrel.vault.keyring import UserUuid


async def evict(sessions: Sessions, clock: Clock, idle_seconds: float) -> None:
    """Evict the keys of users without requests and refreshes for `idle_seconds` and without active runs."""

    def is_idle(uuid: UserUuid) -> bool:
        used = sessions.last_used.get(uuid)
        return used is not None and clock.monotonic() - used >= idle_seconds and not sessions.pool.is_leased(uuid)

    for uuid in filter(is_idle, list(sessions.last_used)):
        async with sessions.locks.of(uuid):
            # The user may have come back while this code waited for the lock.
            if is_idle(uuid):
                del sessions.last_used[uuid]
                # Even if the last write of its runs failed, the key is gone, and the other users' keys still have to
                # go.
                with suppress(CarrelError):
                    await sessions.pool.evict(uuid)

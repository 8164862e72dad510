"""Reads a user's limits when the workspace is opened, before any run continues, and forgets them with the key."""

from carrel.rate_limits import store
from carrel.rate_limits.limiter import Limiter
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspacePool


class KnownLimits:
    """Listens to the pool."""

    def __init__(self, pool: WorkspacePool, limiter: Limiter) -> None:
        self._pool = pool
        self._limiter = limiter

    async def opened(self, uuid: UserUuid) -> None:
        """Read what the user has set."""
        async with self._pool.leased(uuid) as workspace:
            self._limiter.learn(uuid, workspace.read(store.own))

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Forget it with the key."""
        if why != "rekey":
            self._limiter.forget(uuid)

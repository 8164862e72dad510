"""Deletes what came of an import that nobody goes on with; a listener of the pool."""

from carrel.transfer import pieces
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import Closing, WorkspacePool


class GivenUpImports:
    """It looks when a workspace opens, which costs a look into an index."""

    def __init__(self, pool: WorkspacePool) -> None:
        self._pool = pool

    async def opened(self, uuid: UserUuid) -> None:
        """Delete the parts of an import that began a week ago."""
        async with self._pool.leased(uuid) as workspace:
            if workspace.read(pieces.is_given_up):
                await workspace.write(pieces.sweep)

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Nothing goes on."""

"""The decoy account: a login for an unknown uuid does the same work on it as a wrong key does for a known uuid."""

import secrets

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import Accounts, UserExists
from carrel.accounts.slots import NOBODY
from carrel.errors import CarrelError
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import WorkspacePool

_NOBODY = UserUuid(NOBODY)


class Decoy:
    """The key of its workspace was thrown away right after creation."""

    def __init__(self, pool: WorkspacePool, accounts: Accounts) -> None:
        self._pool = pool
        self._accounts = accounts

    async def start(self) -> None:
        """Make the parts of the decoy account that are missing."""
        self._accounts.remove_former_decoy()
        try:
            await self._accounts.create(_NOBODY, account_rows.insert, _NOBODY, "free")
        except UserExists:
            if self._accounts.workspace_path(_NOBODY).exists():
                return
        await self._pool.admit(_NOBODY, bytearray(secrets.token_bytes(32)), create=True)
        await self._pool.evict(_NOBODY)

    async def try_key(self, key: bytearray) -> None:
        """Try `key` in the same way as for a user who exists; it never fits."""
        try:
            await self._accounts.read(_NOBODY, account_rows.get)
            await self._pool.admit(_NOBODY, key, create=False)
        except CarrelError:
            return

"""An account of nobody, on which a login for an unknown uuid does the same work as a wrong key for a known one."""

import secrets

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import Accounts, UserExists
from carrel.errors import CarrelError
from carrel.vault.keyring import UserUuid
from carrel.vault.pool import WorkspacePool

_NOBODY = UserUuid("*")
"""Not a possible uuid."""


class Decoy:
    """Its workspace opens with a key that was thrown away when it was made."""

    def __init__(self, pool: WorkspacePool, accounts: Accounts) -> None:
        self._pool = pool
        self._accounts = accounts

    async def start(self) -> None:
        """Make what is missing of it."""
        try:
            await self._accounts.create(_NOBODY, account_rows.insert, _NOBODY, "free")
        except UserExists:
            if self._accounts.workspace_path(_NOBODY).exists():
                return
        await self._pool.admit(_NOBODY, bytearray(secrets.token_bytes(32)), create=True)
        await self._pool.evict(_NOBODY)

    async def try_key(self, key: bytearray) -> None:
        """Try `key` as it would be tried for a user who exists; it never fits."""
        try:
            await self._accounts.read(_NOBODY, account_rows.get)
            await self._pool.admit(_NOBODY, key, create=False)
        except CarrelError:
            return

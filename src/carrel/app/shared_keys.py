"""The system keys of a cluster: one sealed document in etcd, which every node keeps a copy of in its `service.db`.

A change is worked out on the copy and undone again, stored in etcd if nobody else was faster, and only then kept. So a
key that was stored is there for all nodes, and a node that cannot reach etcd changes nothing.
"""

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from carrel.accounts.service import ServiceDatabase
from carrel.cluster.etcd import EtcdUnreachable
from carrel.cluster.refusals import EtcdSilent
from carrel.cluster.registry import ClusterRegistry
from carrel.keys import store as keys
from carrel.keys.store import KeyTable
from carrel.kit import logs
from carrel.kit.sqlite.database import Connection

T = TypeVar("T")
_NONCE_BYTES: Final = 12
_SILENT_SECONDS: Final = 5.0
"""After so long without a change they are read anew: a server that lost the others tells of no changes."""
_RETRY_SECONDS: Final = 0.2


class _Undone(Exception):
    """Undoes the transaction whose outcome it carries."""

    def __init__(self, table: KeyTable) -> None:
        self.table = table


class SharedKeys:
    """Owned by the event loop. `on_change` is called after the copy has changed."""

    def __init__(
        self,
        registry: ClusterRegistry,
        cluster: str,
        service_key: bytes,
        service: ServiceDatabase,
        on_change: Callable[[], Awaitable[None]],
    ) -> None:
        self._registry = registry
        self._cluster = cluster.encode()
        self._cipher = ChaCha20Poly1305(hmac.digest(service_key, b"cluster:system-keys:" + self._cluster, "sha256"))
        self._service = service
        self._on_change = on_change
        self._seen: bytes | None = None

    async def start(self) -> None:
        """Have what the cluster has; the first node with keys of its own gives them to it.

        Raises:
            EtcdSilent
        """
        try:
            if await self._registry.system_keys() is None:
                table = await self._service.run(keys.table)
                await self._registry.replace_system_keys(None, self._sealed(table))
            await self.refresh()
        except EtcdUnreachable:
            raise EtcdSilent from None

    async def refresh(self) -> None:
        """Keep what the cluster has now.

        Raises:
            EtcdUnreachable
        """
        found = await self._registry.system_keys()
        if found is not None and found != self._seen:
            await self._keep(found)

    async def follow(self) -> None:
        """Keep what other nodes change, for ever."""
        while True:
            with suppress(EtcdUnreachable):
                async for _ in self._registry.system_key_changes(_SILENT_SECONDS):
                    await self.refresh()
            await asyncio.sleep(_RETRY_SECONDS)

    async def change(self, fn: Callable[[Connection], T]) -> T:
        """Change the table for all nodes; what `fn` returns. An error of `fn` changes nothing.

        Raises:
            EtcdSilent: whether it was changed is not known.
        """
        try:
            while True:
                await self.refresh()
                seen = self._seen
                value, table = await self._worked_out(fn)
                sealed = self._sealed(table)
                if await self._registry.replace_system_keys(seen, sealed):
                    await self._keep(sealed)
                    return value
        except EtcdUnreachable:
            raise EtcdSilent from None

    async def _worked_out(self, fn: Callable[[Connection], T]) -> tuple[T, KeyTable]:
        values: list[T] = []

        def work_out(conn: Connection) -> None:
            values.append(fn(conn))
            raise _Undone(keys.table(conn))

        try:
            await self._service.run(work_out)
        except _Undone as done:
            return values[0], done.table
        raise AssertionError("the transaction was kept")

    async def _keep(self, sealed: bytes) -> None:
        table = self._opened(sealed)
        if table is None:
            logs.error("system-keys-unreadable")
        else:
            await self._service.run(keys.replace_table, table)
            await self._on_change()
        self._seen = sealed

    def _sealed(self, table: KeyTable) -> bytes:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, msgspec.json.encode(table), self._cluster)

    def _opened(self, sealed: bytes) -> KeyTable | None:
        try:
            content = self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], self._cluster)
            return msgspec.json.decode(content, type=KeyTable)
        except (InvalidTag, ValueError, msgspec.DecodeError):
            return None

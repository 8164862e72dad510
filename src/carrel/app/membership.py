"""A service as one node of several. Imported only where CARREL_NODE_NAME is set."""

import os
from collections.abc import Callable
from typing import Final

from carrel.accounts.slots import slot_of
from carrel.auth import handed_over
from carrel.auth.sessions import Sessions
from carrel.cluster.connection import etcd_of
from carrel.cluster.etcd import Etcd
from carrel.cluster.fence import Fence
from carrel.cluster.node import Identity, Node
from carrel.cluster.registry import Registry
from carrel.config import Settings
from carrel.vault.keyring import Keyring

SUPERSEDED: Final = 3
"""The exit code of a process whose place another one has taken."""


class Membership:
    """The node that this service is, from `join` to `leave`. `fence` says what it may serve."""

    def __init__(self, settings: Settings, keyring: Keyring) -> None:
        self.fence = Fence(is_enforced=settings.node_fence == "lease")
        self._settings = settings
        self._keyring = keyring
        self._node: Node | None = None
        self._etcd: Etcd | None = None

    async def join(self, sessions: Sessions, on_resumed: Callable[[], None]) -> None:
        """Become the node, and take its slots. Users of slots that it loses later are signed out.

        `on_resumed` is called when the node may act again after its lease had run out.

        Raises:
            CarrelError: the service must not serve.
        """

        async def close(slots: frozenset[int]) -> None:
            for uuid in [uuid for uuid in self._keyring.uuids if slot_of(uuid) in slots]:
                await handed_over.forget(sessions, uuid)

        settings = self._settings
        identity = Identity(
            settings.node_name or "", settings.data_dir, settings.service_key.reveal(), settings.lease_seconds
        )
        self._etcd = etcd_of(settings)
        registry = Registry(self._etcd, settings.cluster)
        self._node = Node(identity, registry, self.fence, on_superseded=self._end, on_lost=close, on_resumed=on_resumed)
        await self._node.join()
        self._node.start()
        await self._node.take_slots()

    def _end(self) -> None:
        # Nothing may be written any more, so nothing is closed in good order.
        self._keyring.clear()
        os._exit(SUPERSEDED)

    async def leave(self) -> None:
        """Give the lease back. Every database is closed."""
        if self._node is not None:
            await self._node.leave()
        if self._etcd is not None:
            await self._etcd.close()

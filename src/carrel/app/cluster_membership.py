"""A service as one node of several. Imported only where CARREL_NODE_NAME is set."""

import asyncio
import os
from collections.abc import Mapping
from typing import Final, Protocol

from carrel.app.shared_keys import SharedKeys
from carrel.app.slot_users import SlotServices, SlotUsers, schemas
from carrel.backup.archive import BackupPart
from carrel.cluster import peers
from carrel.cluster.arrivals import Arrivals
from carrel.cluster.connection import etcd_of
from carrel.cluster.departures import Departures
from carrel.cluster.etcd import Etcd
from carrel.cluster.fence import Fence
from carrel.cluster.node import Identity, Node
from carrel.cluster.ownership import SlotMark
from carrel.cluster.peers import Peers, PeerServer
from carrel.cluster.registry import ClusterRegistry
from carrel.config import Settings
from carrel.errors import Unavailable
from carrel.keys.system_keys import SystemKeys
from carrel.kit.concurrency.cancellation import cancel
from carrel.runs.scheduling.scheduler import FairScheduler
from carrel.vault.keyring import Keyring

SUPERSEDED: Final = 3
"""The exit code of a process whose place another one has taken."""


class NodeServices(SlotServices, Protocol):
    """The services of a node."""

    scheduler: FairScheduler
    system_keys: SystemKeys


class ClusterMembership:
    """The node that this service is, from `join` to `leave`. `fence` says what it may serve."""

    def __init__(self, settings: Settings, keyring: Keyring) -> None:
        self.fence = Fence(is_enforced=settings.node_fence == "lease")
        self._settings = settings
        self._keyring = keyring
        self._node: Node | None = None
        self._etcd: Etcd | None = None
        self._peers: Peers | None = None
        self._server: PeerServer | None = None
        self._moves: list[asyncio.Task[None]] = []
        self._following: list[asyncio.Task[None]] = []

    async def join(self, services: NodeServices) -> None:
        """Become the node, and take its slots. Users of slots that it loses later are signed out.

        Raises:
            CarrelError: the service must not serve.
        """

        def changed() -> None:
            departures.changed()
            arrivals.changed()

        async def taking(marks: Mapping[int, SlotMark]) -> frozenset[int]:
            return await arrivals.taking(marks)

        settings, service_key = self._settings, self._settings.service_key.reveal()
        tls = peers.contexts(settings)
        self._etcd = etcd_of(settings)
        registry = ClusterRegistry(self._etcd, settings.cluster, service_key)
        users = SlotUsers(services)
        identity = Identity(
            settings.node_name or "",
            settings.data_dir,
            service_key,
            settings.lease_seconds,
            peer=settings.node_peer or "",
        )
        self._node = Node(
            identity,
            registry,
            self.fence,
            on_superseded=self._end,
            on_lost=users.forget,
            on_resumed=services.scheduler.resume,
            on_map=changed,
            on_taking=taking,
            on_taken=users.go_on,
            on_running=services.scheduler.share,
        )
        with_keys = settings.move_keys == "on"
        departures = Departures(self._node, registry, users, gives_keys=with_keys)
        await self._node.join()
        token = peers.token_of(self._node.cluster, service_key)
        self._peers = Peers(token, tls[1] if tls else None)
        arrivals = Arrivals(self._node, registry, self._peers, users, takes_keys=with_keys)
        self._node.start()
        await self._node.take_slots()
        shared = SharedKeys(registry, self._node.cluster, service_key, services.service, services.system_keys.load)
        await shared.start()
        services.system_keys.shared = shared
        self._following = [asyncio.create_task(shared.follow())]
        if settings.node_peer is not None:
            self._server = PeerServer(departures, token, lambda: self.fence.is_open)
            await self._server.start(settings.node_peer, tls[0] if tls else None)
            self._moves = [asyncio.create_task(departures.run()), asyncio.create_task(arrivals.run())]
            arrivals.changed()

    def part(self) -> BackupPart:
        """The slots that the node serves now, for a backup."""
        if self._node is None:
            raise Unavailable
        marks = self._node.marks
        slots = {slot: marks[slot].copy for slot in sorted(self.fence.serving)}
        name, cluster = self._node.identity.name, self._node.cluster
        return BackupPart(cluster=cluster, node=name, schemas=schemas(), slots=slots)

    def copy(self, slot: int) -> str | None:
        """The name of the copy that the node serves now; `None` if it does not serve the slot."""
        if self._node is None or slot not in self.fence.serving:
            return None
        return self._node.marks[slot].copy

    def _end(self) -> None:
        # Nothing may be written any more, so nothing is closed in good order.
        self._keyring.clear()
        os._exit(SUPERSEDED)

    async def stop_moving(self) -> None:
        """Give and take no more slots. What is not done is done by the next process."""
        for task in self._moves:
            task.cancel()
        if self._moves:
            await asyncio.wait(self._moves)
        if self._server is not None:
            await self._server.stop()
        if self._peers is not None:
            await self._peers.close()

    async def leave(self) -> None:
        """Give the lease back. Every database is closed."""
        await cancel(self._following)
        if self._node is not None:
            await self._node.leave()
        if self._etcd is not None:
            await self._etcd.close()

"""What the cluster keeps in etcd, below `/carrel/<name of the cluster>/`.

cluster          its id, and a proof of the service key
members/<node>   the address under which the proxy reaches the node
nodes/<node>     the term of the process that is the node now; goes with its lease
terms/<node>     the term of the last process that was the node; stays
peers/<node>     where other nodes reach it; goes with its lease
slots/<NNNN>     whose each slot is
moves/<NNNN>     how far the last move of a slot has come, for the operator; nothing depends on it
system-keys      the operator's keys of model providers, sealed; nodes without the service key cannot read them
"""

import hmac
from collections.abc import AsyncIterator, Mapping
from typing import Final, TypeVar

import msgspec

from carrel.accounts.slots import SLOTS
from carrel.cluster.etcd import MAX_OPERATIONS, Etcd, Put, Unchanged, Value
from carrel.cluster.ownership import FIRST_COPY, Entry

T = TypeVar("T")

_SLOTS: Final = "slots/"
_MEMBERS: Final = "members/"
_NODES: Final = "nodes/"
_PEERS: Final = "peers/"
_MOVES: Final = "moves/"
_SYSTEM_KEYS: Final = "system-keys"


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """`proof` is an HMAC of the id under the service key, so that a node with another key is refused."""

    id: str
    proof: str


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A node, whether it runs or not. `address` is `host:port`."""

    address: str


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a move has come. `refusal` says why it does not go on."""

    move: str
    step: str
    copied_bytes: int = 0
    refusal: str = ""


class Slots(msgspec.Struct, frozen=True):
    """Entries of the map, as of a revision of etcd. A slot that was removed is `None`."""

    entries: dict[int, Entry | None]
    revision: int


class Registry:
    """The keys of one cluster. Every method may raise `EtcdUnreachable`."""

    def __init__(self, etcd: Etcd, cluster: str) -> None:
        self.etcd = etcd
        self.root = f"/carrel/{cluster}/"

    async def cluster(self) -> Cluster | None:
        """The cluster; `None` before `create`."""
        return _decoded(await self.etcd.get(f"{self.root}cluster"), Cluster)

    async def create(self, cluster: Cluster, members: Mapping[str, Member], entries: Mapping[int, Entry]) -> bool:
        """Make the cluster; False if there is one. Killed in the middle, it is made again: `cluster` comes last."""
        if await self.cluster() is not None:
            return False
        rows = {f"{self.root}{_MEMBERS}{name}": member for name, member in members.items()}
        slots = {f"{self.root}{_SLOTS}{slot:04d}": entry for slot, entry in entries.items()}
        everything = [Put(key, msgspec.json.encode(row)) for key, row in {**rows, **slots}.items()]
        for start in range(0, len(everything), MAX_OPERATIONS):
            await self.etcd.put_if([], everything[start : start + MAX_OPERATIONS])
        key = f"{self.root}cluster"
        return await self.etcd.put_if([Unchanged(key, None)], [Put(key, msgspec.json.encode(cluster))])

    async def members(self) -> dict[str, Member]:
        """Every node by its name."""
        found = await self.etcd.below(f"{self.root}{_MEMBERS}")
        return {name: msgspec.json.decode(value.text or b"", type=Member) for name, value in found.values.items()}

    async def present(self) -> dict[str, str]:
        """The nodes that hold a lease now, with the terms of their processes."""
        found = await self.etcd.below(f"{self.root}{_NODES}")
        return {name: (value.text or b"").decode() for name, value in found.values.items()}

    async def term(self, node: str) -> str:
        """The term of the last process that was the node; empty if there was none."""
        found = await self.etcd.get(f"{self.root}terms/{node}")
        return (found.text or b"").decode() if found is not None else ""

    async def peers(self) -> dict[str, str]:
        """Where the nodes that run reach each other; those that take no slots are not among them."""
        found = await self.etcd.below(f"{self.root}{_PEERS}")
        return {name: (value.text or b"").decode() for name, value in found.values.items()}

    async def occupy(self, node: str, lease: str, *, term_now: str, term: str, peer: str = "") -> bool:
        """Become the node with this term, unless another process is, or was after `term_now`; whether it is done.

        `peer` is where other nodes reach it.
        """
        holds = f"{self.root}{_NODES}{node}"
        reached = [Put(f"{self.root}{_PEERS}{node}", peer.encode(), lease)] if peer else []
        term_key = f"{self.root}terms/{node}"
        return await self.etcd.put_if(
            [Unchanged(holds, None), Unchanged(term_key, term_now.encode() if term_now else None)],
            [Put(holds, term.encode(), lease), Put(term_key, term.encode()), *reached],
        )

    async def slots(self, *, changed_after: int = 0) -> Slots:
        """The map, or what of it changed after a revision."""
        found = await self.etcd.below(f"{self.root}{_SLOTS}", changed_after=changed_after)
        return _slots(found.values, found.revision)

    async def entry(self, slot: int) -> Entry | None:
        """A slot in the map, as of now."""
        return _decoded(await self.etcd.get(f"{self.root}{_SLOTS}{slot:04d}"), Entry)

    async def tell(self, slot: int, progress: Progress) -> None:
        """Tell the operator how far a move has come."""
        await self.etcd.put_if([], [Put(f"{self.root}{_MOVES}{slot:04d}", msgspec.json.encode(progress))])

    async def progress(self) -> dict[int, Progress]:
        """How far the last move of each slot has come."""
        found = (await self.etcd.below(f"{self.root}{_MOVES}")).values
        return {int(key): msgspec.json.decode(value.text or b"", type=Progress) for key, value in found.items()}

    async def system_keys(self) -> bytes | None:
        """The sealed system keys; `None` if nobody has given any."""
        found = await self.etcd.get(f"{self.root}{_SYSTEM_KEYS}")
        return None if found is None else found.text

    async def replace_system_keys(self, before: bytes | None, after: bytes) -> bool:
        """Change the sealed system keys, unless somebody else was faster; whether it is done."""
        key = f"{self.root}{_SYSTEM_KEYS}"
        return await self.etcd.put_if([Unchanged(key, before)], [Put(key, after)])

    async def system_key_changes(self, silent_seconds: float) -> AsyncIterator[None]:
        """Now, and after each change. Ends with `EtcdUnreachable`, also when nothing came for so long."""
        key = f"{self.root}{_SYSTEM_KEYS}"
        revision = (await self.etcd.below(key)).revision
        yield
        async for _ in self.etcd.watch(key, revision, silent_seconds):
            yield

    async def replace_while(self, node: str, term: str, slot: int, change: tuple[Entry, Entry]) -> bool:
        """Change a slot while a process is the node, unless somebody else was faster; whether it is done."""
        key = f"{self.root}{_SLOTS}{slot:04d}"
        held = Unchanged(f"{self.root}{_NODES}{node}", term.encode())
        before, after = map(msgspec.json.encode, change)
        return await self.etcd.put_if([held, Unchanged(key, before)], [Put(key, after)])

    async def replace(self, changes: Mapping[int, tuple[Entry, Entry]]) -> set[int]:
        """Change slots from one entry to another, unless somebody else was faster; those that were changed."""
        done: set[int] = set()
        slots = sorted(changes)
        for start in range(0, len(slots), MAX_OPERATIONS):
            batch = slots[start : start + MAX_OPERATIONS]
            if await self._replace(batch, changes):
                done |= set(batch)
                continue
            # Somebody else changed one of them.
            done |= {slot for slot in batch if await self._replace([slot], changes)}
        return done

    async def _replace(self, slots: list[int], changes: Mapping[int, tuple[Entry, Entry]]) -> bool:
        keys = {slot: f"{self.root}{_SLOTS}{slot:04d}" for slot in slots}
        return await self.etcd.put_if(
            [Unchanged(keys[slot], msgspec.json.encode(changes[slot][0])) for slot in slots],
            [Put(keys[slot], msgspec.json.encode(changes[slot][1])) for slot in slots],
        )

    async def changes(self, after: int, silent_seconds: float) -> AsyncIterator[Slots]:
        """What of the map changes after a revision. Ends with `EtcdUnreachable`, also when nothing came for so long."""
        async for found in self.etcd.watch(f"{self.root}{_SLOTS}", after, silent_seconds):
            yield _slots(found.values, found.revision)


def shared_out(nodes: list[str], *, all_to: str | None = None) -> dict[int, Entry]:
    """The first map: every node gets as many slots as the others, in one piece; or one node gets all of them."""
    return {slot: Entry(node=all_to or nodes[slot * len(nodes) // SLOTS], copy=FIRST_COPY) for slot in range(SLOTS)}


def proof_of(cluster_id: str, service_key: bytes) -> str:
    """What only somebody with the service key can compute for this cluster."""
    return hmac.digest(service_key, f"cluster:{cluster_id}".encode(), "sha256").hex()


def _slots(values: Mapping[str, Value], revision: int) -> Slots:
    return Slots({int(key): _decoded(value, Entry) for key, value in values.items()}, revision)


def _decoded(value: Value | None, kind: type[T]) -> T | None:
    return None if value is None or value.text is None else msgspec.json.decode(value.text, type=kind)

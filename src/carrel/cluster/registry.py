"""What the cluster keeps in etcd, below `/carrel/<name of the cluster>/`.

cluster          its id, and a proof of the service key
members/<node>   the address under which the proxy reaches the node
nodes/<node>     the term of the process that is the node now; goes with its lease
terms/<node>     the term of the last process that was the node; stays
peers/<node>     where other nodes reach it; goes with its lease
slots/<NNNN>     whose each slot is
moves/<NNNN>     how far the last move of a slot has come, for the operator; nothing depends on it
system-keys      the operator's keys of model providers, sealed; nodes without the service key cannot read them

Whoever writes to etcd need not be one of us. A key or a value that has not the form it must have counts as absent. So
does an address without a proof of the service key, because secrets are sent there.
"""

import hmac
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from carrel.accounts.slots import SLOTS
from carrel.cluster.etcd import MAX_OPERATIONS, Etcd, Put, RangeResult, Value, ValueIs
from carrel.cluster.ownership import FIRST_COPY, Entry, Id
from carrel.cluster.refusals import ClusterAbsent, ClusterKeyRejected
from carrel.config import ADDRESS, NODE_NAME
from carrel.kit import logs

T = TypeVar("T")

Proof = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_TERM: Final = re.compile(r"[0-9]{1,15}\.[0-9a-z-]{1,64}")


class _Cluster(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`proof` is an HMAC of the id under the service key, so that a node with another key is refused."""

    id: Id
    proof: Proof


class MoveProgress(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How far a move has come. `refusal` says why it does not go on."""

    move: Id
    step: Literal["copying", "closing", "waiting", "done"]
    copied_bytes: int = 0
    refusal: Annotated[str, Meta(pattern=r"\A[ -~]{0,300}\Z")] = ""


class _Address(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    address: Annotated[str, Meta(pattern=rf"\A{ADDRESS}\Z")]
    proof: Proof


class Slots(msgspec.Struct, frozen=True):
    """Entries of the map, as of a revision of etcd. A slot that was removed is `None`."""

    entries: dict[int, Entry | None]
    revision: int


@dataclass(frozen=True)
class _Folder(Generic[T]):
    """Keys below one name, what they look like, and how a value is read. `read` raises if it has another form."""

    name: str
    keys: str
    read: Callable[[bytes], T]

    def checked(self, values: Mapping[str, Value]) -> dict[str, T | None]:
        """What has its form, by the key; `None` where it was removed. The rest is left out, and counted in the log."""
        found: dict[str, T | None] = {}
        for key, value in values.items():
            if re.fullmatch(self.keys, key):
                with suppress(ValueError, msgspec.DecodeError):
                    found[key] = None if value.text is None else self.read(value.text)
        self.report(len(values) - len(found))
        return found

    def report(self, refused: int) -> None:
        """Log how many values were refused, if any."""
        if refused:
            logs.warning("etcd-values-refused", kind=self.name.rstrip("/"), count=refused)


def _term(text: bytes) -> str:
    if not _TERM.fullmatch(term := text.decode("ascii")):
        raise ValueError
    return term


_SLOT_KEY: Final = "0[0-9]{3}|10[01][0-9]|102[0-3]"
_CLUSTER: Final = _Folder("", "cluster", msgspec.json.Decoder(_Cluster).decode)
_MEMBERS: Final = _Folder("members/", NODE_NAME, msgspec.json.Decoder(_Address).decode)
_NODES: Final = _Folder("nodes/", NODE_NAME, _term)
_TERMS: Final = _Folder("terms/", NODE_NAME, _term)
_PEERS: Final = _Folder("peers/", NODE_NAME, msgspec.json.Decoder(_Address).decode)
_SLOTS: Final = _Folder("slots/", _SLOT_KEY, msgspec.json.Decoder(Entry).decode)
_MOVES: Final = _Folder("moves/", _SLOT_KEY, msgspec.json.Decoder(MoveProgress).decode)
_SYSTEM_KEYS: Final = "system-keys"


class ClusterRegistry:
    """The keys of one cluster. Every method may raise `EtcdUnreachable`."""

    def __init__(self, etcd: Etcd, cluster: str, service_key: bytes) -> None:
        self.etcd = etcd
        self.root = f"/carrel/{cluster}/"
        self._service_key = service_key

    async def cluster(self) -> str:
        """The id of the cluster, which has our service key.

        Raises:
            ClusterAbsent, ClusterKeyRejected
        """
        found = await self._one(_CLUSTER, "cluster")
        if found is None:
            raise ClusterAbsent
        if found.proof != self._proof(f"cluster:{found.id}"):
            raise ClusterKeyRejected
        return found.id

    async def create(self, cluster: str, members: Mapping[str, str], entries: Mapping[int, Entry]) -> bool:
        """Make the cluster; False if there is one. Killed in the middle, it is made again: `cluster` comes last.

        `cluster` is its id, `members` are the addresses of the nodes.
        """
        key = self._key(_CLUSTER, "cluster")
        if await self.etcd.get(key) is not None:
            return False
        rows = {self._key(_MEMBERS, name): self._proven(_MEMBERS, name, each) for name, each in members.items()}
        slots = {self._key(_SLOTS, slot): entry for slot, entry in entries.items()}
        everything = [Put(key, msgspec.json.encode(row)) for key, row in {**rows, **slots}.items()]
        for start in range(0, len(everything), MAX_OPERATIONS):
            await self.etcd.put_if([], everything[start : start + MAX_OPERATIONS])
        made = _Cluster(id=cluster, proof=self._proof(f"cluster:{cluster}"))
        return await self.etcd.put_if([ValueIs(key, None)], [Put(key, msgspec.json.encode(made))])

    async def change_member(self, node: str, before: str | None, after: str | None) -> bool:
        """Add a node, give it another address, or remove it (`None` is no address); whether it is done.

        Nothing is written if somebody else was faster, or if the node runs that is to go.
        """
        key = self._key(_MEMBERS, node)
        held, put = (None if each is None else self._member(node, each) for each in (before, after))
        rests = [] if after is not None else [ValueIs(self._key(_NODES, node), None)]
        return await self.etcd.put_if([ValueIs(key, held), *rests], [Put(key, put)])

    def _member(self, node: str, address: str) -> bytes:
        return msgspec.json.encode(self._proven(_MEMBERS, node, address))

    async def members(self) -> dict[str, str]:
        """The address of every node, whether it runs or not, by its name."""
        return await self._addresses(_MEMBERS)

    async def present(self) -> dict[str, str]:
        """The nodes that hold a lease now, with the terms of their processes."""
        return await self._all(_NODES)

    async def term(self, node: str) -> str:
        """The term of the last process that was the node; empty if there was none."""
        return await self._one(_TERMS, node) or ""

    async def peers(self) -> dict[str, str]:
        """Where the nodes that run reach each other; those that take no slots are not among them."""
        return await self._addresses(_PEERS)

    async def occupy(self, node: str, lease: str, *, term_now: str, term: str, peer: str = "") -> bool:
        """Become the node with this term, unless another process is, or was after `term_now`; whether it is done.

        `peer` is where other nodes reach it.
        """
        holds, term_key = self._key(_NODES, node), self._key(_TERMS, node)
        address = msgspec.json.encode(self._proven(_PEERS, node, peer))
        reached = [Put(self._key(_PEERS, node), address, lease)] if peer else []
        return await self.etcd.put_if(
            [ValueIs(holds, None), ValueIs(term_key, term_now.encode() if term_now else None)],
            [Put(holds, term.encode(), lease), Put(term_key, term.encode()), *reached],
        )

    async def slots(self, *, changed_after: int = 0) -> Slots:
        """The map, or what of it changed after a revision."""
        found = await self.etcd.below(f"{self.root}{_SLOTS.name}", changed_after=changed_after)
        return _slots(found)

    async def entry(self, slot: int) -> Entry | None:
        """A slot in the map, as of now."""
        return await self._one(_SLOTS, f"{slot:04d}")

    async def tell(self, slot: int, progress: MoveProgress) -> None:
        """Tell the operator how far a move has come."""
        await self.etcd.put_if([], [Put(self._key(_MOVES, slot), msgspec.json.encode(progress))])

    async def progress(self) -> dict[int, MoveProgress]:
        """How far the last move of each slot has come."""
        return {int(slot): progress for slot, progress in (await self._all(_MOVES)).items()}

    async def system_keys(self) -> bytes | None:
        """The sealed system keys; `None` if nobody has given any."""
        found = await self.etcd.get(f"{self.root}{_SYSTEM_KEYS}")
        return None if found is None else found.text

    async def replace_system_keys(self, before: bytes | None, after: bytes) -> bool:
        """Change the sealed system keys, unless somebody else was faster; whether it is done."""
        key = f"{self.root}{_SYSTEM_KEYS}"
        return await self.etcd.put_if([ValueIs(key, before)], [Put(key, after)])

    async def system_key_changes(self, silent_seconds: float) -> AsyncIterator[None]:
        """Now, and after each change. Ends with `EtcdUnreachable`, also when nothing came for so long."""
        key = f"{self.root}{_SYSTEM_KEYS}"
        revision = (await self.etcd.below(key)).revision
        yield
        async for _ in self.etcd.watch(key, revision, silent_seconds):
            yield

    async def replace_while(self, node: str, term: str, slot: int, change: tuple[Entry, Entry]) -> bool:
        """Change a slot while a process is the node, unless somebody else was faster; whether it is done."""
        key = self._key(_SLOTS, slot)
        held = ValueIs(self._key(_NODES, node), term.encode())
        before, after = map(msgspec.json.encode, change)
        return await self.etcd.put_if([held, ValueIs(key, before)], [Put(key, after)])

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
        keys = {slot: self._key(_SLOTS, slot) for slot in slots}
        return await self.etcd.put_if(
            [ValueIs(keys[slot], msgspec.json.encode(changes[slot][0])) for slot in slots],
            [Put(keys[slot], msgspec.json.encode(changes[slot][1])) for slot in slots],
        )

    async def changes(self, after: int, silent_seconds: float) -> AsyncIterator[Slots]:
        """What of the map changes after a revision. Ends with `EtcdUnreachable`, also when nothing came for so long."""
        async for found in self.etcd.watch(f"{self.root}{_SLOTS.name}", after, silent_seconds):
            yield _slots(found)

    def _key(self, folder: _Folder[T], name: str | int) -> str:
        return f"{self.root}{folder.name}{name if isinstance(name, str) else f'{name:04d}'}"

    async def _one(self, folder: _Folder[T], name: str) -> T | None:
        found = await self.etcd.get(self._key(folder, name))
        return None if found is None else folder.checked({name: found}).get(name)

    async def _all(self, folder: _Folder[T]) -> dict[str, T]:
        found = await self.etcd.below(f"{self.root}{folder.name}")
        return {name: one for name, one in folder.checked(found.values).items() if one is not None}

    async def _addresses(self, folder: _Folder[_Address]) -> dict[str, str]:
        found = await self._all(folder)
        proven = {name: one.address for name, one in found.items() if self._is_proven(folder, name, one)}
        folder.report(len(found) - len(proven))
        return proven

    def _is_proven(self, folder: _Folder[_Address], name: str, found: _Address) -> bool:
        return hmac.compare_digest(self._proven(folder, name, found.address).proof, found.proof)

    def _proven(self, folder: _Folder[_Address], name: str, address: str) -> _Address:
        return _Address(address=address, proof=self._proof(f"address:{self._key(folder, name)}={address}"))

    def _proof(self, words: str) -> str:
        """What only somebody with the service key can compute."""
        return hmac.digest(self._service_key, words.encode(), "sha256").hex()


def shared_out(nodes: list[str], *, all_to: str | None = None) -> dict[int, Entry]:
    """The first map: every node gets as many slots as the others, in one piece; or one node gets all of them."""
    return {slot: Entry(node=all_to or nodes[slot * len(nodes) // SLOTS], copy=FIRST_COPY) for slot in range(SLOTS)}


def _slots(found: RangeResult) -> Slots:
    return Slots({int(key): entry for key, entry in _SLOTS.checked(found.values).items()}, found.revision)

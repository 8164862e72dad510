"""The keys of the users who are signed in, in locked memory that is zeroed when a key leaves."""

import ctypes
import hmac
import mmap
from collections.abc import Callable
from typing import NewType

from carrel.kit.sqlite.database import KEY_BYTES

UserUuid = NewType("UserUuid", str)
"""A user's identifier, exactly as the host gave it: it is the salt of the key."""

_PAGE_KEYS = mmap.PAGESIZE // KEY_BYTES
_MADV_DONTDUMP = 16
_libc = ctypes.CDLL(None, use_errno=True)


class LockedPage:
    """One page of memory that is never swapped out nor dumped, cut into slots of one key each."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, mmap.PAGESIZE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        # The kernel may refuse both to an unprivileged process (RLIMIT_MEMLOCK); the start-up self-test reports it.
        self.locked = _libc.mlock(ctypes.c_void_p(self.address), ctypes.c_size_t(mmap.PAGESIZE)) == 0
        _libc.madvise(ctypes.c_void_p(self.address), ctypes.c_size_t(mmap.PAGESIZE), _MADV_DONTDUMP)
        self.free = list(range(_PAGE_KEYS))


class Keyring:
    """Keys by user, each with an epoch.

    The epoch of a user counts the events that must end every cached sign-in: eviction, rekey, deletion, a change of
    membership. It never goes back, not even while the key is absent. Not thread-safe: the event loop owns it; `copy`
    may be handed to a thread, which wipes it. `on_epoch_raised` is for whatever would notice the end of a sign-in only
    at its next look.
    """

    def __init__(self, on_epoch_raised: Callable[[UserUuid], None] = lambda _: None) -> None:
        self.pages: list[LockedPage] = []
        self._slots: dict[UserUuid, tuple[LockedPage, int]] = {}
        self._epochs: dict[UserUuid, int] = {}
        self._on_epoch_raised = on_epoch_raised

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, uuid: UserUuid) -> bool:
        return uuid in self._slots

    def __repr__(self) -> str:
        return f"<Keyring of {len(self)} keys>"

    @property
    def locked(self) -> bool:
        """Whether the kernel keeps every page of keys out of swap."""
        return all(page.locked for page in self.pages)

    def put(self, uuid: UserUuid, key: bytes | bytearray) -> None:
        """Keep `key`, 32 bytes, for `uuid`, replacing an earlier one."""
        if len(key) != KEY_BYTES:
            raise ValueError("a key has 32 bytes")
        if uuid not in self._slots:
            page = next((page for page in self.pages if page.free), None)
            if page is None:
                page = LockedPage()
                self.pages.append(page)
            self._slots[uuid] = (page, page.free.pop())
        page, slot = self._slots[uuid]
        with memoryview(page.memory) as memory:
            memory[slot * KEY_BYTES : (slot + 1) * KEY_BYTES] = key

    def copy(self, uuid: UserUuid) -> bytearray | None:
        """A copy of the key that the caller zeroes after use (`zero`); `None` when it is absent."""
        if uuid not in self._slots:
            return None
        page, slot = self._slots[uuid]
        copied = bytearray(KEY_BYTES)
        # This copies from view to view; an assignment to a bytearray itself would leave the key in a temporary that
        # nobody wipes.
        with memoryview(page.memory) as memory, memoryview(copied) as target:
            target[:] = memory[slot * KEY_BYTES : (slot + 1) * KEY_BYTES]
        return copied

    def matches(self, uuid: UserUuid, key: bytes | bytearray) -> bool:
        """Whether `key` is the one kept for `uuid`, in constant time; False when none is kept."""
        held = self._slots.get(uuid)
        if held is None:
            return False
        page, slot = held
        with memoryview(page.memory) as memory, memory[slot * KEY_BYTES : (slot + 1) * KEY_BYTES] as kept:
            return hmac.compare_digest(kept, key)

    def evict(self, uuid: UserUuid) -> None:
        """Zero the key and raise the epoch."""
        self.raise_epoch(uuid)
        held = self._slots.pop(uuid, None)
        if held is not None:
            page, slot = held
            page.memory[slot * KEY_BYTES : (slot + 1) * KEY_BYTES] = bytes(KEY_BYTES)
            page.free.append(slot)

    def is_wiped(self) -> bool:
        """Whether no memory of ours holds anything but the keys that are kept."""
        return not any(
            any(page.memory[slot * KEY_BYTES : (slot + 1) * KEY_BYTES]) for page in self.pages for slot in page.free
        )

    @property
    def uuids(self) -> list[UserUuid]:
        """The users whose keys are here."""
        return list(self._slots)

    @property
    def epochs(self) -> int:
        """How many users have an epoch after the first."""
        return len(self._epochs)

    def epoch(self, uuid: UserUuid) -> int:
        """The user's present epoch."""
        return self._epochs.get(uuid, 0)

    def raise_epoch(self, uuid: UserUuid) -> None:
        """End every cached sign-in of this user."""
        self._epochs[uuid] = self._epochs.get(uuid, 0) + 1
        self._on_epoch_raised(uuid)

    def clear(self) -> None:
        """Zero every key; the process is about to end."""
        for uuid in list(self._slots):
            self.evict(uuid)


def zero(key: bytearray) -> None:
    """Overwrite a copy of a key."""
    key[:] = bytes(len(key))

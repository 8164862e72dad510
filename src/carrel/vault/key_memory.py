"""Memory through which one process hands keys to the next, without a name that a third process could open.

With `memfd_secret` (Linux 5.14 and later, unless `secretmem` is off) the pages belong to those two processes alone: the
kernel never swaps them out, and neither a debugger nor root reads them by way of another process. Elsewhere it is a
`memfd`, locked against swapping as the keyring's own pages are.
"""

import ctypes
import mmap
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from carrel.kit.sqlite.database import KEY_BYTES
from carrel.vault.keyring import Keyring, UserUuid

MEMFD_SECRET: Final = 447
"""The number of the system call, which is the same on every processor."""
_MADV_DONTDUMP: Final = 16
_libc = ctypes.CDLL(None, use_errno=True)


class KeyMemoryRefused(Exception):
    """The kernel gives no memory that stays out of swap."""


class KeyMemory:
    """Room for some keys, by their position. Two processes that have its descriptor share it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._size = os.fstat(descriptor).st_size
        try:
            self._memory = mmap.mmap(descriptor, self._size)
        except (OSError, ValueError):
            os.close(descriptor)
            raise KeyMemoryRefused from None
        address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(self._memory)))
        size = ctypes.c_size_t(self._size)
        # Secret memory is locked and left out of dumps by itself, and the kernel refuses to be asked.
        _libc.madvise(address, size, _MADV_DONTDUMP)
        if not _is_secret(descriptor) and _libc.mlock(address, size) != 0:
            self.close()
            raise KeyMemoryRefused

    @classmethod
    def reserve(cls, keys: int) -> "KeyMemory":
        """Room for so many keys, all zeros.

        Raises:
            KeyMemoryRefused: the limit of locked memory does not allow it.
        """
        size = max(mmap.PAGESIZE, keys * KEY_BYTES)
        descriptor = _libc.syscall(MEMFD_SECRET, os.O_CLOEXEC)
        if descriptor >= 0:
            os.ftruncate(descriptor, size)
            # The limit of locked memory may have room for keys, but not for secret memory.
            with suppress(KeyMemoryRefused):
                return cls(descriptor)
        descriptor = os.memfd_create("carrel-keys")
        os.ftruncate(descriptor, size)
        return cls(descriptor)

    @property
    def room(self) -> int:
        """How many keys it can hold."""
        return self._size // KEY_BYTES

    def fill(self, keyring: Keyring, users: Iterable[UserUuid]) -> None:
        """Write the keys of `users`, who are all in the keyring and no more than there is room for, in this order."""
        for position, uuid in enumerate(users):
            with self._place(position) as place:
                keyring.write_to(uuid, place)

    def take(self, keyring: Keyring, users: Iterable[UserUuid]) -> None:
        """Put the keys into the keyring, for the `users` in whose order they were written."""
        for position, uuid in enumerate(users):
            with self._place(position) as place:
                keyring.put(uuid, place)

    @contextmanager
    def _place(self, position: int) -> Iterator[memoryview]:
        with memoryview(self._memory) as memory, memory[position * KEY_BYTES : (position + 1) * KEY_BYTES] as place:
            yield place

    def wipe(self) -> None:
        """Overwrite every key, for all who share the memory, and close it here."""
        self._memory[:] = bytes(self._size)
        self.close()

    def close(self) -> None:
        """Give the memory back. The kernel empties it when nobody else has it."""
        self._memory.close()
        os.close(self.descriptor)


def _is_secret(descriptor: int) -> bool:
    return "secretmem" in os.readlink(f"/proc/self/fd/{descriptor}")

"""Keeps HAProxy's map of slots like the one in etcd: first the file, for its next start, then the running process.

Without etcd the last map stays in force.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from carrel.cluster import haproxy
from carrel.cluster.etcd import EtcdUnreachable
from carrel.cluster.ownership import Entry
from carrel.cluster.registry import ClusterRegistry
from carrel.kit.sqlite.database import write_file

_RETRY_SECONDS: Final = 0.5
_SILENT_SECONDS: Final = 5.0
_AT_ONCE: Final = 100
"""Commands in one line to HAProxy, which reads no longer ones than its buffer."""


class HaproxySilent(Exception):
    """HAProxy does not answer at its socket, or does not know the map."""


class MapAgent:
    """Follows the cluster's map. `tell` hears what it does, in words."""

    def __init__(self, registry: ClusterRegistry, file: Path, socket: Path | None, tell: Callable[[str], None]) -> None:
        self._registry = registry
        self._file = file
        self._socket = socket
        self._tell = tell
        self._entries: dict[int, Entry] = {}
        self._revision = 0

    async def run(self) -> None:
        """Follow the map until the process ends."""
        while True:
            try:
                await self.once()
                async for changed in self._registry.changes(self._revision, _SILENT_SECONDS):
                    self._entries |= {slot: entry for slot, entry in changed.entries.items() if entry is not None}
                    self._revision = changed.revision
                    await self._apply()
            except EtcdUnreachable:
                # Also when nothing has changed for a while: then HAProxy is asked whether it still has the map.
                await asyncio.sleep(_RETRY_SECONDS)
            except HaproxySilent:
                self._tell("HAProxy does not answer at its socket; it reads the file when it starts")
                await asyncio.sleep(_RETRY_SECONDS)

    async def once(self) -> None:
        """Read the map and put it in force.

        Raises:
            EtcdUnreachable, HaproxySilent
        """
        found = await self._registry.slots()
        self._entries = {slot: entry for slot, entry in found.entries.items() if entry is not None}
        self._revision = found.revision
        await self._apply()

    async def _apply(self) -> None:
        text = haproxy.map_text(self._entries)
        if not self._file.exists() or self._file.read_text("ascii") != text:
            await asyncio.to_thread(write_file, self._file, text.encode("ascii"))
        if self._socket is None:
            return
        changes = await self._differing()
        slots = sorted(changes)
        for start in range(0, len(slots), _AT_ONCE):
            entries = [haproxy.entry(slot, changes[slot]) for slot in slots[start : start + _AT_ONCE]]
            lines = [f"set map {self._file} {entry}" for entry in entries]
            await self._ask(";".join(lines))
        if changes:
            self._tell(f"slots that changed their node: {len(changes):,}")

    async def _differing(self) -> dict[int, str]:
        have = await self._in_force()
        return {slot: node for slot, node in haproxy.nodes_of(self._entries).items() if have.get(slot) != node}

    async def _in_force(self) -> dict[int, str]:
        """The map as the running process has it."""
        rows = [line.split() for line in (await self._ask(f"show map {self._file}")).splitlines()]
        found = {int(row[1]): row[2] for row in rows if len(row) == 3 and row[1].isdecimal()}
        if not found:
            raise HaproxySilent
        return found

    async def _ask(self, command: str) -> str:
        try:
            async with asyncio.timeout(_SILENT_SECONDS):
                reader, writer = await asyncio.open_unix_connection(str(self._socket))
                writer.write(f"{command}\n".encode())
                try:
                    return (await reader.read()).decode("ascii", "replace")
                finally:
                    writer.close()
                    with suppress(OSError):
                        await writer.wait_closed()
        except (OSError, TimeoutError):
            raise HaproxySilent from None

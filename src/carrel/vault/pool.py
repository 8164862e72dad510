"""The open workspaces of one process: leases, a limit, and the functions that store or remove a key.

For each user, at most one of opening, closing, rekeying and deleting runs at a time (`_Entry.lock`), and every lease
follows the same rule, so no code ever sees a half-open database.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal, ParamSpec, Protocol, TypeVar

from carrel.errors import CarrelError, Unauthorized, Unavailable
from carrel.kit.concurrency.cancellation import run_to_completion
from carrel.kit.concurrency.turns import Turns
from carrel.kit.sqlite.database import Connection, Damaged, KeyRejected, Missing
from carrel.kit.sqlite.migrate import NewerDatabase
from carrel.vault import files
from carrel.vault.executors import Executors
from carrel.vault.files import Format
from carrel.vault.keyring import Keyring, UserUuid, zero
from carrel.vault.workspace import Workspace

Closing = Literal["evicted", "rekey", "deleted"]
"""Why a workspace is about to close while work goes on in it."""


class Listener(Protocol):
    """Works in workspaces without a request, as the run engine does, and has to learn of openings and closings."""

    async def opened(self, uuid: UserUuid) -> None:
        """The user signed in, or a rekey is over: work that stopped without a key may go on.

        Raises:
            CarrelError: the key is gone again, the disk is full, or the like; the next sign-in asks again.
        """
        ...

    async def closing(self, uuid: UserUuid, why: Closing) -> None:
        """Stop working in this workspace and release the lease before returning."""
        ...


T = TypeVar("T")
P = ParamSpec("P")

LOOK_AGAIN_SECONDS = 60.0
"""Listeners look for work that waits at most once in so long, unless something is committed."""
WAIT_SECONDS = 5.0
"""How long a request waits for a rekey before it is told to come again."""
DRAIN_SECONDS = 5.0


class KeyNotCached(Unauthorized):
    """No key in memory: the service restarted, or the key was evicted."""

    code = "key-not-cached"
    detail = "The server restarted or your key was removed from memory; log in again on the host site."


class WorkspaceBusy(Unavailable):
    """Every open workspace is in use, or this one is being re-encrypted."""

    code = "workspace-busy"
    detail = "The workspace is busy; try again in a moment."

    def __init__(self) -> None:
        super().__init__(retry_after_seconds=1)


_HOPELESS = (KeyRejected, Missing, Damaged, NewerDatabase)
"""After one of these errors, an opening with the same key would fail again."""


class _Entry:
    """One user's place in the pool."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.workspace: Workspace | None = None
        self.leases = 0
        self.lent_at = 0.0
        """On the monotonic clock."""
        self.free = asyncio.Event()
        self.free.set()


class WorkspacePool:
    """Opens workspaces, leases them, closes them. `path_of` gives the path of a user's database.

    `megabytes_of` says how large one may become, where that is not what `form` says.
    """

    def __init__(
        self,
        keyring: Keyring,
        path_of: Callable[[UserUuid], Path],
        *,
        form: Format,
        max_open: int = 1000,
        megabytes_of: Callable[[UserUuid], int | None] = lambda _: None,
        turns: Turns | None = None,
        require_served: Callable[[UserUuid], None] = lambda _: None,
    ) -> None:
        self.keyring = keyring
        self._require_served = require_served
        self._listeners: tuple[Listener, ...] = ()
        self._path_of = path_of
        self.form = form
        self._blank = files.Blank(form)
        self._megabytes_of = megabytes_of
        self.max_open = max_open
        self._entries: dict[UserUuid, _Entry] = {}
        self._open: dict[UserUuid, Workspace] = {}
        """In the order of use, the oldest first: a lease moves its workspace to the end."""
        self._spares: dict[UserUuid, float] = {}
        """When each workspace last used a connection besides its reader; the longest ago comes first."""
        self._held: list[Callable[[UserUuid], bool]] = []
        """Which users' files stay as they are for now."""
        self._opening = self._closing = 0
        self._closed_one = asyncio.Event()
        self._ended = False
        self._executors = Executors.started(turns or Turns())

    def subscribe(self, *listeners: Listener) -> None:
        """Notify these of every opening and closing, in this order. They need the pool, so they are made after it."""
        self._listeners += listeners

    def __len__(self) -> int:
        return len(self._open)

    @property
    def known(self) -> int:
        """How many users the pool keeps an entry for, open or closed."""
        return len(self._entries)

    @property
    def opened(self) -> list[UserUuid]:
        """The users whose workspaces are open."""
        return list(self._open)

    # Leases ---------------------------------------------------------------------------------------------------------

    def try_lease(self, uuid: UserUuid) -> Workspace | None:
        """A lease on an open workspace, without waiting; `None` if the workspace is not open or not free."""
        entry = self._entries.get(uuid)
        if entry is None or entry.workspace is None or entry.lock.locked():
            return None
        return self._lend(uuid, entry, entry.workspace)

    async def lease(self, uuid: UserUuid) -> Workspace:
        """A lease on the user's workspace, opened with the cached key if necessary. The caller releases it.

        Raises:
            KeyNotCached: there is no key.
            WorkspaceBusy: a rekey takes longer than five seconds, or all workspaces that may be open are leased.
        """
        if (lent := self.try_lease(uuid)) is not None:
            return lent
        if uuid not in self.keyring:
            raise KeyNotCached
        entry = self._entry(uuid)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await entry.lock.acquire()
        except TimeoutError:
            raise WorkspaceBusy from None
        try:
            if entry.workspace is None:
                await run_to_completion(self._open_entry(uuid, entry))
            if entry.workspace is None or self._entries.get(uuid) is not entry:
                raise KeyNotCached
            return self._lend(uuid, entry, entry.workspace)
        finally:
            entry.lock.release()

    def _lend(self, uuid: UserUuid, entry: _Entry, workspace: Workspace) -> Workspace:
        entry.leases += 1
        entry.lent_at = self.form.clock.monotonic()
        entry.free.clear()
        self._open[uuid] = self._open.pop(uuid)
        return workspace

    def release(self, workspace: Workspace) -> None:
        """End one lease."""
        entry = self._entries[workspace.uuid]
        entry.leases -= 1
        if entry.leases == 0:
            entry.free.set()

    def is_leased(self, uuid: UserUuid) -> bool:
        """Whether a request or a run works in this workspace."""
        return uuid in self._entries and self._entries[uuid].leases > 0

    @asynccontextmanager
    async def leased(self, uuid: UserUuid) -> AsyncIterator[Workspace]:
        """Hold a lease during the block."""
        workspace = await self.lease(uuid)
        try:
            yield workspace
        finally:
            self.release(workspace)

    # Keys -----------------------------------------------------------------------------------------------------------

    async def admit(self, uuid: UserUuid, key: bytearray, *, create: bool) -> None:
        """Check a presented key by opening the database with it, and keep it.

        If the database is open, the pool still compares the key with the cached one. `create` makes the database if
        there is none. A key that fails evicts the cached key, even a good one.

        Raises:
            KeyRejected, Missing, Damaged, NewerDatabase: the key is not cached.
            Busy, DiskFull: a key that was cached before stays cached.
        """
        await run_to_completion(self._admit(uuid, key, create))

    async def _admit(self, uuid: UserUuid, key: bytearray, create: bool) -> None:
        entry = self._entry(uuid)
        async with entry.lock:
            known = uuid in self.keyring
            if known and not self.keyring.matches(uuid, key):
                await self._close_entry(uuid, entry, "evicted")
                raise KeyRejected
            self.keyring.put(uuid, key)
            try:
                if create:
                    await self._in_thread(files.create, self._path_of(uuid), key, uuid, self.form, self._blank)
                if entry.workspace is None:
                    await self._open_entry(uuid, entry)
            except CarrelError as error:
                if not known or isinstance(error, _HOPELESS):
                    self.keyring.evict(uuid)
                raise
            except BaseException:
                self.keyring.evict(uuid)
                raise

    async def evict(self, uuid: UserUuid) -> None:
        """Remove the key from memory: stop work at its last commit, close every connection, zero the key."""
        await run_to_completion(self._evict(uuid))

    async def _evict(self, uuid: UserUuid) -> None:
        entry = self._entry(uuid)
        async with entry.lock:
            await self._close_entry(uuid, entry, "evicted")

    async def withdraw(self, uuid: UserUuid, timeout_seconds: float) -> None:
        """Stop the work of a user who is served no more, let requests finish for so long, close; the key stays."""
        await run_to_completion(self._withdraw(uuid, timeout_seconds))

    async def _withdraw(self, uuid: UserUuid, timeout_seconds: float) -> None:
        entry = self._entry(uuid)
        async with entry.lock:
            self.keyring.raise_epoch(uuid)
            try:
                await self._quiesce(uuid, "evicted")
                await self._drain(entry, timeout_seconds)
            finally:
                await self._shut(uuid, entry)

    def forget(self, uuid: UserUuid) -> None:
        """Drop the entry of a user without a key, unless a request has not ended yet."""
        entry = self._entries.get(uuid, _Entry())
        if uuid in self._entries and not (entry.workspace or entry.leases or entry.lock.locked()):
            del self._entries[uuid]

    async def rekey(self, uuid: UserUuid, old_key: bytearray, new_key: bytearray, before: Callable[[], None]) -> None:
        """Re-encrypt the database with `new_key` and keep that key. The next lease opens it.

        `before` runs in a thread, after the pool has proven the old key and before the new file takes the old file's
        name. After a crash at any moment, exactly one of the two keys opens the database, with every row.

        Raises:
            KeyRejected: the old key does not open the database; nothing has changed.
            DiskFull: nothing has changed.
        """
        await run_to_completion(self._rekey(uuid, old_key, new_key, before))

    async def _rekey(self, uuid: UserUuid, old_key: bytearray, new_key: bytearray, before: Callable[[], None]) -> None:
        entry = self._entry(uuid)
        try:
            async with entry.lock:
                if uuid in self.keyring and not self.keyring.matches(uuid, old_key):
                    raise KeyRejected
                await self._quiesce(uuid, "rekey")
                await self._drain(entry, DRAIN_SECONDS)
                await self._shut(uuid, entry)
                try:
                    await self._in_thread(files.rekey, self._path_of(uuid), old_key, new_key, uuid, self.form, before)
                    self.keyring.put(uuid, new_key)
                finally:
                    # Also after a failure: `before` may have ended every session already.
                    self.keyring.raise_epoch(uuid)
        finally:
            if uuid in self.keyring:
                await self.announce(uuid)

    async def announce(self, uuid: UserUuid) -> None:
        """Tell the listeners that work in the user's workspace may begin or go on.

        Not again within `LOOK_AGAIN_SECONDS` while it stays open and nothing is committed in it: only time makes new
        work then, such as runs that become old.
        """
        workspace, now = self._open.get(uuid), self.form.clock.now()
        if workspace is not None and workspace.announced is not None:
            commits, at = workspace.announced
            if commits == workspace.commits and 0 <= now - at < LOOK_AGAIN_SECONDS:
                return
        failed = False
        for listener in self._listeners:
            try:
                await listener.opened(uuid)
            except CarrelError:
                failed = True
        if workspace is not None and not failed:
            workspace.announced = workspace.commits, now

    async def destroy(self, uuid: UserUuid, remove: Callable[[], None]) -> None:
        """Close the workspace, zero the key, and run `remove` in a thread while nothing can open it again."""
        await run_to_completion(self._destroy(uuid, remove))

    async def _destroy(self, uuid: UserUuid, remove: Callable[[], None]) -> None:
        entry = self._entry(uuid)
        async with entry.lock:
            await self._close_entry(uuid, entry, "deleted")
            await self._in_thread(remove)

    async def close(self) -> None:
        """Close every workspace and zero every key. Afterwards the pool opens nothing."""
        self._ended = True
        try:
            endings = await asyncio.gather(*map(self.rest, list(self._entries)), return_exceptions=True)
        finally:
            self.keyring.clear()
            self._executors.shutdown()
            self._blank.close()
        for ending in filter(None, endings):
            raise ending

    async def rest(self, uuid: UserUuid, *, if_idle: bool = False) -> None:
        """Close the user's workspace, perhaps only if it is idle, and keep the key: the next lease opens it again."""
        entry = self._entries.get(uuid)
        if entry is None:
            return  # forgotten since the caller looked
        async with entry.lock:
            if not (if_idle and entry.leases):
                await self._shut(uuid, entry)

    async def hold(self, is_meant: Callable[[UserUuid], bool], seconds: float) -> None:
        """For so long, let the files of these users stay as they are: commits go into their logs, and stay there.

        So a file can be copied while its user works, and nothing but the log once the work has ended.
        """
        self._held.append(is_meant)
        asyncio.get_running_loop().call_later(seconds, self._let_go, is_meant)
        for uuid in filter(is_meant, list(self._open)):
            if uuid in self._open:
                await self._open[uuid].hold()

    def _let_go(self, is_meant: Callable[[UserUuid], bool]) -> None:
        self._held.remove(is_meant)
        for uuid in filter(is_meant, self._open):
            self._open[uuid].set_held(on=self._is_held(uuid))

    def _is_held(self, uuid: UserUuid) -> bool:
        return any(is_meant(uuid) for is_meant in self._held)

    async def rest_idle(self, idle_seconds: float) -> None:
        """Close the workspaces that nobody has leased for so long; the keys stay."""
        since = self.form.clock.monotonic() - idle_seconds
        # The longest unused come first.
        idle = [uuid for uuid in self._open if (entry := self._entries[uuid]).lent_at <= since and not entry.leases]
        for uuid in idle:
            await self.rest(uuid, if_idle=True)

    async def close_spares(self, idle_seconds: float) -> None:
        """Close the connections that wrote or scanned and did neither for so long; workspaces stay open for reading."""
        since = self.form.clock.monotonic() - idle_seconds
        while self._spares:
            uuid, used_at = next(iter(self._spares.items()))
            if used_at > since:
                return
            del self._spares[uuid]
            if uuid in self._open:
                await self._open[uuid].close_spares()

    def _note_spare(self, uuid: UserUuid) -> None:
        self._spares.pop(uuid, None)
        self._spares[uuid] = self.form.clock.monotonic()

    # The parts, each under the entry's lock ---------------------------------------------------------------------------

    def _entry(self, uuid: UserUuid) -> _Entry:
        return self._entries.setdefault(uuid, _Entry())

    async def _open_entry(self, uuid: UserUuid, entry: _Entry) -> None:
        """Open with the cached key; forget a key that does not open the database."""
        self._require_served(uuid)
        if uuid not in self.keyring:
            raise KeyNotCached
        await self._make_room()
        self._opening += 1
        opener = self._opener(uuid)
        try:
            reader = await self._in_thread(files.open_current, self._path_of(uuid), opener, self.form)
        except KeyRejected:
            self.keyring.evict(uuid)
            raise
        finally:
            self._opening -= 1
        entry.workspace = self._open[uuid] = Workspace(
            uuid, reader, _further(opener), self._executors, self._note_spare
        )
        entry.workspace.set_held(on=self._is_held(uuid))
        entry.lent_at = self.form.clock.monotonic()

    async def _make_room(self) -> None:
        """Return when one more may be opened; nothing else runs between that and the caller's next step."""
        while len(self._open) + self._opening >= self.max_open:
            idle = (
                uuid for uuid in self._open if not self._entries[uuid].leases and not self._entries[uuid].lock.locked()
            )
            uuid = next(idle, None)
            if uuid is not None:
                entry = self._entries[uuid]
                async with entry.lock:
                    # Another task may have waited for the lock first.
                    if not entry.leases:
                        await self._shut(uuid, entry)
            elif self._closing:
                self._closed_one.clear()
                await self._closed_one.wait()
            else:
                raise WorkspaceBusy

    async def _close_entry(self, uuid: UserUuid, entry: _Entry, why: Closing) -> None:
        # Raise the epoch first, so that no cached sign-in is valid while the workspace closes.
        self.keyring.raise_epoch(uuid)
        try:
            await self._quiesce(uuid, why)
        finally:
            try:
                await self._shut(uuid, entry)
            finally:
                self.keyring.evict(uuid)

    async def _quiesce(self, uuid: UserUuid, why: Closing) -> None:
        for listener in self._listeners:
            await listener.closing(uuid, why)

    async def _drain(self, entry: _Entry, timeout_seconds: float) -> None:
        """Let the requests that hold a lease finish; whoever takes longer meets `WorkspaceClosed`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await entry.free.wait()

    async def _shut(self, uuid: UserUuid, entry: _Entry) -> None:
        workspace, entry.workspace = entry.workspace, None
        if workspace is None:
            return
        self._closing += 1
        try:
            await workspace.close()
        finally:
            self._closing -= 1
            del self._open[uuid]
            self._closed_one.set()

    def _opener(self, uuid: UserUuid) -> Callable[[bool], Connection]:
        def open_connection(readonly: bool) -> Connection:
            key = self.keyring.copy(uuid)
            if key is None:
                raise KeyNotCached
            try:
                megabytes = self._megabytes_of(uuid) or self.form.max_megabytes
                form = self.form._replace(max_megabytes=megabytes)
                return files.open_workspace(self._path_of(uuid), key, uuid, form, readonly=readonly)
            finally:
                zero(key)

        return open_connection

    async def _in_thread(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self._ended:
            raise Unavailable
        loop = asyncio.get_running_loop()
        return await run_to_completion(loop.run_in_executor(self._executors.writes, lambda: fn(*args, **kwargs)))


def _further(opener: Callable[[bool], Connection]) -> Callable[[bool], Connection]:
    """`opener` for a database that is open already: the key is proven, so a failure means that the file has changed."""

    def open_connection(readonly: bool) -> Connection:
        try:
            return opener(readonly)
        except KeyRejected:
            raise Damaged from None

    return open_connection

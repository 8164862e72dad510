"""Every user's `account.db`: opened for one transaction, closed after it."""

import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from carrel.accounts.slots import NOBODY, RequireServed, file_key, folder_of, former_decoy, serve_everybody, slot_of
from carrel.errors import CarrelError, Conflict, Forbidden, NotFound, Unavailable
from carrel.kit.clock import Clock
from carrel.kit.concurrency.cancellation import run_to_completion
from carrel.kit.concurrency.keyed_lock import KeyedLock
from carrel.kit.concurrency.threads import in_thread
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, Damaged, KeyRejected, Missing, transaction, translated
from carrel.kit.sqlite.migrate import is_current, migrate
from carrel.kit.sqlite.rows import Select

T = TypeVar("T")
P = ParamSpec("P")

Membership = Literal["free", "paid"]
"""What the host says a user may do; managed through the plugin secret."""

MIGRATIONS = "carrel.accounts.account_migrations"
_NEW = ".new"
_LOCKS = 64
RECALLED = 20_000
"""Accounts of which values are remembered; each takes about a kilobyte."""


class UserExists(Conflict):
    """The uuid has an account already."""

    code = "user-exists"
    detail = "There is a user with this uuid already."


class UserUnknown(NotFound):
    """The uuid has no account."""

    code = "user-not-found"
    detail = "There is no user with this uuid."


class UserSuspended(Forbidden):
    """The operator has suspended the user; nothing is lost, and nobody signs in as this user meanwhile."""

    code = "user-suspended"
    detail = "The operator has suspended this user."


class MembershipRequired(Forbidden):
    """Free membership allows reading; creating, changing and executing need paid membership."""

    code = "membership-required"
    detail = "This needs a paid membership."


class Account(msgspec.Struct, frozen=True):
    """The single row of an account. `valid_from` is an epoch second: sessions issued earlier are revoked.

    `holds_credits`: the account had credits on hold for calls when it was read. `program_keys`: those not ended.
    """

    uuid: str
    membership: Membership
    created_at: str
    valid_from: int
    has_workspace: bool
    ended_sessions: frozenset[int] = frozenset()
    holds_credits: bool = False
    program_keys: frozenset[str] = frozenset()
    suspended_at: str | None = None
    workspace_megabytes: int | None = None
    """`None`: as much as everybody."""
    calls_per_day: int | None = None
    """`None`: any number."""


_account = Select(
    Account,
    ended_sessions="(SELECT json_group_array(issued_at) FROM ended_session)",
    holds_credits="EXISTS (SELECT 1 FROM reservation)",
    program_keys="(SELECT json_group_array(id) FROM program_key WHERE ended_at IS NULL)",
)
_ENDED_KEPT_SECONDS = 2 * 3600
"""Twice the life of a token: by then it has expired, also if the clock was an hour wrong."""


class Accounts:
    """The account databases under `data`; each is sealed with its own key, derived from the service key."""

    def __init__(
        self,
        data: Path,
        service_key: bytes,
        *,
        clock: Clock,
        new_id: NewId,
        require_served: RequireServed = serve_everybody,
    ) -> None:
        self.require_served = require_served
        self._data = data
        self._service_key = service_key
        self._clock = clock
        self._new_id = new_id
        self._making: set[str] = set()
        self._locks: KeyedLock[str] = KeyedLock()
        self._closed = False
        self._alone = [threading.Lock() for _ in range(_LOCKS)]
        """Lets one thread at a time open an account; a rekey opens it from another thread. SQLite's own busy handler
        polls, and under contention most waiting connections would time out. Two users may share a lock, and then
        wait for each other's transactions."""
        self._recalled: OrderedDict[str, dict[Callable[[Connection], Any], Any]] = OrderedDict()
        """What was read of an account since its last change. Changed only by whoever has its lock in `_alone`, or when
        all go."""
        self._executor = ThreadPoolExecutor(max_workers=8, thread_name_prefix="accounts")

    def folder(self, uuid: str) -> Path:
        """The user's folder."""
        return folder_of(self._data, self._service_key, uuid)

    def workspace_path(self, uuid: str) -> Path:
        """The user's workspace file, whether it exists or not."""
        return self.folder(uuid) / "workspace.db"

    def owner(self, uuid: str) -> str:
        """The user's folder as the service's own records name it: `<slot>/<name>`, which does not tell the uuid."""
        folder = self.folder(uuid)
        return f"{folder.parent.name}/{folder.name}"

    def remove_decoy(self) -> None:
        """Remove the account of `NOBODY`, also where earlier versions had it. The next start makes another one."""
        self.remove_former_decoy()
        with translated():
            shutil.rmtree(self.folder(NOBODY), ignore_errors=True)
            database.sync_folder(self._data)

    def remove_former_decoy(self) -> None:
        """Remove the account of `NOBODY` where earlier versions had it, in one of the slots."""
        self.remove(former_decoy(self._service_key))

    def remove(self, owner: str) -> None:
        """Remove a folder for good, including one that an earlier removal left half-done.

        A durable rename comes first, so that after a crash the user is either complete or gone.
        """
        folder = self._data / "slots" / owner
        self._recalled.clear()
        with translated():
            if folder.exists():
                folder.rename(folder.with_name(f"{folder.name}.{self._new_id()}.deleted"))
                database.sync_folder(folder.parent)
            for doomed in folder.parent.glob(f"{folder.name}.*.deleted"):
                shutil.rmtree(doomed)
            if folder.parent.exists():
                database.sync_folder(folder.parent)

    async def create(self, uuid: str, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Make the account database and fill it with `fn` in its first transaction.

        Raises:
            UserExists: what `fn` raised to say so, or an account is there.
        """
        return await self._in_thread(uuid, lambda: self._create(uuid, lambda conn: fn(conn, *args, **kw)))

    async def run(self, uuid: str, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Run `fn` in one durable transaction of the user's account database.

        Raises:
            UserUnknown: there is no account.
        """
        return await self._in_thread(uuid, lambda: self.run_here(uuid, lambda conn: fn(conn, *args, **kw)))

    async def read(self, uuid: str, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kw: P.kwargs) -> T:
        """Run `fn`, which only reads, on the user's account database.

        Raises:
            UserUnknown: there is no account.
        """
        return await self._in_thread(uuid, lambda: self._read(uuid, lambda conn: fn(conn, *args, **kw)))

    async def recall(self, uuid: str, fn: Callable[[Connection], T]) -> T:
        """`read`, from memory if the account has not changed since `fn`, a function of a module, was called for it.

        Raises:
            UserUnknown: there is no account.
        """
        self.require_served(uuid)
        # One look: a thread may forget the account at any instant.
        found: T | UnsetType = self._recalled.get(uuid, {}).get(fn, UNSET)
        if found is UNSET:
            return await self.read(uuid, lambda conn: self._remember(uuid, fn, fn(conn)))
        return found

    def _remember(self, uuid: str, fn: Callable[[Connection], T], found: T) -> T:
        self._recalled.setdefault(uuid, {})[fn] = found
        if len(self._recalled) > RECALLED:
            self._recalled.popitem(last=False)
        return found

    def run_here(self, uuid: str, fn: Callable[[Connection], T]) -> T:
        """`run` in the current thread, which must not be the event loop's."""
        with self._opened(uuid) as connection:
            if not is_current(connection, MIGRATIONS):
                migrate(connection, MIGRATIONS)
            with transaction(connection):
                return fn(connection)

    def _read(self, uuid: str, fn: Callable[[Connection], T]) -> T:
        with self._opened(uuid, readonly=True) as connection:
            if is_current(connection, MIGRATIONS):
                return fn(connection)
        return self.run_here(uuid, fn)

    @contextmanager
    def _opened(self, uuid: str, *, readonly: bool = False) -> Iterator[Connection]:
        with self._alone[slot_of(uuid) % _LOCKS], translated():
            # Asked again: whoever waits in `still` for the last transaction of a slot has forbidden further ones.
            self.require_served(uuid)
            if not readonly:
                self._recalled.pop(uuid, None)
            try:
                connection = database.connect(
                    self.folder(uuid) / "account.db",
                    self._key(uuid),
                    clock=self._clock,
                    new_id=self._new_id,
                    readonly=readonly,
                    alone=True,
                )
            except Missing:
                raise UserUnknown from None
            except KeyRejected:
                # The key is derived from the service key and the uuid, so this is another user's file, or the file was
                # altered.
                raise Damaged from None
            try:
                yield connection
            finally:
                database.discard(connection)

    @contextmanager
    def still(self) -> Iterator[None]:
        """Keep every account closed during the block: each file is as its last transaction left it.

        Call it in a thread, for milliseconds.
        """
        with ExitStack() as held:
            # Every other thread holds one lock at a time, so there is no deadlock.
            for lock in self._alone:
                held.enter_context(lock)
            # Another process may serve some of them next.
            self._recalled.clear()
            yield

    def _create(self, uuid: str, fn: Callable[[Connection], T]) -> T:
        folder = self.folder(uuid)
        path = folder / "account.db"
        with translated():
            if path.exists():
                raise UserExists
            self._make_folder(folder)
            with self._new_beside(path) as new:
                connection = database.create(new, self._key(uuid), clock=self._clock, new_id=self._new_id)
                with ExitStack() as undo:
                    undo.callback(database.discard, connection)
                    migrate(connection, MIGRATIONS)
                    with transaction(connection):
                        result = fn(connection)
                    undo.pop_all()
                database.complete(connection)
                database.sync_file(new)
                try:
                    # Unlike a rename, a link fails when another creation was faster.
                    path.hardlink_to(new)
                except FileExistsError:
                    raise UserExists from None
                try:
                    database.sync_folder(folder)
                except OSError:
                    # If the answer says that there is no user, the client must be able to create one.
                    path.unlink()
                    raise
        self._recalled.pop(uuid, None)
        return result

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # The slot's folder and `slots` may be new as well.
        for changed in folder.parents:
            database.sync_folder(changed)
            if changed == self._data:
                break

    @contextmanager
    def _new_beside(self, path: Path) -> Iterator[Path]:
        """A unique name for the file that will replace `path`; the end of the block removes what is left of it."""
        new = path.with_name(f"{path.name}.{self._new_id()}{_NEW}")
        self._making.add(new.name)
        try:
            for leftover in path.parent.glob(f"{path.name}.*{_NEW}*"):
                if leftover.name.partition(_NEW)[0] + _NEW not in self._making:
                    leftover.unlink(missing_ok=True)
            yield new
        finally:
            for leftover in path.parent.glob(f"{new.name}*"):
                leftover.unlink(missing_ok=True)
            self._making.discard(new.name)

    def _key(self, uuid: str) -> bytes:
        return file_key(self._service_key, "account", uuid)

    async def _in_thread(self, uuid: str, fn: Callable[[], T]) -> T:
        # If a client goes away, the transaction still completes; without a wait for others, nothing else is needed.
        turn = self._in_turn(uuid, fn)
        return await (run_to_completion(turn) if uuid in self._locks else turn)

    async def _in_turn(self, uuid: str, fn: Callable[[], T]) -> T:
        # However much one user requests at once, it takes only one thread from the others.
        async with self._locks.of(uuid):
            if self._closed:
                raise Unavailable
            self.require_served(uuid)
            return await in_thread(self._executor, fn)

    def close(self) -> None:
        """Wait for the transactions under way; start no more."""
        self._closed = True
        self._executor.shutdown()


def insert(conn: Connection, uuid: str, membership: Membership) -> Account:
    """The first row of a new account database."""
    now = conn.now()
    conn.run(
        "INSERT INTO account (uuid, membership, created_at, valid_from, credits_updated_at) VALUES (?, ?, ?, 0, ?)",
        uuid,
        membership,
        now,
        now,
    )
    return get(conn)


def get(conn: Connection) -> Account:
    """The account's row."""
    found = _account.one(conn, "FROM account")
    if found is None:
        raise CarrelError
    return found


def set_membership(conn: Connection, membership: Membership) -> Account:
    """Change what the user may do."""
    conn.run("UPDATE account SET membership = ?", membership)
    return get(conn)


def set_has_workspace(conn: Connection) -> None:
    """Record the first login: from now on the workspace file must be there."""
    conn.run("UPDATE account SET has_workspace = 1")


def suspend(conn: Connection) -> Account:
    """Let nobody sign in as this user, until `reinstate`."""
    conn.run("UPDATE account SET suspended_at = coalesce(suspended_at, ?)", conn.now())
    return get(conn)


def reinstate(conn: Connection) -> Account:
    """End a suspension."""
    conn.run("UPDATE account SET suspended_at = NULL")
    return get(conn)


def set_quota(conn: Connection, megabytes: int | None, calls_per_day: int | None) -> Account:
    """How large the workspace may become, and how many calls the user may make on one day; `None`: as everybody."""
    conn.run("UPDATE account SET workspace_megabytes = ?, calls_per_day = ?", megabytes, calls_per_day)
    return get(conn)


def raise_valid_from(conn: Connection, epoch_second: int) -> Account:
    """Revoke every session issued before `epoch_second`; never goes back."""
    conn.run("UPDATE account SET valid_from = max(valid_from, ?)", epoch_second)
    return get(conn)


def end_session(conn: Connection, issued_at: int) -> Account:
    """Revoke the sessions that were issued in this epoch second."""
    conn.run("DELETE FROM ended_session WHERE issued_at < ?", int(conn.clock.now()) - _ENDED_KEPT_SECONDS)
    conn.run("INSERT OR IGNORE INTO ended_session VALUES (?)", issued_at)
    return get(conn)

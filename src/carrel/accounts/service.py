"""`service.db`: data of the service and of no user, sealed with the service key; one connection, one thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from carrel.accounts import roster
from carrel.accounts.slots import file_key
from carrel.errors import Unavailable
from carrel.kit.clock import Clock
from carrel.kit.ids import NewId
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, KeyRejected, transaction, translated
from carrel.kit.sqlite.migrate import migrate

T = TypeVar("T")
P = ParamSpec("P")

MIGRATIONS = "carrel.accounts.service_migrations"


class ServiceKeyRejected(Unavailable):
    """The service key is not the one that this data folder was sealed with."""

    code = "service-key-rejected"
    detail = "CARREL_SERVICE_KEY is not the key that this data folder was sealed with."


class ServiceDatabaseMissing(Unavailable):
    """The data folder holds users, but `service.db` is gone. The service never replaces it by an empty one."""

    code = "service-database-missing"
    detail = "service.db is missing from a data folder that holds users; restore it from the backup."


class RotationUnfinished(Unavailable):
    """A rotation of the service key was interrupted: some accounts have the old key, some the new one."""

    code = "service-key-rotation-unfinished"
    detail = "A rotation of the service key was interrupted; finish it with carrel rotate-service-key."


class ServiceDatabase:
    """The service's own database, opened at start and closed at the end."""

    def __init__(self, data: Path, service_key: bytes, *, clock: Clock, new_id: NewId) -> None:
        self._path = data / "service.db"
        self._key = file_key(service_key, "service")
        self._clock = clock
        self._new_id = new_id
        self._connection: Connection | None = None
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="service")

    def open(self) -> bool:
        """Open the file, made at the first start; whether it was made.

        Raises:
            ServiceDatabaseMissing: it is gone although there are users; an empty one would bring ended sessions back.
            ServiceKeyRejected: it was sealed with another service key.
            RotationUnfinished: not all accounts have the service key.
            NewerDatabase, Damaged: it is untouched.
        """
        with translated():
            is_new = not self._path.exists()
            if is_new:
                self._make()
            try:
                self._connection = database.connect(self._path, self._key, clock=self._clock, new_id=self._new_id)
            except KeyRejected:
                raise ServiceKeyRejected from None
            migrate(self._connection, MIGRATIONS)
            if roster.is_rotating(self._connection):
                raise RotationUnfinished
        return is_new

    def _make(self) -> None:
        data = self._path.parent
        if (data / "slots").exists():
            raise ServiceDatabaseMissing
        self._sweep()
        try:
            new = self._path.with_name("service.db.new")
            database.complete(database.create(new, self._key, clock=self._clock, new_id=self._new_id))
            database.sync_file(new)
            new.rename(self._path)
            database.sync_folder(data)
        finally:
            self._sweep()

    def _sweep(self) -> None:
        for leftover in self._path.parent.glob("service.db.new*"):
            leftover.unlink()

    def discard(self) -> None:
        """Remove the file that `open` has made. Nothing was stored in it."""
        if self._connection is not None:
            database.close(self._connection)
            self._connection = None
        for path in self._path.parent.glob("service.db*"):
            path.unlink()

    async def run(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn` in one durable transaction."""
        loop = asyncio.get_running_loop()
        return await asyncio.shield(
            loop.run_in_executor(self._executor, lambda: self._run(lambda conn: fn(conn, *args, **kwargs)))
        )

    def _run(self, fn: Callable[[Connection], T]) -> T:
        if self._connection is None:
            raise Unavailable
        with translated(), transaction(self._connection):
            return fn(self._connection)

    def close(self) -> None:
        """Finish the transaction under way and close."""
        self._executor.shutdown()
        if self._connection is not None:
            database.close(self._connection)

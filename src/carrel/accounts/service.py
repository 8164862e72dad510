"""`service.db`: what belongs to the service and to no user, sealed with the service key; one connection, one thread."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from carrel.accounts.slots import file_key
from carrel.kit import database
from carrel.kit.clock import Clock
from carrel.kit.database import Connection, transaction, translated
from carrel.kit.ids import NewId
from carrel.kit.migrate import migrate

T = TypeVar("T")
P = ParamSpec("P")

MIGRATIONS = "carrel.accounts.service_migrations"


class ServiceDatabase:
    """The service's own database, opened at start and closed at the end."""

    def __init__(self, data: Path, service_key: bytes, *, clock: Clock, new_id: NewId) -> None:
        path = data / "service.db"
        key = file_key(service_key, "service")
        if not path.exists():
            new = path.with_name("service.db.new")
            new.unlink(missing_ok=True)
            database.close(database.create(new, key, clock=clock, new_id=new_id))
            database.sync_file(new)
            new.rename(path)
            database.sync_folder(data)
        self._connection = database.connect(path, key, clock=clock, new_id=new_id)
        migrate(self._connection, MIGRATIONS)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="service")

    async def run(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `fn` in one durable transaction."""
        loop = asyncio.get_running_loop()
        return await asyncio.shield(
            loop.run_in_executor(self._executor, lambda: self._run(lambda conn: fn(conn, *args, **kwargs)))
        )

    def _run(self, fn: Callable[[Connection], T]) -> T:
        with translated(), transaction(self._connection):
            return fn(self._connection)

    def close(self) -> None:
        """Finish what is under way and close."""
        self._executor.shutdown()
        database.close(self._connection)

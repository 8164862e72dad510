"""The operator's keys in memory: read at the start, and again when one is stored or removed."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from carrel.accounts.service import ServiceDatabase
from carrel.keys import store as keys
from carrel.kit.sqlite.database import Connection
from carrel.providers.base import Access

T = TypeVar("T")
P = ParamSpec("P")


class KeySharing(Protocol):
    """Changes the keys for every node of a cluster."""

    async def change(self, fn: Callable[[Connection], T]) -> T:
        """What `fn` returns. An error of `fn` changes nothing."""
        ...


class SystemKeys:
    """Owned by the event loop. With `shared`, all nodes of a cluster have the same keys."""

    shared: KeySharing | None = None

    def __init__(self, service: ServiceDatabase) -> None:
        self._service = service
        self._held: dict[str, Access] = {}

    @property
    def providers(self) -> frozenset[str]:
        """The providers that have a key."""
        return frozenset(self._held)

    def access(self, provider: str) -> Access | None:
        """The key and address for this provider when credits pay; `None` if there is no key."""
        return self._held.get(provider)

    async def change(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Store or remove a key with `fn`, in one durable transaction; what `fn` returns."""
        if self.shared is not None:
            return await self.shared.change(lambda conn: fn(conn, *args, **kwargs))
        value = await self._service.run(fn, *args, **kwargs)
        await self.load()
        return value

    async def load(self) -> None:
        """Read the keys that are stored now."""
        self._held = await self._service.run(_all)


def _all(conn: Connection) -> dict[str, Access]:
    found = {provider: keys.access(conn, provider) for provider in keys.stored(conn)}
    return {provider: access for provider, access in found.items() if access is not None}

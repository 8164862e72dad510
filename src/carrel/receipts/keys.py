"""The key with which the service signs receipts, and the list of all keys that it ever signed with.

The key follows from the service key, so that it needs no place of its own and outlives a restored backup. After
`carrel rotate-service-key` the service signs with another key; the earlier one stays in the list.
"""

from typing import Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from carrel.accounts.service import ServiceDatabase
from carrel.accounts.slots import file_key
from carrel.kit.clock import Time
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.rows import Select

_PURPOSE: Final = "receipts"


class ReceiptKey(msgspec.Struct, frozen=True):
    """A public key, in hex, and since when the service signed with it. It signs with the `current` one now."""

    key: str
    since: Time
    current: bool


class ReceiptKeys(msgspec.Struct, frozen=True):
    """Every key that this service signed receipts with, newest first."""

    items: list[ReceiptKey]


class _Row(msgspec.Struct):
    public: str
    since: str


_rows = Select(_Row)


class Signer:
    """Holds the private key."""

    def __init__(self, service_key: bytes) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(file_key(service_key, _PURPOSE))
        self.public = self._private.public_key().public_bytes_raw().hex()

    def sign(self, content: bytes | bytearray) -> str:
        """The signature, in hex."""
        return self._private.sign(content).hex()

    async def publish(self, service: ServiceDatabase) -> None:
        """Put the key into the list, if it is not there yet."""
        await service.run(_publish, self.public)

    async def published(self, service: ServiceDatabase) -> ReceiptKeys:
        """The list."""
        rows = await service.run(_listed)
        return ReceiptKeys([ReceiptKey(row.public, row.since, row.public == self.public) for row in rows])


def _publish(conn: Connection, public: str) -> None:
    conn.run("INSERT INTO receipt_key (public, since) VALUES (?, ?) ON CONFLICT DO NOTHING", public, conn.now())


def _listed(conn: Connection) -> list[_Row]:
    return _rows.all(conn, "FROM receipt_key ORDER BY since DESC, public")

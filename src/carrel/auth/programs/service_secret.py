"""The secret that program keys are stamped with, and programs' tokens signed: in `service.db`, random.

It is not derived from the service key, so a rotation of that key ends no program key. It is not the plugin secret
either, so a host that checks session tokens by the specification accepts no program's token.
"""

import secrets
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from carrel.accounts import program_keys
from carrel.accounts.service import ServiceDatabase
from carrel.kit.sqlite.database import wipe

_BYTES: Final = 32
_SERIES_BYTES: Final = 8


class ServiceSecret:
    """Read at the start. Its parts neither print nor leave the process."""

    __slots__ = ("series", "stamp_key", "token_key")

    def __init__(self) -> None:
        # Before `start`, nothing that anybody could present fits.
        self._derive(secrets.token_bytes(_BYTES))

    async def start(self, service: ServiceDatabase) -> None:
        """Read the secret, made at the first start."""
        kept = await service.run(program_keys.service_secret, secrets.token_bytes(_BYTES))
        self._derive(kept)
        wipe(kept)

    def _derive(self, secret: bytes) -> None:
        self.stamp_key = _derived(secret, "stamp", _BYTES)
        self.token_key = _derived(secret, "token", _BYTES)
        self.series = _derived(secret, "series", _SERIES_BYTES).hex()
        """Tells keys that were stamped with this secret from those of before a backup was restored."""

    def __repr__(self) -> str:
        return "ServiceSecret(hidden)"


def _derived(secret: bytes, purpose: str, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=f"carrel:programs:{purpose}".encode()).derive(secret)

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
from carrel.accounts.slots import slot_of
from carrel.kit.sqlite.database import wipe

_BYTES: Final = 32
_SERIES_BYTES: Final = 8


class DerivedSecrets:
    """What is derived from one secret. It neither prints nor leaves the process."""

    __slots__ = ("series", "stamp_key", "token_key")

    def __init__(self, secret: bytes) -> None:
        self.stamp_key = _derived(secret, "stamp", _BYTES)
        self.token_key = _derived(secret, "token", _BYTES)
        self.series = _derived(secret, "series", _SERIES_BYTES).hex()
        """Tells keys that were stamped with this secret from those of before a backup was restored."""

    def __repr__(self) -> str:
        return "Derived(hidden)"


class ServiceSecret:
    """Read at the start, and whenever slots come or go: those from other nodes keep the secrets of these."""

    __slots__ = ("_of_slots", "_own", "token_keys")

    def __init__(self) -> None:
        # Before `start`, nothing that anybody could present fits.
        self._own = DerivedSecrets(secrets.token_bytes(_BYTES))
        self._of_slots: dict[int, DerivedSecrets] = {}
        self.token_keys: tuple[bytes, ...] = (self._own.token_key,)
        """With one of these a program's token was signed, if it is one."""

    async def start(self, service: ServiceDatabase) -> None:
        """Read the secret, made at the first start."""
        kept = await service.run(program_keys.service_secret, secrets.token_bytes(_BYTES))
        self._own = DerivedSecrets(kept)
        wipe(kept)
        await self.read_slots(service)

    async def read_slots(self, service: ServiceDatabase) -> None:
        """Read the secrets of slots that came from other nodes, or have left."""
        found = await service.run(program_keys.slot_secrets)
        self._of_slots = {slot: DerivedSecrets(secret) for slot, secret in found.items()}
        for secret in found.values():
            wipe(secret)
        every = (self._own, *self._of_slots.values())
        self.token_keys = tuple(dict.fromkeys(derived.token_key for derived in every))

    def of(self, uuid: str) -> DerivedSecrets:
        """What the program keys and tokens of a user are made with."""
        return self._of_slots.get(slot_of(uuid), self._own)

    def __repr__(self) -> str:
        return "ServiceSecret(hidden)"


def _derived(secret: bytes, purpose: str, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=None, info=f"carrel:programs:{purpose}".encode()).derive(secret)

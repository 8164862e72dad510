"""The identifiers that Carrel makes: UUIDv7 strings (RFC 9562, section 5.7)."""

import secrets
import uuid
from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from carrel.kit.clock import Clock

Id = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]
"""An identifier that Carrel makes; `openapi.json` tells its format.

The uuid of a user comes from the host and may be any name, so it is not an `Id`."""

NewId = Callable[[], str]
"""Makes the next identifier. Tests pass a counter."""


def uuid7_factory(clock: Clock) -> NewId:
    """A function that makes UUIDv7 strings. Their 48-bit timestamp comes from `clock`; the other 74 bits are random."""

    def new_id() -> str:
        milliseconds = int(clock.now() * 1000) & 0xFFFF_FFFF_FFFF
        value = milliseconds << 80 | 0x7 << 76 | secrets.randbits(12) << 64 | 0b10 << 62 | secrets.randbits(62)
        return str(uuid.UUID(int=value))

    return new_id

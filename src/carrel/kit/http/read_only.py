"""Fields that a body may repeat but not change, so that what `GET` answered can be sent back with `PUT`."""

from collections.abc import Callable
from functools import cache

import msgspec
from msgspec import UNSET

from carrel.errors import BadInput, FieldError


def require_unchanged(sent: msgspec.Struct, stored: Callable[[], msgspec.Struct]) -> None:
    """Hold every read-only field of a body, which is one that is `UNSET` by default, against what is `stored`.

    `stored` is called only if the body has such a field.

    Raises:
        BadInput: naming each field that is not as it is stored.
    """
    names = [name for name in _read_only(type(sent)) if getattr(sent, name) is not UNSET]
    if not names:
        return
    present = stored()
    faults = [
        FieldError(name, "is read-only and differs from what is stored")
        for name in names
        if getattr(sent, name) != getattr(present, name)
    ]
    if faults:
        raise BadInput(errors=tuple(faults))


@cache
def _read_only(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(struct) if field.default is UNSET)

"""What the service answers, as structs. Fields that a newer service adds are ignored."""

from typing import Literal, TypeAlias

import msgspec

Membership: TypeAlias = Literal["free", "paid"]


class User(msgspec.Struct, frozen=True):
    """A user as the host sees one."""

    uuid: str
    membership: Membership
    created_at: str


class Balance(msgspec.Struct, frozen=True):
    """What can be spent (`balance`) and what calls in flight hold back (`reserved`): decimal strings of credits."""

    balance: str
    reserved: str
    updated_at: str


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """A thing that can be changed. Its `etag`, given back as `if_match`, makes sure that nobody else changed it."""

    etag: str = ""

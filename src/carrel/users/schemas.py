"""What goes over the wire about users."""

import msgspec

from carrel.accounts.accounts import Membership
from carrel.http.requests.schema import In, UserUuid
from carrel.kit.clock import Time


class UserIn(In, frozen=True):
    """A new user. The key travels only at login."""

    uuid: UserUuid
    membership: Membership = "free"


class UserOut(msgspec.Struct, frozen=True):
    """A user as the host sees one."""

    uuid: str
    membership: Membership
    created_at: Time


class UserCounts(msgspec.Struct, frozen=True):
    """How many rows of each kind the workspace holds."""

    contents: int
    presets: int
    runs: int


class UserLimits(msgspec.Struct, frozen=True):
    """What the operator allows one user; `calls_per_day` of models, by UTC days, is null without a limit."""

    json_bytes: int
    upload_bytes: int
    import_bytes: int
    name_characters: int
    body_bytes: int
    workspace_megabytes: int
    calls_per_day: int | None
    event_streams: int


class Me(msgspec.Struct, frozen=True):
    """Users as they see themselves; `credits` is a decimal string."""

    uuid: str
    membership: Membership
    created_at: Time
    credits: str
    counts: UserCounts
    limits: UserLimits

"""Users, their credits and their limits, as the service reports them. Fields of a newer service are ignored."""

from typing import Literal, TypeAlias

import msgspec

Membership: TypeAlias = Literal["free", "paid"]


class Health(msgspec.Struct, frozen=True):
    """The service's answer that it is up."""

    status: str
    version: str
    uptime_seconds: int


class User(msgspec.Struct, frozen=True):
    """A user as the host sees one."""

    uuid: str
    membership: Membership
    created_at: str


class Balance(msgspec.Struct, frozen=True):
    """The credits that can be spent (`balance`), and those held back for calls in flight (`reserved`)."""

    balance: str
    reserved: str
    updated_at: str


class LedgerEntry(msgspec.Struct, frozen=True):
    """One change of the balance, and the balance after it."""

    id: str
    kind: str
    amount: str
    balance: str
    created_at: str
    reference: str | None = None
    reason: str | None = None


class Counts(msgspec.Struct, frozen=True):
    """How many rows of each kind the workspace holds."""

    contents: int
    presets: int
    runs: int


class Limits(msgspec.Struct, frozen=True):
    """What the operator allows one user."""

    json_bytes: int
    upload_bytes: int
    import_bytes: int
    name_characters: int
    body_bytes: int
    workspace_megabytes: int
    event_streams: int


class Me(msgspec.Struct, frozen=True):
    """The signed-in user; `credits` is a decimal string."""

    uuid: str
    membership: Membership
    created_at: str
    credits: str
    counts: Counts
    limits: Limits


class OpenSession(msgspec.Struct, frozen=True):
    """One session; `session`, the epoch second of issue, names it. `last_used_at` is told to the minute."""

    session: int
    issued_at: str
    expires_at: str
    last_used_at: str
    is_this_one: bool


class OpenSessions(msgspec.Struct, frozen=True):
    """The sessions, the latest first. While `complete` is false there may be others, at most an hour old."""

    items: list[OpenSession]
    complete: bool

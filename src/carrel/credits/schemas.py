"""The requests and answers about credits. Amounts are decimal strings of credits, not dollars."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from carrel.http.requests.schema import In, UserUuid
from carrel.kit.clock import Time
from carrel.kit.ids import Id
from carrel.kit.money import AmountIn

LedgerKind = Literal["add", "reserve", "settle", "release", "refund"]


class AddIn(In, frozen=True):
    """Credits that the host gives a user."""

    uuid: UserUuid
    amount: AmountIn
    reason: Annotated[str, Meta(max_length=200)] | None = None


class Balance(msgspec.Struct, frozen=True):
    """What can be spent (`balance`), and what is held back for calls in flight (`reserved`)."""

    balance: str
    reserved: str
    updated_at: Time


class WriteOffSum(msgspec.Struct, frozen=True):
    """Calls of which the host bore a part, and the credits that nobody was charged for them."""

    calls: int
    credits: str


class WriteOff(msgspec.Struct, frozen=True):
    """What the host bore on one UTC day."""

    day: str
    calls: int
    credits: str


class WriteOffs(msgspec.Struct, frozen=True):
    """What the host bore by UTC day, newest first, and in all."""

    items: list[WriteOff]
    total: WriteOffSum


class LedgerEntry(msgspec.Struct, frozen=True):
    """One change of the balance, and the balance after it."""

    id: Id
    kind: LedgerKind
    amount: str
    balance: str
    reference: str | None
    reason: str | None
    created_at: Time

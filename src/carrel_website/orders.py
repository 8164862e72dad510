"""Orders of credits. The website stores an order first and delivers it under its number, so none counts twice."""

import re
import secrets
import sqlite3
from dataclasses import dataclass
from typing import Final

from carrel_sdk import CarrelError, Host

from carrel_website.database import Database
from carrel_website.refusals import Refusal, ServiceAway

PACKS: Final = (5, 20, 50)
_NUMBER: Final = re.compile(r"[A-Za-z0-9_-]{12,64}")
_REPEATABLE_SECONDS: Final = 23 * 3600
"""The service remembers an order's number for a day; after that, a person has to check before it is sent again."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order that the service has not confirmed."""

    id: str
    credits: int
    repeatable: bool


def new_number() -> str:
    """A number for a form, before anything is ordered."""
    return secrets.token_urlsafe(24)


def place(database: Database, order_id: str, uuid: str, pack: str, now: int) -> None:
    """Store the order. The form carries its number, so a second click is the same order.

    Raises:
        Refusal: there is no such pack, or the number is not one of ours.
    """
    if not _NUMBER.fullmatch(order_id):
        raise Refusal("This form is out of date. Please reload the page and try again.")
    amount = next((each for each in PACKS if str(each) == pack), None)
    if amount is None:
        raise Refusal("Choose one of the packs.")
    with database.begin() as conn:
        conn.execute(
            "INSERT INTO orders (id, uuid, credits, ordered_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (order_id, uuid, amount, now),
        )


def deliver(database: Database, host: Host, order_id: str, uuid: str, now: int) -> None:
    """Add the credits, at most once, however often this is called.

    Raises:
        ServiceAway: the order stays open.
        Refusal: this is not an open order of this user, or it is too old to be sent again unchecked.
    """
    with database.begin() as conn:
        row = conn.execute(
            "SELECT credits, ordered_at, delivered_at FROM orders WHERE id = ? AND uuid = ?", (order_id, uuid)
        ).fetchone()
    if row is None:
        raise Refusal("There is no such order.")
    amount, ordered_at, delivered_at = row
    if delivered_at is not None:
        return
    if now - ordered_at >= _REPEATABLE_SECONDS:
        raise Refusal("This order is more than a day old. Please tell us, and we will check whether it was delivered.")
    try:
        host.add_credits(uuid, str(amount), reason="order", idempotency_key=order_id)
    except CarrelError as error:
        raise ServiceAway(
            "The service cannot be reached right now. Your order is kept and can be delivered later."
        ) from error
    with database.begin() as conn:
        conn.execute("UPDATE orders SET delivered_at = ? WHERE id = ?", (now, order_id))


def open_orders(conn: sqlite3.Connection, uuid: str, now: int) -> list[Order]:
    """The orders that are not confirmed, oldest first."""
    rows = conn.execute(
        "SELECT id, credits, ordered_at FROM orders WHERE uuid = ? AND delivered_at IS NULL ORDER BY ordered_at, id",
        (uuid,),
    ).fetchall()
    return [Order(number, amount, now - at < _REPEATABLE_SECONDS) for number, amount, at in rows]

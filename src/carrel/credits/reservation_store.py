"""Credits that are held back in a user's `account.db` for calls in flight. The account holds amounts and random ids.

Each reservation ends once: the call is charged and the rest becomes free again. Ending it twice changes nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from carrel.credits.folding import fold
from carrel.kit.sqlite.database import Connection

MAX_OPEN: Final = 10_000
"""Reservations of one user: many times as many as there can be calls in flight. A crash may leave some open."""


class Want(NamedTuple):
    """Credits to hold back under a random id."""

    id: str
    amount_micros: int


def reserve(conn: Connection, wants: Sequence[Want]) -> frozenset[str]:
    """Hold credits back, in order, up to the first that the balance does not cover. Returns the ids of those held.

    A user with `MAX_OPEN` reservations gets none, as one without credits does.
    """
    left = conn.value("SELECT balance_micros FROM account") or 0
    room = MAX_OPEN - conn.value("SELECT count(*) FROM reservation")
    now = conn.now()
    granted: list[Want] = []
    for want in wants:
        if want.amount_micros > left or len(granted) >= room:
            break
        left -= want.amount_micros
        granted.append(want)
    for want in granted:
        conn.run("INSERT INTO reservation (id, amount_micros, created_at) VALUES (?, ?, ?)", *want, now)
        conn.run("UPDATE account SET reserved_micros = reserved_micros + ?", want.amount_micros)
        _move(conn, "reserve", -want.amount_micros, want.id, now)
    return frozenset(want.id for want in granted)


def settle(conn: Connection, ended: Mapping[str, int]) -> None:
    """End reservations: each id with the charge of its call, at most what was held back. Ended ids are skipped.

    Of a reservation that was swept, it refunds what the call did not take.
    """
    now = conn.now()
    for reservation, charged in ended.items():
        found = conn.one("SELECT amount_micros, swept_at FROM reservation WHERE id = ?", reservation)
        if found is None:
            continue
        amount, swept_at = found
        if swept_at is None:
            _charge(conn, reservation, amount, min(charged, amount), now)
        else:
            _move(conn, "refund", amount - min(charged, amount), reservation, now)
        conn.run("DELETE FROM reservation WHERE id = ?", reservation)
    fold(conn)


def sweep(conn: Connection, before: str, in_use: Collection[str]) -> bool:
    """Charge in full what was held back before that time, except what is `in_use`. Returns whether any hold is left."""
    now = conn.now()
    for reservation, amount in conn.all(
        "SELECT id, amount_micros FROM reservation WHERE swept_at IS NULL AND created_at < ?", before
    ):
        if reservation not in in_use:
            _charge(conn, reservation, amount, amount, now)
            conn.run("UPDATE reservation SET swept_at = ? WHERE id = ?", now, reservation)
    return conn.one("SELECT 1 FROM reservation WHERE swept_at IS NULL LIMIT 1") is not None


def _charge(conn: Connection, reservation: str, amount: int, charged: int, now: str) -> None:
    conn.run("UPDATE account SET reserved_micros = reserved_micros - ?", amount)
    _move(conn, "release", amount, reservation, now)
    _move(conn, "settle", -charged, reservation, now)


def still_open(conn: Connection) -> list[str]:
    """The ids of all reservations that no call has ended, also of those that were swept."""
    return [found for (found,) in conn.all("SELECT id FROM reservation ORDER BY id")]


def _move(
    conn: Connection, kind: Literal["reserve", "release", "settle", "refund"], amount: int, reference: str, now: str
) -> None:
    if amount:
        conn.run("UPDATE account SET balance_micros = balance_micros + ?, credits_updated_at = ?", amount, now)
        conn.run(
            "INSERT INTO ledger (id, kind, amount_micros, balance_micros, reference, reason, created_at)"
            " SELECT ?, ?, ?, balance_micros, ?, NULL, ? FROM account",
            *(conn.new_id(), kind, amount, reference, now),
        )

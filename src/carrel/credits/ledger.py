"""The credit ledger in a user's `account.db`. The sum of its amounts is the balance, at any instant."""

from carrel.credits.folding import fold
from carrel.credits.schemas import AddIn, Balance, LedgerEntry
from carrel.errors import BadInput, CarrelError
from carrel.kit.money import MAX_MICROS, micros_of, text_of
from carrel.kit.sqlite.database import Connection
from carrel.kit.sqlite.paging import Page, Paging, fetch
from carrel.kit.sqlite.rows import Select, SqlColumn

_balances = Select(
    Balance,
    balance=SqlColumn("balance_micros", text_of),
    reserved=SqlColumn("reserved_micros", text_of),
    updated_at="credits_updated_at",
)
_entries = Select(LedgerEntry, amount=SqlColumn("amount_micros", text_of), balance=SqlColumn("balance_micros", text_of))


def balance(conn: Connection) -> Balance:
    """The present balance."""
    found = _balances.one(conn, "FROM account")
    if found is None:
        raise CarrelError
    return found


def spent_micros(conn: Connection) -> int:
    """What calls have taken from the balance. What is on hold for calls under way is not spent yet."""
    added = "(SELECT coalesce(sum(amount_micros), 0) FROM ledger WHERE kind = 'add')"
    spent: int = conn.value(f"SELECT {added} - balance_micros - reserved_micros FROM account")
    return spent


def low(conn: Connection, below_micros: int) -> str | None:
    """The latest addition, if less than that much is left, also of what is on hold; otherwise `None`."""
    added: str | None = conn.value(
        "SELECT (SELECT id FROM ledger WHERE kind = 'add' ORDER BY seq DESC LIMIT 1) FROM account"
        " WHERE balance_micros + reserved_micros < ?",
        below_micros,
    )
    return added


def add(conn: Connection, data: AddIn) -> Balance:
    """Add credits and write the ledger entry.

    Raises:
        BadInput: the amount is 0, or the balance would become too large.
    """
    amount = micros_of(data.amount)
    if amount == 0:
        raise BadInput.at("amount", "must be greater than 0")
    now = conn.now()
    if not conn.run(
        "UPDATE account SET balance_micros = balance_micros + ?1, credits_updated_at = ?2 "
        "WHERE balance_micros + ?1 <= ?3",
        amount,
        now,
        MAX_MICROS,
    ):
        raise BadInput.at("amount", "would raise the balance beyond its bound")
    conn.run(
        "INSERT INTO ledger (id, kind, amount_micros, balance_micros, reference, reason, created_at) "
        "SELECT ?, 'add', ?, balance_micros, NULL, ?, ? FROM account",
        conn.new_id(),
        amount,
        data.reason,
        now,
    )
    fold(conn)
    return balance(conn)


def entries(conn: Connection, paging: Paging) -> Page[LedgerEntry]:
    """The ledger, newest first."""
    return fetch(conn, paging, _entries, "FROM ledger")

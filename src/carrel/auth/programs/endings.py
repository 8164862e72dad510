"""What a new password does to the program keys of a user, in the transaction that ends every session."""

from carrel.accounts import accounts as account_rows
from carrel.accounts import program_keys
from carrel.accounts.accounts import Account
from carrel.auth.programs import secret
from carrel.kit.sqlite.database import Connection


def end_with_password(conn: Connection, uuid: str, valid_from: int, old_key: bytearray, new_key: bytearray) -> Account:
    """End every session and every program key. The keys stay in the user's list, with their names."""
    for row in program_keys.every(conn):
        name = secret.open_name(old_key, row.name, uuid, row.id)
        program_keys.rename(conn, row.id, secret.seal_name(new_key, name, uuid, row.id))
    program_keys.end_all(conn, "password")
    return account_rows.raise_valid_from(conn, valid_from)

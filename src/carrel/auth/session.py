"""A checked session and its user, as routes get them."""

import msgspec

from carrel.accounts.accounts import Membership
from carrel.auth.known_sessions import KnownSession
from carrel.auth.programs import scopes
from carrel.auth.programs.scopes import Scope
from carrel.vault.keyring import UserUuid


class User(msgspec.Struct, frozen=True):
    """The user who sent a request (specification, section 5.4)."""

    uuid: UserUuid
    membership: Membership


class Session(msgspec.Struct, frozen=True):
    """A checked token: its user, the epoch it was checked in, and its end on the wall and on the monotonic clock.

    `scopes` are those of a program, and `None` for the user, who may do everything.
    """

    user: User
    epoch: int
    expires_at: int
    believed_until: float
    known: KnownSession
    scopes: frozenset[str] | None = None

    def require(self, scope: Scope) -> None:
        """Refuse a program that has not been granted `scope`, where the body of a request needs more than its route.

        Raises:
            ScopeMissing: 403.
        """
        if self.scopes is not None:
            scopes.require(self.scopes, scope)

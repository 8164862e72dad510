"""The workspaces of the website's users: every step on which the website and the service have to agree.

Three rules hold everywhere:

1. The website checks a password before it sends anything, because a wrong key locks the workspace.
2. The website stores the hash of a new password as *pending* before it tells the service. The new hash replaces the
   old one only after the service has re-encrypted the workspace. If a process dies in between, the next sign-in finds
   out which password counts.
3. Nothing that the user has is given up unless the user asked for exactly that.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from weakref import WeakValueDictionary

from carrel_sdk import LOCKED, CarrelApiError, CarrelError, Host, KeyRejected, PasswordChangeUnknown, derive_key

from carrel_website import recovery, users, visits
from carrel_website.database import Database
from carrel_website.passwords import Passwords
from carrel_website.refusals import (
    AWAY,
    SUSPENDED,
    AccountGone,
    InDoubt,
    OtherPassword,
    ServiceAway,
    WorkspaceElsewhere,
    WorkspaceLost,
    WrongPassword,
)
from carrel_website.users import Password, User


class Workspaces:
    """Thread-safe. Steps for the same user run one after the other."""

    def __init__(self, database: Database, passwords: Passwords, host: Host) -> None:
        self.database = database
        self.passwords = passwords
        self.host = host
        self._turns: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._turns_lock = threading.Lock()

    def token(self, user: User) -> str | None:
        """The session token for the user's page, or None if the user has to type the password first.

        While a change of the password is pending, only that shows which password counts.

        Raises:
            ServiceAway
        """
        if user.state != "active" or user.in_doubt:
            return None
        try:
            token = self.host.session(user.uuid)
        except CarrelError as error:
            raise ServiceAway(AWAY) from error
        return None if token is LOCKED else token

    def open(self, uuid: str, password: str, *, also_locked: bool = False) -> int:
        """Sign the user in to the workspace and settle a pending change of the password. Returns the password's id.

        The service makes the workspace if there never was one. If the new password settles a change, every visit of
        the user ends; the caller begins one for this browser with the returned id. With `also_locked`, the right
        password is enough while the service is away, unless it has to carry out a deletion or a reset that the user
        confirmed, or to show which of two passwords counts.

        Raises:
            WrongPassword, OtherPassword, WorkspaceElsewhere, WorkspaceLost, AccountGone, ServiceAway
        """
        with self.turn(uuid):
            user = self.user(uuid)
            found = self.checked(user, password)
            try:
                self.open_in_turn(user, found, password)
            except ServiceAway:
                if not also_locked or user.state != "active" or user.in_doubt:
                    raise
            return found.id

    def open_in_turn(self, user: User, found: Password, password: str) -> None:
        """Like `open`, for a password that was checked. The caller holds the user's turn."""
        try:
            if user.state == "deleting":
                self._finish_deletion(user)
                raise AccountGone
            if user.state == "starting-anew":
                self.host.delete(user.uuid)
            elif found.by_reset:
                self._finish_reset(user, password)
            self._sign_in(user, password)
        except CarrelError as error:
            if isinstance(error, CarrelApiError) and error.code == "user-suspended":
                raise ServiceAway(SUSPENDED) from None
            raise ServiceAway from error
        with self.database.begin() as conn:
            users.settle(conn, user.uuid, found.id)
            if found.pending:
                # A change that began earlier ends here, and every visit ends with it.
                visits.end_all(conn, user.uuid)

    def change_password(self, uuid: str, old: str, new: str) -> int:
        """Lock the workspace with another password and return its id. Every visit and every session of the user ends.

        Raises:
            InDoubt: both passwords are kept, and the next sign-in shows which one counts.
            WrongPassword, OtherPassword, WorkspaceElsewhere, WorkspaceLost, ServiceAway: nothing was changed.
        """
        with self.turn(uuid):
            user = self.standing(uuid)
            found = self.checked(user, old)
            if user.in_doubt or not user.workspace_made:
                self.open_in_turn(user, found, old)
            pending = self.add_pending(user, new, by_reset=False)
            try:
                self.host.change_password(uuid, old, new)
            except PasswordChangeUnknown:
                raise InDoubt from None
            except KeyRejected as rejected:
                self.drop(pending)
                raise (WorkspaceLost if rejected.code == "user-not-provisioned" else WorkspaceElsewhere) from None
            except CarrelError as error:
                self.drop(pending)
                raise ServiceAway from error
            self.settle_change(uuid, pending)
            return pending

    def make_recovery_code(self, uuid: str, password: str) -> tuple[str, int]:
        """Make a code that opens the workspace when the password is lost. It replaces an earlier code.

        As with `open`, the caller begins a visit with the returned id.

        Raises:
            WrongPassword, OtherPassword, WorkspaceElsewhere, WorkspaceLost, ServiceAway
        """
        with self.turn(uuid):
            user = self.user(uuid)
            found = self.checked(user, password)
            # The sealed key must be the key of the workspace. Only a sign-in proves that it is.
            self.open_in_turn(user, found, password)
            code = recovery.new_code()
            public = recovery.public_key(code, uuid)
            sealed = recovery.seal(public, uuid, derive_key(password, uuid))
            with self.database.begin() as conn:
                users.set_recovery(conn, uuid, public, found.id, sealed)
            return code, found.id

    def delete(self, uuid: str, password: str) -> None:
        """Delete the workspace and then the account, for good.

        Raises:
            WrongPassword
            ServiceAway: the deletion is recorded, and the next sign-in finishes it.
        """
        with self.turn(uuid):
            user = self.user(uuid)
            self.checked(user, password)
            with self.database.begin() as conn:
                users.begin_deletion(conn, uuid)
            try:
                self._finish_deletion(user)
            except CarrelError as error:
                raise ServiceAway(
                    "The service cannot be reached right now. Your account is marked for deletion; "
                    "it will be finished when the service is back, at the latest when you sign in once more."
                ) from error

    def finish_deletions(self) -> None:
        """Finish the deletions that users have confirmed and that the service was not told about."""
        with self.database.begin() as conn:
            leaving = users.leaving(conn)
        for uuid in leaving:
            with self.turn(uuid), suppress(AccountGone, CarrelError):
                self._finish_deletion(self.user(uuid))

    # What resets need as well ---------------------------------------------------------------------------------------

    @contextmanager
    def turn(self, uuid: str) -> Iterator[None]:
        """Hold the user's lock. One process serves this website; several would need a lock in the database."""
        with self._turns_lock:
            lock = self._turns.setdefault(uuid, threading.Lock())
        with lock:
            yield

    def user(self, uuid: str) -> User:
        """The user as the database has it now.

        Raises:
            AccountGone
        """
        with self.database.begin() as conn:
            user = users.by_uuid(conn, uuid)
        if user is None:
            raise AccountGone
        return user

    def standing(self, uuid: str) -> User:
        """Like `user`, but refuses a user who has confirmed the deletion of the account in another tab.

        Raises:
            AccountGone
        """
        user = self.user(uuid)
        if user.state == "deleting":
            raise AccountGone
        return user

    def checked(self, user: User, password: str) -> Password:
        """The stored password that matches what the user typed.

        Raises:
            WrongPassword
        """
        found = self.passwords.which(user.passwords, password)
        if found is None:
            raise WrongPassword
        return found

    def add_pending(self, user: User, new: str, *, by_reset: bool) -> int:
        """Store the new password's hash as pending, and its sealed key if there is a recovery code. Returns its id."""
        sealed = None
        if user.recovery_public is not None:
            sealed = recovery.seal(user.recovery_public, user.uuid, derive_key(new, user.uuid))
        new_hash = self.passwords.hash(new)
        with self.database.begin() as conn:
            return users.add_pending(conn, user.uuid, new_hash, sealed, by_reset=by_reset)

    def drop(self, pending: int) -> None:
        """Forget a pending password, because the change did not happen."""
        with self.database.begin() as conn:
            users.drop_pending(conn, pending)

    def settle_change(self, uuid: str, pending: int) -> None:
        """Make the pending password the only one, because the workspace is locked with it."""
        with self.database.begin() as conn:
            users.settle(conn, uuid, pending)
            visits.end_all(conn, uuid)

    # Inside ---------------------------------------------------------------------------------------------------------

    def _sign_in(self, user: User, password: str) -> None:
        try:
            self.host.sign_in(user.uuid, password)
        except KeyRejected as rejected:
            if rejected.code != "user-not-provisioned":
                raise (OtherPassword if user.in_doubt else WorkspaceElsewhere) from None
            if user.workspace_made and user.state == "active":
                raise WorkspaceLost from None
            self.host.sign_up(user.uuid, membership=user.plan, password=password)

    def _finish_reset(self, user: User, password: str) -> None:
        """Repeat a reset whose outcome is unknown, which is possible while the key is in memory.

        It comes before the sign-in: a sign-in drops the key from memory if the reset did not happen.
        """
        try:
            self.host.reset_password(user.uuid, password)
        except CarrelApiError as refused:
            if refused.status == 503:
                raise

    def _finish_deletion(self, user: User) -> None:
        self.host.delete(user.uuid)
        with self.database.begin() as conn:
            users.remove(conn, user.uuid)

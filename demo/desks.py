"""The desks of the website's users: every step that has to agree between the website and the service.

Three rules hold everywhere. The website checks a password before anything is sent, because a wrong key locks the desk.
A new password's hash is on the disk, as *pending*, before the service hears of it, and takes the old one's place only
after the desk has been re-encrypted; whatever dies in between, a sign-in finds out. And nothing that the user had is
given up unless the user has asked for exactly that.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from weakref import WeakValueDictionary

from carrel_sdk import LOCKED, CarrelApiError, CarrelError, Host, KeyRejected, PasswordChangeUnknown, derive_key

from demo import recovery, users, visits
from demo.database import Database
from demo.passwords import Passwords
from demo.refusals import (
    AWAY,
    AccountGone,
    DeskElsewhere,
    DeskLost,
    InDoubt,
    OtherPassword,
    ServiceAway,
    WrongPassword,
)
from demo.users import Password, User


class Desks:
    """Thread-safe: what concerns one user goes one after the other."""

    def __init__(self, database: Database, passwords: Passwords, host: Host) -> None:
        self.database = database
        self.passwords = passwords
        self.host = host
        self._turns: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
        self._turns_lock = threading.Lock()

    def token(self, user: User) -> str | None:
        """The session token for the user's page; None if the password has to be typed first.

        Raises:
            ServiceAway
        """
        if user.state != "active":
            return None
        try:
            token = self.host.session(user.uuid)
        except CarrelError as error:
            raise ServiceAway(AWAY) from error
        return None if token is LOCKED else token

    def open(self, uuid: str, password: str, *, also_locked: bool = False) -> int:
        """Sign the user in to the desk, which is made if there never was one, and settle a change that is pending.

        If the new password settles it, every visit of the user ends. The caller begins one for this browser, with the
        id of the password that is answered. With `also_locked`, the right password is enough while the service is away,
        unless the user has confirmed something that nobody has carried out yet.

        Raises:
            WrongPassword, OtherPassword, DeskElsewhere, DeskLost, AccountGone, ServiceAway
        """
        with self.turn(uuid):
            user = self.user(uuid)
            found = self.checked(user, password)
            try:
                self.open_in_turn(user, found, password)
            except ServiceAway:
                if not also_locked or user.state != "active":
                    raise
            return found.id

    def open_in_turn(self, user: User, found: Password, password: str) -> None:
        """As `open`, for a password that was checked, inside the user's turn."""
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
            raise ServiceAway from error
        with self.database.begin() as conn:
            users.settle(conn, user.uuid, found.id)
            if found.pending:
                # Here a change comes to its end that was begun earlier, and every visit with it.
                visits.end_all(conn, user.uuid)

    def change_password(self, uuid: str, old: str, new: str) -> int:
        """Lock the desk with another password; its id. Every visit of the user ends, on this website and on the desk.

        Raises:
            InDoubt: both passwords are kept, and the next sign-in shows which one counts.
            WrongPassword, OtherPassword, DeskElsewhere, DeskLost, ServiceAway: nothing was changed.
        """
        with self.turn(uuid):
            user = self.standing(uuid)
            found = self.checked(user, old)
            if user.in_doubt or not user.desk_made:
                self.open_in_turn(user, found, old)
            pending = self.add_pending(user, new, by_reset=False)
            try:
                self.host.change_password(uuid, old, new)
            except PasswordChangeUnknown:
                raise InDoubt from None
            except KeyRejected as rejected:
                self.drop(pending)
                raise (DeskLost if rejected.code == "user-not-provisioned" else DeskElsewhere) from None
            except CarrelError as error:
                self.drop(pending)
                raise ServiceAway from error
            self.settle_change(uuid, pending)
            return pending

    def make_recovery_code(self, uuid: str, password: str) -> tuple[str, int]:
        """A code that opens the desk when the password is lost, shown here and never again. It replaces an earlier one.

        As with `open`, the caller begins a visit, with the id that is answered.

        Raises:
            WrongPassword, OtherPassword, DeskElsewhere, DeskLost, ServiceAway
        """
        with self.turn(uuid):
            user = self.user(uuid)
            found = self.checked(user, password)
            # What is sealed must be the key of the desk, and only the desk knows that.
            self.open_in_turn(user, found, password)
            code = recovery.new_code()
            public = recovery.public_key(code, uuid)
            sealed = recovery.seal(public, uuid, derive_key(password, uuid))
            with self.database.begin() as conn:
                users.set_recovery(conn, uuid, public, found.id, sealed)
            return code, found.id

    def delete(self, uuid: str, password: str) -> None:
        """Delete the desk and then the account, for good.

        Raises:
            WrongPassword
            ServiceAway: it is written down that the account is to go; the next sign-in finishes it.
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
        """Carry out what users have confirmed and the service was not told, or they would have to come back for it."""
        with self.database.begin() as conn:
            leaving = users.leaving(conn)
        for uuid in leaving:
            with self.turn(uuid), suppress(AccountGone, CarrelError):
                self._finish_deletion(self.user(uuid))

    # What resets need as well ---------------------------------------------------------------------------------------

    @contextmanager
    def turn(self, uuid: str) -> Iterator[None]:
        """One at a time for each user. One process serves this website; several would need a lock in the database."""
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
        """As `user`, but not one who has confirmed in another tab that the account is to go.

        Raises:
            AccountGone
        """
        user = self.user(uuid)
        if user.state == "deleting":
            raise AccountGone
        return user

    def checked(self, user: User, password: str) -> Password:
        """Which of the user's passwords this is.

        Raises:
            WrongPassword
        """
        found = self.passwords.which(user.passwords, password)
        if found is None:
            raise WrongPassword
        return found

    def add_pending(self, user: User, new: str, *, by_reset: bool) -> int:
        """Put down the new password's hash, and with a recovery code its key, before the service hears of it."""
        sealed = None
        if user.recovery_public is not None:
            sealed = recovery.seal(user.recovery_public, user.uuid, derive_key(new, user.uuid))
        new_hash = self.passwords.hash(new)
        with self.database.begin() as conn:
            return users.add_pending(conn, user.uuid, new_hash, sealed, by_reset=by_reset)

    def drop(self, pending: int) -> None:
        """The change did not happen."""
        with self.database.begin() as conn:
            users.drop_pending(conn, pending)

    def settle_change(self, uuid: str, pending: int) -> None:
        """The desk is locked with the new password: now the website says the same."""
        with self.database.begin() as conn:
            users.settle(conn, uuid, pending)
            visits.end_all(conn, uuid)

    # Inside ---------------------------------------------------------------------------------------------------------

    def _sign_in(self, user: User, password: str) -> None:
        try:
            self.host.sign_in(user.uuid, password)
        except KeyRejected as rejected:
            if rejected.code != "user-not-provisioned":
                raise (OtherPassword if user.in_doubt else DeskElsewhere) from None
            if user.desk_made and user.state == "active":
                raise DeskLost from None
            self.host.sign_up(user.uuid, membership=user.plan, password=password)

    def _finish_reset(self, user: User, password: str) -> None:
        """A reset whose outcome is unknown: while the key is in memory it can still be carried out.

        It comes before the sign-in, which would drop that key if the reset had not happened.
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

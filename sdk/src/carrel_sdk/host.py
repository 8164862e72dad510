"""The host website's side: users, sign-in, sessions, credits. Runs on the host's server, never in a browser."""

import secrets
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Final, TypeAlias, overload
from urllib.parse import urlencode

import httpx
import msgspec

from carrel_sdk.derive import KEY_BYTES, NOT_UNICODE, derived
from carrel_sdk.errors import CarrelApiError, CarrelError, KeyRejected, NotFound, OldKeyRequired
from carrel_sdk.host_calls import CALL_SECONDS, HostCalls, code_of, failure, good
from carrel_sdk.models import Balance, Health, Membership, SessionOut, User, WriteOffs
from carrel_sdk.rekeying import PasswordChange, PasswordChangeUnknown, from_memory, with_old_key
from carrel_sdk.sessions import KEPT_SECONDS, LOCKED, Locked, MemorySessions, Session, SessionStore, expiry_of
from carrel_sdk.transport import segment

REKEY_SECONDS: Final = 300.0
"""The time limit of a rekey, which rewrites the whole database."""

Failure: TypeAlias = CarrelError | ValueError
"""Methods that see a password return an error instead of raising it: a traceback would show their variables."""


class Host:
    """A host website's client, which needs its plugin secret. Thread-safe: one object serves the whole website.

    A call connects within 1 second and ends within 10. Passwords and keys are let go of as soon as they are used, and
    no exception, variable of a traceback's frames in this package, or `repr` shows them, the secret or a token.
    """

    def __init__(
        self,
        base_url: str,
        plugin_secret: str,
        *,
        sessions: SessionStore | None = None,
        call_seconds: float = CALL_SECONDS,
        allow_http: bool = False,
        http: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`base_url` is without `/api`. `allow_http` permits plain HTTP beyond this machine, for a private network.

        Raises:
            ValueError: the address is not HTTPS, or the secret has other characters than visible ASCII.
        """
        self._sessions = sessions if sessions is not None else MemorySessions()
        self._clock = clock
        self._keep_lock = threading.Lock()
        self._calls = HostCalls(base_url, plugin_secret, call_seconds=call_seconds, allow_http=allow_http, http=http)

    def __repr__(self) -> str:
        return f"Host({self._calls.base_url!r})"

    def close(self) -> None:
        """Close the connections."""
        self._calls.close()

    def health(self) -> Health:
        """Whether the service is up, and which version it is."""
        return good(self._calls.send("GET", "/health")).decode(Health)

    # Users ----------------------------------------------------------------------------------------------------------

    @overload
    def sign_up(self, uuid: str, *, membership: Membership = "free", password: str) -> Session: ...

    @overload
    def sign_up(self, uuid: str, *, membership: Membership = "free", password: None = None) -> None: ...

    def sign_up(self, uuid: str, *, membership: Membership = "free", password: str | None = None) -> Session | None:
        """Create the user and, if there is a password, sign in for the first time, which makes the encrypted workspace.

        If it fails on the way, call it again: a user who exists already is signed in.

        Raises:
            Conflict: `user-exists`, and no password was given.
            KeyRejected: the user exists, with another password.
        """
        result = self._sign_up(uuid, membership, password)
        del password
        if isinstance(result, Exception):
            raise result
        return result

    def _sign_up(self, uuid: str, membership: Membership, password: str | None) -> Session | Failure | None:
        body = msgspec.json.encode({"uuid": uuid, "membership": membership})
        error = failure(self._calls.send("POST", "/users", body, idempotency_key=secrets.token_urlsafe(24)))
        if error is not None and (password is None or code_of(error) != "user-exists"):
            return error
        return None if password is None else self._sign_in(uuid, password)

    def set_membership(self, uuid: str, membership: Membership) -> User:
        """Make the user paid or free. A free user can still read, export and delete. Sessions stay valid."""
        verb = "activate" if membership == "paid" else "deactivate"
        return good(self._calls.send("POST", f"/users/{segment(uuid)}/{verb}")).decode(User)

    def add_credits(
        self, uuid: str, amount: Decimal | str, reason: str | None = None, *, idempotency_key: str | None = None
    ) -> Balance:
        """Add credits and return the new balance.

        Give the order's number as `idempotency_key`, and no order counts twice. Runs that paused for lack of credits
        stay paused until the user resumes them.
        """
        body: dict[str, str] = {"uuid": uuid, "amount": f"{amount:f}" if isinstance(amount, Decimal) else amount}
        if reason is not None:
            body["reason"] = reason
        key = idempotency_key or secrets.token_urlsafe(24)
        return good(self._calls.send("POST", "/credits/add", msgspec.json.encode(body), idempotency_key=key)).decode(
            Balance
        )

    def write_offs(self, *, since: str | None = None, until: str | None = None, uuid: str | None = None) -> WriteOffs:
        """What you bore where credits were to pay, from the day `since` to before `until`; of one user, or all."""
        query = urlencode({k: v for k, v in {"from": since, "to": until, "uuid": uuid}.items() if v is not None})
        return good(self._calls.send("GET", f"/admin/write-offs?{query}")).decode(WriteOffs)

    def delete(self, uuid: str) -> bool:
        """Delete the user with everything, for good. False if there was no such user. Ask for the password first."""
        error = failure(self._calls.send("DELETE", f"/users/{segment(uuid)}", within_seconds=60.0))
        self._sessions.drop(uuid)
        if isinstance(error, NotFound):
            return False
        if error is not None:
            raise error
        return True

    # Sessions -------------------------------------------------------------------------------------------------------

    def sign_in(self, uuid: str, password: str) -> Session:
        """Derive the key, deliver it, keep the session. Sent once: a login is never repeated by itself.

        Raises:
            KeyRejected: the password's key does not open the workspace. The service drops any key in its memory.
        """
        result = self._sign_in(uuid, password)
        del password
        if isinstance(result, Exception):
            raise result
        return result

    def _sign_in(self, uuid: str, password: str) -> Session | Failure:
        key = derived(password, uuid)
        if key is None:
            return ValueError(NOT_UNICODE)
        del password
        result = self._login(uuid, key)
        if isinstance(result, KeyRejected):
            # A rejected key takes the one in the service's memory with it: the kept token is of no use any more.
            self._sessions.drop(uuid)
        return result

    def session(self, uuid: str) -> str | Locked:
        """The token for the user's page, or `LOCKED` when the user has to type the password.

        A token is handed out for 55 minutes, then refreshed. Send the page with `Cache-Control: no-store`.

        Raises:
            CarrelUnreachable, CarrelApiError: the service does not answer, or not as it should.
        """
        kept = self._sessions.get(uuid)
        if kept is not None and self._clock() < kept.good_until:
            return kept.token
        result = self._issue("/auth/refresh", uuid, {"uuid": uuid})
        if isinstance(result, Session):
            return result.token
        if code_of(result) == "key-not-cached":
            self._sessions.drop(uuid)
            return LOCKED
        raise result

    def forget(self, uuid: str) -> None:
        """Drop the kept token, because the service refused it; `session` then fetches another one."""
        self._sessions.drop(uuid)

    def sign_out(self, uuid: str) -> None:
        """End every session of the user, and drop the kept token, also if the service does not answer.

        The key leaves the service's memory: at once, or when the user's runs under way have ended.

        Raises:
            CarrelUnreachable, CarrelApiError: the sessions may live on, for at most an hour.
        """
        self._sessions.drop(uuid)
        error = failure(self._calls.send("POST", "/auth/logout", msgspec.json.encode({"uuid": uuid})))
        # A refresh that was under way may have kept a token meanwhile; it is over as well.
        self._sessions.drop(uuid)
        if error is not None and not isinstance(error, NotFound):
            raise error

    def change_password(self, uuid: str, old_password: str, new_password: str) -> PasswordChange:
        """Re-encrypt the workspace for the new password. Every earlier session ends.

        The order that survives a failure at any point, of the host or of the service:

        1. verify the old password, and keep the new one's hash beside the old one's as *pending*;
        2. call this; it may be called again with the same two passwords, whatever happened to the first call;
        3. put the new hash in the old one's place, and drop *pending*.

        A host that finds *pending* at a sign-in accepts either hash and lets `sign_in` decide: the password whose key
        is accepted is the one to keep.

        Raises:
            KeyRejected: neither password opens the workspace; nothing was changed.
            Conflict: `workspace-absent`, the user never signed in: there is nothing to re-encrypt, step 3 may follow.
            PasswordChangeUnknown: no telling whether it happened; *pending* stays.
            CarrelUnreachable, CarrelApiError: it did not happen.
        """
        result = self._change_password(uuid, old_password, new_password)
        del old_password, new_password
        if isinstance(result, Exception):
            raise result
        return result

    def _change_password(self, uuid: str, old_password: str, new_password: str) -> PasswordChange | Failure:
        old_key, new_key = derived(old_password, uuid), derived(new_password, uuid)
        if old_key is None or new_key is None:
            return ValueError(NOT_UNICODE)
        del old_password, new_password
        return self._rekey(uuid, old_key, new_key)

    def reset_password(self, uuid: str, new_password: str, *, old_key: bytes | None = None) -> PasswordChange:
        """Re-encrypt the workspace for somebody who has forgotten the old password. Every earlier session ends.

        Without an `old_key` the service takes the one in its memory; with one, as a recovery code unseals it, that.
        The order of `change_password` holds here as well: *pending* first, and promoted afterwards.

        Raises:
            OldKeyRequired: no `old_key`, and none in memory; nothing was changed.
            KeyRejected: neither `old_key` nor the new password opens the workspace; nothing was changed.
            Conflict: `workspace-absent`, the user never signed in: there is nothing to re-encrypt.
            PasswordChangeUnknown: no telling whether it happened; *pending* stays. Call it again before anybody signs
                in: a sign-in with a password that the workspace does not have drops the key from memory.
            CarrelUnreachable, CarrelApiError: it did not happen.
            ValueError: `old_key` has not 32 bytes.
        """
        result = self._reset_password(uuid, new_password, old_key)
        del new_password, old_key
        if isinstance(result, Exception):
            raise result
        return result

    def _reset_password(self, uuid: str, new_password: str, old_key: bytes | None) -> PasswordChange | Failure:
        new_key = derived(new_password, uuid)
        if new_key is None:
            return ValueError(NOT_UNICODE)
        if old_key is not None and len(old_key) != KEY_BYTES:
            return ValueError(f"old_key must have {KEY_BYTES} bytes")
        del new_password
        return self._rekey(uuid, old_key, new_key)

    def _rekey(self, uuid: str, old_key: bytes | None, new_key: bytes) -> PasswordChange | CarrelError:
        body = {"uuid": uuid, "new_db_key_hex": new_key.hex()}
        if old_key is not None:
            body["old_db_key_hex"] = old_key.hex()

        def send() -> Session | CarrelError:
            return self._issue("/auth/rekey", uuid, body, within_seconds=REKEY_SECONDS)

        rekey = from_memory if old_key is None else with_old_key
        outcome = rekey(send, lambda: self._login(uuid, new_key))
        if isinstance(outcome, KeyRejected | OldKeyRequired | PasswordChangeUnknown):
            # There is no key in memory, or may be none: the kept token is of no use any more.
            self._sessions.drop(uuid)
        return outcome

    def _login(self, uuid: str, key: bytes) -> Session | CarrelError:
        return self._issue("/auth/login", uuid, {"uuid": uuid, "db_key_hex": key.hex()})

    def _issue(
        self, path: str, uuid: str, body: dict[str, str], *, within_seconds: float | None = None
    ) -> Session | CarrelError:
        """A new session from one of `/auth/*`, kept; or the error, not raised: the caller's frame still holds keys."""
        result = self._calls.send("POST", path, msgspec.json.encode(body), within_seconds=within_seconds)
        error = failure(result)
        if error is not None:
            return error
        try:
            token = good(result).decode(SessionOut).session_token
        except CarrelApiError as unexpected:
            return unexpected.with_traceback(None)
        session = Session(uuid, token, self._clock() + KEPT_SECONDS)
        with self._keep_lock:
            kept = self._sessions.get(uuid)
            # The answer of a slow refresh may arrive after that of a rekey, which ended what the refresh got.
            if kept is None or expiry_of(kept.token) <= expiry_of(token):
                self._sessions.put(session)
        return session

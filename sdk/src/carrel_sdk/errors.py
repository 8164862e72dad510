"""The errors of this package, as types.

    CarrelError
    ├── CarrelUnreachable        no answer: refused, timed out, broken off; `cause` says what the network said
    ├── WaitTimeout              a run has not ended in the time that `runs.wait` was given
    └── CarrelApiError           an answer that says no: status, code, detail, request_id, errors
        ├── SessionEnded 401     the token is missing, wrong, expired or revoked, or the service restarted
        ├── KeyRejected 401      the password's key does not open this user's database
        ├── ProgramKeyRefused 401    the program key is wrong, was revoked or has expired
        ├── NotFound 404
        ├── Conflict 409         the present state forbids it
        │   └── OldKeyRequired       a rekey without the old key, which is not in the service's memory
        ├── VersionMismatch 412  somebody else changed it first
        └── TryLater 429, 503    `retry_after_seconds` says when, if the service does

No message, `repr` or chained exception holds a secret, password, key or token.
"""

from typing import Final, NamedTuple

SESSION_CODES: Final = frozenset(
    {
        "session-token-missing",
        "session-token-invalid",
        "session-token-expired",
        "session-token-revoked",
        "key-not-cached",
    }
)
PROGRAM_KEY_CODES: Final = frozenset({"program-key-invalid", "program-key-expired", "program-key-revoked"})
RENEWABLE_CODES: Final = frozenset({"session-token-expired", "session-token-revoked"})
"""Errors that a newer token of the same sign-in solves."""


class FieldError(NamedTuple):
    """One fault in the input: `path` names the field, `message` says what it must be."""

    path: str
    message: str


class CarrelError(Exception):
    """The root of everything that this package raises about the service."""


class CarrelUnreachable(CarrelError):
    """There was no answer, or a proxy answered that there is none.

    `sent` is False only if the request certainly never reached the service; otherwise it may have been carried out.
    `cause` is what the network or the HTTP client said, such as "Connection refused" or "ReadTimeout", if anything.
    """

    def __init__(self, reason: str, *, sent: bool, cause: str = "") -> None:
        super().__init__(f"{reason} ({cause})" if cause else reason)
        self.sent = sent
        self.cause = cause


class WaitTimeout(CarrelError, TimeoutError):
    """A run had neither ended nor paused within the time to wait for it. It continues; wait again, or cancel it."""

    def __init__(self, run_id: str) -> None:
        super().__init__(f"the run {run_id} has not ended in time")
        self.run_id = run_id


class CarrelApiError(CarrelError):
    """The service answered with an error; `code` is stable and documented, `detail` is for people."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        request_id: str | None = None,
        errors: tuple[FieldError, ...] = (),
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.request_id = request_id
        self.errors = errors
        self.retry_after_seconds = retry_after_seconds


class SessionEnded(CarrelApiError):
    """The session token is no longer valid: the user has to sign in again on the host website."""


class KeyRejected(CarrelApiError):
    """The key made from this password does not open the user's database, or there is no such user."""


class ProgramKeyRefused(CarrelApiError):
    """The program key is wrong, was revoked or has expired: its user has to make a new one."""


class NotFound(CarrelApiError):
    """There is nothing with this id in this workspace."""


class Conflict(CarrelApiError):
    """The current state of the resource forbids it."""


class OldKeyRequired(Conflict):
    """The key is not in the service's memory: a rekey needs the old password, or a key that was kept for recovery."""


class VersionMismatch(CarrelApiError):
    """`if_match` names another version than the current one: read it again."""


class TryLater(CarrelApiError):
    """Not now: busy, starting, or too many requests."""


def api_error(
    status: int,
    code: str,
    detail: str,
    request_id: str | None = None,
    errors: tuple[FieldError, ...] = (),
    retry_after_seconds: int | None = None,
) -> CarrelApiError:
    """The error as an instance of the class for its status and code."""
    kind = CarrelApiError
    if code in SESSION_CODES:
        kind = SessionEnded
    elif code in {"key-rejected", "user-not-provisioned"}:
        kind = KeyRejected
    elif code in PROGRAM_KEY_CODES:
        kind = ProgramKeyRefused
    elif code == "old-key-required":
        kind = OldKeyRequired
    elif status in _BY_STATUS:
        kind = _BY_STATUS[status]
    return kind(status, code, detail, request_id, errors, retry_after_seconds)


_BY_STATUS: Final = {404: NotFound, 409: Conflict, 412: VersionMismatch, 429: TryLater, 503: TryLater}

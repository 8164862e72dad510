"""The sessions that this process has issued or seen, for the list that a user asks for.

A session is what a token carries: a user and a second of issue. Two sign-ins within one second are one session. Nothing
here decides whether a token is valid: a session that this process has not seen yet, because an earlier process issued
it, is valid as well.
"""

from typing import Final

from carrel.auth.tokens import LIFETIME_SECONDS
from carrel.kit.clock import Clock
from carrel.vault.keyring import UserUuid

MAX_KNOWN: Final = 100
"""Sessions of one user that are remembered, the latest. A host begins a session an hour for each browser."""


class KnownSession:
    """One session. `used_at` is on the monotonic clock, and each request of the session sets it."""

    __slots__ = ("issued_at", "used_at")

    def __init__(self, issued_at: int, used_at: float) -> None:
        self.issued_at = issued_at
        self.used_at = used_at

    @property
    def expires_at(self) -> int:
        """An epoch second."""
        return self.issued_at + LIFETIME_SECONDS


class KnownSessions:
    """Owned by the event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._started = clock.monotonic()
        self._of: dict[UserUuid, dict[int, KnownSession]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def note(self, uuid: UserUuid, issued_at: int) -> KnownSession:
        """The session with this second of issue, which is in use now."""
        now = self._clock.monotonic()
        of_user = self._of.setdefault(uuid, {})
        known = of_user.get(issued_at)
        if known is None:
            known = of_user[issued_at] = KnownSession(issued_at, now)
            self._prune(uuid)
        known.used_at = now
        return known

    def of(self, uuid: UserUuid) -> list[KnownSession]:
        """The user's sessions that have not expired, the latest issue first."""
        self._prune(uuid)
        return sorted(self._of.get(uuid, {}).values(), key=lambda known: known.issued_at, reverse=True)

    def is_complete(self, uuid: UserUuid) -> bool:
        """Whether there can be no valid session of the user that `of` leaves out."""
        seconds = self._clock.monotonic() - self._started
        return seconds > LIFETIME_SECONDS and len(self._of.get(uuid, {})) < MAX_KNOWN

    def forget(self, uuid: UserUuid, issued_at: int | None = None) -> None:
        """Drop one session of the user, or all of them, because they have ended."""
        if issued_at is None:
            self._of.pop(uuid, None)
        else:
            self._of.get(uuid, {}).pop(issued_at, None)

    def _prune(self, uuid: UserUuid) -> None:
        of_user = self._of.get(uuid)
        if of_user is None:
            return
        now = self._clock.now()
        for issued_at in [issued_at for issued_at, known in of_user.items() if known.expires_at <= now]:
            del of_user[issued_at]
        for issued_at in sorted(of_user)[:-MAX_KNOWN]:
            del of_user[issued_at]
        if not of_user:
            del self._of[uuid]

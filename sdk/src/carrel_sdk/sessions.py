"""Session tokens in the host's store: kept for 55 minutes. The host can replace the store with its own."""

import threading
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol

import msgspec

KEPT_SECONDS: Final = 55 * 60
"""How long a host hands out a stored token. The token itself is valid for 60 minutes."""


class Locked(Enum):
    """The type of `LOCKED`."""

    LOCKED = "locked"


LOCKED: Final = Locked.LOCKED
"""What `Host.session` returns if the user's key is not in the service's memory: the password is needed."""


@dataclass(frozen=True, slots=True, repr=False)
class Session:
    """A user's session token. `str(token)` goes into the page; `good_until` is the epoch second it is kept to."""

    uuid: str
    token: str
    good_until: float

    def __repr__(self) -> str:
        return f"Session(good_until={self.good_until:.0f})"


class SessionStore(Protocol):
    """Where tokens are kept between two pages. Several processes of one host share one, or each has its own."""

    def get(self, uuid: str) -> Session | None:
        """The last stored session of the user, if any."""
        ...

    def put(self, session: Session) -> None:
        """Store a session, which replaces the user's earlier one."""
        ...

    def drop(self, uuid: str) -> None:
        """Forget the user's session, if there is one."""
        ...


class MemorySessions:
    """A store in this process's memory. Beyond `limit` users it forgets the oldest session."""

    def __init__(self, limit: int = 100_000) -> None:
        self._sessions: dict[str, Session] = {}
        self._limit = limit
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"MemorySessions({len(self._sessions)} sessions)"

    def get(self, uuid: str) -> Session | None:
        """The last stored session of the user, if any."""
        return self._sessions.get(uuid)

    def put(self, session: Session) -> None:
        """Store a session, which replaces the user's earlier one."""
        with self._lock:
            self._sessions.pop(session.uuid, None)
            self._sessions[session.uuid] = session
            if len(self._sessions) > self._limit:
                del self._sessions[next(iter(self._sessions))]

    def drop(self, uuid: str) -> None:
        """Forget the user's session, if there is one."""
        with self._lock:
            self._sessions.pop(uuid, None)


class _Payload(msgspec.Struct):
    exp: int


def expiry_of(token: str) -> int:
    """The epoch second at which the token says that it expires; 0 if it does not say. Nothing is verified here.

    A later issue has a later end: of two tokens of one user the one that ends first is the older one.
    """
    payload = token.partition(".")[0]
    try:
        return msgspec.json.decode(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), type=_Payload).exp
    except (Base64Error, ValueError, msgspec.DecodeError):
        return 0

"""Carrel's client: `Host` for the server of a host website, `Workspace` for a user. `__all__` names what is public."""

from carrel_sdk.derive import derive_key
from carrel_sdk.errors import (
    CarrelApiError,
    CarrelError,
    CarrelUnreachable,
    Conflict,
    FieldError,
    KeyRejected,
    NotFound,
    OldKeyRequired,
    SessionEnded,
    TryLater,
    VersionMismatch,
)
from carrel_sdk.host import Host, PasswordChange, PasswordChangeUnknown
from carrel_sdk.sessions import LOCKED, Locked, MemorySessions, Session, SessionStore
from carrel_sdk.workspace import Workspace

__all__ = [
    "LOCKED",
    "CarrelApiError",
    "CarrelError",
    "CarrelUnreachable",
    "Conflict",
    "FieldError",
    "Host",
    "KeyRejected",
    "Locked",
    "MemorySessions",
    "NotFound",
    "OldKeyRequired",
    "PasswordChange",
    "PasswordChangeUnknown",
    "Session",
    "SessionEnded",
    "SessionStore",
    "TryLater",
    "VersionMismatch",
    "Workspace",
    "derive_key",
]

"""Carrel's client: `Host` for the server of a host website. Everything public is named in `__all__`."""

from carrel_sdk.derive import derive_key
from carrel_sdk.errors import (
    CarrelApiError,
    CarrelError,
    CarrelUnreachable,
    Conflict,
    FieldError,
    KeyRejected,
    NotFound,
    SessionEnded,
    TryLater,
    VersionMismatch,
)
from carrel_sdk.host import Host, PasswordChange, PasswordChangeUnknown
from carrel_sdk.sessions import LOCKED, Locked, MemorySessions, Session, SessionStore

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
    "PasswordChange",
    "PasswordChangeUnknown",
    "Session",
    "SessionEnded",
    "SessionStore",
    "TryLater",
    "VersionMismatch",
    "derive_key",
]

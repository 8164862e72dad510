"""Carrel's client: `Host` for a host website's server, `Workspace` for a user, `Admin` for the operator.

`AsyncWorkspace` is `Workspace` for programs with an event loop. `sdk/generate.py` writes its package, `aio`, from the
modules here, and `models` from `openapi.json`.

`__all__` names what is public.

    what they tell   models · behaviour · run_events
    for hosts        host · host_calls · derive · sessions · rekeying · deadline
    for users        workspace · calls · contents · documents · data_sets · presets · settings · github · transfer
    their models     program_keys · catalogue · provider_keys · rate_limits · metering · single
    their runs       runs · evaluation · judges · votes
    for operators    admin
    what they share  transport · event_stream · errors · environment
"""

from typing import TYPE_CHECKING

from carrel_sdk.admin import Admin
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
    ProgramKeyRefused,
    SessionEnded,
    TryLater,
    VersionMismatch,
    WaitTimeout,
)
from carrel_sdk.host import Host
from carrel_sdk.rekeying import PasswordChange, PasswordChangeUnknown
from carrel_sdk.sessions import LOCKED, Locked, MemorySessions, Session, SessionStore
from carrel_sdk.workspace import Workspace

if TYPE_CHECKING:
    from carrel_sdk.aio.workspace import AsyncWorkspace


def __getattr__(name: str) -> object:
    """`AsyncWorkspace`, imported when it is asked for: it takes a fifth of the time to import this package."""
    if name != "AsyncWorkspace":
        raise AttributeError(name)
    from carrel_sdk.aio.workspace import AsyncWorkspace

    return AsyncWorkspace


__all__ = [
    "LOCKED",
    "Admin",
    "AsyncWorkspace",
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
    "ProgramKeyRefused",
    "Session",
    "SessionEnded",
    "SessionStore",
    "TryLater",
    "VersionMismatch",
    "WaitTimeout",
    "Workspace",
    "derive_key",
]

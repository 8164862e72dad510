"""What goes over the wire about program keys."""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from carrel.accounts.program_keys import ProgramKeyId
from carrel.auth.programs.scopes import Scope
from carrel.http.requests.schema import Hidden, In
from carrel.kit.clock import Time
from carrel.kit.ids import Id

MAX_DAYS: Final = 365
DEFAULT_DAYS: Final = 90
MAX_NAME_CHARACTERS: Final = 100

KeyState = Literal["active", "expired", "revoked", "password-changed", "deactivated", "restored"]
"""Why a key no longer signs in; `restored`: the service was restored from a backup after the key was made."""


class ProgramKeyIn(In, frozen=True):
    """A new program key. Its scopes are fixed: another scope needs another key."""

    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARACTERS)]
    scopes: Annotated[list[Scope], Meta(min_length=1, max_length=3)]
    days: Annotated[int, Meta(ge=1, le=MAX_DAYS)] = DEFAULT_DAYS


class ProgramKey(msgspec.Struct, frozen=True, kw_only=True):
    """A program key as its user sees it. `last_used_at` is told to the minute."""

    id: Id
    name: str
    scopes: list[Scope]
    state: KeyState
    created_at: Time
    expires_at: Time
    last_used_at: Time | None = None
    ended_at: Time | None = None


class NewProgramKey(Hidden, ProgramKey, frozen=True, kw_only=True):
    """A new key. `program_key` is shown this once; nobody can show it again."""

    program_key: str


class ProgramKeys(msgspec.Struct, frozen=True):
    """The keys, the newest first; one that has ended is listed for 30 days. `allowed`: the operator allows new ones."""

    items: list[ProgramKey]
    allowed: bool
    most: int


class ProgramSignInIn(Hidden, In, frozen=True):
    """The program key, whole."""

    program_key: Annotated[str, Meta(max_length=512)]


class ProgramSessionOut(Hidden, msgspec.Struct, frozen=True):
    """A session token for the program, its lifetime in seconds, and what the program may do with it."""

    session_token: str
    expires_in: int
    uuid: str
    program: ProgramKeyId
    scopes: list[Scope]

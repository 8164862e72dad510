"""Keys with which programs sign in: the user makes, lists and revokes them, and a program exchanges its own."""

from typing import Literal, TypeAlias

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.transport import Request, Transport, segment

PREFIX = "carrel_pk_"
"""How every program key begins."""

Scope: TypeAlias = Literal["read", "run", "write"]
KeyState: TypeAlias = Literal["active", "expired", "revoked", "password-changed", "deactivated", "restored"]


class ProgramKey(msgspec.Struct, frozen=True, kw_only=True):
    """A program key as it is listed. `last_used_at` is told to the minute."""

    id: str
    name: str
    scopes: list[Scope]
    state: KeyState
    created_at: str
    expires_at: str
    last_used_at: str | None = None
    ended_at: str | None = None


class NewProgramKey(ProgramKey, frozen=True, kw_only=True):
    """A new key: `program_key` is what the program needs, and is never shown again."""

    program_key: str

    def __repr__(self) -> str:
        return f"NewProgramKey({self.id!r})"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("id", self.id)]


class OwnProgramKeys(msgspec.Struct, frozen=True):
    """The user's keys, the newest first; `allowed` tells whether the service allows new ones, at most `most`."""

    items: list[ProgramKey]
    allowed: bool
    most: int


class ProgramSession(msgspec.Struct, frozen=True):
    """What a program gets for its key."""

    session_token: str
    expires_in: int
    uuid: str
    program: str
    scopes: list[Scope]

    def __repr__(self) -> str:
        return f"ProgramSession(expires_in={self.expires_in})"


class ProgramKeys:
    """The routes under `/users/me/program-keys`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(self, name: str, *scopes: Scope, days: int = 90) -> NewProgramKey:
        """Make a key with these scopes. It is shown this once."""
        return self._calls.post("/users/me/program-keys", NewProgramKey, {"name": name, "scopes": scopes, "days": days})

    def list(self) -> OwnProgramKeys:
        """The user's keys, those that have ended in the last 30 days among them."""
        return self._calls.get("/users/me/program-keys", OwnProgramKeys)

    def revoke(self, key_id: str) -> None:
        """End a key. Its program's sessions end at once.

        Raises:
            NotFound: there is no such key, or it has ended.
        """
        self._calls.delete(f"/users/me/program-keys/{segment(key_id)}")


class ProgramSignIn:
    """Fetches session tokens for a program key. `Workspace` calls it at the first request and whenever a token ends."""

    def __init__(self, transport: Transport, program_key: str) -> None:
        self._transport = transport
        self._program_key = program_key

    def __repr__(self) -> str:
        return f"ProgramSignIn({self._transport!r})"

    def __call__(self) -> str:
        """A new session token.

        Raises:
            ProgramKeyRefused: the key is wrong, was revoked or has expired.
            CarrelUnreachable, CarrelApiError
        """
        return self.session().session_token

    def session(self) -> ProgramSession:
        """A new session: its token, its end and its scopes."""
        request = Request(
            "POST",
            "/auth/program",
            headers={"Content-Type": "application/json"},
            content=msgspec.json.encode({"program_key": self._program_key}),
            # Each exchange stands alone, so a second one does no harm.
            repeatable=True,
        )
        return self._transport.send(request).decode(ProgramSession)

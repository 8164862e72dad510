"""Keys with which programs sign in: the user makes, lists and revokes them, and a program exchanges its own."""

import msgspec

from carrel_sdk.calls import Calls
from carrel_sdk.models import NewProgramKey, OwnProgramKeys, ProgramSession, Scope
from carrel_sdk.transport import Request, Transport, segment

PREFIX = "carrel_pk_"
"""How every program key begins."""


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

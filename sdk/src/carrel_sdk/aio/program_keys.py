"""Written by `sdk/generate.py` from `carrel_sdk.program_keys`. Change that, and run it again."""

import msgspec

from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.aio.transport import AsyncTransport
from carrel_sdk.models import NewProgramKey, OwnProgramKeys, ProgramSession, Scope
from carrel_sdk.transport import Request, segment


class AsyncProgramKeys:
    """The routes under `/users/me/program-keys`."""

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(self, name: str, *scopes: Scope, days: int = 90) -> NewProgramKey:
        """Make a key with these scopes. It is shown this once."""
        return await self._calls.post(
            "/users/me/program-keys", NewProgramKey, {"name": name, "scopes": scopes, "days": days}
        )

    async def list(self) -> OwnProgramKeys:
        """The user's keys, those that have ended in the last 30 days among them."""
        return await self._calls.get("/users/me/program-keys", OwnProgramKeys)

    async def revoke(self, key_id: str) -> None:
        """End a key. Its program's sessions end at once.

        Raises:
            NotFound: there is no such key, or it has ended.
        """
        await self._calls.delete(f"/users/me/program-keys/{segment(key_id)}")


class AsyncProgramSignIn:
    """Fetches session tokens for a program key. `Workspace` calls it at the first request and whenever a token ends."""

    def __init__(self, transport: AsyncTransport, program_key: str) -> None:
        self._transport = transport
        self._program_key = program_key

    def __repr__(self) -> str:
        return f"ProgramSignIn({self._transport!r})"

    async def __call__(self) -> str:
        """A new session token.

        Raises:
            ProgramKeyRefused: the key is wrong, was revoked or has expired.
            CarrelUnreachable, CarrelApiError
        """
        return (await self.session()).session_token

    async def session(self) -> ProgramSession:
        """A new session: its token, its end and its scopes."""
        request = Request(
            "POST",
            "/auth/program",
            headers={"Content-Type": "application/json"},
            content=msgspec.json.encode({"program_key": self._program_key}),
            repeatable=True,
        )
        return (await self._transport.send(request)).decode(ProgramSession)

"""Written by `sdk/generate.py` from `carrel_sdk.workspace`. Change that, and run it again."""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import BinaryIO

import httpx

from carrel_sdk import environment
from carrel_sdk.aio.calls import AsyncCalls, AsyncTokenSource
from carrel_sdk.aio.catalogue import AsyncModels
from carrel_sdk.aio.contents import AsyncContents
from carrel_sdk.aio.data_sets import AsyncDataSets
from carrel_sdk.aio.documents import AsyncDocuments
from carrel_sdk.aio.evaluation import AsyncEvaluation
from carrel_sdk.aio.github import AsyncGithub
from carrel_sdk.aio.judges import AsyncJudges
from carrel_sdk.aio.metering import AsyncMetering
from carrel_sdk.aio.presets import AsyncPresets
from carrel_sdk.aio.program_keys import AsyncProgramKeys, AsyncProgramSignIn
from carrel_sdk.aio.provider_keys import AsyncProviderKeys
from carrel_sdk.aio.rate_limits import AsyncRateLimits
from carrel_sdk.aio.runs import AsyncRuns
from carrel_sdk.aio.settings import AsyncSettingsRoutes
from carrel_sdk.aio.single import AsyncSingle
from carrel_sdk.aio.transfer import export_to, import_from
from carrel_sdk.aio.transport import AsyncTransport
from carrel_sdk.aio.votes import AsyncVotes
from carrel_sdk.errors import SESSION_CODES
from carrel_sdk.models import Balance, Imported, LedgerEntry, Me, OpenSessions
from carrel_sdk.program_keys import PREFIX
from carrel_sdk.transport import MAX_RETRIES, READ_SECONDS, segment


class AsyncWorkspace:
    """One user's workspace. `token_source` is a session token, a program key, or a function that fetches a token.

    Without an address, CARREL_URL of the environment is used; without a token source, CARREL_TOKEN or else
    CARREL_PROGRAM_KEY.

    A function is asked again, once, when a token has ended. A program key is exchanged for a token at the first
    request, and again whenever the session has ended or the service has restarted. Reading, and writing under an
    Idempotency-Key, is tried again when the network fails; everything else is sent once.

    Use it in an `async with` block, or `close` it.
    """

    def __init__(
        self,
        base_url: str | None = None,
        token_source: AsyncTokenSource | None = None,
        *,
        timeout: float = READ_SECONDS,
        max_retries: int = MAX_RETRIES,
        allow_http: bool = False,
        http: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`base_url` is without `/api`.

        `timeout` is how many seconds the service may be silent; calls that wait for a model have longer limits of their
        own. `max_retries` is how often a request is sent again if that is safe.

        Raises:
            ValueError: the address is neither HTTPS nor on this machine, or there is no address or token.
        """
        self._transport = AsyncTransport(
            environment.address() if base_url is None else base_url,
            read_seconds=timeout,
            max_retries=max_retries,
            allow_http=allow_http,
            http=http,
        )
        self._calls = _calls(self._transport, environment.token() if token_source is None else token_source)
        self.contents = AsyncContents(self._calls)
        self.documents = AsyncDocuments(self._calls)
        self.data_sets = AsyncDataSets(self._calls)
        self.presets = AsyncPresets(self._calls)
        self.runs = AsyncRuns(self._calls)
        self.votes = AsyncVotes(self._calls)
        self.program_keys = AsyncProgramKeys(self._calls)
        self.provider_keys = AsyncProviderKeys(self._calls)
        self.rate_limits = AsyncRateLimits(self._calls)
        self.github = AsyncGithub(self._calls)
        self.single = AsyncSingle(self._calls)
        self.evaluation = AsyncEvaluation(self._calls)
        self.judges = AsyncJudges(self._calls)
        self.settings = AsyncSettingsRoutes(self._calls)
        self.models = AsyncModels(self._calls)
        self.metering = AsyncMetering(self._calls)

    def __repr__(self) -> str:
        return f"Workspace({self._transport.base_url!r})"

    async def __aenter__(self) -> "AsyncWorkspace":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def me(self) -> Me:
        """The signed-in user, with credits, counts and limits."""
        return await self._calls.get("/users/me", Me)

    async def credits(self) -> Balance:
        """The balance."""
        return await self._calls.get("/credits", Balance)

    def ledger(self) -> AsyncIterator[LedgerEntry]:
        """Every change of the balance, newest first."""
        return self._calls.each("/credits/ledger", LedgerEntry)

    async def sessions(self) -> OpenSessions:
        """The user's sessions, in this and in other browsers and programs."""
        return await self._calls.get("/users/me/sessions", OpenSessions)

    async def end_session(self, session: int) -> None:
        """End one of `sessions`, by its `session`.

        Raises:
            NotFound: it has ended already.
        """
        await self._calls.delete(f"/users/me/sessions/{segment(str(session))}")

    async def sign_out(self) -> None:
        """End every session of the user, this one included. The key leaves the service's memory after the last run."""
        await self._calls.post_nothing("/auth/logout")

    async def export_to(self, file: BinaryIO) -> None:
        """Write a zip of everything in the workspace to `file`, a piece at a time. No key of a provider is in it.

        Raises:
            CarrelUnreachable: it ended in the middle; what is in the file is no zip.
        """
        await export_to(self._calls, file)

    async def import_from(self, file: BinaryIO) -> Imported:
        """Import the contents, presets and settings of such a zip, under new ids: all or nothing.

        A large one goes in parts, and goes on where it was cut, also at the next call with the same file.
        """
        return await import_from(self._calls, file)


def _calls(transport: AsyncTransport, source: AsyncTokenSource) -> AsyncCalls:
    if isinstance(source, str) and source.startswith(PREFIX):
        return AsyncCalls(transport, AsyncProgramSignIn(transport, source), SESSION_CODES)
    return AsyncCalls(transport, source)

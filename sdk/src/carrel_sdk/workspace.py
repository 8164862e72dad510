"""The user's client: everything in one workspace, with a session token."""

from collections.abc import Iterator
from types import TracebackType
from typing import BinaryIO

import httpx

from carrel_sdk import environment
from carrel_sdk.calls import Calls, TokenSource
from carrel_sdk.catalogue import Models
from carrel_sdk.contents import Contents
from carrel_sdk.data_sets import DataSets
from carrel_sdk.documents import Documents
from carrel_sdk.errors import SESSION_CODES
from carrel_sdk.evaluation import Evaluation
from carrel_sdk.github import Github
from carrel_sdk.judges import Judges
from carrel_sdk.metering import Metering
from carrel_sdk.models import Balance, Imported, LedgerEntry, Me, OpenSessions
from carrel_sdk.presets import Presets
from carrel_sdk.program_keys import PREFIX, ProgramKeys, ProgramSignIn
from carrel_sdk.provider_keys import ProviderKeys
from carrel_sdk.rate_limits import RateLimits
from carrel_sdk.runs import Runs
from carrel_sdk.settings import SettingsRoutes
from carrel_sdk.single import Single
from carrel_sdk.transfer import export_to, import_from
from carrel_sdk.transport import MAX_RETRIES, READ_SECONDS, Transport, segment
from carrel_sdk.votes import Votes


class Workspace:
    """One user's workspace. `token_source` is a session token, a program key, or a function that fetches a token.

    Without an address, CARREL_URL of the environment is used; without a token source, CARREL_TOKEN or else
    CARREL_PROGRAM_KEY.

    A function is asked again, once, when a token has ended. A program key is exchanged for a token at the first
    request, and again whenever the session has ended or the service has restarted. Reading, and writing under an
    Idempotency-Key, is tried again when the network fails; everything else is sent once.

    Use it in a `with` block, or `close` it.
    """

    def __init__(
        self,
        base_url: str | None = None,
        token_source: TokenSource | None = None,
        *,
        timeout: float = READ_SECONDS,
        max_retries: int = MAX_RETRIES,
        allow_http: bool = False,
        http: httpx.BaseTransport | None = None,
    ) -> None:
        """`base_url` is without `/api`.

        `timeout` is how many seconds the service may be silent; calls that wait for a model have longer limits of their
        own. `max_retries` is how often a request is sent again if that is safe.

        Raises:
            ValueError: the address is neither HTTPS nor on this machine, or there is no address or token.
        """
        self._transport = Transport(
            environment.address() if base_url is None else base_url,
            read_seconds=timeout,
            max_retries=max_retries,
            allow_http=allow_http,
            http=http,
        )
        self._calls = _calls(self._transport, environment.token() if token_source is None else token_source)
        self.contents = Contents(self._calls)
        self.documents = Documents(self._calls)
        self.data_sets = DataSets(self._calls)
        self.presets = Presets(self._calls)
        self.runs = Runs(self._calls)
        self.votes = Votes(self._calls)
        self.program_keys = ProgramKeys(self._calls)
        self.provider_keys = ProviderKeys(self._calls)
        self.rate_limits = RateLimits(self._calls)
        self.github = Github(self._calls)
        self.single = Single(self._calls)
        self.evaluation = Evaluation(self._calls)
        self.judges = Judges(self._calls)
        self.settings = SettingsRoutes(self._calls)
        self.models = Models(self._calls)
        self.metering = Metering(self._calls)

    def __repr__(self) -> str:
        return f"Workspace({self._transport.base_url!r})"

    def __enter__(self) -> "Workspace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def me(self) -> Me:
        """The signed-in user, with credits, counts and limits."""
        return self._calls.get("/users/me", Me)

    def credits(self) -> Balance:
        """The balance."""
        return self._calls.get("/credits", Balance)

    def ledger(self) -> Iterator[LedgerEntry]:
        """Every change of the balance, newest first."""
        return self._calls.each("/credits/ledger", LedgerEntry)

    def sessions(self) -> OpenSessions:
        """The user's sessions, in this and in other browsers and programs."""
        return self._calls.get("/users/me/sessions", OpenSessions)

    def end_session(self, session: int) -> None:
        """End one of `sessions`, by its `session`.

        Raises:
            NotFound: it has ended already.
        """
        self._calls.delete(f"/users/me/sessions/{segment(str(session))}")

    def sign_out(self) -> None:
        """End every session of the user, this one included. The key leaves the service's memory after the last run."""
        self._calls.post_nothing("/auth/logout")

    def export_to(self, file: BinaryIO) -> None:
        """Write a zip of everything in the workspace to `file`, a piece at a time. No key of a provider is in it.

        Raises:
            CarrelUnreachable: it ended in the middle; what is in the file is no zip.
        """
        export_to(self._calls, file)

    def import_from(self, file: BinaryIO) -> Imported:
        """Import the contents, presets and settings of such a zip, under new ids: all or nothing.

        A large one goes in parts, and goes on where it was cut, also at the next call with the same file.
        """
        return import_from(self._calls, file)


def _calls(transport: Transport, source: TokenSource) -> Calls:
    if isinstance(source, str) and source.startswith(PREFIX):
        # What makes a user sign in again, a program does by itself.
        return Calls(transport, ProgramSignIn(transport, source), SESSION_CODES)
    return Calls(transport, source)

"""Sends bytes to other servers and receives answers: one pool of connections, with every limit that they need.

An answer is counted before it becomes objects: its bytes as they come and as they are unpacked, the elements of its
JSON, and the memory that it takes beside the other answers of its user. This class speaks for the event loop of the
service; `exchange` does the work in the thread of `network`.
"""

import importlib
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from carrel.providers.answer_room import AnswerMemory
from carrel.providers.base import ProviderError
from carrel.providers.connections.network import Network

if TYPE_CHECKING:
    from carrel.providers.connections.exchange import Exchange

T = TypeVar("T")

MAX_ERROR_BYTES: Final = 64 * 1024
"""Of an answer that is no success. Of a longer one, status and headers are read alone."""
STREAM_ANSWERS: Final = 64
"""How many of the longest answers a stream may be long: each token comes in an envelope of up to a kilobyte, which
nobody keeps."""


class Reply(NamedTuple, Generic[T]):
    """An answer of any status. `found` is what was read from the body of a success; then there is no `body`."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    found: T | None = None


class Submission(NamedTuple, Generic[T]):
    """One request, and what to do with its answer: see `Transport.send`."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    timeout_seconds: float
    place: AnswerMemory
    most_bytes: int
    read: Callable[[bytes], T | None] | None
    on_piece: Callable[[bytes], None] | None


class Transport:
    """At most `connections` at once. `rules` are CARREL_PROVIDER_HOSTS. Belongs to the event loop of the service."""

    def __init__(self, network: Network, connections: int, rules: tuple[str, ...]) -> None:
        self.network = network
        self._connections = connections
        self._rules = rules
        self._exchange: Exchange | None = None
        self._closed = False

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        timeout_seconds: float,
        place: AnswerMemory,
        read: Callable[[bytes], T | None] | None = None,
        on_piece: Callable[[bytes], None] | None = None,
        most_bytes: int | None = None,
    ) -> Reply[T]:
        """Send one request. No exception of it holds a header.

        `timeout_seconds` bounds the whole call. A model that thinks sends nothing meanwhile, so a limit for the first
        byte would end good calls, and their user would pay for them twice.

        `read` makes objects of the body of a success; it returns `None` if it cannot. If the answer begins as a stream
        of events, whatever its type says, each piece goes to `on_piece` as it comes, and the reply has no body. Both
        are called in the thread of
        the network. `most_bytes` bounds the answer in place of `Network.max_answer_bytes`.

        Raises:
            ProviderError: `provider-timeout`, `provider-unreachable`, `provider-malformed`, `provider-untrusted` for a
                certificate, `provider-host-not-allowed` for an address, `answer-too-large`, `service-busy` if other
                long answers of the same user take all the room, and whatever `read` and `on_piece` raise.
        """
        most = most_bytes or self.network.max_answer_bytes
        asked = Submission(method, url, headers, body, timeout_seconds, place, most, read, on_piece)
        return await self._run(self._send(asked))

    async def ready(self) -> None:
        """Open the pool of connections now."""
        await self._run(self._opened())

    async def close(self) -> None:
        """Close every connection; calls in flight end with `provider-unreachable`."""
        self._closed = True
        if self._exchange is not None:
            await self.network.thread.run(self._exchange.close())

    async def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            work.close()
            raise ProviderError("provider-unreachable", retryable=True, unbilled=True)
        return await self.network.thread.run(work)

    # In the thread of the network -----------------------------------------------------------------------------------

    async def _opened(self) -> "Exchange":
        if self._exchange is None:
            # To import the HTTP client takes a third of a second.
            module = importlib.import_module("carrel.providers.connections.exchange")
            made: Exchange = module.Exchange(self._connections, self._rules)
            self._exchange = made
            if self._closed:
                # `close` came while the client was imported, and found nothing.
                await made.close()
        return self._exchange

    async def _send(self, asked: Submission[T]) -> Reply[T]:
        return await (await self._opened()).reply(asked)

"""Batches: many calls sent together, which a provider answers within a day at half the price.

A batch is named by an id of ours before it is sent. Providers have no way to send one twice safely, so `BatchApi.find`
looks for a batch of which nobody knows whether it arrived.
"""

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple, Protocol, TypeVar

import msgspec

from carrel.providers.base import ANSWER_TOO_LARGE, ProviderError
from carrel.providers.foreign_json import decoded

T = TypeVar("T")

JSON: Final = "application/json"
PAGES: Final = 50
"""Of a provider's list of batches, in which we look for one of ours."""
SKEW_SECONDS: Final = 3_600.0
"""How far the clocks may differ by which we look for a batch."""
MAX_REQUESTS: Final = 200
MAX_PROMPT_BYTES: Final = 8 * 1024 * 1024
MAX_OUTPUT_TOKENS: Final = 4_000_000
"""What a batch may ask for at most. They bound the memory that sending it and reading its results take."""
MAX_RESULT_BYTES: Final = 64 * 1024 * 1024

FAILED: Final = "batch-failed"
"""The provider refused the whole batch, and answered none of its calls."""
LOST: Final = "batch-lost"
"""The provider does not know the batch any more, or its results name the call nowhere."""
EXPIRED: Final = "batch-expired"
"""The provider did not come to the call within its time."""
CANCELLED: Final = "batch-cancelled"
"""The batch was cancelled before the provider came to the call."""


class HttpReply(NamedTuple):
    """An answer to a request about batches."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Send(Protocol):
    """Sends a request about batches."""

    async def __call__(
        self, method: str, path: str, body: bytes | None, kind: str, *, most_bytes: int | None = None
    ) -> HttpReply:
        """`path` is below the provider's address, and `kind` the type of the body.

        Raises:
            ProviderError: only failures of the way, and an answer of more than `most_bytes`, or of more than any.
        """
        ...


class BatchLine(NamedTuple):
    """One call of a batch: its id, and the path and the body that it would have by itself."""

    id: str
    path: str
    body: bytes


class UnconfirmedBatch(NamedTuple):
    """A batch that may have been sent: its id, the ids of its calls, and when, in seconds since the epoch.

    `known` are the provider's ids of other batches of ours, which it cannot be.
    """

    id: str
    calls: Collection[str]
    since: float
    known: Collection[str] = ()


class Unsure(Exception):
    """Whether the batch arrived shows only when another one, which may be it, has ended."""


State = Literal["open", "ended", "failed", "full"]
"""`full`: the provider did nothing, because too much of this account waits already. It can be sent again later."""


class Status(NamedTuple):
    """How far a batch is, and the paths of its results; of a `failed` one, the code of each of its calls."""

    state: State
    results: tuple[str, ...] = ()
    code: str = FAILED


class Result(NamedTuple):
    """What became of one call: the status and the body that it would have had by itself, or a `code` of ours."""

    id: str
    status: int = 0
    body: bytes = b""
    code: str | None = None


class BatchApi(Protocol):
    """The batch interface of a provider. Every request may raise `BatchRefused`, or `ProviderError` on the way."""

    def root(self, base: str) -> str:
        """The URL below which the paths are; `base` is the provider's address without a slash at its end."""
        ...

    async def create(self, send: Send, batch_id: str, lines: Sequence[BatchLine]) -> str:
        """Send a batch, and return the id that the provider gives it."""
        ...

    async def find(self, send: Send, sought: UnconfirmedBatch) -> str | None:
        """The provider's id of a batch that may have been sent; `None` if it did not arrive.

        Raises:
            Unsure: that does not show yet.
        """
        ...

    async def look(self, send: Send, remote_id: str) -> Status:
        """How far the batch is."""
        ...

    def results(self, body: bytes) -> list[Result]:
        """Read one of the documents that `Status.results` names."""
        ...

    async def cancel(self, send: Send, remote_id: str) -> None:
        """Ask the provider to work on no further call. Those that are answered stay, and are billed."""
        ...


class BatchRefused(Exception):
    """A reply about a batch that is not a success."""

    def __init__(self, reply: HttpReply) -> None:
        self.reply = reply
        super().__init__(reply.status)


def successful(reply: HttpReply) -> bytes:
    """The body of the reply.

    Raises:
        BatchRefused: it is not a success.
    """
    if reply.status // 100 != 2:
        raise BatchRefused(reply)
    return reply.body


async def cancel(send: Send, path: str) -> None:
    """Ask for a cancellation by this path. A batch that has ended refuses, and nothing is left to cancel then."""
    reply = await send("POST", path, None, JSON)
    if reply.status >= 500 or reply.status in (401, 403, 429):
        successful(reply)


def made(decoder: msgspec.json.Decoder[T], reply: HttpReply) -> T:
    """What the body of a successful reply says.

    Raises:
        BatchRefused: it is not a success.
        ProviderError: the body is not what the protocol says.
    """
    return required(decoder, successful(reply))


def required(decoder: msgspec.json.Decoder[T], text: bytes | msgspec.Raw) -> T:
    """What the decoder makes of it.

    Raises:
        ProviderError: it is not what the protocol says, or has too many elements.
    """
    found = decoded(decoder, text)
    if found is None:
        raise malformed()
    return found


def results(body: bytes, read: Callable[[bytes], Result | None]) -> list[Result]:
    """Read a document of results, one in each line. A line that cannot be read loses its call, and no other.

    Raises:
        ProviderError: it has more results than a batch has calls.
    """
    if body.count(b"\n") > 2 * MAX_REQUESTS:
        raise ProviderError(ANSWER_TOO_LARGE, retryable=False)
    # BatchLine by line: all lines together would take as much memory as the document, once more.
    found = (read(line) for line in io.BytesIO(body) if line.strip())
    return [result for result in found if result is not None]


def malformed() -> ProviderError:
    """The error for a body that is not what the protocol says."""
    return ProviderError("provider-malformed", retryable=True)


def seconds_of(time: str) -> float:
    """Seconds since the epoch of a time in RFC 3339; 0 if it is none."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0

"""A provider's batches for one key: every reply becomes what it means, or one typed error."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from http import HTTPStatus
from typing import TypeVar

from carrel.kit.clock import Clock
from carrel.providers import refusals
from carrel.providers.base import Answer, ModelRequest, ProviderError
from carrel.providers.batches import (
    CANCELLED,
    JSON,
    LOST,
    MAX_RESULT_BYTES,
    BatchApi,
    BatchLine,
    BatchRefused,
    Result,
    Send,
    Status,
    UnconfirmedBatch,
)

T = TypeVar("T")

_UNBILLED_ENDS = frozenset({CANCELLED, "batch-expired", "batch-failed"})
"""Calls that the provider did not come to cost nothing."""


class BatchClient:
    """`encoded` builds the path and the body of a call, and `answered` reads the reply that it would have by itself."""

    def __init__(
        self,
        api: BatchApi,
        send: Send,
        encoded: Callable[[ModelRequest], tuple[str, bytes]],
        answered: Callable[[ModelRequest, int, bytes], Answer],
        clock: Clock,
    ) -> None:
        self._api = api
        self._send = send
        self._encoded = encoded
        self._answered = answered
        self._clock = clock

    def line(self, call_id: str, request: ModelRequest) -> BatchLine:
        """The call as a line of a batch.

        Raises:
            ProviderError: `parameter-not-supported`.
        """
        return BatchLine(call_id, *self._encoded(request))

    async def create(self, batch_id: str, lines: Sequence[BatchLine]) -> str:
        """Send a batch, and return the id that the provider gives it.

        Raises:
            ProviderError: the code says why. Only if it is neither retryable nor a failure of the way, the provider
                certainly has no such batch.
        """
        return await self._do(self._api.create(self._send, batch_id, lines))

    async def find(self, sought: UnconfirmedBatch) -> str | None:
        """The provider's id of a batch that may have been sent; `None` if it did not arrive.

        Raises:
            Unsure: that does not show yet.
            ProviderError: the code says why.
        """
        return await self._do(self._api.find(self._send, sought))

    async def look(self, remote_id: str) -> Status:
        """How far the batch is.

        Raises:
            ProviderError: `batch-lost` if the provider does not know it, or as another call.
        """
        return await self._do(self._api.look(self._send, remote_id), missing=LOST)

    async def results(self, paths: Collection[str]) -> list[Result]:
        """What became of each call.

        Raises:
            ProviderError: `batch-lost` if the provider has deleted the results, or as another call.
        """
        found: list[Result] = []
        for path in paths:
            found += await self._do(self._read(path), missing=LOST)
        return found

    async def cancel(self, remote_id: str) -> None:
        """Ask the provider to work on no further call.

        Raises:
            ProviderError: the code says why.
        """
        await self._do(self._api.cancel(self._send, remote_id), missing=LOST)

    def answer(self, request: ModelRequest, result: Result) -> Answer:
        """The answer to a call of a batch.

        Raises:
            ProviderError: as a call by itself, or with the code of the result.
        """
        if result.code is not None:
            raise ProviderError(result.code, retryable=False, unbilled=result.code in _UNBILLED_ENDS)
        return self._answered(request, result.status, result.body)

    async def _read(self, path: str) -> list[Result]:
        reply = await self._send("GET", path, None, JSON, most_bytes=MAX_RESULT_BYTES)
        if reply.status != HTTPStatus.OK:
            raise BatchRefused(reply)
        # Megabytes: a thread reads them.
        return await asyncio.to_thread(self._api.results, reply.body)

    async def _do(self, work: Awaitable[T], missing: str | None = None) -> T:
        try:
            return await work
        except BatchRefused as refused:
            reply = refused.reply
        if missing is not None and reply.status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
            raise ProviderError(missing, retryable=False)
        raise refusals.error(refusals.read(reply.status, reply.body), reply.headers, self._clock.now())

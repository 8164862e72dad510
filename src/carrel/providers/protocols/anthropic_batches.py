"""Anthropic's message batches: one request holds all calls, and the results are one document of lines.

Written to the public documentation of `/v1/messages/batches`, version 2023-06-01. A batch carries no id of ours, only
its calls do, and their ids show with the results. So a batch of which nobody knows whether it arrived is looked for by
its time and its number of calls, and recognised when it has ended.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from carrel.providers import batches, refusals
from carrel.providers.batches import (
    CANCELLED,
    EXPIRED,
    FAILED,
    JSON,
    MAX_RESULT_BYTES,
    PAGES,
    SKEW_SECONDS,
    BatchLine,
    Result,
    Send,
    Status,
    UnconfirmedBatch,
    Unsure,
    made,
    malformed,
    seconds_of,
    successful,
)
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols.names import versioned

_PATH = "/messages/batches"


class _Call(msgspec.Struct, frozen=True):
    custom_id: str
    params: msgspec.Raw


class _Create(msgspec.Struct, frozen=True):
    requests: list[_Call]


class _Counts(msgspec.Struct, frozen=True):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0

    @property
    def total(self) -> int:
        return self.processing + self.succeeded + self.errored + self.canceled + self.expired


class _Batch(msgspec.Struct, frozen=True):
    id: str
    processing_status: str
    request_counts: _Counts = _Counts()
    created_at: str = ""
    results_url: str | None = None


class _List(msgspec.Struct, frozen=True):
    data: list[_Batch]
    has_more: bool = False


class _Outcome(msgspec.Struct, frozen=True):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"{}")
    error: msgspec.Raw = msgspec.Raw(b"{}")


class _Result(msgspec.Struct, frozen=True):
    custom_id: str
    result: _Outcome


_batch = msgspec.json.Decoder(_Batch)
_list = msgspec.json.Decoder(_List)
_result = msgspec.json.Decoder(_Result)


class AnthropicBatches:
    """`/messages/batches` below the address of the messages API."""

    def root(self, base: str) -> str:
        """The address with the version of the protocol."""
        return versioned(base, "v1")

    async def create(self, send: Send, batch_id: str, lines: Sequence[BatchLine]) -> str:
        """Send the batch."""
        wanted = _Create([_Call(line.id, msgspec.Raw(line.body)) for line in lines])
        return made(_batch, await send("POST", _PATH, msgspec.json.encode(wanted), JSON)).id

    async def find(self, send: Send, sought: UnconfirmedBatch) -> str | None:
        """Look among the batches since then, the newest first, for one with as many calls and with ids of ours."""
        after, in_doubt = "", False
        for _ in range(PAGES):
            page = made(_list, await send("GET", f"{_PATH}?limit=100{after}", None, JSON))
            for batch in page.data:
                if batch.id in sought.known or batch.request_counts.total != len(sought.calls):
                    continue
                if seconds_of(batch.created_at) < sought.since - SKEW_SECONDS:
                    continue
                if batch.processing_status != "ended":
                    in_doubt = True
                elif await self._holds(send, batch, sought):
                    return batch.id
            old = bool(page.data) and seconds_of(page.data[-1].created_at) < sought.since - SKEW_SECONDS
            if not page.has_more or not page.data or old:
                if in_doubt:
                    raise Unsure
                return None
            after = f"&after_id={page.data[-1].id}"
        raise malformed()

    async def _holds(self, send: Send, batch: _Batch, sought: UnconfirmedBatch) -> bool:
        path = f"{_PATH}/{batch.id}/results"
        body = successful(await send("GET", path, None, JSON, most_bytes=MAX_RESULT_BYTES))
        found = await asyncio.to_thread(self.results, body)
        return any(result.id in sought.calls for result in found)

    async def look(self, send: Send, remote_id: str) -> Status:
        """How far the batch is; one with expired or cancelled calls ends, too."""
        batch = made(_batch, await send("GET", f"{_PATH}/{remote_id}", None, JSON))
        return (
            Status("ended", (f"{_PATH}/{remote_id}/results",)) if batch.processing_status == "ended" else Status("open")
        )

    def results(self, body: bytes) -> list[Result]:
        """Read the document of results."""
        return batches.results(body, _read)

    async def cancel(self, send: Send, remote_id: str) -> None:
        """Cancel it."""
        await batches.cancel(send, f"{_PATH}/{remote_id}/cancel")


def _read(text: bytes) -> Result | None:
    line = decoded(_result, text.strip())
    if line is None:
        return None
    outcome = line.result
    if outcome.type == "succeeded":
        return Result(line.custom_id, 200, bytes(outcome.message))
    if outcome.type == "errored":
        error = bytes(outcome.error)
        return Result(line.custom_id, refusals.status_of(error, otherwise=500), error)
    return Result(line.custom_id, code={"expired": EXPIRED, "canceled": CANCELLED}.get(outcome.type, FAILED))

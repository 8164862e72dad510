"""OpenAI's batches: a file of calls goes up, a batch names the file, and its results are two files again.

Written to the public documentation of `/v1/files` and `/v1/batches`. The id of ours stands in the batch's metadata.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from carrel.providers import batches
from carrel.providers.batches import (
    CANCELLED,
    EXPIRED,
    FAILED,
    JSON,
    PAGES,
    SKEW_SECONDS,
    BatchLine,
    Result,
    Send,
    Status,
    UnconfirmedBatch,
    made,
    malformed,
)
from carrel.providers.foreign_json import decoded

_NAMED: Final = "carrel_batch"
_CODES: dict[str | int | None, str] = {"batch_expired": EXPIRED, "batch_cancelled": CANCELLED}
_WHY: dict[str | int | None, str] = {
    "model_not_found": "model-unknown",
    "billing_hard_limit_reached": "provider-no-credit",
    "insufficient_quota": "provider-no-credit",
    "invalid_api_key": "provider-key-rejected",
}
"""Why a whole batch failed. A call by itself would fail by the same code."""
_FULL = "token_limit_exceeded"


class _Call(msgspec.Struct, frozen=True):
    custom_id: str
    method: str
    url: str
    body: msgspec.Raw


class _Create(msgspec.Struct, frozen=True):
    input_file_id: str
    endpoint: str
    completion_window: str
    metadata: dict[str, str]


class _File(msgspec.Struct, frozen=True):
    id: str


class _Error(msgspec.Struct, frozen=True):
    code: str | int | None = None


class _Errors(msgspec.Struct, frozen=True):
    data: list[_Error] | None = None


class _Batch(msgspec.Struct, frozen=True):
    id: str
    status: str
    created_at: float = 0.0
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Errors | None = None
    metadata: dict[str, str] | None = None


class _List(msgspec.Struct, frozen=True):
    data: list[_Batch]
    has_more: bool = False


class _Response(msgspec.Struct, frozen=True):
    status_code: int
    body: msgspec.Raw = msgspec.Raw(b"{}")


class _Result(msgspec.Struct, frozen=True):
    custom_id: str
    response: _Response | None = None
    error: _Error | None = None


_file = msgspec.json.Decoder(_File)
_batch = msgspec.json.Decoder(_Batch)
_list = msgspec.json.Decoder(_List)
_result = msgspec.json.Decoder(_Result)


class OpenAiBatches:
    """`/files` and `/batches` below the address of chat completions."""

    def root(self, base: str) -> str:
        """The address itself."""
        return base

    async def create(self, send: Send, batch_id: str, lines: Sequence[BatchLine]) -> str:
        """Send the file, and then the batch. A file without a batch does nothing, and costs nothing.

        Calls of one model have one path.
        """
        calls = b"\n".join(
            msgspec.json.encode(_Call(line.id, "POST", line.path, msgspec.Raw(line.body))) for line in lines
        )
        body, kind = _form(batch_id, calls)
        file = made(_file, await send("POST", "/files", body, kind))
        wanted = _Create(file.id, lines[0].path, "24h", {_NAMED: batch_id})
        return made(_batch, await send("POST", "/batches", msgspec.json.encode(wanted), JSON)).id

    async def find(self, send: Send, sought: UnconfirmedBatch) -> str | None:
        """Look for the id of ours in the metadata of the batches since then, the newest first."""
        after = ""
        for _ in range(PAGES):
            page = made(_list, await send("GET", f"/batches?limit=100{after}", None, JSON))
            for batch in page.data:
                if (batch.metadata or {}).get(_NAMED) == sought.id:
                    return batch.id
            if not page.has_more or not page.data or page.data[-1].created_at < sought.since - SKEW_SECONDS:
                return None
            after = f"&after={page.data[-1].id}"
        raise malformed()

    async def look(self, send: Send, remote_id: str) -> Status:
        """How far the batch is; an expired or cancelled one has results, too."""
        batch = made(_batch, await send("GET", f"/batches/{remote_id}", None, JSON))
        if batch.status == "failed":
            errors = (batch.errors or _Errors()).data or []
            if any(error.code == _FULL for error in errors):
                return Status("full")
            return Status("failed", code=next((_WHY[error.code] for error in errors if error.code in _WHY), FAILED))
        if batch.status not in ("completed", "expired", "cancelled"):
            return Status("open")
        files = (batch.output_file_id, batch.error_file_id)
        return Status("ended", tuple(f"/files/{file}/content" for file in files if file))

    def results(self, body: bytes) -> list[Result]:
        """Read a file of results or of errors."""
        return batches.results(body, _read)

    async def cancel(self, send: Send, remote_id: str) -> None:
        """Cancel it."""
        await batches.cancel(send, f"/batches/{remote_id}/cancel")


def _read(line: bytes) -> Result | None:
    result = decoded(_result, line.strip())
    if result is None:
        return None
    if result.response is not None:
        return Result(result.custom_id, result.response.status_code, bytes(result.response.body))
    code = (result.error or _Error()).code
    return Result(result.custom_id, code=_CODES.get(code, FAILED))


def _form(batch_id: str, calls: bytes) -> tuple[bytes, str]:
    """The body of a form that holds the purpose and the file, and its type. No text holds the random id."""
    head = (
        f'--{batch_id}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f'--{batch_id}\r\nContent-Disposition: form-data; name="file"; filename="{batch_id}.jsonl"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    return head.encode() + calls + f"\r\n--{batch_id}--\r\n".encode(), f"multipart/form-data; boundary={batch_id}"

"""Reads an answer of Bedrock's Converse, whole or in the frames of AWS's event streams. Pure.

A frame (application/vnd.amazon.eventstream) is its length, that of its headers, a checksum of both, the headers, an
event in JSON, and a checksum of all of it.
"""

import struct
import zlib
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from carrel.providers.base import Answer, FinishReason, ProviderError, Usage
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols.streamed import LONGEST_LINE, StreamReader, event_of

_Tokens = Annotated[int, Meta(ge=0, le=1 << 40)]
_NULL = b"null"


class _ToolUse(msgspec.Struct, frozen=True):
    input: msgspec.Raw = msgspec.Raw(b"")


class _Block(msgspec.Struct, frozen=True, rename="camel"):
    """A piece of an answer; those that are neither text nor the tool's input are thoughts."""

    text: str | None = ""
    tool_use: _ToolUse | None = None


class _Message(msgspec.Struct, frozen=True):
    content: list[_Block] | None = None


class _Output(msgspec.Struct, frozen=True):
    message: _Message


class _Reply(msgspec.Struct, frozen=True, rename="camel"):
    output: _Output
    stop_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _Usage(msgspec.Struct, frozen=True, rename="camel"):
    """`input_tokens` holds neither the tokens that were read from the cache nor those that were written to it."""

    input_tokens: _Tokens
    output_tokens: _Tokens
    cache_read_input_tokens: _Tokens | None = None
    cache_write_input_tokens: _Tokens | None = None


class _InputPiece(msgspec.Struct, frozen=True):
    input: str | None = ""


class _Piece(msgspec.Struct, frozen=True, rename="camel"):
    text: str | None = ""
    tool_use: _InputPiece | None = None


class _Delta(msgspec.Struct, frozen=True):
    delta: _Piece | None = None


class _Stop(msgspec.Struct, frozen=True, rename="camel"):
    stop_reason: str | None = None


class _Metadata(msgspec.Struct, frozen=True):
    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _Event(msgspec.Struct, frozen=True, rename="camel"):
    """One of these. Other events carry nothing that Carrel reads."""

    content_block_delta: _Delta | None = None
    message_stop: _Stop | None = None
    metadata: _Metadata | None = None


_ENDS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
}
"""With every other word the text ended by itself."""
_PRELUDE: Final = struct.Struct(">III")
_SUM_BYTES: Final = 4
_TEXT: Final = 7
_SIZES: Final = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""How long the values of headers are, by their type; bytes (6) and texts (7) say it themselves."""

_said = msgspec.json.Decoder(_Reply)
_usage = msgspec.json.Decoder(_Usage)
_event = msgspec.json.Decoder(_Event)
_encode = msgspec.json.Encoder().encode


def answered(body: bytes) -> Answer | None:
    """Read the body of a 200. The tool's input is the answer if the model called the tool."""
    said = decoded(_said, body)
    if said is None:
        return None
    blocks = said.output.message.content or []
    called = next((block.tool_use for block in blocks if block.tool_use is not None), None)
    text = "".join(block.text or "" for block in blocks) if called is None else bytes(called.input).decode()
    return Answer(text=text, finish_reason=_ENDS.get(said.stop_reason or "", "stop"), usage=_counted(said.usage))


class ConverseStreamReader(StreamReader):
    """Events in frames, or in lines where a gateway has unpacked them. The last one counts all tokens."""

    def __init__(self) -> None:
        super().__init__()
        self._frames: bytearray | None = None
        """What came of frames that are not whole yet."""
        self._end: FinishReason | None = None
        self._usage: Usage | None = None

    @property
    def size(self) -> int:
        """How many bytes it takes in memory."""
        return super().size + len(self._frames or b"")

    def feed(self, data: bytes) -> str:
        """Take these bytes and return the text that came with them; see `StreamReader.feed`."""
        if self._frames is None and data[:1] == b"\0":
            # No line of text begins so, and every length of a frame does.
            self._frames = bytearray()
        if self._frames is None:
            return super().feed(data)
        self._frames += data
        text = ""
        while (frame := _taken(self._frames)) is not None:
            new = self._framed(*frame)
            self._has_spoken = self._has_spoken or bool(new)
            self._keep(new)
            text += new
        return text

    def finish(self) -> str:
        """Note that nothing more comes; see `StreamReader.finish`."""
        return super().finish() if self._frames is None else ""

    def answer(self) -> Answer | None:
        """The whole answer, once the server has said why it ended."""
        return None if self._end is None else Answer(text=self.text, finish_reason=self._end, usage=self._usage)

    def _framed(self, headers: dict[str, str], payload: bytes) -> str:
        if headers.get(":message-type", "event") != "event":
            kind = headers.get(":exception-type") or headers.get(":error-code") or ""
            raw = decoded(msgspec.json.Decoder(dict[str, msgspec.Raw]), payload) or {}
            said = raw.get("message") or msgspec.Raw(_encode(headers.get(":error-message", "")))
            raise self.broken_off(_encode({"error": {"type": kind, "message": said}}))
        return self._event(b'{"%b":%b}' % (headers.get(":event-type", "").encode(), payload))

    def _event(self, data: bytes) -> str:
        event = event_of(_event, data)
        if event.message_stop is not None:
            self._end = _ENDS.get(event.message_stop.stop_reason or "", "stop")
        if event.metadata is not None:
            self._usage = _counted(event.metadata.usage)
        piece = event.content_block_delta.delta if event.content_block_delta is not None else None
        if piece is None:
            return ""
        return (piece.text or "") + ((piece.tool_use.input or "") if piece.tool_use is not None else "")


def _taken(frames: bytearray) -> tuple[dict[str, str], bytes] | None:
    """Take the first frame: its headers that are texts, and its event. `None` if it is not whole yet.

    Raises:
        ProviderError: `provider-malformed`, `answer-too-large`.
    """
    if len(frames) < _PRELUDE.size:
        return None
    length, of_headers, checksum = _PRELUDE.unpack_from(frames)
    fixed = _PRELUDE.size + _SUM_BYTES
    if zlib.crc32(frames[: _PRELUDE.size - _SUM_BYTES]) != checksum or length < fixed + of_headers:
        raise ProviderError("provider-malformed", retryable=True)
    if length > LONGEST_LINE:
        raise ProviderError("answer-too-large", retryable=False)
    if len(frames) < length:
        return None
    frame = bytes(frames[:length])
    del frames[:length]
    if zlib.crc32(frame[:-_SUM_BYTES]) != int.from_bytes(frame[-_SUM_BYTES:]):
        raise ProviderError("provider-malformed", retryable=True)
    start = _PRELUDE.size + of_headers
    return _headers(frame[_PRELUDE.size : start]), frame[start:-_SUM_BYTES]


def _headers(data: bytes) -> dict[str, str]:
    found, at = dict[str, str](), 0
    try:
        while at < len(data):
            kind_at = at + 1 + data[at]
            name, kind, at = data[at + 1 : kind_at].decode(), data[kind_at], kind_at + 1
            size = _SIZES.get(kind)
            if size is None:
                size, at = int.from_bytes(data[at : at + 2]), at + 2
            if kind == _TEXT:
                found[name] = data[at : at + size].decode()
            at += size
    except (IndexError, UnicodeDecodeError):
        raise ProviderError("provider-malformed", retryable=True) from None
    return found


def _counted(raw: msgspec.Raw) -> Usage | None:
    usage = decoded(_usage, raw)
    if usage is None:
        # The answer was paid for and is good; only its tokens are unknown.
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_input_tokens or 0,
        written_tokens=usage.cache_write_input_tokens or 0,
    )

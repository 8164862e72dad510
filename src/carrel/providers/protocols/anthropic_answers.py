"""What an answer of Anthropic's messages API says, whole or piece by piece. Pure."""

from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta

from carrel.providers import refusals
from carrel.providers.base import Answer, FinishReason, Usage
from carrel.providers.protocols.streamed import Streamed

_Tokens = Annotated[int, Meta(ge=0, le=1 << 40)]
_NULL = b"null"


class _Block(msgspec.Struct, frozen=True):
    """A piece of an answer; those that are neither text nor the tool's input are thoughts."""

    type: str
    text: str = ""
    input: msgspec.Raw = msgspec.Raw(b"")


class _Usage(msgspec.Struct, frozen=True):
    """`input_tokens` holds neither what was read from the cache nor what was written to it."""

    input_tokens: _Tokens
    output_tokens: _Tokens
    cache_read_input_tokens: _Tokens | None = None
    cache_creation_input_tokens: _Tokens | None = None


class _Said(msgspec.Struct, frozen=True):
    content: list[_Block]
    stop_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _Begun(msgspec.Struct, frozen=True):
    """What a stream begins with: everything that was read is counted already."""

    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _Delta(msgspec.Struct, frozen=True):
    """More of a block, or, where the message changes, why it ended."""

    type: str = ""
    text: str = ""
    stop_reason: str | None = None


class _Event(msgspec.Struct, frozen=True):
    """Any event; those of kinds that are not known here say nothing."""

    type: str
    message: _Begun = _Begun()
    content_block: _Block = _Block("")
    delta: _Delta = _Delta()
    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _Counts(msgspec.Struct, frozen=True):
    """The counts of one event, each the sum up to it. What it does not name, or not as a count, stays as it was."""

    input_tokens: _Tokens | None = None
    output_tokens: _Tokens | None = None
    cache_read_input_tokens: _Tokens | None = None
    cache_creation_input_tokens: _Tokens | None = None


_ENDS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
"""Every other word is a text that ended by itself."""

_said = msgspec.json.Decoder(_Said)
_usage = msgspec.json.Decoder(_Usage)
_event = msgspec.json.Decoder(_Event)
_counts = msgspec.json.Decoder(_Counts)


def answered(body: bytes) -> Answer | None:
    """What the body of a 200 says; the tool's input is the answer if the tool was called."""
    try:
        said = _said.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    called = next((block for block in said.content if block.type == "tool_use"), None)
    texts = (block.text for block in said.content if block.type == "text")
    text = bytes(called.input).decode() if called is not None else "".join(texts)
    return Answer(text=text, finish_reason=_ENDS.get(said.stop_reason or "", "stop"), usage=_counted(said.usage))


class MessageStreamed(Streamed):
    """Events of a message: what was read is counted in the first, what was written in the last but one."""

    def __init__(self) -> None:
        super().__init__()
        self._over = False
        self._end: str | None = None
        self._counted: dict[str, int] = {}

    def answer(self) -> Answer | None:
        """All of it, once the message has stopped."""
        if not self._over:
            return None
        raw = msgspec.Raw(msgspec.json.encode(self._counted))
        return Answer(text=self.text, finish_reason=_ENDS.get(self._end or "", "stop"), usage=_counted(raw))

    def _event(self, data: bytes) -> str:
        event = _event.decode(data)
        if event.type == "error":
            raise refusals.broken_off(data)
        if event.type == "message_stop":
            self._over = True
        elif event.type == "message_start":
            self._count(event.message.usage)
        elif event.type == "message_delta":
            self._end = event.delta.stop_reason or self._end
            self._count(event.usage)
        elif event.type == "content_block_start" and event.content_block.type == "text":
            return event.content_block.text
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            return event.delta.text
        return ""

    def _count(self, raw: msgspec.Raw) -> None:
        with suppress(msgspec.DecodeError):
            counts = msgspec.structs.asdict(_counts.decode(raw))
            self._counted |= {name: number for name, number in counts.items() if number is not None}


def _counted(raw: msgspec.Raw) -> Usage | None:
    try:
        usage = _usage.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # The answer was paid for and is good; what it took is unknown.
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_input_tokens or 0,
        written_tokens=usage.cache_creation_input_tokens or 0,
    )

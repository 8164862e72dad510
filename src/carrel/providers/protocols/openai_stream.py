"""A chat completion that comes piece by piece. Pure."""

import msgspec

from carrel.providers import refusals
from carrel.providers.base import Answer, FinishReason, ProviderError, Usage
from carrel.providers.protocols import openai_wire
from carrel.providers.protocols.openai_wire import BREAKDOWNS, ENDS, ContentPart
from carrel.providers.protocols.streamed import StreamReader, event_of

_NULL = b"null"
_DONE = b"[DONE]"


class _Delta(msgspec.Struct, frozen=True):
    content: str | list[ContentPart] | None = None
    refusal: str | None = None


class _Step(msgspec.Struct, frozen=True):
    delta: _Delta = _Delta()
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, frozen=True):
    """A piece of a stream; `error` stands there if the server failed on the way."""

    choices: list[_Step] = []
    usage: msgspec.Raw = msgspec.Raw(_NULL)
    error: msgspec.Raw = msgspec.Raw(_NULL)


_chunk = msgspec.json.Decoder(_Chunk)


class ChatStreamReader(StreamReader):
    """Chunks of a completion: the tokens come with the last one, after the reason for the end."""

    def __init__(self) -> None:
        super().__init__()
        self._over = False
        self._refusal = bytearray()
        self._end: FinishReason | None = None
        self._usage: Usage | None = None

    @property
    def size(self) -> int:
        """How many bytes it takes in memory."""
        return super().size + len(self._refusal)

    def answer(self) -> Answer | None:
        """The whole answer, once the server has said why it ended or that it is done."""
        if self._end is None and not self._over:
            return None
        text = self.text
        if self._refusal and not text:
            refusal = self._refusal.decode("utf-8", "surrogatepass")
            return Answer(text=refusal, finish_reason="refused", usage=self._usage)
        return Answer(text=text, finish_reason=self._end or "stop", usage=self._usage)

    def _event(self, data: bytes) -> str:
        if self._over or data == _DONE:
            self._over = True
            return ""
        chunk = event_of(_chunk, data)
        if bytes(chunk.error) != _NULL:
            raise refusals.broken_off(data)
        if bytes(chunk.usage) != _NULL:
            self._usage = openai_wire.counted(chunk.usage)
        return self._said(chunk.choices[0]) if chunk.choices else ""

    def _said(self, step: _Step) -> str:
        if step.finish_reason in BREAKDOWNS:
            raise ProviderError("provider-overloaded", retryable=True)
        if step.finish_reason:
            self._end = ENDS.get(step.finish_reason, "stop")
        if step.delta.refusal:
            self._refusal += step.delta.refusal.encode("utf-8", "surrogatepass")
        return openai_wire.text_of(step.delta.content)

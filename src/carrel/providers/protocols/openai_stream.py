"""A chat completion that comes piece by piece. Pure."""

import msgspec

from carrel.providers.base import Answer, FinishReason, Usage
from carrel.providers.protocols import openai_wire
from carrel.providers.protocols.openai_wire import ContentPart
from carrel.providers.protocols.streamed import StreamReader, event_of, has_error

_NULL = b"null"
_NOTHING = (_NULL, b"{}")
_DONE = b"[DONE]"


class _Delta(msgspec.Struct, frozen=True):
    content: str | list[ContentPart | str] | None = None
    refusal: str | None = None


class _Step(msgspec.Struct, frozen=True):
    delta: _Delta | None = None
    message: _Delta | None = None
    """In place of `delta`, where a server sends its whole answer as one piece."""
    index: int | None = None
    finish_reason: str | None = None
    error: msgspec.Raw = msgspec.Raw(_NULL)


class _Chunk(msgspec.Struct, frozen=True):
    """A piece of a stream; an error stands there if the server failed on the way."""

    choices: list[_Step] | None = None
    usage: msgspec.Raw = msgspec.Raw(_NULL)
    error: msgspec.Raw = msgspec.Raw(_NULL)
    object: str | None = None


_chunk = msgspec.json.Decoder(_Chunk)


class ChatStreamReader(StreamReader):
    """Chunks of a completion: the tokens come with the last one, after the reason for the end."""

    def __init__(self) -> None:
        super().__init__()
        self._over = self._has_said = False
        self._refusal = bytearray()
        self._end: FinishReason | None = None
        self._usage: Usage | None = None
        self._told: int | None = None

    @property
    def size(self) -> int:
        """How many bytes it takes in memory."""
        return super().size + len(self._refusal)

    def answer(self) -> Answer | None:
        """The whole answer, once the server has said something, and why it ended or that it is done."""
        if not self._has_said or (self._end is None and not self._over):
            return None
        text = self.text
        if self._refusal and not text:
            refusal = self._refusal.decode("utf-8", "surrogatepass")
            return Answer(text=refusal, finish_reason="refused", usage=self._usage, told_micros=self._told)
        return Answer(text=text, finish_reason=self._end or "stop", usage=self._usage, told_micros=self._told)

    def _event(self, data: bytes) -> str:
        if self._over or data == _DONE:
            self._over = True
            return ""
        chunk = event_of(_chunk, data)
        if chunk.object == "error" or has_error(chunk.error):
            raise self.broken_off(data)
        if bytes(chunk.usage) not in _NOTHING:
            self._usage = openai_wire.counted(chunk.usage)
            self._told = openai_wire.told_micros(chunk.usage)
        return self._said(chunk.choices[0]) if chunk.choices and not chunk.choices[0].index else ""

    def _said(self, step: _Step) -> str:
        if has_error(step.error):
            raise self.broken_off(bytes(step.error))
        if step.finish_reason:
            self._end = openai_wire.end_of(step.finish_reason)
        said = step.delta or step.message
        if said is None:
            return ""
        self._has_said = True
        if said.refusal:
            self._refusal += said.refusal.encode("utf-8", "surrogatepass")
        return openai_wire.text_of(said.content)

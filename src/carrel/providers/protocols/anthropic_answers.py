"""Reads an answer of Anthropic's messages API, whole or piece by piece. Pure."""

from typing import Annotated

import msgspec
from msgspec import Meta

from carrel.providers.base import Answer, Citation, FinishReason, Usage
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols import citations
from carrel.providers.protocols.streamed import StreamReader, event_of

_Tokens = Annotated[int, Meta(ge=0, le=1 << 40)]
_NULL = b"null"
_DONE = b"[DONE]"


class _Block(msgspec.Struct, frozen=True):
    """A piece of an answer; those that are neither text nor the tool's input are thoughts."""

    type: str
    text: str | None = ""
    input: msgspec.Raw = msgspec.Raw(b"")
    citations: msgspec.Raw = msgspec.Raw(_NULL)
    content: msgspec.Raw = msgspec.Raw(_NULL)
    """What a search found, or why it failed."""


class _Page(msgspec.Struct, frozen=True):
    url: str | None = None
    title: str | None = None


class _Usage(msgspec.Struct, frozen=True):
    """`input_tokens` holds neither the tokens that were read from the cache nor those that were written to it."""

    input_tokens: _Tokens
    output_tokens: _Tokens
    cache_read_input_tokens: _Tokens | None = None
    cache_creation_input_tokens: _Tokens | None = None


class _Message(msgspec.Struct, frozen=True):
    content: list[_Block] | None
    stop_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _MessageStart(msgspec.Struct, frozen=True):
    """The first event of a stream: it counts all tokens that the model read."""

    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _Delta(msgspec.Struct, frozen=True):
    """The next part of a block or, where the message changes, the reason why it ended."""

    type: str = ""
    text: str | None = ""
    stop_reason: str | None = None


class _Event(msgspec.Struct, frozen=True):
    """Any event. Events of unknown kinds carry nothing that Carrel reads."""

    type: str
    message: _MessageStart | None = None
    content_block: _Block = _Block("")
    delta: _Delta | None = None
    usage: msgspec.Raw = msgspec.Raw(_NULL)


class _Counts(msgspec.Struct, frozen=True):
    """The counts of one event, each the sum up to it. A count that is missing or malformed leaves the former one."""

    input_tokens: _Tokens | None = None
    output_tokens: _Tokens | None = None
    cache_read_input_tokens: _Tokens | None = None
    cache_creation_input_tokens: _Tokens | None = None


_ENDS: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "length",
    "refusal": "refused",
}
"""With every other word the text ended by itself."""

_said = msgspec.json.Decoder(_Message)
_pages = msgspec.json.Decoder(list[_Page])
_usage = msgspec.json.Decoder(_Usage)
_event = msgspec.json.Decoder(_Event)
_counts = msgspec.json.Decoder(_Counts)


def answered(body: bytes) -> Answer | None:
    """Read the body of a 200. The tool's input is the answer if the model called the tool."""
    said = decoded(_said, body)
    if said is None:
        return None
    blocks = said.content or []
    called = next((block for block in blocks if block.type == "tool_use"), None)
    texts = (block.text or "" for block in blocks if block.type == "text")
    text = bytes(called.input).decode() if called is not None else "".join(texts)
    return Answer(
        text=text,
        finish_reason=_ENDS.get((said.stop_reason or "").lower(), "stop"),
        usage=_counted(said.usage),
        citations=_citations(blocks),
    )


def _citations(blocks: list[_Block]) -> tuple[Citation, ...]:
    """The pages that the answer cites, or else those that its searches found."""
    cited = citations.bounded(page for block in blocks if block.type == "text" for page in _named(block.citations))
    return cited or citations.bounded(
        page for block in blocks if block.type == "web_search_tool_result" for page in _named(block.content)
    )


def _named(raw: msgspec.Raw) -> list[tuple[str | None, str | None]]:
    return [(page.url, page.title) for page in decoded(_pages, raw) or ()]


class MessageStreamReader(StreamReader):
    """Events of a message: the first counts the tokens that were read, the last but one those that were written."""

    def __init__(self) -> None:
        super().__init__()
        self._over = False
        self._end: FinishReason | None = None
        self._counted: dict[str, int] = {}

    def answer(self) -> Answer | None:
        """The whole answer, once the server has said why it ended or that it has."""
        if not self._over and self._end is None:
            return None
        raw = msgspec.Raw(msgspec.json.encode(self._counted))
        return Answer(text=self.text, finish_reason=self._end or "stop", usage=_counted(raw))

    def _event(self, data: bytes) -> str:
        if self._over or data == _DONE:
            return ""
        event = event_of(_event, data)
        if event.type == "error":
            raise self.broken_off(data)
        if event.type == "message_stop":
            self._over = True
        elif event.type == "message_start":
            # It counts one token of a text that does not exist yet.
            self._count((event.message or _MessageStart()).usage)
            self._counted.pop("output_tokens", None)
        elif event.type == "message_delta":
            if event.delta is not None and event.delta.stop_reason:
                self._end = _ENDS.get(event.delta.stop_reason.lower(), "stop")
            self._count(event.usage)
        elif event.type == "content_block_start" and event.content_block.type == "text":
            return event.content_block.text or ""
        elif event.type == "content_block_delta" and event.delta is not None and event.delta.type == "text_delta":
            return event.delta.text or ""
        return ""

    def _count(self, raw: msgspec.Raw) -> None:
        counts = decoded(_counts, raw)
        if counts is not None:
            named = msgspec.structs.asdict(counts)
            self._counted |= {name: number for name, number in named.items() if number is not None}


def _counted(raw: msgspec.Raw) -> Usage | None:
    usage = decoded(_usage, raw)
    if usage is None:
        # The answer was paid for and is good; only its tokens are unknown.
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cache_read_input_tokens or 0,
        written_tokens=usage.cache_creation_input_tokens or 0,
    )

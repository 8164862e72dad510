"""Reads an answer of Google's generateContent, whole or piece by piece. Pure."""

from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from carrel.providers.base import Answer, Citation, FinishReason, ProviderError, Usage
from carrel.providers.foreign_json import decoded
from carrel.providers.protocols import citations
from carrel.providers.protocols.streamed import StreamReader, event_of, has_error

_Tokens = Annotated[int, Meta(ge=0, le=1 << 40)]
_NULL = b"null"


class _Piece(msgspec.Struct, frozen=True):
    text: str | None = ""
    thought: bool | None = False


class _Pieces(msgspec.Struct, frozen=True):
    parts: list[_Piece] | None = None


class _Page(msgspec.Struct, frozen=True):
    uri: str | None = None
    title: str | None = None


class _Chunk(msgspec.Struct, frozen=True):
    web: _Page = _Page()


class _Grounding(msgspec.Struct, frozen=True, rename="camel"):
    grounding_chunks: list[_Chunk] = []


class _Candidate(msgspec.Struct, frozen=True, rename="camel"):
    content: _Pieces | None = None
    finish_reason: str | None = None
    grounding_metadata: msgspec.Raw = msgspec.Raw(_NULL)


class _Feedback(msgspec.Struct, frozen=True, rename="camel"):
    block_reason: str | None = None


class _Usage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`prompt_token_count` includes the tokens that came from the cache; thoughts are counted beside the candidates."""

    prompt_token_count: _Tokens
    candidates_token_count: _Tokens = 0
    thoughts_token_count: _Tokens = 0
    cached_content_token_count: _Tokens = 0


class _Reply(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: msgspec.Raw = msgspec.Raw(_NULL)
    error: msgspec.Raw = msgspec.Raw(_NULL)
    """Stands in a stream if the server failed on the way."""


_ENDS: dict[str, FinishReason] = {
    "MAX_TOKENS": "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "LANGUAGE": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
    "MODEL_ARMOR": "refused",
    "IMAGE_SAFETY": "refused",
    "IMAGE_PROHIBITED_CONTENT": "refused",
    "IMAGE_RECITATION": "refused",
}
"""With every other word the text ended by itself."""
_BREAKDOWNS = frozenset(
    {"OTHER", "MALFORMED_RESPONSE", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}
    | {"NO_IMAGE", "IMAGE_OTHER"}
)

_said = msgspec.json.Decoder(_Reply)
_grounding = msgspec.json.Decoder(_Grounding)
_usage = msgspec.json.Decoder(_Usage)


def answered(body: bytes) -> Answer | None:
    """Read the body of a 200.

    Raises:
        ProviderError: `provider-overloaded`, the server says that it failed on the way; `answer-too-large`.
    """
    said = decoded(_said, body)
    if said is None:
        return None
    usage = decoded(_usage, said.usage_metadata)
    if not said.candidates:
        return _answer("", "refused", usage) if _is_blocked(said) else None
    candidate = said.candidates[0]
    if candidate.finish_reason in _BREAKDOWNS:
        raise ProviderError("provider-overloaded", retryable=True)
    answer = _answer(_text(candidate), _ENDS.get(candidate.finish_reason or "", "stop"), usage)
    return replace(answer, citations=_citations(candidate.grounding_metadata))


def _citations(raw: msgspec.Raw) -> tuple[Citation, ...]:
    """The pages that the answer rests on."""
    found = decoded(_grounding, raw) or _Grounding()
    return citations.bounded((chunk.web.uri, chunk.web.title) for chunk in found.grounding_chunks)


class ContentStreamReader(StreamReader):
    """Answers that continue one another. Each counts all tokens up to it, and the last one says why the text ended."""

    def __init__(self) -> None:
        super().__init__()
        self._end: FinishReason | None = None
        self._blocked = False
        self._usage: _Usage | None = None

    def answer(self) -> Answer | None:
        """The whole answer, once the server has said why it ended."""
        if self._blocked and self._end is None:
            return _answer("", "refused", self._usage)
        if self._end is None:
            return None
        return _answer(self.text, self._end, self._usage)

    def _event(self, data: bytes) -> str:
        said = event_of(_said, data)
        if has_error(said.error):
            raise self.broken_off(data)
        if bytes(said.usage_metadata) != _NULL:
            self._usage = decoded(_usage, said.usage_metadata)
        if not said.candidates:
            self._blocked = self._blocked or _is_blocked(said)
            return ""
        candidate = said.candidates[0]
        if candidate.finish_reason in _BREAKDOWNS:
            raise ProviderError("provider-overloaded", retryable=True)
        if candidate.finish_reason:
            self._end = _ENDS.get(candidate.finish_reason, "stop")
        return _text(candidate)


def _is_blocked(said: _Reply) -> bool:
    return said.prompt_feedback is not None and said.prompt_feedback.block_reason is not None


def _text(candidate: _Candidate) -> str:
    parts = (candidate.content or _Pieces()).parts or ()
    return "".join(piece.text or "" for piece in parts if not piece.thought)


def _answer(text: str, finish_reason: FinishReason, usage: _Usage | None) -> Answer:
    return Answer(text=text, finish_reason=finish_reason, usage=_counted(usage, text))


def _counted(usage: _Usage | None, text: str) -> Usage | None:
    """Count the tokens of `text`. The text was paid for and is good also where its tokens are unknown."""
    if usage is None:
        return None
    if text and not usage.candidates_token_count:
        # The server leaves out a count of zero, but a text never takes zero tokens.
        return None
    cached = min(usage.cached_content_token_count, usage.prompt_token_count)
    return Usage(
        input_tokens=usage.prompt_token_count - cached,
        output_tokens=usage.candidates_token_count + usage.thoughts_token_count,
        cached_tokens=cached,
    )

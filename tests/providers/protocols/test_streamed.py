"""Answers that come piece by piece: however the bytes are cut, whatever they hold, and where they break off."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from carrel.providers.base import ProviderError, Usage
from carrel.providers.protocols.anthropic_answers import MessageStreamReader
from carrel.providers.protocols.bedrock_answers import ConverseStreamReader
from carrel.providers.protocols.google_answers import ContentStreamReader
from carrel.providers.protocols.openai_responses import ResponseStreamReader
from carrel.providers.protocols.openai_stream import ChatStreamReader
from carrel.providers.protocols.streamed import StreamReader
from tests.support.streaming_server import (
    PIECES,
    TEXT,
    USAGE,
    anthropic_events,
    google_events,
    openai_events,
    responses_events,
)
from tests.support.strict_bedrock import frame
from tests.support.strict_servers import KEY

Events = Callable[..., Iterator[str]]
PROTOCOLS = pytest.mark.parametrize(
    ("reader", "events"),
    [
        (ChatStreamReader, openai_events),
        (ResponseStreamReader, responses_events),
        (MessageStreamReader, anthropic_events),
        (ContentStreamReader, google_events),
    ],
)


def line(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


@PROTOCOLS
@given(cuts=st.lists(st.integers(1, 400), min_size=1, max_size=30))
@hypothesis_settings(max_examples=25)
def test_the_pieces_are_the_text_however_the_bytes_are_cut(
    reader: type[StreamReader], events: Events, cuts: list[int]
) -> None:
    left, streamed, said = "".join(events(PIECES)).encode(), reader(), ""
    for cut in cuts:
        said += streamed.feed(left[:cut])
        left = left[cut:]
    said += streamed.feed(left)
    answer = streamed.answer()
    assert answer is not None
    assert said == answer.text == TEXT
    assert answer.finish_reason == "stop"
    assert answer.usage is not None
    assert asdict(answer.usage) == USAGE


@PROTOCOLS
def test_what_breaks_off_before_its_end_is_no_answer(reader: type[StreamReader], events: Events) -> None:
    streamed = reader()
    assert streamed.feed("".join(events(PIECES, ended=False)).encode()) == TEXT
    assert streamed.answer() is None
    assert reader().answer() is None


@PROTOCOLS
def test_a_server_that_breaks_down_on_the_way_says_so_and_is_not_repeated(
    reader: type[StreamReader], events: Events
) -> None:
    with pytest.raises(ProviderError) as caught:
        reader().feed("".join(events(PIECES, ended=False, failed=True)).encode())
    assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == ("provider-overloaded", True, False)
    assert KEY not in repr(caught.value)


@PROTOCOLS
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"type": "rate_limit_error", "message": "Slow down"}, "rate-limited"),
        ({"code": 429, "status": "RESOURCE_EXHAUSTED"}, "rate-limited"),
        ({"code": "insufficient_quota", "message": "No money"}, "provider-no-credit"),
        ("whatever it was", "provider-overloaded"),
    ],
)
def test_an_error_on_the_way_keeps_its_kind_and_is_free_only_before_the_first_word(
    reader: type[StreamReader], events: Events, said: object, code: str
) -> None:
    streamed = reader()
    streamed.feed("".join(events(PIECES, ended=False)).encode())
    with pytest.raises(ProviderError) as caught:
        streamed.feed(line({"type": "error", "error": said}))
    assert (caught.value.code, caught.value.unbilled) == (code, False)
    with pytest.raises(ProviderError) as caught:
        reader().feed(line({"type": "error", "error": said}))
    assert (caught.value.code, caught.value.unbilled) == (code, code != "provider-overloaded")


@PROTOCOLS
@given(data=st.binary(max_size=200), wrapped=st.booleans())
@hypothesis_settings(max_examples=50)
def test_no_bytes_do_harm(reader: type[StreamReader], events: Events, data: bytes, wrapped: bool) -> None:
    with suppress(ProviderError):
        reader().feed(b"data: " + data + b"\n\n" if wrapped else data)


@PROTOCOLS
def test_a_line_without_end_is_given_up(reader: type[StreamReader], events: Events) -> None:
    streamed = reader()
    for _ in range(9):
        streamed.feed(b"x" * 100_000)
    with pytest.raises(ProviderError, match="answer-too-large"):
        streamed.feed(b"x" * 200_000)


def test_a_refusal_of_openais_is_a_refused_answer() -> None:
    streamed = ChatStreamReader()
    assert streamed.feed(line({"choices": [{"delta": {"refusal": "I will not."}}]})) == ""
    streamed.feed(line({"choices": [{"delta": {}, "finish_reason": "stop"}]}))
    answer = streamed.answer()
    assert answer is not None
    assert (answer.text, answer.finish_reason, answer.usage) == ("I will not.", "refused", None)


def test_a_text_that_google_blocks_is_a_refused_answer() -> None:
    streamed = ContentStreamReader()
    streamed.feed(line({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}))
    answer = streamed.answer()
    assert answer is not None
    assert (answer.text, answer.finish_reason) == ("", "refused")
    assert answer.usage is not None
    assert answer.usage.input_tokens == 9


@pytest.mark.parametrize(("word", "finish"), [("max_tokens", "length"), ("refusal", "refused"), ("end_turn", "stop")])
def test_anthropics_end_says_why(word: str, finish: str) -> None:
    streamed = MessageStreamReader()
    streamed.feed(line({"type": "message_start", "message": {"usage": "strange"}}))
    assert streamed.answer() is None
    streamed.feed(line({"type": "message_delta", "delta": {"stop_reason": word}, "usage": {"output_tokens": 3}}))
    streamed.feed(line({"type": "message_stop"}))
    answer = streamed.answer()
    assert answer is not None
    # What was read is not known, so nothing is: a guess would be billed.
    assert (answer.finish_reason, answer.usage) == (finish, None)


def frames(ended: bool = True) -> bytes:
    pieces = [frame("contentBlockDelta", {"delta": {"text": piece}}) for piece in PIECES]
    thought = frame("contentBlockDelta", {"delta": {"reasoningContent": {"text": "Hm."}}})
    last = frame("messageStop", {"stopReason": "max_tokens"}) + frame("metadata", {"usage": COUNTED})
    return frame("messageStart", {"role": "assistant"}) + thought + b"".join(pieces) + (last if ended else b"")


COUNTED = {"inputTokens": 7, "outputTokens": 9, "totalTokens": 21, "cacheReadInputTokens": 5}


@given(cuts=st.lists(st.integers(1, 90), min_size=1, max_size=30))
@hypothesis_settings(max_examples=25)
def test_frames_are_read_however_they_are_cut(cuts: list[int]) -> None:
    left, streamed, said = frames(), ConverseStreamReader(), ""
    for cut in cuts:
        said += streamed.feed(left[:cut])
        left = left[cut:]
    said += streamed.feed(left) + streamed.finish()
    answer = streamed.answer()
    assert answer is not None
    assert (said, answer.text, answer.finish_reason) == (TEXT, TEXT, "length")
    assert answer.usage == Usage(input_tokens=7, output_tokens=9, cached_tokens=5)
    streamed = ConverseStreamReader()
    streamed.feed(frames(ended=False))
    assert streamed.answer() is None


@pytest.mark.parametrize(
    ("kind", "code", "retryable"),
    [
        ("throttlingException", "rate-limited", True),
        ("validationException", "request-refused", False),
        ("modelStreamErrorException", "provider-overloaded", True),
        ("serviceUnavailableException", "provider-overloaded", True),
    ],
)
def test_an_exception_among_frames_is_an_error(kind: str, code: str, retryable: bool) -> None:
    failed = frame(kind, {"message": "Their sentence."}, "exception")
    for before in (b"", frames(ended=False)):
        with pytest.raises(ProviderError) as caught:
            ConverseStreamReader().feed(before + failed)
        assert (caught.value.code, caught.value.retryable, caught.value.said) == (code, retryable, "Their sentence.")
        assert not (before and caught.value.unbilled)


@pytest.mark.parametrize("place", [0, 5, 9, 20, -1])
def test_a_frame_that_was_changed_on_the_way_is_malformed(place: int) -> None:
    broken = bytearray(frame("contentBlockDelta", {"delta": {"text": "Hello"}}))
    broken[place] ^= 0x40
    # The first byte is what a frame is known by.
    with pytest.raises(ProviderError, match="provider-malformed"):
        ConverseStreamReader().feed(frames(ended=False) + bytes(broken))

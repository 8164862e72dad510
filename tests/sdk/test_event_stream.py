"""Event streams: the format to the byte, and going on where a stream broke."""

from itertools import pairwise

import httpx
import pytest
from carrel_sdk.calls import Calls
from carrel_sdk.errors import CarrelUnreachable, Conflict, SessionEnded
from carrel_sdk.event_stream import EventParser, ServerEvent, follow
from carrel_sdk.run_events import AnswerPart
from carrel_sdk.runs import Runs
from carrel_sdk.transport import Transport
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.wire import Step, Wire, problem

STREAM = (
    "\ufeff: ping\n\n"
    'id: 7\nevent: log\ndata: {"a": "line\u2028separator"}\n\n'
    "data: one\r\ndata:two\r\n\r\n"
    "event: only a name\r\r"
    "retry: 5\nid: 8\rdata\n\ndata: never ended"
).encode()
EVENTS = [
    ServerEvent("7", "log", '{"a": "line\u2028separator"}'),
    ServerEvent("7", "message", "one\ntwo"),
    ServerEvent("8", "message", ""),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
@settings(max_examples=60)
def test_any_cut_of_the_bytes_gives_the_same_events(cuts: list[int]) -> None:
    parser = EventParser()
    places = [0, *sorted(cuts), len(STREAM)]
    chunks = [STREAM[start:end] for start, end in pairwise(places)]
    assert [event for chunk in chunks for event in parser.feed(chunk)] == EVENTS


def test_an_endless_line_is_refused() -> None:
    parser = EventParser()
    parser.feed(b"x" * 4_000_000)
    with pytest.raises(ValueError, match="too long"):
        parser.feed(b"x" * 1_000_000)


def stream_of(*events: tuple[str, str]) -> httpx.Response:
    return httpx.Response(200, text="".join(f"id: {number}\nevent: {kind}\ndata: {{}}\n\n" for number, kind in events))


def followed(wire: Wire, token_source: object = "t") -> list[str]:
    calls = Calls(Transport("http://127.0.0.1:1", http=wire), token_source)  # type: ignore[arg-type]
    return [event.id for event in follow(calls, "/e", "", lambda event: event.kind == "end", sleep=lambda _: None)]


def test_a_broken_stream_goes_on_after_the_last_event_it_gave() -> None:
    wire = Wire(
        stream_of(("1", "log"), ("2", "log")),
        httpx.ConnectError("refused"),
        stream_of(("3", "log"), ("4", "end")),
    )
    assert followed(wire) == ["1", "2", "3", "4"]
    assert [request.headers.get("last-event-id") for request in wire.requests] == [None, "2", "2"]


def test_a_stream_that_always_breaks_is_given_up() -> None:
    with pytest.raises(CarrelUnreachable):
        followed(Wire(stream_of()))
    with pytest.raises(CarrelUnreachable):
        followed(Wire(httpx.ReadError("broken")))


@pytest.mark.parametrize(
    "sign", [stream_of(("1", "log"), ("1", "reauthenticate")), problem(401, "session-token-expired")]
)
def test_an_ended_token_is_fetched_anew(sign: Step) -> None:
    tokens = iter(["first", "second"])
    wire = Wire(sign, stream_of(("9", "end")))
    assert followed(wire, lambda: next(tokens))[-1] == "9"
    assert [request.headers["x-svc-session-token"] for request in wire.requests] == ["first", "second"]


def test_an_ended_token_without_another_ends_the_events() -> None:
    with pytest.raises(SessionEnded):
        followed(Wire(stream_of(("1", "reauthenticate")), problem(401, "session-token-expired")))
    with pytest.raises(SessionEnded):
        followed(Wire(problem(401, "session-token-expired")))


def test_a_stream_that_ends_while_the_token_is_still_good_goes_on_with_it() -> None:
    wire = Wire(stream_of(("1", "log"), ("1", "reauthenticate")), stream_of(("2", "end")))
    assert followed(wire) == ["1", "2"]
    assert [request.headers["x-svc-session-token"] for request in wire.requests] == ["t", "t"]


def test_a_token_that_is_refused_again_and_again_is_not_fetched_for_ever() -> None:
    with pytest.raises(SessionEnded):
        followed(Wire(problem(401, "session-token-expired")), lambda: "t")


def test_a_refusal_is_told() -> None:
    with pytest.raises(Conflict):
        followed(Wire(problem(409, "run-state")))


def test_parts_of_answers_come_if_they_are_asked_for() -> None:
    said = '{"task_key":"g1","candidate":"mini","document":"A","after":"nothing","text":"Dear"}'
    texts = httpx.Response(200, text=f"event: text\ndata: {said}\n\nid: 4\nevent: end\ndata: {{}}\n\n")
    wire = Wire(texts, stream_of(("4", "end")))
    runs = Runs(Calls(Transport("http://127.0.0.1:1", http=wire), "t"))
    first, last = runs.events("r", texts=True)
    assert first.part == AnswerPart("g1", "mini", "A", "nothing", "Dear")
    assert (last.kind, last.part) == ("end", None)
    list(runs.events("r"))
    assert [request.url.query for request in wire.requests] == [b"texts=true", b""]

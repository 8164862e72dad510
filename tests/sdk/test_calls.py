"""A user's calls over a bad network: what is sent again, when the token is fetched anew, how pages are turned."""

from collections.abc import Callable

import httpx
import msgspec
import pytest
from carrel_sdk.calls import Calls
from carrel_sdk.errors import (
    CarrelApiError,
    CarrelUnreachable,
    Conflict,
    NotFound,
    SessionEnded,
    TryLater,
    VersionMismatch,
)
from carrel_sdk.transport import Transport

from tests.support.wire import Step, Wire, page, problem


class Thing(msgspec.Struct):
    """Something that can be changed."""

    name: str
    etag: str = ""


THING = httpx.Response(200, json={"name": "n", "unknown": [1]}, headers={"etag": '"3.json"'})


def calls_over(wire: Wire, token_source: str | Callable[[], str] = "t", waits: list[float] | None = None) -> Calls:
    slept = waits if waits is not None else []
    return Calls(Transport("http://127.0.0.1:1", http=wire, sleep=slept.append), token_source)


def test_an_answer_becomes_its_struct_with_its_etag_and_without_unknown_fields() -> None:
    thing = calls_over(Wire(THING)).get("/things/1", Thing)
    assert (thing.name, thing.etag) == ("n", '"3.json"')


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"name": 1}', b'{"name": "\xff"}', b"[]"])
def test_an_answer_of_another_shape_is_an_error_that_does_not_repeat_it(body: bytes) -> None:
    with pytest.raises(CarrelApiError) as caught:
        calls_over(Wire(httpx.Response(200, content=body))).get("/things/1", Thing)
    assert caught.value.code == "unexpected-answer"
    assert "html" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "body", "sent"),
    [
        (502, b"<h1>Bad gateway</h1>", True),
        (504, b"", True),
        (502, b'{"code": "service-lost"}', True),
        (504, b'{"code": "node-silent"}', True),
        (503, b'{"code": "service-unreachable"}', False),
    ],
)
def test_what_a_proxy_says_in_the_services_place_is_no_answer(status: int, body: bytes, sent: bool) -> None:
    with pytest.raises(CarrelUnreachable) as caught:
        calls_over(Wire(httpx.Response(status, content=body))).post("/things", Thing)
    assert caught.value.sent is sent


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "session-token-invalid", SessionEnded),
        (401, "key-not-cached", SessionEnded),
        (404, "not-found", NotFound),
        (409, "content-in-use", Conflict),
        (412, "version-mismatch", VersionMismatch),
        (400, "invalid-input", CarrelApiError),
        (507, "storage-full", CarrelApiError),
    ],
)
def test_each_refusal_has_its_class_and_keeps_what_the_service_said(status: int, code: str, kind: type) -> None:
    body = {"code": code, "detail": "No.", "request_id": "r-9", "errors": [{"path": "a.b", "message": "must be"}]}
    wire = Wire(httpx.Response(status, json=body))
    with pytest.raises(CarrelApiError) as caught:
        calls_over(wire).post("/things", Thing, {})
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.detail, error.request_id) == (status, code, "No.", "r-9")
    assert error.errors == (("a.b", "must be"),)
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    "hiccup", [httpx.ConnectError("x"), httpx.ReadTimeout("x"), problem(503, "busy"), problem(429, "too-many")]
)
def test_reading_is_tried_again_a_few_times(hiccup: Step) -> None:
    assert calls_over(Wire(hiccup, hiccup, THING)).get("/things/1", Thing).name == "n"
    wire = Wire(hiccup)
    with pytest.raises((CarrelUnreachable, TryLater)):
        calls_over(wire).get("/things/1", Thing)
    assert len(wire.requests) == 3


def test_how_often_and_how_long_is_told() -> None:
    wire, waits = Wire(problem(503, "busy")), list[float]()
    often = Calls(Transport("http://127.0.0.1:1", http=wire, sleep=waits.append, max_retries=4), "t")
    with pytest.raises(TryLater):
        often.get("/things/1", Thing)
    assert len(wire.requests) == 5
    assert waits == [0.2, 0.8, 3.2, 10]

    wire = Wire(problem(503, "busy"))
    once = Calls(Transport("http://127.0.0.1:1", http=wire, read_seconds=2.0, max_retries=0), "t")
    with pytest.raises(TryLater):
        once.get("/things/1", Thing)
    assert len(wire.requests) == 1
    assert wire.requests[0].extensions["timeout"] == {"connect": 2.0, "read": 2.0, "write": 2.0, "pool": 2.0}
    for wrong in ({"read_seconds": 0.0}, {"max_retries": -1}):
        with pytest.raises(ValueError, match="timeout must be"):
            Transport("http://127.0.0.1:1", **wrong)


def test_an_unreachable_service_has_the_cause_that_the_system_told_and_no_more() -> None:
    refused = httpx.ConnectError("All connection attempts failed")
    refused.__cause__ = ConnectionRefusedError(111, "Connection refused")
    with pytest.raises(CarrelUnreachable) as caught:
        calls_over(Wire(refused)).get("/things/1", Thing)
    assert caught.value.cause == "Connection refused"
    assert str(caught.value) == "the service could not be reached (Connection refused)"

    # The HTTP client's own text may repeat a header.
    with pytest.raises(CarrelUnreachable) as caught:
        calls_over(Wire(httpx.LocalProtocolError("Illegal header value b'sesame'"))).get("/things/1", Thing)
    assert caught.value.cause == "LocalProtocolError"
    assert "sesame" not in str(caught.value)


def test_retry_after_is_heeded_up_to_ten_seconds() -> None:
    waits: list[float] = []
    busy = [problem(503, "busy", headers={"retry-after": after}) for after in ("3", "9999")]
    calls_over(Wire(*busy, THING), waits=waits).get("/things/1", Thing)
    assert waits == [3, 10]
    with pytest.raises(TryLater) as caught:
        calls_over(Wire(problem(503, "busy", headers={"retry-after": "7"}))).put("/things/1", Thing, {})
    assert caught.value.retry_after_seconds == 7


@pytest.mark.parametrize(
    "send",
    [
        lambda calls: calls.post("/things", Thing, {}),
        lambda calls: calls.put("/things/1", Thing, {}),
        lambda calls: calls.delete("/things/1"),
    ],
)
def test_writing_without_a_key_is_sent_once(send: Callable[[Calls], object]) -> None:
    wire = Wire(httpx.ReadTimeout("x"))
    with pytest.raises(CarrelUnreachable):
        send(calls_over(wire))
    assert len(wire.requests) == 1


def test_writing_once_is_tried_again_under_one_key_while_the_first_is_at_work() -> None:
    wire = Wire(httpx.ReadTimeout("x"), problem(409, "idempotency-in-progress"), THING)
    calls_over(wire).post_once("/things", Thing, {"name": "n"})
    keys = {request.headers["idempotency-key"] for request in wire.requests}
    assert len(wire.requests) == 3
    assert len(keys) == 1
    assert len(keys.pop()) >= 24


def test_somebody_elses_request_under_the_same_key_is_told_at_once() -> None:
    wire = Wire(problem(409, "idempotency-in-progress"))
    with pytest.raises(Conflict):
        calls_over(wire).post_once("/things", Thing, {}, key="mine")
    assert len(wire.requests) == 1


@pytest.mark.parametrize("code", ["session-token-expired", "session-token-revoked"])
def test_an_ended_token_is_fetched_anew_once_and_the_request_repeated(code: str) -> None:
    tokens = iter(["first", "second", "third"])
    wire = Wire(problem(401, code), THING)
    calls = calls_over(wire, lambda: next(tokens))
    calls.post("/things", Thing, {})
    calls.get("/things/1", Thing)
    assert [request.headers["x-svc-session-token"] for request in wire.requests] == ["first", "second", "second"]

    wire = Wire(problem(401, code))
    with pytest.raises(SessionEnded):
        calls_over(wire, lambda: "t").get("/things/1", Thing)
    assert len(wire.requests) == 2


@pytest.mark.parametrize("code", ["key-not-cached", "session-token-invalid"])
def test_what_another_token_cannot_mend_is_told_at_once(code: str) -> None:
    wire = Wire(problem(401, code))
    with pytest.raises(SessionEnded):
        calls_over(wire, lambda: "t").get("/things/1", Thing)
    assert len(wire.requests) == 1


@pytest.mark.parametrize("token", ["", "two words", "line\n", "umlaut-ä"])
def test_a_token_that_cannot_be_one_is_not_sent_and_not_shown(token: str) -> None:
    wire = Wire(THING)
    with pytest.raises(ValueError, match="visible ASCII") as caught:
        calls_over(wire, token).get("/things/1", Thing)
    assert not wire.requests
    assert token == "" or token not in str(caught.value)


def test_pages_are_turned_as_they_are_iterated() -> None:
    wire = Wire(page([{"name": "1"}, {"name": "2"}], "next"), page([{"name": "3"}]))
    things = calls_over(wire).each("/things", Thing, {"tag": "a&b", "q": None, "flag": True})
    assert next(things).name == "1"
    assert len(wire.requests) == 1
    assert [thing.name for thing in things] == ["2", "3"]
    queries = [dict(request.url.params) for request in wire.requests]
    assert queries == [{"tag": "a&b", "flag": "true"}, {"tag": "a&b", "flag": "true", "cursor": "next"}]


def test_conditions_and_bodies_go_out_as_they_are_meant() -> None:
    wire = Wire(THING)
    calls_over(wire).put("/things/1", Thing, {"name": "ü"}, if_match='"3.json"')
    assert wire.requests[0].headers["if-match"] == '"3.json"'
    assert wire.requests[0].headers["content-type"] == "application/json"
    assert msgspec.json.decode(wire.requests[0].content) == {"name": "ü"}

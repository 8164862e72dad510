"""An answer piece by piece in Python: the whole at the end, errors as everywhere, also in the middle."""

import httpx
import pytest
from carrel_sdk import CarrelUnreachable, Conflict, SessionEnded, TryLater, Workspace

from tests.support.wire import Wire, problem

ANSWER = (
    '{"id": "c-1", "model": "local:lead", "text": "Forty ships.", "finish_reason": "stop",'
    ' "usage": {"input_tokens": 3, "output_tokens": 2}, "cost": "0", "latency_ms": 4}'
)
PIECES = 'event: piece\ndata: {"text": "Forty "}\n\n: ping\n\nevent: piece\ndata: {"text": "ships."}\n\n'
END = f"event: end\ndata: {ANSWER}\n\n"


def streams(text: str) -> httpx.Response:
    return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=text.encode())


def test_the_pieces_come_and_then_there_is_the_answer() -> None:
    wire = Wire(streams(PIECES + END))
    with Workspace("http://127.0.0.1:1", "t", http=wire) as workspace:
        pieces = workspace.single.stream("local:lead", "What came?", parameters={"temperature": 0})
        before = pieces.answer
        assert list(pieces) == ["Forty ", "ships."]
    assert before is None
    assert pieces.answer is not None
    assert (pieces.answer.text, pieces.answer.cost) == ("Forty ships.", "0")
    (request,) = wire.requests
    assert (request.method, request.headers["accept"], wire.paths) == ("POST", "text/event-stream", ["/generation"])


def test_an_error_in_the_middle_is_the_same_as_one_before_the_beginning() -> None:
    failed = (
        '{"type": "x", "title": "x", "status": 503, "detail": "No.", "code": "model-call-failed", "request_id": "r-1",'
        ' "errors": [{"path": "model", "message": "the call ended with provider-timeout"}]}'
    )
    broken = streams(PIECES + f"event: error\ndata: {failed}\n\n")
    with Workspace("http://127.0.0.1:1", "t", http=Wire(problem(409, "model-call-refused"), broken)) as workspace:
        with pytest.raises(Conflict):
            next(workspace.single.stream("openai:x", "What came?"))
        pieces = workspace.single.stream("openai:x", "What came?")
        assert [next(pieces), next(pieces)] == ["Forty ", "ships."]
        with pytest.raises(TryLater) as caught:
            next(pieces)
    assert (caught.value.code, caught.value.errors[0].path, pieces.answer) == ("model-call-failed", "model", None)


def test_a_stream_that_ends_without_its_end_is_not_taken_for_an_answer_nor_asked_for_again() -> None:
    wire = Wire(streams(PIECES))
    with Workspace("http://127.0.0.1:1", "t", http=wire) as workspace:
        pieces = workspace.single.stream("openai:x", "What came?")
        with pytest.raises(CarrelUnreachable):
            list(pieces)
    assert len(wire.requests) == 1


def test_a_token_that_has_ended_is_renewed_before_the_call_and_never_after_a_piece() -> None:
    tokens = iter(["old", "new"])
    wire = Wire(problem(401, "session-token-expired"), streams(PIECES + END))
    with Workspace("http://127.0.0.1:1", lambda: next(tokens), http=wire) as workspace:
        assert "".join(workspace.single.stream("local:lead", "What came?")) == "Forty ships."
    assert [request.headers["x-svc-session-token"] for request in wire.requests] == ["old", "new"]
    with (
        Workspace("http://127.0.0.1:1", "t", http=Wire(problem(401, "session-token-expired"))) as workspace,
        pytest.raises(SessionEnded),
    ):
        next(workspace.single.stream("local:lead", "What came?"))


def test_a_whole_answer_is_waited_for_as_long_as_the_model_may_take() -> None:
    wire = Wire(httpx.Response(200, content=ANSWER.encode()))
    with Workspace("http://127.0.0.1:1", "t", http=wire) as workspace:
        assert workspace.single.generate("local:lead", "What came?", timeout_seconds=600).text == "Forty ships."
    assert wire.requests[0].extensions["timeout"]["read"] > 600

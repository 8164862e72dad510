"""What a program that only waits relies on: address and token from the environment, and the end of a run."""

import httpx
import msgspec
import pytest
from carrel_sdk import WaitTimeout, Workspace
from carrel_sdk.environment import address, token

from tests.support.wire import Wire


def run_in(state: str, pause_reason: str | None = None) -> httpx.Response:
    run = {"id": "r1", "name": "n", "state": state, "round": 1, "created_at": "", "pause_reason": pause_reason}
    rest = {"progress": {"total": 1, "percent": 0}, "spend": {"cost": "0"}}
    configuration = {"configuration": {"inputs": [], "generation": {"candidates": []}}}
    return httpx.Response(200, content=msgspec.json.encode(run | rest | configuration))


class Time:
    """A clock that moves by what is slept."""

    now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def clock(self) -> float:
        return self.now


@pytest.mark.parametrize(("state", "reason"), [("completed", None), ("failed", None), ("paused", "credits")])
def test_waiting_ends_with_the_run_or_with_its_pause(state: str, reason: str | None) -> None:
    wire, time = Wire(run_in("running"), run_in("running"), run_in(state, reason)), Time()
    run = Workspace("http://127.0.0.1:1", "t", http=wire).runs.wait("r1", sleep=time.sleep, clock=time.clock)
    assert (run.state, run.pause_reason) == (state, reason)
    assert len(wire.requests) == 3


def test_waiting_ends_when_its_time_is_over() -> None:
    wire, time = Wire(run_in("running")), Time()
    workspace = Workspace("http://127.0.0.1:1", "t", http=wire)
    with pytest.raises(WaitTimeout) as caught:
        workspace.runs.wait("r1", timeout=60, sleep=time.sleep, clock=time.clock)
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.run_id == "r1"
    assert time.now == 60
    assert len(wire.requests) < 45


def test_address_and_token_come_from_the_environment_where_they_are_not_given() -> None:
    environ = {"CARREL_URL": "https://carrel.example/api/", "CARREL_PROGRAM_KEY": "carrel_pk_1\n"}
    assert (address(environ), token(environ)) == ("https://carrel.example", "carrel_pk_1")
    assert token(environ | {"CARREL_TOKEN": "t"}) == "t"
    with pytest.raises(ValueError, match="CARREL_URL"):
        address({"CARREL_URL": " "})
    with pytest.raises(ValueError, match="CARREL_TOKEN"):
        token({"CARREL_PROGRAM_KEY": " "})


def test_a_workspace_without_arguments_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("CARREL_TOKEN", "from-the-environment")
    wire = Wire(run_in("completed"))
    Workspace(http=wire).runs.get("r1")
    Workspace("http://127.0.0.1:2", "given", http=wire).runs.get("r1")
    assert [request.headers["x-svc-session-token"] for request in wire.requests] == ["from-the-environment", "given"]
    assert [request.url.port for request in wire.requests] == [1, 2]

"""The asynchronous client: the same as the synchronous one, but for what waits."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import get_type_hints
from uuid import uuid4

import httpx
import pytest
from carrel_sdk import AsyncWorkspace, CarrelUnreachable, Host, TryLater, WaitTimeout, Workspace
from carrel_sdk.aio.calls import AsyncCalls
from carrel_sdk.aio.runs import AsyncRuns
from carrel_sdk.aio.transport import AsyncTransport
from carrel_sdk.calls import Calls
from carrel_sdk.models import Candidate, Comparison, Configuration, Generation, Judge, RunCount

from tests.support.service import Service
from tests.support.wire import Wire, problem

ROOT = Path(__file__).parents[2]
COUNT = httpx.Response(200, json={"total": 3, "by_state": {}})
TEXT = "The harbour was opened in 1901. Its keeper wrote every morning. Ships came from the valley. "


def groups(workspace: Workspace | AsyncWorkspace) -> dict[str, object]:
    return {"": workspace} | {name: value for name, value in vars(workspace).items() if not name.startswith("_")}


async def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    here, there = Workspace("http://127.0.0.1:1", "t"), AsyncWorkspace("http://127.0.0.1:1", "t")
    assert groups(here).keys() == groups(there).keys()
    for name, group in groups(here).items():
        other = groups(there)[name]
        for method in (method for method in dir(group) if not method.startswith("_")):
            if not callable(getattr(group, method)):
                continue
            ours, theirs = (inspect.signature(getattr(side, method)) for side in (group, other))
            assert list(ours.parameters) == list(theirs.parameters), (name, method)
            promised = get_type_hints(getattr(group, method))["return"]
            found = get_type_hints(getattr(other, method))["return"]
            if getattr(promised, "__origin__", None) is Iterator:
                assert found.__origin__ is AsyncIterator, (name, method)
            elif not inspect.isclass(promised) or not issubclass(promised, Iterator):
                assert inspect.iscoroutinefunction(getattr(other, method)), (name, method)
                assert found == promised, (name, method)
    here.close()
    await there.close()


async def test_retries_and_renewed_tokens_are_those_of_the_synchronous_client() -> None:
    tokens, waits = iter(["first", "second"]), list[float]()

    async def token() -> str:
        return next(tokens)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    wire = Wire(problem(503, "busy"), httpx.ReadTimeout("x"), problem(401, "session-token-expired"), COUNT)
    transport = AsyncTransport("http://127.0.0.1:1", http=wire, sleep=sleep)
    assert (await AsyncRuns(AsyncCalls(transport, token)).count()).total == 3
    await transport.close()
    assert waits == [0.2, 0.8]
    sent = [request.headers["x-svc-session-token"] for request in wire.requests]
    assert sent == ["first", "first", "first", "second"]


@pytest.mark.parametrize("max_retries", [0, 1])
async def test_limits_are_those_of_the_caller(max_retries: int) -> None:
    wire = Wire(problem(503, "busy"))

    async def sleep(_: float) -> None:
        pass

    transport = AsyncTransport("http://127.0.0.1:1", http=wire, max_retries=max_retries, sleep=sleep)
    with pytest.raises(TryLater):
        await AsyncCalls(transport, "t").get("/runs/count", RunCount)
    await transport.close()
    assert len(wire.requests) == max_retries + 1


async def test_nobody_listens_and_the_cause_is_told() -> None:
    async with AsyncWorkspace("http://127.0.0.1:9", "t", max_retries=0) as workspace:
        with pytest.raises(CarrelUnreachable) as caught:
            await workspace.me()
    assert not caught.value.sent
    with pytest.raises(CarrelUnreachable) as here:
        Workspace("http://127.0.0.1:9", "t", max_retries=0).me()
    assert caught.value.cause == here.value.cause != ""


async def test_a_run_is_made_followed_and_read_from_an_event_loop(service: Service) -> None:
    host, uuid = Host(service.url, service.plugin_secret), f"async-{uuid4()}"
    token = host.sign_up(uuid, membership="paid", password="pw").token
    host.close()

    async with AsyncWorkspace(service.url, token) as workspace:
        made = await asyncio.gather(
            *(workspace.contents.create(f"Text {number}", "input_document", TEXT * 4) for number in range(2))
        )
        prompt = await workspace.contents.create("Prompt", "generation_instructions", "Summarise.")
        configuration = Configuration(
            inputs=[content.id for content in made],
            instructions=prompt.id,
            generation=Generation(candidates=[Candidate(model="local:lead"), Candidate(model="local:random")]),
            comparison=Comparison(judges=[Judge(model="local:reader")]),
        )
        run = await workspace.runs.create(configuration=configuration)
        with pytest.raises(WaitTimeout):
            await workspace.runs.wait(run.id, timeout=0)
        await workspace.runs.start(run.id)
        kinds = [event.kind async for event in workspace.runs.events(run.id)]
        assert kinds[-1] == "end"
        ended = await workspace.runs.wait(run.id, timeout=30)
        assert ended.state == "completed"
        assert (await workspace.runs.ranking(run.id)).verdict.sentence
        assert [found.id async for found in workspace.runs.find()] == [run.id]
        assert (await workspace.runs.report_json(run.id)).startswith(b"{")


def test_the_asynchronous_calls_are_no_copy_of_what_needs_no_network() -> None:
    """Rules of retrying, models and requests are imported, and only what waits is written a second time."""
    written = "".join(path.read_text("utf-8") for path in (ROOT / "sdk/src/carrel_sdk/aio").glob("*.py"))
    assert "msgspec.Struct" not in written
    assert "Retry" not in written
    assert {name for name in vars(Calls) if not name.startswith("__")} == {
        name for name in vars(AsyncCalls) if not name.startswith("__")
    }

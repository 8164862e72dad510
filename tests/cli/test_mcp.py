"""`carrel mcp`, driven by the protocol's own client: from a preset to a verdict, and no further than allowed."""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from carrel_sdk import Host, Workspace
from carrel_sdk.models import Candidate, Comparison, Generation, Judge, Preset, PresetDraft

from tests.support.service import Service

if TYPE_CHECKING:
    from mcp import Client

READING = {
    "list_presets",
    "estimate_preset",
    "list_runs",
    "get_run",
    "wait_for_run",
    "read_verdict",
    "read_answers",
}
LABELS = ["lead", "random"]
SPENDING = {"start_run", "cancel_run"}
CARREL = str(Path(sys.executable).with_name("carrel"))
TEXTS = [
    f"The {topic} was opened in 1901. Its keeper wrote every morning. Ships came from the valley. Trade grew."
    for topic in ("harbour", "orchard", "library")
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Preset, dict[str, str]]]:
    """A preset, and the environment of a program with a key for it."""
    service = Service(tmp_path_factory.mktemp("service"))
    service.start()
    host = Host(service.url, service.plugin_secret)
    token = host.sign_up(f"assistant-{uuid4()}", membership="paid", password="pw").token
    host.close()
    with Workspace(service.url, token) as workspace:
        preset = workspace.presets.create(
            PresetDraft(
                name="Which summary?",
                inputs=[workspace.contents.create(text[:12], "input_document", text).id for text in TEXTS],
                instructions=workspace.contents.create("Prompt", "generation_instructions", "Summarise.").id,
                generation=Generation(candidates=[Candidate(label=name, model=f"local:{name}") for name in LABELS]),
                comparison=Comparison(judges=[Judge(model="local:reader")]),
            )
        )
        key = workspace.program_keys.create("assistant", "read", "run").program_key
    yield preset, {"PATH": os.environ["PATH"], "CARREL_URL": service.url, "CARREL_PROGRAM_KEY": key}
    assert service.stop() == 0


@asynccontextmanager
async def assistant(env: dict[str, str], *options: str) -> "AsyncIterator[Client]":
    # Half a second, of the worker that comes here and not of all of them.
    from mcp import Client, StdioServerParameters

    async with Client(StdioServerParameters(command=CARREL, args=["mcp", *options], env=env)) as client:
        yield client


async def told(client: "Client", tool: str, **arguments: object) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def test_an_assistant_drives_a_run_from_its_start_to_its_verdict(
    workspace: tuple[Preset, dict[str, str]],
) -> None:
    preset, env = workspace
    async with assistant(env, "--allow-runs") as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING | SPENDING
        presets = (await told(client, "list_presets"))["presets"]
        assert [(found["id"], found["name"]) for found in presets] == [(preset.id, "Which summary?")]
        assert (await told(client, "estimate_preset", preset_id=preset.id))["documents"] == 3

        run = await told(client, "start_run", preset_id=preset.id, name="Asked for")
        ended = await told(client, "wait_for_run", run_id=run["id"], timeout_seconds=60)
        assert (ended["state"], ended["name"]) == ("completed", "Asked for")
        verdict = await told(client, "read_verdict", run_id=run["id"])
        assert verdict["verdict"]["sentence"] in ended["verdict"]
        assert verdict["verdict"]["scope"]
        assert {row["candidate"] for row in verdict["rows"]} == {"lead", "random"}

        answers = (await told(client, "read_answers", run_id=run["id"], document=1))["answers"]
        assert {answer["document"] for answer in answers} == {1}
        assert len(answers) == 2
        assert all(answer["text"] for answer in answers)
        runs = (await told(client, "list_runs"))["runs"]
        assert [found["id"] for found in runs] == [run["id"]]


async def test_nothing_can_be_started_unless_the_user_allows_it(workspace: tuple[Preset, dict[str, str]]) -> None:
    preset, env = workspace
    async with assistant(env) as client:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == READING
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
        refused = await client.call_tool("start_run", {"preset_id": preset.id})
        assert refused.is_error
        # A refusal of the service reaches the assistant in the service's words.
        missing = await client.call_tool("get_run", {"run_id": "nothing"})
        assert missing.is_error
        assert "404 not-found" in str(missing.content)

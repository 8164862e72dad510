"""One run with a candidate and a judge of each wire protocol, through HTTP, against servers that refuse what is odd."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from tests.support.host import Host
from tests.support.model_server import Running, model_server
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_google import Google
from tests.support.strict_servers import KEY, serving
from tests.support.web_runs import content

KEYS = "/api/provider-keys"
MODELS = ("openai:alpha", "anthropic:claude-one", "google:gemini-one")
ENDS = ("completed", "completed_with_errors", "failed", "cancelled")


@pytest.fixture(scope="module")
def openai() -> Iterator[Running]:
    with model_server() as server:
        yield server


@pytest.fixture
async def strict() -> AsyncIterator[tuple[Anthropic, Google]]:
    async with AsyncExitStack() as stack:
        anthropic = await stack.enter_async_context(serving(Anthropic("claude-one")))
        yield anthropic, await stack.enter_async_context(serving(Google("gemini-one")))


@pytest.fixture
def settings(settings: Settings, openai: Running, strict: tuple[Anthropic, Google]) -> Settings:
    openai.forget()
    return replace(settings, provider_hosts=(openai.host, *(server.host for server in strict)))


@pytest.fixture
async def ada(
    host: Host, client: httpx.AsyncClient, openai: Running, strict: tuple[Anthropic, Google]
) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    for provider, key, url in (
        ("openai", openai.key, openai.base_url),
        ("anthropic", KEY, strict[0].base_url),
        ("google", KEY, strict[1].base_url),
    ):
        stored = await client.post(KEYS, json={"provider": provider, "key": key, "base_url": url})
        assert stored.status_code == 201, stored.text
    return client


async def executed(ada: httpx.AsyncClient, parameters: dict[str, Any], **limits: int) -> dict[str, Any]:
    """Two documents, three candidates, three judges that score and compare; the run at its end."""
    inputs = [await content(ada, {}, "input_document", f"Document {number} says something.") for number in (1, 2)]
    judges = [{"model": model} for model in MODELS]
    configuration = {
        "inputs": inputs,
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": [{"model": model, "parameters": parameters} for model in MODELS]},
        "scoring": {"judges": judges, "criteria": await content(ada, {}, "criteria", "- name: Plain words\n")},
        "comparison": {"judges": judges},
        "limits": limits,
    }
    preset = await ada.post("/api/presets", json={"name": "Three", **configuration})
    assert preset.status_code == 201, preset.text
    run_id = (await ada.post(f"/api/presets/{preset.json()['id']}/execute")).json()["id"]
    async with asyncio.timeout(60):
        while True:
            run: dict[str, Any] = (await ada.get(f"/api/runs/{run_id}")).json()
            if run["state"] in ENDS:
                return run
            await asyncio.sleep(0.02)


async def test_a_run_with_a_candidate_and_a_judge_of_each_protocol_completes(
    ada: httpx.AsyncClient, openai: Running, strict: tuple[Anthropic, Google]
) -> None:
    run = await executed(ada, {"temperature": 0.5, "max_output_tokens": 500})
    assert (run["state"], run["progress"]["failed"]) == ("completed", 0)
    ranking = (await ada.get(f"/api/runs/{run['id']}/ranking")).json()["ranking"]
    assert {row["candidate"] for row in ranking["rows"]} == set(MODELS)
    anthropic, google = strict
    # Two documents each: their own answers, a score of each answer, each pair of answers in both orders.
    asked = 2 + 6 + 12
    assert [len(server.asked) for server in strict] == [asked, asked]
    assert openai.counts().completed == asked
    tasks = (await ada.get(f"/api/runs/{run['id']}/tasks?limit=200")).json()["items"]
    assert sum(task["attempts"] for task in tasks) == 3 * asked
    structured = [one for one in anthropic.asked if "output_config" in one.body]
    assert len(structured) == asked - 2
    held = [one for one in google.asked if "responseJsonSchema" in one.body.get("generationConfig", {})]
    assert len(held) == asked - 2
    assert all(KEY not in one.url for server in strict for one in server.asked)


async def test_what_a_protocol_does_not_take_is_reported_by_the_tasks_that_asked_for_it(
    ada: httpx.AsyncClient, strict: tuple[Anthropic, Google]
) -> None:
    run = await executed(ada, {"seed": 7})
    assert run["state"] == "completed_with_errors"
    tasks = (await ada.get(f"/api/runs/{run['id']}/tasks?limit=200")).json()["items"]
    failed = [task for task in tasks if task["state"] == "failed"]
    assert [(task["kind"], task["error"]["code"], task["attempts"]) for task in failed] == [
        ("generate", "parameter-not-supported", 1)
    ] * 2
    assert all("seed" in one.body["generationConfig"] for one in strict[1].asked[:2])


async def test_a_key_of_each_protocol_is_tested_by_one_free_call(
    ada: httpx.AsyncClient, strict: tuple[Anthropic, Google]
) -> None:
    for provider, model, server in (
        ("anthropic", "claude-one", strict[0]),
        ("google", "gemini-one", strict[1]),
    ):
        tested = (await ada.get(f"{KEYS}/test/{provider}")).json()
        assert (tested["ok"], tested["models"], tested["code"]) == (True, [model], None)
        assert [one.method for one in server.asked] == ["GET"]
        body = {"provider": provider, "key": "wrong-key-0123456789", "base_url": server.base_url}
        await ada.post(KEYS, json=body)
        tested = (await ada.get(f"{KEYS}/test/{provider}")).json()
        assert (tested["ok"], tested["models"], tested["code"]) == (False, [], "provider-key-rejected")
        assert all("wrong" not in one.url and KEY not in one.url for one in server.asked)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "request-refused"),
        (401, "provider-key-rejected"),
        (402, "provider-no-credit"),
        (404, "model-unknown"),
        (429, "rate-limited"),
        (529, "provider-overloaded"),
        (200, "provider-overloaded"),
    ],
)
async def test_a_key_is_told_to_nobody_and_a_word_of_the_providers_only_where_its_task_failed(
    ada: httpx.AsyncClient,
    strict: tuple[Anthropic, Google],
    capfd: pytest.CaptureFixture[str],
    status: int,
    code: str,
) -> None:
    for server in strict:
        said = {"message": f"Sentence of theirs about {KEY}", "type": "error", "code": status}
        server.refuse = [(status, {"error": said})] * 100
        # The clock of this test stands still, so nobody may be asked to wait.
        server.headers = {"Retry-After": "0"}
    run = await executed(ada, {}, max_attempts=1)
    told = ""
    for part in (
        "",
        "/logs?limit=200",
        "/checkpoint",
        "/ranking",
        "/report?format=json",
        "/report",
    ):
        told += (await ada.get(f"/api/runs/{run['id']}{part}")).text
    for provider in ("anthropic", "google"):
        told += (await ada.get(f"{KEYS}/{provider}")).text
    told += "".join(capfd.readouterr())
    failed = (await ada.get(f"/api/runs/{run['id']}/tasks?limit=200")).text
    assert code in told
    assert KEY not in told + failed
    assert "Sentence of theirs" not in told
    # A refusal as too fast costs time only, so no task failed by it.
    assert ("Sentence of theirs about …" in failed) == (status != 429)

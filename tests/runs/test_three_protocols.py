"""One run with a candidate and a judge of each wire protocol, through HTTP, against servers that refuse what is odd.

OpenAI's model answers in the Responses API only.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from tests.support.host import Host
from tests.support.own_hosts import own_hosts
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_google import Google
from tests.support.strict_responses import HIDDEN, OpenAiResponses
from tests.support.strict_servers import KEY, serving
from tests.support.web_runs import completed, content

KEYS = "/api/provider-keys"
MODELS = ("openai:o3-pro", "anthropic:claude-one", "google:gemini-one")
PRO = (
    *("codex-mini", "gpt-5-pro", "gpt-5.1-codex-mini", "gpt-5.2-pro", "gpt-5.3-codex", "gpt-5.4-pro", "gpt-5.5-pro"),
    *("o1-pro", "o3-deep-research", "o3-pro", "o4-mini-deep-research"),
)
"""The text models of OpenAI's price list that answer in the Responses API only."""
ENDS = ("completed", "completed_with_errors", "failed", "cancelled")


Servers = tuple[OpenAiResponses, Anthropic, Google]


@pytest.fixture
async def strict() -> AsyncIterator[Servers]:
    async with AsyncExitStack() as stack:
        openai = await stack.enter_async_context(serving(OpenAiResponses(*PRO)))
        anthropic = await stack.enter_async_context(serving(Anthropic("claude-one")))
        yield openai, anthropic, await stack.enter_async_context(serving(Google("gemini-one")))


@pytest.fixture
def settings(settings: Settings, strict: Servers) -> Settings:
    return replace(settings, provider_hosts=tuple(server.host for server in strict))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, strict: Servers) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    for provider, server in zip(("openai", "anthropic", "google"), strict, strict=True):
        stored = await client.post(KEYS, json={"provider": provider, "key": KEY, "base_url": server.base_url})
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
    ada: httpx.AsyncClient, strict: Servers
) -> None:
    run = await executed(ada, {"temperature": 0.5, "max_output_tokens": 500})
    assert (run["state"], run["progress"]["failed"]) == ("completed", 0)
    ranking = (await ada.get(f"/api/runs/{run['id']}/ranking")).json()["ranking"]
    assert {row["candidate"] for row in ranking["rows"]} == set(MODELS)
    openai, anthropic, google = strict
    # Two documents each: their own answers, a score of each answer, each pair of answers in both orders.
    asked = 2 + 6 + 12
    assert [len(server.asked) for server in strict[1:]] == [asked, asked]
    in_responses = [one for one in openai.asked if one.url.endswith("/responses")]
    assert len(in_responses) == asked
    assert all("chat/completions" in one.url for one in openai.asked if one not in in_responses)
    tasks = (await ada.get(f"/api/runs/{run['id']}/tasks?limit=200")).json()["items"]
    assert sum(task["attempts"] for task in tasks) == 3 * asked
    structured = [one for one in anthropic.asked if "output_config" in one.body]
    assert len(structured) == asked - 2
    held = [one for one in google.asked if "responseJsonSchema" in one.body.get("generationConfig", {})]
    assert len(held) == asked - 2
    assert all(KEY not in one.url for server in strict for one in server.asked)


async def test_every_model_that_answers_in_responses_alone_competes_and_judges_and_its_hidden_reasoning_is_billed(
    ada: httpx.AsyncClient, strict: Servers
) -> None:
    openai = strict[0]
    models = [{"model": f"openai:{name}"} for name in PRO]
    configuration = {
        "inputs": [await content(ada, {}, "input_document", "A document says something.")],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": models},
        "scoring": {"judges": models[:10], "criteria": await content(ada, {}, "criteria", "- name: Plain words\n")},
    }
    with own_hosts({"openai": openai.base_url}):
        run = await completed(ada, configuration)
        calls = (await ada.get("/api/metering/calls?limit=200")).json()["items"]
    in_responses = [one for one in openai.asked if one.url.endswith("/responses")]
    assert run["progress"]["succeeded"] == len(calls) == len(in_responses) == len(PRO) * (1 + 10)
    assert run["spend"]["unknown_calls"] == 0
    assert all(call["output_tokens"] > HIDDEN for call in calls)
    answers = (await ada.get(f"/api/runs/{run['id']}/tasks?kind=generate")).json()["items"]
    answer = (await ada.get(f"/api/runs/{run['id']}/generated/{answers[0]['generated_id']}")).json()
    assert answer["thought"] == "Hm.\n\nI look at it."


async def test_a_key_of_each_protocol_is_tested_by_one_free_call(ada: httpx.AsyncClient, strict: Servers) -> None:
    for provider, model, server in (
        ("anthropic", "claude-one", strict[1]),
        ("google", "gemini-one", strict[2]),
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
    strict: Servers,
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

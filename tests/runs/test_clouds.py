"""Runs with models of the big clouds, whose keys sign requests or are traded for tokens, against strict servers."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from decimal import Decimal
from typing import NamedTuple

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.providers import prices
from carrel.providers.base import Usage
from tests.support.host import Host, code_of
from tests.support.own_hosts import own_hosts
from tests.support.strict_azure import SECRET as ENTRA_SECRET
from tests.support.strict_azure import Azure
from tests.support.strict_bedrock import ACCESS_KEY, SECRET, SESSION, Bedrock
from tests.support.strict_servers import KEY, serving
from tests.support.strict_vertex import Vertex
from tests.support.web_runs import completed, content

KEYS = "/api/provider-keys"
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
MODELS = (
    f"bedrock:{CLAUDE}",
    "bedrock:openai.gpt-oss-120b-1:0",
    "vertex:gemini-2.5-flash",
    "vertex:claude-opus-4-6",
    "azure:gpt-5",
)
UNKNOWN = "the call ended with model-unknown"
AWS_KEYS = (KEY, f"{ACCESS_KEY}:{SECRET}", f"{ACCESS_KEY}:{SECRET}:{SESSION}")


class Clouds(NamedTuple):
    """One strict server for each cloud."""

    bedrock: Bedrock
    vertex: Vertex
    azure: Azure


@pytest.fixture
async def clouds() -> AsyncIterator[Clouds]:
    async with AsyncExitStack() as stack:
        made = Clouds(
            await stack.enter_async_context(serving(Bedrock(*(_name(one) for one in MODELS[:2])))),
            await stack.enter_async_context(serving(Vertex(_name(MODELS[2]), _name(MODELS[3])))),
            await stack.enter_async_context(serving(Azure(_name(MODELS[4])))),
        )
        stack.enter_context(own_hosts(dict(_addresses(made))))
        yield made


def _name(model: str) -> str:
    return model.partition(":")[2]


def _addresses(clouds: Clouds) -> Iterator[tuple[str, str]]:
    yield "bedrock", clouds.bedrock.base_url
    yield "vertex", clouds.vertex.base_url
    yield "azure", f"{clouds.azure.base_url}/openai/v1"


@pytest.fixture
def settings(settings: Settings, clouds: Clouds) -> Settings:
    return replace(settings, provider_hosts=tuple(server.host for server in clouds))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, clouds: Clouds) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    keys = {"bedrock": AWS_KEYS[1], "vertex": clouds.vertex.key, "azure": clouds.azure.key}
    for provider, url in _addresses(clouds):
        stored = await client.post(KEYS, json={"provider": provider, "key": keys[provider], "base_url": url})
        assert stored.status_code == 201, stored.text
    return client


async def test_models_of_every_cloud_compete_and_judge_and_the_books_are_what_the_servers_counted(
    ada: httpx.AsyncClient, clouds: Clouds
) -> None:
    judges = [{"model": model} for model in MODELS]
    configuration = {
        "inputs": [await content(ada, {}, "input_document", f"Document {number} says something.") for number in (1, 2)],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": judges},
        "scoring": {"judges": judges, "criteria": await content(ada, {}, "criteria", "- name: Plain words\n")},
        "comparison": {"judges": judges},
    }
    run = await completed(ada, configuration)
    assert (run["progress"]["failed"], run["spend"]["unknown_calls"], run["hosts"]) == (0, 0, {})
    # Two documents: a model's own answers, a score of each answer, each pair of answers in both orders.
    asked = 2 + 2 * 5 + 2 * 10 * 2
    assert [len(server.answers) for server in clouds] == [2 * asked, 2 * asked, asked]
    assert Decimal(run["spend"]["cost"]) == Decimal(sum(_costs(clouds))) / 1_000_000
    assert [len(server.tokens) for server in clouds[1:]] == [1, 1], "a key is traded once for all calls"
    forms = [one.body.get("outputConfig") is not None for one in clouds.bedrock.asked]
    assert forms.count(True) == 2 * (asked - 2)
    told = (await ada.get(f"/api/runs/{run['id']}/tasks?limit=200")).text + (await ada.get(KEYS)).text
    assert not any(secret in told for secret in ("PRIVATE KEY", SECRET, ENTRA_SECRET, KEY, *clouds.vertex.tokens))


def _costs(clouds: Clouds) -> Iterator[int]:
    """What each answer cost by the price list, in millionths of a dollar, from what its server says it counted."""
    for asked, answer in zip(clouds.bedrock.asked, clouds.bedrock.answers, strict=True):
        said = answer["usage"]
        usage = Usage(
            input_tokens=said["inputTokens"],
            output_tokens=said["outputTokens"],
            cached_tokens=said["cacheReadInputTokens"],
            written_tokens=said["cacheWriteInputTokens"],
        )
        yield _cost(next(one for one in MODELS if _name(one)[-9:-2] in asked.url), usage)
    for answer in clouds.vertex.answers:
        if answer["model"] == _name(MODELS[3]):
            said = answer["usage"]
            usage = Usage(
                input_tokens=said["input_tokens"],
                output_tokens=said["output_tokens"],
                cached_tokens=said["cache_read_input_tokens"],
                written_tokens=said["cache_creation_input_tokens"],
            )
            yield _cost(MODELS[3], usage)
            continue
        said = answer["usageMetadata"]
        written = said["candidatesTokenCount"] + said["thoughtsTokenCount"]
        cached = said["cachedContentTokenCount"]
        read = said["promptTokenCount"] - cached
        yield _cost(MODELS[2], Usage(input_tokens=read, output_tokens=written, cached_tokens=cached))
    for answer in clouds.azure.answers:
        said = answer["usage"]
        cached = said["prompt_tokens_details"]["cached_tokens"]
        read, written = said["prompt_tokens"] - cached, said["completion_tokens"]
        yield _cost(MODELS[4], Usage(input_tokens=read, output_tokens=written, cached_tokens=cached))


def _cost(model: str, usage: Usage) -> int:
    price = prices.price_of(model, 1_795_000_000)
    assert price is not None, model
    return price.cost_micros(usage)


@pytest.mark.parametrize("key", AWS_KEYS, ids=["an API key", "an access key", "an access key of a session"])
async def test_a_key_of_aws_is_sent_or_signs(ada: httpx.AsyncClient, clouds: Clouds, key: str) -> None:
    stored = {"provider": "bedrock", "key": key, "base_url": clouds.bedrock.base_url}
    assert (await ada.post(KEYS, json=stored)).status_code == 201
    tested = (await ada.get(f"{KEYS}/test/bedrock")).json()
    assert (tested["code"], tested["models"]) == (None, sorted(clouds.bedrock.models))
    body = {"model": MODELS[0], "prompt": "Tell me of the harbour."}
    said = (await ada.post("/api/generation", json=body)).json()
    assert (said["text"] != "", said["usage"]["cached_tokens"]) == (True, 5)
    streamed = await ada.post("/api/generation", json=body, headers={"Accept": "text/event-stream"})
    assert "event: piece" in streamed.text
    assert said["text"] in streamed.text
    clouds.bedrock.lists = False
    tested = (await ada.get(f"{KEYS}/test/bedrock")).json()
    assert (tested["ok"], tested["code"]) == (True, "models-not-listed"), "who may not list may call"
    await ada.post(KEYS, json=stored | {"key": key.replace("canary", "other-").replace("wJalr", "xJalr")})
    tested = (await ada.get(f"{KEYS}/test/bedrock")).json()
    assert (tested["ok"], tested["code"]) == (False, "provider-key-rejected")


async def test_a_model_of_aws_without_schemas_is_asked_by_a_tool(ada: httpx.AsyncClient, clouds: Clouds) -> None:
    clouds.bedrock.structured = False
    asked = {"judge": {"model": MODELS[0]}, "document": "d", "a": "A text.", "b": "Another."}
    judged = await ada.post("/api/evaluation/compare", json=asked)
    assert judged.status_code == 200, judged.text
    assert ["toolConfig" in one.body for one in clouds.bedrock.asked].count(True) == 2
    unknown = await ada.post("/api/generation", json={"model": "bedrock:amazon.nova-9", "prompt": "Hello"})
    assert (code_of(unknown), unknown.json()["errors"][0]["message"]) == ("model-call-refused", UNKNOWN)


async def test_what_the_clouds_do_not_grant_is_a_rejected_key(ada: httpx.AsyncClient, clouds: Clouds) -> None:
    assert (await ada.get(f"{KEYS}/test/vertex")).json()["models"] == ["gemini-2.5-flash"]
    clouds.vertex.grants = False
    for provider, url in list(_addresses(clouds))[1:]:
        changed = {"vertex": clouds.vertex.key.replace("canary-project.iam", "other.iam")}
        key = changed.get(provider, clouds.azure.key.replace("Canary", "Other"))
        await ada.post(KEYS, json={"provider": provider, "key": key, "base_url": url})
        tested = (await ada.get(f"{KEYS}/test/{provider}")).json()
        assert (tested["ok"], tested["code"]) == (False, "provider-key-rejected")
        assert "Invalid" in tested["said"]


@pytest.mark.parametrize(
    ("provider", "key"),
    [
        ("vertex", "no-file-at-all"),
        ("vertex", "{}"),
        ("vertex", '{"project_id": "p", "client_email": "e", "private_key": "none"}'),
        ("azure", '{"tenant_id": "t", "client_id": "c"}'),
        ("azure", "a plain key with spaces"),
    ],
)
async def test_what_is_no_key_of_a_cloud_is_not_stored(ada: httpx.AsyncClient, provider: str, key: str) -> None:
    refused = await ada.post(KEYS, json={"provider": provider, "key": key})
    assert (code_of(refused), refused.json()["errors"][0]["path"]) == ("invalid-input", "key")

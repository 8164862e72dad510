"""OpenAI's Responses API: against bytes, and against a server that is as strict as its reference."""

import json
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import pytest
from genai_prices.data import providers

from carrel.config import Secret
from carrel.evaluation.asking.judge import compare_schema
from carrel.providers.base import (
    Access,
    Answer,
    CompareMatter,
    GenerateMatter,
    ModelRequest,
    Parameters,
    ProviderError,
    Usage,
)
from carrel.providers.catalogue import KNOWN
from carrel.providers.http_provider import HttpProvider
from carrel.providers.protocols.openai_responses import ResponsesWire
from carrel.providers.protocols.wire import NO_QUIRKS
from tests.support.network import provider_of
from tests.support.own_hosts import own_hosts
from tests.support.strict_responses import HIDDEN, OpenAiResponses
from tests.support.strict_servers import KEY, serving

WIRE = ResponsesWire()
NOTHING = Parameters()
NO_TEXT = (
    *("audio", "babbage", "curie", "davinci", "embedding", "image", "live", "moderation", "realtime", "transcribe"),
    *("tts", "vision", "whisper", "ada", "ft:", "-search"),
)
MODELS = [one.id for kept in providers if kept.id == "openai" for one in kept.models]
TEXT_MODELS = [name for name in MODELS if not any(word in name for word in NO_TEXT)]
ONLY_HERE = [
    *("codex-mini", "computer-use", "gpt-5-pro", "gpt-5.1-codex-mini", "gpt-5.2-pro", "gpt-5.3-codex", "gpt-5.4-pro"),
    *("gpt-5.5-pro", "o1-pro", "o3-deep-research", "o3-pro", "o4-mini-deep-research"),
]


@pytest.fixture
async def server() -> AsyncIterator[OpenAiResponses]:
    async with serving(OpenAiResponses(*TEXT_MODELS)) as server:
        yield server


@pytest.fixture
async def provider(server: OpenAiResponses) -> AsyncIterator[HttpProvider]:
    async with provider_of("openai", server.host) as made:
        yield made


def request(
    server: OpenAiResponses | None = None, model: str = "gpt-5-pro", *, judge: bool = False, **changes: Any
) -> ModelRequest:
    return ModelRequest(
        model=model,
        system="Be brief.",
        prompt="Say «ä».",
        matter=CompareMatter("", "", "", ()) if judge else GenerateMatter("", ""),
        schema=compare_schema() if judge else None,
        access=None if server is None else Access(Secret(KEY.encode()), server.base_url),
        **changes,
    )


def test_the_models_of_the_price_list_that_answer_only_here_are_known_by_their_names() -> None:
    second = KNOWN["openai"].second
    assert second is not None
    assert [name for name in TEXT_MODELS if second.only_here.search(name)] == ONLY_HERE
    for name in ("gpt-5-pro-2025-10-06", "gpt-5.1-codex-max", "codex-mini-latest"):
        assert second.only_here.search(name)
    for name in ("gpt-5.2", "gpt-prose", "gpt-4o-search-preview"):
        assert not second.only_here.search(name)


def test_a_question_keeps_nothing_at_the_provider_and_asks_for_a_summary_of_the_reasoning() -> None:
    plain = {
        "model": "gpt-5-pro",
        "input": [{"role": "user", "content": "Say «ä»."}],
        "store": False,
        "instructions": "Be brief.",
        "max_output_tokens": 16_384,
        "reasoning": {"summary": "auto"},
    }
    assert json.loads(WIRE.encoded(request(), "json_schema")) == plain
    everything = Parameters(temperature=0, top_p=0.9, max_output_tokens=100, reasoning_effort="xhigh", verbosity="low")
    told = json.loads(WIRE.encoded(request(judge=True, parameters=everything), "json_schema", stream=True))
    assert {name: value for name, value in told.items() if plain.get(name) != value} == {
        "max_output_tokens": 100,
        "temperature": 0,
        "top_p": 0.9,
        "reasoning": {"effort": "xhigh", "summary": "auto"},
        "text": {
            "format": {"type": "json_schema", "name": "reply", "schema": compare_schema(), "strict": True},
            "verbosity": "low",
        },
        "stream": True,
    }
    unasked = json.loads(WIRE.encoded(request(), "words", NO_QUIRKS._replace(no_summary=True)))
    assert "reasoning" not in unasked
    assert json.loads(WIRE.encoded(request(judge=True), "json_object"))["text"] == {"format": {"type": "json_object"}}


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(seed=1),
        Parameters(top_k=3),
        Parameters(frequency_penalty=1),
        Parameters(presence_penalty=1),
        Parameters(thinking_budget=2_000),
        Parameters(stop=("END",)),
        Parameters(max_output_tokens=15),
    ],
)
def test_what_the_protocol_has_no_word_for_is_refused_before_the_call(parameters: Parameters) -> None:
    with pytest.raises(ProviderError) as caught:
        WIRE.encoded(request(parameters=parameters), "words")
    assert (caught.value.code, caught.value.unbilled) == ("parameter-not-supported", True)


def message(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "message", "content": list(parts)} | more


def part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            {
                "output": [
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "First."}, {"text": "Then."}]},
                    {"type": "reasoning", "summary": None, "content": [{"type": "reasoning_text", "text": "raw"}]},
                    message(part("I look."), phase="commentary"),
                    message(part("Forty "), part("ships."), phase="final_answer"),
                ],
                "usage": {
                    "input_tokens": 10,
                    "input_tokens_details": {"cached_tokens": 4},
                    "output_tokens": 900,
                    "output_tokens_details": {"reasoning_tokens": 880},
                },
            },
            (
                "Forty ships.",
                "stop",
                "First.\n\nThen.\n\nI look.",
                Usage(input_tokens=6, output_tokens=900, cached_tokens=4),
            ),
        ),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": [{"type": "reasoning", "summary": []}],
                "usage": {"input_tokens": 10, "output_tokens": 64},
            },
            ("", "length", "", Usage(input_tokens=10, output_tokens=64)),
        ),
        (
            {"incomplete_details": {"reason": "content_filter"}, "output": [message(part("For"))]},
            ("For", "refused", "", None),
        ),
        ({"output": [message({"type": "refusal", "refusal": "No."})], "usage": "?"}, ("No.", "refused", "", None)),
    ],
)
def test_an_answer_is_what_the_model_says_at_the_end_and_hidden_reasoning_is_counted(
    said: dict[str, Any], expected: tuple[object, ...]
) -> None:
    answer = WIRE.answered(json.dumps({"status": "completed", "error": None} | said).encode())
    assert answer is not None
    assert (answer.text, answer.finish_reason, answer.thought, answer.usage) == expected


@pytest.mark.parametrize("status", ["failed", "cancelled", "queued", "in_progress"])
def test_what_came_to_no_end_is_no_answer(status: str) -> None:
    assert WIRE.answered(json.dumps({"status": status, "output": [message(part("For"))]}).encode()) is None


async def asked(provider: HttpProvider, made: ModelRequest, *, stream: bool) -> Answer:
    return await (provider.stream(made, lambda _: None) if stream else provider.complete(made))


@pytest.mark.parametrize(("own", "stream"), [(False, True), (True, False)])
async def test_every_text_model_of_the_price_list_answers_and_judges(
    server: OpenAiResponses, *, own: bool, stream: bool
) -> None:
    with own_hosts({"openai": server.base_url}) if own else nullcontext():
        async with provider_of("openai", server.host) as provider:
            for model in TEXT_MODELS:
                for judge in (False, True):
                    answer = await asked(provider, request(server, model, judge=judge), stream=stream)
                    assert answer.finish_reason == "stop"
                    assert answer.usage is not None
                    assert answer.usage.output_tokens > HIDDEN
                    assert answer.thought == "Hm.\n\nI look at it."
                    if judge:
                        assert json.loads(answer.text)["winner"]
    refused = [one.body["model"] for one in server.asked if one.url.endswith("/chat/completions")]
    # By the server's word, once for each model; at OpenAI's own host by the name already.
    assert refused == [name for name in TEXT_MODELS if not own or name not in ONLY_HERE]
    assert len(server.asked) == len(refused) + 2 * len(TEXT_MODELS)
    assert all(one.body["store"] is False for one in server.asked if one.url.endswith("/responses"))


@pytest.mark.parametrize("stream", [False, True])
async def test_an_account_that_gets_no_summaries_is_asked_without_from_then_on(
    server: OpenAiResponses, provider: HttpProvider, stream: bool
) -> None:
    server.verified = False
    for _ in range(2):
        assert (await asked(provider, request(server), stream=stream)).finish_reason == "stop"
    summaries = ["reasoning" in one.body for one in server.asked if one.url.endswith("/responses")]
    assert summaries == [True, False, False]


async def test_at_openais_own_host_a_model_searches_the_web_here_and_names_its_pages(server: OpenAiResponses) -> None:
    with own_hosts({"openai": server.base_url}):
        async with provider_of("openai", server.host) as provider:
            answer = await provider.complete(request(server, "gpt-5.2", grounding="required"))
            assert [page.url for page in answer.citations] == ["https://example.org/ships"]
            assert server.asked[-1].body["tools"] == [{"type": "web_search"}]
            assert await provider.complete(request(server, "gpt-5.2"))

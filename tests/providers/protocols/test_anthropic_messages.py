"""Anthropic's messages API: against bytes, and against a server that is as strict as its documentation."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.config import Secret
from carrel.evaluation.asking.judge import compare_schema, score_schema
from carrel.providers.base import (
    Access,
    Criterion,
    GenerateMatter,
    ModelRequest,
    Parameters,
    ProviderError,
    ScoreMatter,
    Usage,
)
from carrel.providers.http_provider import HttpProvider
from carrel.providers.protocols.anthropic_messages import MessagesWire
from carrel.providers.protocols.wire import Form
from tests.support.network import provider_of
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_servers import KEY, serving

WIRE = MessagesWire()
NOTHING = Parameters()
CRITERIA = (Criterion("Coverage", "All of it."), Criterion("Plain words", "Plain.", minimum=0, maximum=10))


@pytest.fixture
async def server() -> AsyncIterator[Anthropic]:
    async with serving(Anthropic("claude-one")) as server:
        yield server


@pytest.fixture
async def provider(server: Anthropic) -> AsyncIterator[HttpProvider]:
    async with provider_of("anthropic", server.host) as made:
        yield made


def request(
    server: Anthropic | None = None,
    parameters: Parameters = NOTHING,
    *,
    schema: dict[str, object] | None = None,
    model: str = "claude-one",
    key: str = KEY,
) -> ModelRequest:
    return ModelRequest(
        model=model,
        system="Be brief.",
        prompt="Say «ä».",
        matter=GenerateMatter("", "") if schema is None else ScoreMatter("", "", ()),
        parameters=parameters,
        schema=schema,
        timeout_seconds=60,
        access=None if server is None else Access(Secret(key.encode()), server.base_url),
    )


def sent(parameters: Parameters = NOTHING, form: Form = "json_schema", **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(WIRE.encoded(request(parameters=parameters, **more), form))
    return body


@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_that_finds_an_assumed_output_limit_too_high_is_asked_with_half_of_it(
    server: Anthropic, provider: HttpProvider, stream: bool
) -> None:
    too_high = (
        400,
        {"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: 16384 > 4096"}},
    )
    too_long = (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}})

    async def limits(*refusals: tuple[int, dict[str, Any]], parameters: Parameters = NOTHING) -> list[int]:
        server.refuse, before = list(refusals), len(server.asked)
        with suppress(ProviderError):
            asked = request(server, parameters)
            await (provider.stream(asked, lambda _: None) if stream else provider.complete(asked))
        return [one.body["max_tokens"] for one in server.asked[before:]]

    assert await limits(too_high, too_high) == [16_384, 8_192, 4_096]
    assert await limits() == [16_384], "one long text does not shorten the answers of others"
    assert await limits(*[too_high] * 9) == [16_384, 8_192, 4_096, 2_048, 1_024, 512, 256]
    assert await limits(too_long) == [16_384]
    assert await limits(too_high, parameters=Parameters(max_output_tokens=9_000)) == [9_000]


def test_a_question_holds_what_was_set_and_an_output_limit() -> None:
    plain = {
        "model": "claude-one",
        "max_tokens": 16_384,
        "messages": [{"role": "user", "content": "Say «ä»."}],
        "system": "Be brief.",
    }
    assert sent() == plain
    everything = Parameters(temperature=0, top_p=0.9, max_output_tokens=100, reasoning_effort="max", stop=("END",))
    assert sent(everything) == plain | {
        "max_tokens": 100,
        "temperature": 0,
        "top_p": 0.9,
        "output_config": {"effort": "max"},
        "stop_sequences": ["END"],
    }


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(seed=0),
        Parameters(temperature=1.1),
        Parameters(reasoning_effort="minimal"),
        Parameters(reasoning_effort="none"),
        Parameters(verbosity="low"),
    ],
)
def test_what_the_protocol_has_no_word_for_is_refused_not_dropped(parameters: Parameters) -> None:
    with pytest.raises(ProviderError) as caught:
        sent(parameters)
    assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == (
        "parameter-not-supported", False, True
    )  # fmt: skip


def test_a_judge_is_held_to_its_form_by_a_schema_a_tool_or_words() -> None:
    schema = score_schema(CRITERIA)
    strict = sent(Parameters(reasoning_effort="high"), schema=schema)["output_config"]
    assert strict["effort"] == "high"
    scores = strict["format"]["schema"]["properties"]["scores"]["properties"]
    assert scores["Plain words"] == {"type": "number", "description": "From 0 to 10."}
    assert "minimum" in json.dumps(schema), "the caller's own is left alone"
    tool = sent(form="tool", schema=schema)
    assert tool["tools"][0]["input_schema"] == schema
    assert tool["tool_choice"] == {"type": "tool", "name": tool["tools"][0]["name"]}
    assert "output_config" not in tool
    assert not {"tools", "output_config"} & set(sent(form="words", schema=schema))


def said(*content: dict[str, Any], stop: str | None = "end_turn", **more: Any) -> bytes:
    return json.dumps({"type": "message", "content": content, "stop_reason": stop, **more}).encode()


TEXT = {"type": "text", "text": "Hello"}
CALLED = {"type": "tool_use", "id": "x", "name": "reply", "input": {"winner": "first"}}


@pytest.mark.parametrize(
    ("body", "text", "meaning"),
    [
        (said(TEXT), "Hello", "stop"),
        (said({"type": "thinking", "thinking": "Hm.", "signature": "x"}, TEXT, TEXT), "HelloHello", "stop"),
        (said(TEXT, CALLED, stop="tool_use"), '{"winner": "first"}', "stop"),
        (said(TEXT, stop="max_tokens"), "Hello", "length"),
        (said(TEXT, stop="model_context_window_exceeded"), "Hello", "length"),
        (said(stop="refusal"), "", "refused"),
        (said(stop=None), "", "stop"),
    ],
)
def test_what_an_answer_says(body: bytes, text: str, meaning: str) -> None:
    answer = WIRE.answered(body)
    assert answer is not None
    assert (answer.text, answer.finish_reason, answer.usage) == (text, meaning, None)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"input_tokens": 10, "output_tokens": 5}, Usage(input_tokens=10, output_tokens=5)),
        (
            {"input_tokens": 1, "output_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 9},
            Usage(input_tokens=1, output_tokens=5, cached_tokens=7, written_tokens=9),
        ),
        (
            {"input_tokens": 1, "output_tokens": 5, "cache_read_input_tokens": None},
            Usage(input_tokens=1, output_tokens=5),
        ),
        ({"input_tokens": -1, "output_tokens": 5}, None),
        (None, None),
    ],
)
def test_tokens_read_from_the_cache_and_written_to_it_are_counted_apart(usage: Any, counted: Usage | None) -> None:
    answer = WIRE.answered(said(TEXT, usage=usage))
    assert answer is not None
    assert answer.usage == counted
    if counted is not None:
        assert counted.read_tokens == counted.input_tokens + counted.cached_tokens + counted.written_tokens


@given(st.binary(max_size=200))
def test_no_bytes_do_harm(body: bytes) -> None:
    assert WIRE.answered(body) is None
    WIRE.models(body)


def test_a_base_url_may_end_in_the_version_or_not() -> None:
    for base in ("https://api.anthropic.com", "https://api.anthropic.com/v1"):
        assert WIRE.call_url(base, "m") == "https://api.anthropic.com/v1/messages"


# Against the strict server ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(),
        Parameters(temperature=1, top_p=0.5, max_output_tokens=9, reasoning_effort="xhigh", stop=("a", "b")),
    ],
)
async def test_the_strict_server_takes_every_kind_of_question(
    server: Anthropic, provider: HttpProvider, parameters: Parameters
) -> None:
    for schema in (None, compare_schema(), score_schema(CRITERIA)):
        answer = await provider.complete(request(server, parameters, schema=schema))
        assert answer.finish_reason == "stop"
        assert answer.usage is not None
        assert (answer.usage.cached_tokens, answer.usage.written_tokens) == (5, 3)
        if schema is not None:
            assert set(json.loads(answer.text)) == set(schema["required"])  # type: ignore[call-overload]  # a list
    for asked in server.asked:
        assert (asked.method, asked.url) == ("POST", f"{server.base_url}/v1/messages")
        assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == (KEY, "2023-06-01")
        assert "authorization" not in asked.headers


async def test_a_model_without_structured_outputs_is_asked_with_a_tool_and_then_by_words(
    server: Anthropic, provider: HttpProvider
) -> None:
    older = {"type": "error", "error": {"type": "invalid_request_error", "message": "output_config.format: no"}}
    server.refuse = [(400, older)]
    schema = compare_schema()
    with pytest.raises(ProviderError) as caught:
        await provider.complete(request(server, schema=schema))
    assert (caught.value.code, caught.value.retryable) == ("structured-output-refused", True)
    assert json.loads((await provider.complete(request(server, schema=schema))).text)["winner"]
    assert server.asked[-1].body["tool_choice"]["type"] == "tool"
    with pytest.raises(ProviderError) as caught:
        await provider.complete(request(server, schema=score_schema(CRITERIA)))
    assert caught.value.code == "structured-output-refused", "a tool's input has no names with blanks"
    await provider.complete(request(server, schema=score_schema(CRITERIA)))
    assert "tools" not in server.asked[-1].body


@pytest.mark.parametrize(
    ("status", "kind", "message", "code"),
    [
        (400, "invalid_request_error", "messages: too long", "request-refused"),
        (400, "invalid_request_error", "Your credit balance is too low to access the API.", "provider-no-credit"),
        (400, "invalid_request_error", "`temperature` is deprecated for this model.", "parameter-not-supported"),
        (401, "authentication_error", "invalid x-api-key", "provider-key-rejected"),
        (403, "permission_error", "", "provider-key-rejected"),
        (403, "billing_error", "", "provider-no-credit"),
        (402, "billing_error", "", "provider-no-credit"),
        (404, "not_found_error", "model: x", "model-unknown"),
        (413, "request_too_large", "", "request-refused"),
        (429, "rate_limit_error", "", "rate-limited"),
        (500, "api_error", "", "provider-overloaded"),
        (529, "overloaded_error", "", "provider-overloaded"),
    ],
)
async def test_its_refusals_become_ours_without_a_word_of_its_own(
    server: Anthropic, provider: HttpProvider, status: int, kind: str, message: str, code: str
) -> None:
    server.refuse = [(status, {"type": "error", "error": {"type": kind, "message": f"{message} {KEY}"}})]
    server.headers = {"retry-after": "7"}
    with pytest.raises(ProviderError) as caught:
        await provider.complete(request(server, Parameters(temperature=0.5)))
    error = caught.value
    assert error.code == code
    assert error.retry_after_seconds == (7 if error.retryable else None)
    assert error.retryable == (code in ("rate-limited", "provider-overloaded"))
    assert KEY not in repr(error) + str(error.__dict__)
    assert (error.__cause__, error.__context__) == (None, None)


async def test_a_text_that_its_filter_holds_back_is_a_refused_answer(server: Anthropic, provider: HttpProvider) -> None:
    said = {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}
    server.refuse = [(400, {"type": "error", "error": said})]
    assert (await provider.complete(request(server))).finish_reason == "refused"


async def test_its_models_are_listed_with_a_good_key_alone(server: Anthropic, provider: HttpProvider) -> None:
    assert (await provider.offered(Access(Secret(KEY.encode()), server.base_url))).models == ("claude-one",)
    with pytest.raises(ProviderError) as caught:
        await provider.offered(Access(Secret(b"wrong-key-0123456789"), server.base_url))
    assert caught.value.code == "provider-key-rejected"
    assert provider.named("claude-one") is not None
    assert provider.named("a\nname") is None


async def test_rarer_parameters_are_sent_or_refused(server: Anthropic, provider: HttpProvider) -> None:
    await provider.complete(request(server, Parameters(top_k=40, thinking_budget=2_000)))
    assert server.asked[-1].body["top_k"] == 40
    assert server.asked[-1].body["thinking"] == {"type": "enabled", "budget_tokens": 2_000}
    for parameters in (Parameters(frequency_penalty=0.5), Parameters(presence_penalty=0.5)):
        with pytest.raises(ProviderError) as refused:
            await provider.complete(request(server, parameters))
        assert refused.value.code == "parameter-not-supported"
    assert len(server.asked) == 1

"""Google's generateContent: against bytes, and against a server that is as strict as its documentation."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.config import Secret
from carrel.evaluation.asking.judge import compare_schema, score_schema
from carrel.providers.base import Access, Criterion, GenerateMatter, ModelRequest, Parameters, ProviderError, Usage
from carrel.providers.http_provider import HttpProvider
from carrel.providers.protocols.google_generate import GenerateWire
from carrel.providers.protocols.wire import Form
from tests.support.network import provider_of
from tests.support.strict_google import Google
from tests.support.strict_servers import KEY, serving

WIRE = GenerateWire()
NOTHING = Parameters()
CRITERIA = (Criterion("Coverage", "All of it."), Criterion("Plain words", "Plain.", minimum=0, maximum=10))
MODELS = ("gemini-2.5-flash", "gemini-3-pro")


@pytest.fixture
async def server() -> AsyncIterator[Google]:
    async with serving(Google(*MODELS)) as server:
        yield server


@pytest.fixture
async def provider(server: Google) -> AsyncIterator[HttpProvider]:
    async with provider_of("google", server.host) as made:
        yield made


def request(
    server: Google | None = None,
    parameters: Parameters = NOTHING,
    *,
    schema: dict[str, object] | None = None,
    model: str = "gemini-3-pro",
    key: str = KEY,
) -> ModelRequest:
    return ModelRequest(
        model=model,
        system="Be brief.",
        prompt="Say «ä».",
        matter=GenerateMatter("", ""),
        parameters=parameters,
        schema=schema,
        timeout_seconds=60,
        access=None if server is None else Access(Secret(key.encode()), server.base_url),
    )


def sent(parameters: Parameters = NOTHING, form: Form = "json_schema", **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(WIRE.encoded(request(parameters=parameters, **more), form))
    return body


def test_a_question_holds_what_was_set_and_an_output_limit() -> None:
    plain = {
        "contents": [{"role": "user", "parts": [{"text": "Say «ä»."}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "generationConfig": {"maxOutputTokens": 16_384},
    }
    assert sent() == plain
    everything = Parameters(
        temperature=0, top_p=0.9, max_output_tokens=100, seed=7, reasoning_effort="low", stop=("END",)
    )
    assert sent(everything) == plain | {
        "generationConfig": {
            "temperature": 0,
            "topP": 0.9,
            "maxOutputTokens": 100,
            "seed": 7,
            "stopSequences": ["END"],
            "thinkingConfig": {"thinkingLevel": "LOW"},
        }
    }


def test_older_models_are_given_a_number_of_tokens_to_think_with() -> None:
    low, high = Parameters(reasoning_effort="low"), Parameters(reasoning_effort="high")
    long = Parameters(reasoning_effort="high", max_output_tokens=60_000)
    none = Parameters(reasoning_effort="none")
    for parameters, budget in ((none, 0), (low, 1_024), (high, 8_192), (long, 24_576)):
        config = sent(parameters, model="gemini-2.5-flash")["generationConfig"]
        assert config["thinkingConfig"] == {"thinkingBudget": budget}, "half of the limit stays for the answer"


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(seed=1 << 31),
        Parameters(reasoning_effort="none"),
        Parameters(reasoning_effort="xhigh"),
        Parameters(verbosity="low"),
        Parameters(stop=("a", "b", "c", "d", "e", "f")),
    ],
)
def test_what_the_protocol_does_not_know_is_refused_not_cut(parameters: Parameters) -> None:
    with pytest.raises(ProviderError) as caught:
        sent(parameters)
    assert (caught.value.code, caught.value.unbilled) == ("parameter-not-supported", True)


def test_a_judge_is_held_to_its_form_by_a_schema_by_json_or_by_words() -> None:
    schema = score_schema(CRITERIA)
    limit = {"maxOutputTokens": 16_384}
    json_object = limit | {"responseMimeType": "application/json"}
    assert sent(schema=schema)["generationConfig"] == json_object | {"responseJsonSchema": schema}
    assert sent(form="json_object", schema=schema)["generationConfig"] == json_object
    assert sent(form="words", schema=schema)["generationConfig"] == limit


def said(*parts: dict[str, Any], finish: str | None = "STOP", **more: Any) -> bytes:
    return json.dumps({"candidates": [{"content": {"parts": parts}, "finishReason": finish}], **more}).encode()


@pytest.mark.parametrize(
    ("body", "text", "meaning"),
    [
        (said({"text": "Hello"}), "Hello", "stop"),
        (said({"text": "Hm.", "thought": True}, {"text": "A"}, {"text": "B"}), "AB", "stop"),
        (said({"text": "Hel"}, finish="MAX_TOKENS"), "Hel", "length"),
        (said(finish="SAFETY"), "", "refused"),
        (said({"text": "Hel"}, finish="RECITATION"), "Hel", "refused"),
        (said(finish="PROHIBITED_CONTENT"), "", "refused"),
        (b'{"candidates": [{"finishReason": "MAX_TOKENS"}]}', "", "length"),
        (b'{"promptFeedback": {"blockReason": "SAFETY"}}', "", "refused"),
    ],
)
def test_what_an_answer_says(body: bytes, text: str, meaning: str) -> None:
    answer = WIRE.answered(body)
    assert answer is not None
    assert (answer.text, answer.finish_reason, answer.usage) == (text, meaning, None)


@pytest.mark.parametrize("finish", ["OTHER", "MALFORMED_RESPONSE"])
def test_an_answer_that_broke_down_may_be_asked_for_again(finish: str) -> None:
    with pytest.raises(ProviderError) as caught:
        WIRE.answered(said({"text": "Hel"}, finish=finish))
    assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == ("provider-overloaded", True, False)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"promptTokenCount": 10, "candidatesTokenCount": 5}, Usage(input_tokens=10, output_tokens=5)),
        (
            {
                "promptTokenCount": 10,
                "cachedContentTokenCount": 4,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 100,
                "totalTokenCount": 115,
            },
            Usage(input_tokens=6, cached_tokens=4, output_tokens=105),
        ),
        (
            {"promptTokenCount": 3, "cachedContentTokenCount": 9, "candidatesTokenCount": 5},
            Usage(cached_tokens=3, output_tokens=5),
        ),
        ({"promptTokenCount": 3}, None),
        ({"promptTokenCount": 3, "thoughtsTokenCount": 100}, None),
        ({"promptTokenCount": "many"}, None),
        (None, None),
    ],
)
def test_thoughts_are_output_and_what_came_from_the_cache_is_counted_once(usage: Any, counted: Usage | None) -> None:
    answer = WIRE.answered(said({"text": "Hello"}, usageMetadata=usage))
    assert answer is not None
    assert answer.usage == counted


@pytest.mark.parametrize("body", [said(finish="SAFETY"), b'{"promptFeedback": {"blockReason": "SAFETY"}}'])
def test_where_nothing_was_said_a_count_that_is_left_out_is_zero(body: bytes) -> None:
    answer = WIRE.answered(json.dumps(json.loads(body) | {"usageMetadata": {"promptTokenCount": 3}}).encode())
    assert answer is not None
    assert answer.usage == Usage(input_tokens=3)


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b'{"candidates": []}', said({"text": "x"})[:-3], b"[" * 99_999])
def test_what_is_no_answer_is_none(body: bytes) -> None:
    assert WIRE.answered(body) is None


@given(st.binary(max_size=200))
def test_no_bytes_do_harm(body: bytes) -> None:
    WIRE.models(body)
    WIRE.answered(body)


def test_a_model_may_be_named_as_googles_own_list_names_it() -> None:
    assert WIRE.call_url("https://x.example", "models/gemini-3") == WIRE.call_url("https://x.example", "gemini-3")
    assert "/v1beta/tunedModels/mine:gen" in WIRE.call_url("https://x.example", "tunedModels/mine")


@given(st.text(alphabet="!\"#$%&'()*+,-./:;<=>?@AZaz09_~", min_size=8))
def test_no_key_stands_in_a_url(key: str) -> None:
    for base in ("https://generativelanguage.googleapis.com", "https://proxy.example/v1beta"):
        assert WIRE.call_url(base, "gemini-3-pro").endswith("/v1beta/models/gemini-3-pro:generateContent")
        assert "key=" not in WIRE.call_url(base, "gemini-3-pro") + WIRE.models_url(base)
    assert WIRE.headers(key) == {"x-goog-api-key": key}


# Against the strict server ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "parameters",
    [Parameters(), Parameters(temperature=2, top_p=0.5, max_output_tokens=9, seed=1, reasoning_effort="minimal")],
)
async def test_the_strict_server_takes_every_kind_of_question(
    server: Google, provider: HttpProvider, parameters: Parameters, model: str
) -> None:
    for schema in (None, compare_schema(), score_schema(CRITERIA)):
        answer = await provider.complete(request(server, parameters, schema=schema, model=model))
        assert answer.finish_reason == "stop"
        assert answer.usage is not None
        assert answer.usage.cached_tokens == 2
        assert "Hm." not in answer.text
        if schema is not None:
            assert set(json.loads(answer.text)) == set(schema["required"])  # type: ignore[call-overload]  # a list
    for asked in server.asked:
        assert (asked.method, asked.url) == ("POST", f"{server.base_url}/v1beta/models/{model}:generateContent")
        assert asked.headers["x-goog-api-key"] == KEY
        assert "authorization" not in asked.headers


async def test_a_model_without_schemas_is_asked_for_json_and_then_by_words(
    server: Google, provider: HttpProvider
) -> None:
    for message, config in (
        ("Unknown name \"responseJsonSchema\" at 'generation_config'", {"responseMimeType": "application/json"}),
        ("JSON mode is not enabled for models/gemini-3-pro", {}),
    ):
        server.refuse = [(400, {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})]
        with pytest.raises(ProviderError) as caught:
            await provider.complete(request(server, schema=compare_schema()))
        assert (caught.value.code, caught.value.retryable) == ("structured-output-refused", True)
        await provider.complete(request(server, schema=compare_schema()))
        assert server.asked[-1].body["generationConfig"] == {"maxOutputTokens": 16_384} | config


@pytest.mark.parametrize(
    ("status", "word", "message", "details", "code"),
    [
        (400, "INVALID_ARGUMENT", "too long", [], "request-refused"),
        (400, "INVALID_ARGUMENT", "API key not valid.", [{"reason": "API_KEY_INVALID"}], "provider-key-rejected"),
        (400, "INVALID_ARGUMENT", "Thinking level is not supported.", [], "parameter-not-supported"),
        (400, "FAILED_PRECONDITION", "User location is not supported.", [], "request-refused"),
        (401, "UNAUTHENTICATED", "", [], "provider-key-rejected"),
        (403, "PERMISSION_DENIED", "", [], "provider-key-rejected"),
        (404, "NOT_FOUND", "", [], "model-unknown"),
        (429, "RESOURCE_EXHAUSTED", "", [{"retryDelay": "7s"}], "rate-limited"),
        (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", [], "provider-no-credit"),
        (500, "INTERNAL", "", [], "provider-overloaded"),
        (503, "UNAVAILABLE", "", [], "provider-overloaded"),
    ],
)
async def test_its_refusals_become_ours_without_a_word_of_its_own(
    server: Google, provider: HttpProvider, status: int, word: str, message: str, details: list[Any], code: str
) -> None:
    said = {"code": status, "message": f"{message} {KEY}", "status": word, "details": details}
    server.refuse = [(status, {"error": said})]
    with pytest.raises(ProviderError) as caught:
        await provider.complete(request(server, Parameters(reasoning_effort="low")))
    error = caught.value
    assert error.code == code
    assert error.retry_after_seconds == (7 if code == "rate-limited" else None)
    assert error.retryable == (code in ("rate-limited", "provider-overloaded"))
    assert KEY not in repr(error) + str(error.__dict__)
    assert (error.__cause__, error.__context__) == (None, None)


async def test_its_models_that_write_are_listed_with_a_good_key_alone(server: Google, provider: HttpProvider) -> None:
    assert (await provider.offered(Access(Secret(KEY.encode()), server.base_url))).models == MODELS
    with pytest.raises(ProviderError) as caught:
        await provider.offered(Access(Secret(b"wrong-key-0123456789"), server.base_url))
    assert caught.value.code == "provider-key-rejected"
    assert all(KEY not in asked.url and "wrong" not in asked.url for asked in server.asked)


async def test_rarer_parameters_are_sent_and_thinking_is_set_once(server: Google, provider: HttpProvider) -> None:
    given = Parameters(top_k=40, frequency_penalty=-0.5, presence_penalty=1.5, thinking_budget=2_000)
    await provider.complete(request(server, given))
    config = server.asked[-1].body["generationConfig"]
    assert (config["topK"], config["frequencyPenalty"], config["presencePenalty"]) == (40, -0.5, 1.5)
    assert config["thinkingConfig"] == {"thinkingBudget": 2_000}
    with pytest.raises(ProviderError) as refused:
        await provider.complete(request(server, Parameters(thinking_budget=2_000, reasoning_effort="low")))
    assert refused.value.code == "parameter-not-supported"

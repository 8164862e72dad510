"""What a server refuses for a model is asked for otherwise, and remembered; a stream is read as a whole answer is."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from msgspec.structs import replace

from carrel.config import Secret
from carrel.providers.base import (
    Access,
    Answer,
    CompareMatter,
    GenerateMatter,
    ModelRequest,
    Parameters,
    ProviderError,
    Turn,
)
from tests.support.network import provider_of
from tests.support.transcript_server import TranscriptServer, transcript_server

Json = dict[str, Any]
ANSWER: Json = {
    "choices": [{"message": {"role": "assistant", "content": "Forty ships."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}


def refused(message: str, status: int = 400, **more: str) -> Json:
    return {"status": status, "json": {"error": {"message": message, **more}}}


def request(server: TranscriptServer, **changes: Any) -> ModelRequest:
    access = Access(Secret(b"sk-quirks-0123456789"), server.base_url)
    made = ModelRequest(model="m", system="Be brief.", prompt="Hello?", matter=GenerateMatter("", ""), access=access)
    return replace(made, **changes)


async def bodies(
    *replies: Json, provider: str = "compatible", models: Json | None = None, **changes: Any
) -> list[Json]:
    """What a server is sent in two calls, if it replies so, and then with an answer."""
    transcript = {"chat": [*replies, {"json": ANSWER}], "models": [{"json": models}]}
    async with transcript_server(transcript) as server, provider_of(provider, f"localhost:{server.port}") as made:
        for _ in range(2):
            if models is not None:
                access = request(server).access
                assert access is not None
                await made.offered(access)
            assert (await made.complete(request(server, **changes))).text == "Forty ships."
        return [body for _, body in server.asked]


async def test_a_model_without_a_system_role_gets_the_text_before_the_first_words_of_the_user() -> None:
    turns = (Turn("user", "Where?"), Turn("assistant", "Here."), Turn("user", "When?"))
    first, *others = await bodies(refused("System role not supported"), turns=turns)
    assert first["messages"][0] == {"role": "system", "content": "Be brief."}
    for body in others:
        assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
        assert body["messages"][0]["content"] == "Be brief.\n\nWhere?"
    assert len(others) == 2, "the second call is made so at once"


@pytest.mark.parametrize(
    ("provider", "words", "message"),
    [
        (
            "compatible",
            ("max_tokens", "max_completion_tokens"),
            "Unsupported parameter: 'max_tokens' is not known.",
        ),
        ("openai", ("max_completion_tokens", "max_tokens"), "Unrecognized argument supplied: max_completion_tokens"),
    ],
)
async def test_the_other_word_for_the_output_limit_is_remembered(
    provider: str, words: tuple[str, str], message: str
) -> None:
    sent = await bodies(refused(message), provider=provider)
    assert [[word for word in words if word in body] for body in sent] == [[words[0]], [words[1]], [words[1]]]


async def test_a_small_window_is_remembered_and_a_listed_one_known_before() -> None:
    message = "This model's maximum context length is 4096 tokens. You requested 16430 tokens (46 in the messages)"
    assert [body["max_tokens"] for body in await bodies(refused(message))] == [16_384, 4_050, 4_091]
    listed = {"data": [{"id": "m", "max_model_len": 2_048}]}
    assert [body["max_tokens"] for body in await bodies(models=listed)] == [2_043, 2_043]


async def test_a_limit_that_somebody_set_is_never_changed() -> None:
    with pytest.raises(ProviderError, match="request-refused"):
        await bodies(refused("maximum context length is 4096 tokens"), parameters=Parameters(max_output_tokens=9_000))


async def test_a_model_that_could_only_think_is_not_called() -> None:
    for provider, tail in (("anthropic", ""), ("openrouter", "/v1")):
        async with (
            transcript_server({"chat": [{"json": ANSWER}], "tail": tail}) as server,
            provider_of(provider, f"localhost:{server.port}") as made,
        ):
            with pytest.raises(ProviderError, match="thinking-budget-too-high") as caught:
                await made.complete(request(server, parameters=Parameters(thinking_budget=20_000)))
            assert (caught.value.unbilled, server.asked) == (True, [])


async def test_a_reply_that_the_server_calls_invalid_twice_is_asked_for_in_a_weaker_form() -> None:
    invalid = refused("Failed to validate JSON.", code="json_validate_failed")
    judged = {"matter": CompareMatter("", "", "", ()), "schema": {"type": "object"}}
    transcript = {"chat": [invalid, invalid, {"json": ANSWER}]}
    async with transcript_server(transcript) as server, provider_of("groq", f"localhost:{server.port}") as made:
        texts = [(await made.complete(request(server, **judged))).text for _ in range(3)]
        forms = [body["response_format"]["type"] for _, body in server.asked]
    assert texts == ["", "", "Forty ships."]
    assert forms == ["json_schema", "json_schema", "json_object"]


@pytest.mark.parametrize(("cost", "told"), [(0.00012, 120), (None, None)])
async def test_only_openrouter_is_taken_at_its_word_about_costs(cost: float | None, told: int | None) -> None:
    answer = ANSWER | {"usage": ANSWER["usage"] | ({} if cost is None else {"cost": cost})}
    for provider in ("openrouter", "compatible"):
        async with (
            transcript_server({"chat": [{"json": answer}]}) as server,
            provider_of(provider, f"localhost:{server.port}") as made,
        ):
            found = await made.complete(request(server))
            assert found.told_micros == (told if provider == "openrouter" else None)


# A stream beside the same answer as a whole ---------------------------------------------------------------------------

NOISE = (
    ": comment\n\n",
    "data: null\n\n",
    "data: \n\n",
    'data: {"choices": null}\n\n',
    'data: {"choices": [{"index": 0, "delta": null, "finish_reason": null}]}\n\n',
    'data: {"choices": [], "usage": null}\n\n',
    "event: ping\nid: 7\n\n",
)
ENDS = ("data: [DONE]\n\n", "data: [DONE]", "", ": bye")
WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12)


@given(
    words=st.lists(WORDS, min_size=1, max_size=5),
    noise=st.lists(st.sampled_from(NOISE), max_size=6),
    finish=st.sampled_from(["stop", "length", "content_filter", "STOP"]),
    end=st.sampled_from(ENDS),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.booleans(),
    kind=st.sampled_from(["text/event-stream", "text/plain", "application/json", "application/octet-stream", ""]),
    breaks_off=st.booleans(),
)
@hypothesis_settings(max_examples=60)
def test_a_stream_is_read_as_the_whole_answer_is(
    words: list[str],
    noise: list[str],
    finish: str,
    end: str,
    line_end: str,
    mark: bool,
    kind: str,
    breaks_off: bool,
) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    chunks: list[Json] = [{"choices": [{"index": 0, "delta": {"content": word}}]} for word in words]
    chunks += [{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": usage}]
    said = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    for place, one in enumerate(noise):
        said.insert(place * 2 % len(said), one)
    text = ("\ufeff" if mark else "") + ("".join(said) + end).replace("\n", line_end)
    whole = {"choices": [{"message": {"content": "".join(words)}, "finish_reason": finish}], "usage": usage}
    stream: Json = {"pieces": [text], "headers": {"Content-Type": kind}}
    if breaks_off:
        stream["end"] = "close"
    found, pieces = asyncio.run(both({"chat": [{"json": whole}], "stream": [stream]}))
    assert found[0] == found[1]
    assert "".join(pieces) == found[0].text


async def both(transcript: Json) -> tuple[list[Answer], list[str]]:
    pieces: list[str] = []
    async with transcript_server(transcript) as server, provider_of("vllm", f"localhost:{server.port}") as made:
        answers = [await made.complete(request(server)), await made.stream(request(server), pieces.append)]
        await asyncio.sleep(0)
    return answers, pieces

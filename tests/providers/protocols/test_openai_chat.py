"""A provider as runs call it, against a server that says what the test wants said."""

import asyncio
import json
import subprocess
import sys
from contextlib import AbstractAsyncContextManager

import pytest
from msgspec.structs import replace

from carrel.config import Secret
from carrel.evaluation.asking.judge import compare_schema
from carrel.providers.base import Access, GenerateMatter, ModelRequest, Parameters, ProviderError
from carrel.providers.catalogue import KNOWN
from carrel.providers.http_provider import HttpProvider
from tests.support.network import provider_of
from tests.support.raw_server import RawServer, Say, ok, raw_server, says

KEY = "sk-canary-0123456789"
HELLO = ok(b'{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}')


def provider(server: RawServer, name: str = "openai") -> AbstractAsyncContextManager[HttpProvider]:
    return provider_of(name, f"localhost:{server.port}")


def request(server: RawServer, *, judge: bool = False, model: str = "m") -> ModelRequest:
    return ModelRequest(
        model=model,
        system="",
        prompt="Say hello.",
        matter=GenerateMatter("", ""),
        schema=compare_schema() if judge else None,
        timeout_seconds=60,
        access=Access(Secret(KEY.encode()), f"http://localhost:{server.port}/v1/"),
    )


def in_turn(*answers: bytes) -> Say:
    left = list(answers)

    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop(0))

    return say


def refuses(status: int, **error: str) -> bytes:
    body = json.dumps({"error": error}).encode()
    return b"HTTP/1.1 %d No\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body


async def test_the_key_goes_into_one_header_and_the_path_is_the_protocols() -> None:
    async with raw_server(says(HELLO)) as server:
        for name, header in (
            ("openai", b"Authorization: Bearer " + KEY.encode()),
            ("azure", b"api-key: " + KEY.encode()),
        ):
            async with provider(server, name) as openai:
                assert (await openai.complete(request(server))).text == "Hello"
            head = server.asked[-1]
            assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
            assert header in head
            assert head.count(KEY.encode()) == 1


def test_only_a_url_of_azure_that_names_a_deployment_says_a_version() -> None:
    azure, plain = KNOWN["azure"].wire, KNOWN["openai"].wire
    new = "https://desk.openai.azure.com/openai/v1"
    assert azure.call_url(new, "m") == f"{new}/chat/completions"
    assert azure.models_url(new) == f"{new}/models"
    classic = "https://desk.openai.azure.com/openai/deployments/mine"
    assert azure.call_url(classic, "m") == f"{classic}/chat/completions?api-version=2024-10-21"
    assert azure.models_url(classic) == "https://desk.openai.azure.com/openai/models?api-version=2024-10-21"
    assert plain.call_url(classic, "m") == f"{classic}/chat/completions"


async def test_a_parameter_that_this_model_does_not_take_is_reported_as_such() -> None:
    unsupported = refuses(400, code="unsupported_value", param="temperature", message="Only the default is supported.")
    async with raw_server(says(unsupported)) as server, provider(server) as openai:
        with pytest.raises(ProviderError) as caught:
            await openai.complete(replace(request(server), parameters=Parameters(temperature=0.5)))
        assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == (
            "parameter-not-supported", False, True
        )  # fmt: skip
        with pytest.raises(ProviderError, match="request-refused"):
            await openai.complete(request(server))


async def test_a_form_that_is_refused_is_not_asked_for_again_of_this_model() -> None:
    refusal = refuses(400, message="'response_format.type' must be one of text, json_object", code="invalid_request")
    async with raw_server(in_turn(refusal, HELLO, HELLO, HELLO)) as server, provider(server) as openai:
        with pytest.raises(ProviderError) as caught:
            await openai.complete(request(server, judge=True))
        assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == (
            "structured-output-refused", True, True
        )  # fmt: skip
        for model in ("m", "m", "other"):
            await openai.complete(request(server, judge=True, model=model))
        sizes = [int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0]) for head in server.asked]
        strict, weaker, again, other = sizes
        assert weaker == again < strict
        assert other > weaker


async def test_calls_refused_together_go_one_step_down_and_not_two() -> None:
    refusal = refuses(400, message="json_schema is not supported")
    async with raw_server(says(refusal)) as server, provider(server) as openai:
        calls = (openai.complete(request(server, judge=True)) for _ in range(4))
        errors = await asyncio.gather(*calls, return_exceptions=True)
        assert {getattr(error, "code", None) for error in errors} == {"structured-output-refused"}
        server.say = says(HELLO)
        await openai.complete(request(server, judge=True))
    sent = [int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0]) for head in server.asked]
    assert len(set(sent)) == 2


async def test_a_text_that_the_provider_will_not_touch_is_a_refused_answer() -> None:
    async with raw_server(says(refuses(400, code="content_filter"))) as server, provider(server) as openai:
        answer = await openai.complete(request(server))
        assert (answer.text, answer.finish_reason, answer.usage) == ("", "refused", None)


async def test_a_host_that_the_operator_has_struck_off_is_not_called_with_a_key_of_before() -> None:
    async with raw_server(says(HELLO)) as server, provider_of("openai", "api.openai.com") as openai:
        with pytest.raises(ProviderError) as caught:
            await openai.complete(request(server))
        assert (caught.value.code, caught.value.retryable) == ("provider-host-not-allowed", False)
        assert server.asked == []


async def test_a_provider_that_was_closed_calls_nobody() -> None:
    async with raw_server(says(HELLO)) as server:
        async with provider(server) as openai:
            pass
        with pytest.raises(ProviderError) as caught:
            await openai.complete(request(server))
        assert (caught.value.code, server.asked) == ("provider-unreachable", [])


async def test_a_call_that_nobody_waits_for_any_more_gives_its_connection_back() -> None:
    async with raw_server(says()) as server, provider(server) as openai:
        for _ in range(8):
            call = asyncio.create_task(openai.complete(request(server)))
            while len(server.asked) <= _:
                await asyncio.sleep(0.005)
            call.cancel()
            await asyncio.wait([call])
        server.say = says(HELLO)
        assert (await openai.complete(request(server))).text == "Hello"


def test_a_request_shows_no_key() -> None:
    access = Access(Secret(KEY.encode()), "http://localhost/v1")
    assert KEY not in repr(ModelRequest(model="m", system="", prompt="", matter=GenerateMatter("", ""), access=access))


def test_the_http_client_is_not_imported_before_the_first_call() -> None:
    code = "import sys, carrel.app; sys.exit('aiohttp' in sys.modules or 'yarl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

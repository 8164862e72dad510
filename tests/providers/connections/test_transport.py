"""The transport against servers that do what no decent server does, over real sockets."""

import asyncio
import gzip
import ipaddress
import socket
from pathlib import Path
from typing import Any

import pytest

from carrel.providers.answer_room import AnswerMemory
from carrel.providers.base import ProviderError
from carrel.providers.connections.network import MAX_ANSWER_BYTES
from carrel.providers.connections.transport import Reply, Transport
from tests.support.network import transport
from tests.support.raw_server import Say, ok, raw_server, says
from tests.support.tls import self_signed

KEY = "sk-canary-0123456789"
HEADERS = {"Authorization": f"Bearer {KEY}"}
TIMEOUT_SECONDS = 60.0


async def get(carrier: Transport, url: str, timeout_seconds: float = TIMEOUT_SECONDS) -> Reply[None]:
    return await carrier.send("GET", url, HEADERS, None, timeout_seconds=timeout_seconds, place=AnswerMemory("ada"))


async def ask(say: Say, *, timeout_seconds: float = TIMEOUT_SECONDS) -> Reply[None]:
    async with raw_server(say) as server, transport(f"127.0.0.1:{server.port}") as carrier:
        return await get(carrier, f"http://127.0.0.1:{server.port}/", timeout_seconds)


async def fails(say: Say, *, timeout_seconds: float = TIMEOUT_SECONDS) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await ask(say, timeout_seconds=timeout_seconds)
    holds_no_key(caught.value)
    return caught.value


def holds_no_key(error: BaseException) -> None:
    """Neither the error nor what it remembers of others."""
    assert (error.__cause__, error.__context__) == (None, None)
    assert KEY not in repr(error)
    assert KEY not in str(error.__dict__)


async def test_an_answer_comes_back_with_its_status_and_headers() -> None:
    reply = await ask(says(ok(b"hello", b"X-Word: yes")))
    assert (reply.status, reply.body, reply.headers["x-word"]) == (200, b"hello", "yes")


async def test_a_redirect_is_not_followed_and_shows_as_what_it_is() -> None:
    async with raw_server(says(ok(b""))) as goal:
        where = b"Location: http://127.0.0.1:%d/" % goal.port
        reply = await ask(says(b"HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\n" + where + b"\r\n\r\n"))
        assert (reply.status, goal.asked) == (307, [])


@pytest.mark.parametrize(
    ("say", "code"),
    [
        (says(), "provider-timeout"),
        (says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), "provider-timeout"),
        (says(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", then_close=True), "provider-malformed"),
        (says(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "provider-malformed"),
        (says(b"SSH-2.0-OpenSSH_9.9\r\n\r\n"), "provider-malformed"),
        (says(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5_000 + b"\r\n"), "provider-malformed"),
        (says(then_close=True), "provider-unreachable"),
        (says(ok(b"junk", b"Content-Encoding: gzip")), "provider-malformed"),
        (says(ok(b"junk", b"Content-Encoding: br")), "provider-malformed"),
    ],
    ids=[
        "silent",
        "stalled",
        "cut off",
        "bad chunks",
        "not HTTP",
        "headers without end",
        "gone",
        "not gzip",
        "unasked",
    ],
)
async def test_a_server_that_does_not_keep_to_the_protocol_is_no_more_than_a_failed_call(say: Say, code: str) -> None:
    # Whoever says nothing is given up soon; whoever says something wrong is judged by that, however late it comes.
    error = await fails(say, timeout_seconds=0.3 if code == "provider-timeout" else TIMEOUT_SECONDS)
    assert (error.code, error.retryable, error.unbilled) == (code, True, False)


async def test_an_answer_that_announces_too_much_is_not_read() -> None:
    assert (
        await fails(says(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (MAX_ANSWER_BYTES + 1)))
    ).code == "answer-too-large"


async def test_an_answer_without_end_is_given_up_at_the_bound() -> None:
    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()

    assert (await fails(say)).code == "answer-too-large"


async def test_a_packed_answer_is_unpacked_but_not_a_bomb() -> None:
    assert (await ask(says(ok(gzip.compress(b"hello"), b"Content-Encoding: gzip")))).body == b"hello"
    bomb = gzip.compress(bytes(MAX_ANSWER_BYTES + 1))
    assert len(bomb) < 20_000
    assert (await fails(says(ok(bomb, b"Content-Encoding: gzip")))).code == "answer-too-large"
    assert (await fails(says(ok(gzip.compress(b"hello")[:-4], b"Content-Encoding: gzip")))).code == "provider-malformed"


async def test_nothing_is_kept_from_one_call_to_the_next_and_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with (
        raw_server(says(ok(b"x", b"Set-Cookie: a=b"))) as server,
        transport(f"127.0.0.1:{server.port}") as carrier,
    ):
        for _ in range(2):
            await get(carrier, f"http://127.0.0.1:{server.port}/")
        assert len(server.asked) == 2
        assert not any(b"ookie" in head for head in server.asked)


async def test_nobody_there_is_unreachable_and_cost_nothing() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        async with transport(f"127.0.0.1:{port}") as carrier:
            with pytest.raises(ProviderError) as caught:
                await get(carrier, f"http://127.0.0.1:{port}/")
    holds_no_key(caught.value)
    assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == ("provider-unreachable", True, True)


async def test_a_connection_that_never_comes_about_is_unreachable_and_cost_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("carrel.providers.connections.exchange.CONNECT_SECONDS", 0.05)
    monkeypatch.setattr(type(asyncio.get_running_loop()), "sock_connect", never)
    async with transport("127.0.0.1:9") as carrier:
        with pytest.raises(ProviderError) as caught:
            await get(carrier, "http://127.0.0.1:9/")
    holds_no_key(caught.value)
    assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == ("provider-unreachable", True, True)


# Addresses ----------------------------------------------------------------------------------------------------------


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: tuple[str, ...]) -> list[str]:
    """Names resolve to these, the last for ever; the names that were looked up."""
    looked_up: list[str] = []

    async def getaddrinfo(_: Any, host: str, port: int, **__: Any) -> list[Any]:
        found = answers[min(len(looked_up), len(answers) - 1)]
        looked_up.append(host)
        return [(_family(one), socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    monkeypatch.setattr(type(asyncio.get_running_loop()), "getaddrinfo", getaddrinfo)
    return looked_up


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET


@pytest.mark.parametrize(
    "addresses", [("127.0.0.1",), ("::ffff:127.0.0.1",), ("93.184.216.34", "127.0.0.1"), ("169.254.169.254",)]
)
async def test_a_name_that_leads_inside_is_not_called(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    async with (
        raw_server(says(ok(b"secret"))) as server,
        transport(f"*.example:{server.port}", "api.openai.com") as carrier,
    ):
        resolving(monkeypatch, addresses)
        for name in (f"evil.example:{server.port}", f"api.openai.com:{server.port}"):
            with pytest.raises(ProviderError) as caught:
                await get(carrier, f"http://{name}/")
            holds_no_key(caught.value)
            assert (caught.value.code, caught.value.retryable) == ("provider-host-not-allowed", False)
        assert server.asked == []


async def test_the_connection_goes_to_the_address_that_was_checked_whatever_the_name_says_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with raw_server(says(ok(b"mine"))) as server, transport(f"mine.example:{server.port}") as carrier:
        looked_up = resolving(monkeypatch, ("127.0.0.1",), ("169.254.169.254",))
        for _ in range(3):
            reply = await get(carrier, f"http://mine.example:{server.port}/")
            assert reply.body == b"mine"
        assert looked_up == ["mine.example"]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "127.1", "0x7f000001", "localhost"]
)
async def test_an_address_in_the_url_is_no_way_around(host: str) -> None:
    async with raw_server(says(ok(b"secret"))) as server, transport("*.example", "api.openai.com") as carrier:
        with pytest.raises(ProviderError):
            await get(carrier, f"http://{host}:{server.port}/")
        assert server.asked == []


# TLS ----------------------------------------------------------------------------------------------------------------


async def test_a_certificate_that_nobody_vouches_for_ends_the_call(tmp_path: Path) -> None:
    async with (
        raw_server(says(ok(b"x")), self_signed(tmp_path)) as server,
        transport(f"localhost:{server.port}") as carrier,
    ):
        with pytest.raises(ProviderError) as caught:
            await get(carrier, f"https://localhost:{server.port}/")
        holds_no_key(caught.value)
        assert (caught.value.code, caught.value.retryable, caught.value.unbilled) == ("provider-untrusted", False, True)
        assert server.asked == []

"""What every exchange has in common: ids, HEAD, headers, CORS, the lease given back, one line of log."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from typing import Literal

import msgspec
import pytest

from carrel.app import create_app
from carrel.config import Settings
from carrel.errors import Conflict
from carrel.http.answers.download import StreamedDownload
from carrel.http.answers.fenced import USER
from carrel.http.answers.response import Response
from carrel.http.request import Request
from carrel.http.requests.envelope import RELEASE
from carrel.http.requests.routing import get, post
from carrel.http.watching.access_log import AccessLog
from tests.support.asgi import client_of, running
from tests.support.clock import FakeClock
from tests.support.probe import probe, problem_of

PAGE = "https://desk.example"
UUID = "3f1c2b9e-0001"


@pytest.fixture
def with_origin(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, cors_origins=(PAGE,))


@get("/things/{thing_id:str}")
async def read(thing_id: str) -> dict[str, str]:
    return {"id": thing_id}


@post("/things", status_code=201)
async def make() -> dict[str, str]:
    return {"id": "1"}


@get("/cached")
async def cached() -> Response[str]:
    return Response("a", headers=[(b"cache-control", b"max-age=60")], media_type="text/plain")


@get("/endless")
async def endless() -> StreamedDownload:
    async def beats() -> AsyncGenerator[bytes, None]:
        while True:
            yield b"."
            await asyncio.sleep(0)

    return StreamedDownload(beats, file_name="beats", media_type="text/event-stream")


HANDLERS = [read, make, cached, endless]


async def test_a_sane_request_id_is_taken_over_and_any_other_replaced(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        sane = await client.get("/api/things/1", headers={"x-request-id": "a.B_c-9"})
        made = await client.get("/api/things/1")
        again = await client.get("/api/things/1")
        mad = [
            await client.get("/api/things/1", headers={b"x-request-id": value})
            for value in (b"a b", b"a" * 65, b"", "ä".encode())
        ]
    assert sane.headers["x-request-id"] == "a.B_c-9"
    ids = [answer.headers["x-request-id"] for answer in (made, again, *mad)]
    assert len(set(ids)) == len(ids)
    assert all(len(value) == 24 for value in ids)


async def test_head_answers_as_get_without_the_body(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        got = await client.get("/api/things/1")
        head = await client.head("/api/things/1")
        missing = await client.head("/api/nothing")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.content))
    assert missing.status_code == 404
    assert missing.content == b""


async def test_head_of_an_endless_stream_ends(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await asyncio.wait_for(client.head("/api/endless"), 60)
    assert answer.status_code == 200


async def test_every_answer_forbids_caching_and_sniffing(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        for path in ("/api/things/1", "/api/nothing"):
            answer = await client.get(path)
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "strict-transport-security" not in answer.headers
            assert "server" not in answer.headers
        assert (await client.get("/api/cached")).headers["cache-control"] == "max-age=60"


async def test_hsts_is_sent_behind_tls_only(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS, tls=True)) as client:
        answer = await client.get("/api/things/1")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


async def test_a_named_origin_may_read_and_send_what_pages_need(with_origin: Settings) -> None:
    headers = {
        "origin": PAGE,
        "access-control-request-method": "PUT",
        "access-control-request-headers": "x-svc-session-token, Content-Type,if-match, idempotency-key",
    }
    async with client_of(probe(with_origin, HANDLERS)) as client:
        preflight = await client.options("/api/things/1", headers=headers)
        answer = await client.get("/api/things/1", headers={"origin": PAGE})
        failed = await client.get("/api/nothing", headers={"origin": PAGE})
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == PAGE
    assert preflight.headers["access-control-allow-methods"] == "GET, HEAD, POST, PUT, DELETE"
    assert (
        preflight.headers["access-control-allow-headers"]
        == "X-SVC-Session-Token, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID"
    )
    for each in (answer, failed):
        assert each.headers["access-control-allow-origin"] == PAGE
        assert each.headers["access-control-expose-headers"] == "ETag, Retry-After, X-Request-ID"
        assert "access-control-allow-credentials" not in each.headers
        assert each.headers["vary"] == "Origin"


@pytest.mark.parametrize(
    ("origin", "method", "headers"),
    [
        ("https://elsewhere.example", "GET", ""),
        (PAGE + ".evil.example", "GET", ""),
        ("null", "GET", ""),
        (PAGE, "GET", "X-SVC-Plugin-Secret"),
        (PAGE, "GET", "content-type, x-svc-admin-secret"),
        (PAGE, "GET", "x-anything"),
        (PAGE, "PATCH", ""),
    ],
)
async def test_any_other_preflight_is_refused_in_the_one_shape(
    with_origin: Settings, origin: str, method: str, headers: str
) -> None:
    sent = {
        "origin": origin,
        "access-control-request-method": method,
        "access-control-request-headers": headers,
    }
    async with client_of(probe(with_origin, HANDLERS)) as client:
        answer = await client.options("/api/things/1", headers=sent)
    problem_of(answer, 403, "cors-refused")
    assert "access-control-allow-methods" not in answer.headers


async def test_without_origins_no_page_may_read(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.get("/api/things/1", headers={"origin": PAGE})
    assert answer.status_code == 200
    assert not [name for name in answer.headers if name.startswith("access-control")]


RELEASED: list[str] = []


async def locked(request: Request) -> None:
    request.scope[USER] = UUID
    request.scope[RELEASE] = lambda: RELEASED.append(request.scope["path"])


@get("/leased", guards=[locked])
async def leased() -> int:
    return 1


@get("/leased/conflict", guards=[locked])
async def leased_conflict() -> None:
    raise Conflict


@get("/leased/broken", guards=[locked])
async def leased_broken() -> None:
    raise ValueError


@get("/leased/stream", guards=[locked])
async def leased_stream() -> StreamedDownload:
    async def parts() -> AsyncGenerator[bytes, None]:
        yield b"a"
        raise ValueError

    return StreamedDownload(parts, file_name="a", media_type="text/plain")


async def test_the_lease_is_given_back_however_the_request_ends(settings: Settings) -> None:
    app = probe(settings, [leased, leased_conflict, leased_broken, leased_stream])
    RELEASED.clear()
    async with client_of(app, raise_errors=False) as client:
        await client.head("/api/leased")
        await client.get("/api/leased?unknown=1")
        for path in ("/conflict", "/broken", "/stream"):
            await client.get(f"/api/leased{path}")
    assert RELEASED == [
        "/api/leased",
        "/api/leased",
        "/api/leased/conflict",
        "/api/leased/broken",
        "/api/leased/stream",
    ]


async def test_a_request_is_one_line_of_log_with_the_template_and_nothing_else_of_it(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    log = AccessLog(FakeClock(1_800_000_000.25))
    app = probe(settings, [*HANDLERS, leased], log=log)
    async with client_of(app) as client:
        await client.get("/api/things/canary?canary=1", headers={"x-request-id": "r1"})
        await client.get("/api/nothing/canary", headers={"x-request-id": "r2"})
        await client.head("/api/leased", headers={"x-request-id": "r3"})
    log.flush()
    written = capsys.readouterr().err
    assert "canary" not in written
    first, second, third = (json.loads(line) for line in written.splitlines())
    assert first == {
        "event": "request",
        "level": "info",
        "time": "2027-01-15T08:00:00.250Z",
        "method": "GET",
        "route": "/api/things/{thing_id}",
        "status": 400,
        "ms": 0.0,
        "request_id": "r1",
        "user": "",
        "code": "unknown-parameter",
    }
    assert "code" not in third
    assert (second["route"], second["status"], second["request_id"]) == ("", 404, "r2")
    assert (third["method"], third["route"], third["status"]) == ("HEAD", "/api/leased", 200)
    assert third["user"] == UUID[-6:]


@pytest.mark.parametrize(
    ("addresses", "forwarded", "shown"),
    [
        ("off", "203.0.113.9", None),
        ("connection", "203.0.113.9", "127.0.0.0/24"),
        ("forwarded", "203.0.113.9, 198.51.100.77", "198.51.100.0/24"),
        ("forwarded", "2001:db8:1:2::3", "2001:db8:1::/48"),
        ("forwarded", "::ffff:198.51.100.7", "198.51.100.0/24"),
        ("forwarded", "canary", None),
    ],
)
async def test_of_a_client_that_is_refused_the_log_shows_the_network_if_the_operator_asks(
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    addresses: Literal["off", "connection", "forwarded"],
    forwarded: str,
    shown: str | None,
) -> None:
    app = create_app(msgspec.structs.replace(settings, log_addresses=addresses), clock=FakeClock())
    async with running(app), client_of(app) as client:
        for path in ("/api/users/me", "/api/health"):
            await client.get(path, headers={"x-forwarded-for": forwarded})
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines() if '"request"' in line]
    assert [(line["status"], line.get("address")) for line in lines] == [(401, shown), (200, None)]


async def test_waiting_lines_are_written_when_the_service_ends(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    app = probe(settings, HANDLERS, log=AccessLog(FakeClock()))
    async with running(app), client_of(app) as client:
        await client.get("/api/things/1")
        assert capsys.readouterr().err == ""
    assert len(capsys.readouterr().err.splitlines()) == 1


async def test_a_log_that_nobody_reads_any_more_is_no_harm(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        @property
        def buffer(self) -> "Gone":
            return self

        def write(self, _: bytes) -> int:
            raise BrokenPipeError

    log = AccessLog(FakeClock())
    async with client_of(probe(settings, HANDLERS, log=log)) as client:
        await client.get("/api/things/1")
    monkeypatch.setattr(sys, "stderr", Gone())
    log.flush()

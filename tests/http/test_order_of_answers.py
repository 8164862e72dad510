"""Route, credential, permission, size and type, input, row, state: in this order, whatever else is wrong."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from carrel.config import Settings
from carrel.errors import NotFound, Unauthorized
from carrel.http.request import Request
from carrel.http.requests.body import MULTIPART
from carrel.http.requests.routing import Query, get, post
from carrel.http.requests.schema import In
from tests.support.asgi import client_of
from tests.support.probe import faults_of, probe, problem_of

JSON = {"content-type": "application/json"}


async def locked(request: Request) -> None:
    if request.header(b"x-key") is None:
        raise Unauthorized


class ThingIn(In, frozen=True):
    name: str


@post("/things/{thing_id:str}", guards=[locked], status_code=200)
async def change(data: ThingIn, thing_id: str, size: Annotated[int, Query(ge=1)] = 1) -> ThingIn:
    if thing_id != "1":
        raise NotFound
    return data


@post("/upload", status_code=200, opt={MULTIPART: True})
async def upload() -> int:
    return 1


@post("/things/{thing_id:str}/start", guards=[locked], status_code=200)
async def start(thing_id: str, size: Annotated[int, Query(ge=1)] = 1) -> int:
    if thing_id != "1":
        raise NotFound
    return size


@get("/things/{thing_id:str}", guards=[locked])
async def read(thing_id: str) -> str:
    return thing_id


class Chunks:
    """A body without Content-Length that tells how much of it was taken."""

    def __init__(self, count: int, size: int = 64 * 1024) -> None:
        self.count = count
        self.size = size
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(self.count):
            self.taken += self.size
            yield b" " * self.size


KEY = {"x-key": "1"}


async def test_the_route_comes_before_the_credential(settings: Settings) -> None:
    async with client_of(probe(settings, [change])) as client:
        problem_of(await client.post("/api/nothing"), 404, "route-unknown")
        problem_of(await client.put("/api/things/1"), 405, "method-not-allowed")


async def test_the_credential_comes_before_size_type_and_input(settings: Settings) -> None:
    async with client_of(probe(settings, [change])) as client:
        for headers, body in (
            ({"content-type": "text/plain"}, b"{}"),
            ({"content-type": "application/json", "content-length": "99999999"}, b"{"),
            (JSON, b"{"),
        ):
            answer = await client.post("/api/things/1?nonsense=1", content=body, headers=headers)
            problem_of(answer, 401, "unauthorized")


async def test_without_a_credential_not_one_byte_of_the_body_is_read(settings: Settings) -> None:
    async def receive() -> dict[str, Any]:
        raise AssertionError("the body was read")

    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/things/1",
        "query_string": b"",
        "headers": [(b"host", b"test"), (b"content-type", b"application/json"), (b"content-length", b"2")],
    }
    await probe(settings, [change])(scope, receive, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == 401


async def test_the_size_comes_before_the_input(settings: Settings) -> None:
    async with client_of(probe(settings, [change])) as client:
        body = b" " * (settings.max_json_bytes + 1)
        answer = await client.post("/api/things/1?nonsense=1", content=body, headers=JSON | KEY)
        problem_of(answer, 413, "too-large")


async def test_a_body_of_exactly_the_limit_is_taken(settings: Settings) -> None:
    body = b'{"name": "' + b"a" * (settings.max_json_bytes - 12) + b'"}'
    assert len(body) == settings.max_json_bytes
    async with client_of(probe(settings, [change])) as client:
        answer = await client.post("/api/things/1", content=body, headers=JSON | KEY)
    assert answer.status_code == 200


async def test_a_body_without_a_length_is_cut_off_at_the_limit(settings: Settings) -> None:
    chunks = Chunks(count=1000)
    async with client_of(probe(settings, [change])) as client:
        answer = await client.post("/api/things/1", content=chunks, headers=JSON | KEY)
        problem_of(answer, 413, "too-large")
    assert chunks.taken <= settings.max_json_bytes + 2 * chunks.size


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", "", "nonsense"]
)
async def test_a_body_that_is_not_json_is_415(settings: Settings, kind: str) -> None:
    async with client_of(probe(settings, [change])) as client:
        answer = await client.post("/api/things/1", content=b'{"name": "a"}', headers={"content-type": kind} | KEY)
        problem_of(answer, 415, "unsupported-media-type")


@pytest.mark.parametrize("kind", ["application/json", 'application/json; charset="UTF-8"', "Application/JSON"])
async def test_json_is_recognised_in_every_spelling(settings: Settings, kind: str) -> None:
    async with client_of(probe(settings, [change])) as client:
        answer = await client.post("/api/things/1", content=b'{"name": "a"}', headers={"content-type": kind} | KEY)
    assert answer.status_code == 200


async def test_an_upload_is_multipart_or_415(settings: Settings) -> None:
    async with client_of(probe(settings, [upload])) as client:
        problem_of(await client.post("/api/upload", json={}), 415, "unsupported-media-type")
        assert (await client.post("/api/upload", files={"file": b"a"})).status_code == 200


async def test_the_input_comes_before_the_row(settings: Settings) -> None:
    async with client_of(probe(settings, [change])) as client:
        answer = await client.post("/api/things/2?nonsense=1", json={"name": "a"}, headers=KEY)
        faults_of(answer, 400, "unknown-parameter")
        answer = await client.post("/api/things/2?size=0", json={"name": "a"}, headers=KEY)
        assert list(faults_of(answer)) == ["size"]
        answer = await client.post("/api/things/2", json={"nam": "a"}, headers=KEY)
        assert list(faults_of(answer)) == ["nam", "name"]
        problem_of(await client.post("/api/things/2", json={"name": "a"}, headers=KEY), 404, "not-found")


async def test_a_route_without_a_body_refuses_one_in_its_place_in_the_order(settings: Settings) -> None:
    async with client_of(probe(settings, [start, read])) as client:
        problem_of(await client.post("/api/things/1/start", json={}), 401, "unauthorized")
        large = b" " * (settings.max_json_bytes + 1)
        problem_of(await client.post("/api/things/1/start", content=large, headers=KEY), 413, "too-large")
        problem_of(await client.post("/api/things/2/start", json={}, headers=KEY), 404, "not-found")
        answer = await client.post("/api/things/2/start", json={"size": 1}, headers=KEY)
        assert faults_of(answer, 400, "unexpected-body") == {"": "no body is taken here"}
        for method in ("GET", "HEAD"):
            answer = await client.request(method, "/api/things/1", content=b"garbage", headers=KEY)
            assert answer.status_code == 400
        problem_of(await client.post("/api/things/2/start", headers=KEY), 404, "not-found")


async def test_a_route_without_a_body_reads_no_more_of_one_without_a_length_than_it_must(settings: Settings) -> None:
    chunks = Chunks(count=1000)
    async with client_of(probe(settings, [start])) as client:
        answer = await client.post("/api/things/1/start", content=chunks, headers=KEY)
        faults_of(answer, 400, "unexpected-body")
        assert chunks.taken <= 2 * chunks.size
        empty = await client.post("/api/things/1/start", content=Chunks(count=3, size=0), headers=KEY)
        assert empty.status_code == 200
        none = await client.post("/api/things/1/start", content=b"", headers=KEY | {"content-type": "text/plain"})
        assert none.status_code == 200


async def test_options_lists_what_the_route_has_as_405_does(settings: Settings) -> None:
    async with client_of(probe(settings, [read, change, start])) as client:
        for path, methods in (
            ("/api/things/1", "GET, HEAD, OPTIONS, POST"),
            ("/api/things/1/start", "OPTIONS, POST"),
        ):
            answer = await client.options(path)
            assert (answer.status_code, answer.headers["allow"], answer.content) == (204, methods, b"")
            assert (await client.delete(path)).headers["allow"] == methods


@pytest.mark.parametrize("length", ["-1", "1e3", "", "9" * 40])
async def test_a_length_that_is_no_number_is_400(settings: Settings, length: str) -> None:
    async with client_of(probe(settings, [change])) as client:
        answer = await client.post("/api/things/1", content=b"{}", headers=JSON | KEY | {"content-length": length})
        problem_of(answer, 400, "malformed")

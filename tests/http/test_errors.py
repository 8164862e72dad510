"""One shape for every error, and not a word in it that the caller sent."""

from typing import Annotated

import msgspec
import pytest

from carrel.config import Settings
from carrel.errors import Conflict, Unavailable
from carrel.http.requests.routing import Query, get, post
from carrel.http.requests.schema import In, Name, Tags, Text
from tests.support.asgi import client_of
from tests.support.probe import faults_of, probe, problem_of

CANARY = "canary-5f1c"


class Candidate(In, frozen=True):
    model: Annotated[str, msgspec.Meta(pattern="^[a-z]+:[a-z]+$")]
    repeats: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1


class ThingIn(In, frozen=True):
    name: Name
    body: Text = ""
    tags: Tags = msgspec.field(default_factory=list)
    candidates: list[Candidate] = msgspec.field(default_factory=list)
    labels: dict[str, int] = msgspec.field(default_factory=dict)


@post("/things", status_code=200)
async def make(data: ThingIn) -> ThingIn:
    return data


@get("/things/{thing_id:str}")
async def read(thing_id: str, size: Annotated[int, Query(ge=1, le=9)] = 1) -> dict[str, int]:
    return {"size": size}


@get("/numbers/{number:int}")
async def count(number: int) -> int:
    return number


@get("/required")
async def required(word: Annotated[str, Query(min_length=2)]) -> str:
    return word


@get("/busy")
async def busy() -> None:
    raise Unavailable(retry_after_seconds=7)


@get("/conflict")
async def conflict() -> None:
    raise Conflict


@get("/broken")
async def broken() -> None:
    raise ValueError(CANARY)


@get("/unencodable")
async def unencodable() -> object:
    return object()


HANDLERS = [make, read, count, required, busy, conflict, broken, unencodable]


@pytest.mark.parametrize(
    ("sent", "path", "message"),
    [
        ({}, "name", "is required"),
        ({"name": 5}, "name", "must be a string"),
        ({"name": ""}, "name", "must have at least 1 character"),
        ({"name": CANARY * 30}, "name", "must have at most 200 characters"),
        ({"name": "a", "body": "ä" * 524_289}, "body", "must have at most 1048576 bytes"),
        ({"name": "a", "nam": CANARY}, "nam", "is not a known field"),
        ({"name": "a", f"<{CANARY}>": 1}, "?", "is not a known field"),
        ({"name": "a", "tags": ["x", CANARY * 9]}, "tags[1]", "must have at most 50 characters"),
        ({"name": "a", "candidates": [{"model": CANARY}]}, "candidates[0].model", "does not have the required form"),
        ({"name": "a", "candidates": [{}]}, "candidates[0].model", "is required"),
        (
            {"name": "a", "candidates": [{"model": "a:b"}, {"model": "a:b", "repeats": 99}]},
            "candidates[1].repeats",
            "must be at most 10",
        ),
        (
            {"name": "a", "candidates": [{"model": "a:b", "repeats": "1"}]},
            "candidates[0].repeats",
            "must be an integer",
        ),
        (
            {"name": "a", "candidates": [{"model": "a:b", "repeats": True}]},
            "candidates[0].repeats",
            "must be an integer",
        ),
        ({"name": "a", "labels": {CANARY: CANARY}}, "labels[...]", "must be an integer"),
        ({"name": f"{CANARY}\0"}, "name", "holds characters that are no text"),
        ([CANARY], "", "must be an object"),
    ],
)
async def test_a_fault_of_the_body_names_its_field_and_never_the_value(
    settings: Settings, sent: object, path: str, message: str
) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.post("/api/things", json=sent)
    assert faults_of(answer) == {path: message}
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    "sent",
    [
        b"{",
        b"",
        b'{"name": NaN}',
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b'\xef\xbb\xbf{"name": "a"}',
        b'{"name": "a"} {}',
        b"[" * 100_000,
        b'{"candidates": ' + b'[{"model": ' * 50_000,
    ],
)
async def test_a_body_that_is_no_json_is_400(settings: Settings, sent: bytes) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.post("/api/things", content=sent, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["code"] in {"malformed", "invalid-input"}


@pytest.mark.parametrize("headers", [{}, {"content-type": "application/json"}])
async def test_a_request_without_its_body_lacks_the_body_and_each_required_field(
    settings: Settings, headers: dict[str, str]
) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.post("/api/things", headers=headers)
    assert faults_of(answer) == {"": "a JSON body is required", "name": "is required"}


async def test_every_fault_of_a_body_is_named_in_one_answer(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.post("/api/things", json={"labels": {CANARY: CANARY}, "candidate": 1})
    assert faults_of(answer) == {
        "candidate": "is not a known field",
        "name": "is required",
        "labels[...]": "must be an integer",
    }


async def test_of_a_field_that_is_named_twice_the_last_value_counts_and_is_checked(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        json = {"content-type": "application/json"}
        made = await client.post("/api/things", content=b'{"name": "first", "name": "last"}', headers=json)
        refused = await client.post("/api/things", content=b'{"name": "first", "name": ""}', headers=json)
    assert made.json()["name"] == "last"
    assert faults_of(refused).keys() == {"name"}


async def test_numbers_beyond_any_range_are_400(settings: Settings) -> None:
    body = b'{"name": "a", "candidates": [{"model": "a:b", "repeats": ' + b"9" * 6000 + b"}]}"
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.post("/api/things", content=body, headers={"content-type": "application/json"})
    assert faults_of(answer) == {"candidates[0].repeats": "is out of range"}


async def test_an_unknown_route_is_404_and_its_path_is_not_repeated(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        for path in (f"/api/{CANARY}", "/", "/api", "/api/numbers/one", f"/api/things/{CANARY}/more"):
            answer = await client.get(path)
            problem_of(answer, 404, "route-unknown")
            assert CANARY not in answer.text


async def test_nobody_is_sent_to_the_path_without_its_last_slash(settings: Settings) -> None:
    """The other address would begin with `http:` behind a proxy, and clients would send their credentials there."""
    async with client_of(probe(settings, HANDLERS)) as client:
        problem_of(await client.get("/api/things/1/"), 404, "route-unknown")


async def test_a_wrong_method_is_405_and_says_which_are_right(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.delete("/api/things/1")
        problem_of(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
        answer = await client.head("/api/things")
        assert answer.status_code == 405


@pytest.mark.parametrize(
    ("query", "path", "message"),
    [
        ("size=0", "size", "must be at least 1"),
        ("size=10", "size", "must be at most 9"),
        (f"size={CANARY}", "size", "must be an integer"),
        ("size=", "size", "must be an integer"),
    ],
)
async def test_constraints_of_query_parameters_hold(settings: Settings, query: str, path: str, message: str) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.get(f"/api/things/1?{query}")
    assert faults_of(answer) == {path: message}
    assert CANARY not in answer.text


@pytest.mark.parametrize(
    ("query", "path"),
    [("sise=1", "sise"), ("size=1&size=2", "size"), ("thing_id=2", "thing_id"), ("=1", "?"), ("%3Cb%3E=1", "?")],
)
async def test_a_query_parameter_that_the_route_does_not_have_is_400(settings: Settings, query: str, path: str) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.get(f"/api/things/1?{query}")
    assert list(faults_of(answer, 400, "unknown-parameter")) == [path]


@pytest.mark.parametrize("query", ["size=%ff", "&".join(f"a{n}=1" for n in range(60))])
async def test_a_query_that_cannot_be_read_is_400(settings: Settings, query: str) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        problem_of(await client.get(f"/api/things/1?{query}"), 400, "malformed")


async def test_a_missing_query_parameter_is_named(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        assert faults_of(await client.get("/api/required")) == {"word": "is required"}


async def test_an_error_says_when_to_come_again(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.get("/api/busy")
    problem_of(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == "7"


@pytest.mark.parametrize("path", ["/api/broken", "/api/unencodable"])
async def test_an_unexpected_error_is_500_without_its_text(settings: Settings, path: str) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.get(path)
    body = problem_of(answer, 500, "internal")
    assert body["detail"] == "Something went wrong on our side."
    assert CANARY not in answer.text

"""ETags, conditions and pages, over HTTP."""

import msgspec
import pytest

from carrel.config import Settings
from carrel.http.answers.etag import IfMatch, etag
from carrel.http.answers.response import Response, tagged
from carrel.http.requests.routing import delete, get, put
from carrel.kit.sqlite import paging
from carrel.kit.sqlite.paging import Paging
from tests.support.asgi import client_of
from tests.support.probe import faults_of, probe, problem_of


class Thing(msgspec.Struct):
    id: str
    version: int


@get("/things/{thing_id:str}")
async def read(thing_id: str) -> Response[Thing]:
    return tagged(Thing(thing_id, 7))


@get("/things/{thing_id:str}/text")
async def read_text(thing_id: str) -> Response[str]:
    return Response("words", etag=etag(7, "md"), media_type="text/markdown")


@put("/things/{thing_id:str}")
async def replace(thing_id: str, if_match: IfMatch) -> Response[Thing]:
    if_match.require(7)
    return tagged(Thing(thing_id, 8))


@delete("/things/{thing_id:str}")
async def remove(thing_id: str, if_match: IfMatch) -> None:
    if_match.require(7)


@get("/pages")
async def pages(paging: Paging) -> Paging:
    return paging


HANDLERS = [read, read_text, replace, remove, pages]


async def test_a_resource_carries_a_strong_tag_for_each_representation(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        assert (await client.get("/api/things/1")).headers["etag"] == '"7.json"'
        text = await client.get("/api/things/1/text")
    assert text.headers["etag"] == '"7.md"'
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"


@pytest.mark.parametrize("condition", ['"7.json"', 'W/"7.json"', '"1.json", "7.json"', "*"])
async def test_what_the_reader_has_already_is_304(settings: Settings, condition: str) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.get("/api/things/1", headers={"if-none-match": condition})
    assert answer.status_code == 304
    assert answer.content == b""
    assert answer.headers["etag"] == '"7.json"'
    assert "content-type" not in answer.headers


@pytest.mark.parametrize("condition", ['"6.json"', '"7.md"', "7.json", ""])
async def test_what_the_reader_has_not_is_sent(settings: Settings, condition: str) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.get("/api/things/1", headers={"if-none-match": condition})
    assert answer.status_code == 200


@pytest.mark.parametrize("condition", [None, '"7.json"', '"7.md"', '"6.json","7.json"', "*"])
async def test_a_change_of_the_version_that_was_read_goes_through(settings: Settings, condition: str | None) -> None:
    headers = {} if condition is None else {"if-match": condition}
    async with client_of(probe(settings, HANDLERS)) as client:
        changed = await client.put("/api/things/1", headers=headers)
        removed = await client.delete("/api/things/1", headers=headers)
    assert changed.status_code == 200
    assert changed.headers["etag"] == '"8.json"'
    assert removed.status_code == 204
    assert removed.content == b""


@pytest.mark.parametrize("condition", ['"6.json"', 'W/"7.json"', '"foreign"', '""'])
async def test_a_change_of_another_version_is_412(settings: Settings, condition: str) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        problem_of(await client.put("/api/things/1", headers={"if-match": condition}), 412, "version-mismatch")
        problem_of(await client.delete("/api/things/1", headers={"if-match": condition}), 412, "version-mismatch")


@pytest.mark.parametrize("condition", ["7", '"7', "", '"7.json";'])
async def test_a_condition_that_is_no_list_of_tags_is_400(settings: Settings, condition: str) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        answer = await client.put("/api/things/1", headers={"if-match": condition})
    assert list(faults_of(answer)) == ["If-Match"]


async def test_a_list_takes_limit_and_cursor(settings: Settings) -> None:
    async with client_of(probe(settings, HANDLERS)) as client:
        assert (await client.get("/api/pages")).json() == {"limit": 50, "after": None}
        answer = await client.get("/api/pages", params={"limit": 200, "cursor": paging.encode(5)})
        assert answer.json() == {"limit": 200, "after": 5}
        for limit in ("0", "201", "x"):
            assert list(faults_of(await client.get("/api/pages", params={"limit": limit}))) == ["limit"]
        for cursor in ("", "x", paging.encode(5)[:-1], paging.encode(5) + "=", "é"):
            answer = await client.get("/api/pages", params={"cursor": cursor})
            assert list(faults_of(answer, 400, "invalid-cursor")) == ["cursor"]

"""One effect and one answer per key, whatever happens in between."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import httpx
import msgspec
import pytest

from carrel.config import Settings
from carrel.errors import Conflict
from carrel.http.answers.response import Response
from carrel.http.request import Request
from carrel.http.requests import idempotency
from carrel.http.requests.body import TAKES
from carrel.http.requests.idempotency import KEPT_SECONDS, Once
from carrel.http.requests.routing import post
from carrel.http.requests.schema import In
from carrel.kit.sqlite import database
from carrel.kit.sqlite.database import Connection, transaction
from tests.support.asgi import client_of
from tests.support.clock import FakeClock
from tests.support.probe import faults_of, probe, problem_of
from tests.support.workspace import workspace_database

TABLES = """
CREATE TABLE idempotency (
    route TEXT NOT NULL, key TEXT NOT NULL, body_digest BLOB NOT NULL, status INTEGER NOT NULL, response BLOB NOT NULL,
    created_at TEXT NOT NULL, etag TEXT, PRIMARY KEY (route, key)
) STRICT;
CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
"""
P = ParamSpec("P")
T = TypeVar("T")


class ThingIn(In, frozen=True):
    name: str


class Thing(msgspec.Struct):
    id: int
    name: str


class Page(Thing):
    version: int


class Store:
    """A database with the one verb that matters here. While `gate` is closed, writes wait."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self.gate = asyncio.Event()
        self.gate.set()

    async def write(self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        await self.gate.wait()
        with transaction(self.conn) as conn:
            return fn(conn, *args, **kwargs)

    def count(self, table: str = "things") -> int:
        row = self.conn.one(f"SELECT count(*) FROM {table}")
        assert row is not None
        return int(row[0])


def create(conn: Connection, data: ThingIn) -> Thing:
    if data.name == "refused":
        raise Conflict
    conn.run("INSERT INTO things (name) VALUES (?)", data.name)
    return Thing(conn.last_insert_rowid(), data.name)


@post("/things", status_code=201)
async def make(data: ThingIn, request: Request, once: Once, store: Store) -> Response[Thing]:
    return await once(request.header(b"x-user") or "ada", store.write, create, data)


@post("/things/{thing_id:str}/copies", status_code=202)
async def copy(thing_id: str, data: ThingIn, once: Once, store: Store) -> Response[Thing]:
    return await once("ada", store.write, create, data)


def create_page(conn: Connection, data: ThingIn) -> Page:
    thing = create(conn, data)
    return Page(thing.id, thing.name, version=3)


@post("/pages", status_code=201)
async def make_page(data: ThingIn, once: Once, store: Store) -> Response[Page]:
    return await once("ada", store.write, create_page, data)


@post("/uploads", opt={TAKES: "text/plain"}, status_code=201)
async def upload(request: Request, once: Once, store: Store) -> Response[Thing]:
    text = (await request.body()).decode().strip("-")
    return await once.over(text.encode())("ada", store.write, create, ThingIn(name=text))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> Store:
    conn = database.create(tmp_path / "workspace.db", bytes(range(32)), clock=clock, new_id=lambda: "id")
    conn.execute(TABLES).fetchall()
    return Store(conn)


@asynccontextmanager
async def serving(settings: Settings, store: Store) -> AsyncIterator[httpx.AsyncClient]:
    app = probe(settings, [make, make_page, copy, upload], dependencies={"store": lambda: store})
    async with client_of(app) as client:
        yield client
    store.conn.close()


def key(value: str) -> dict[str, str]:
    return {"Idempotency-Key": value}


async def test_the_same_request_under_one_key_has_one_effect_and_one_answer(settings: Settings, store: Store) -> None:
    async with serving(settings, store) as client:
        first = await client.post("/api/things", json={"name": "a"}, headers=key("k1"))
        second = await client.post("/api/things", json={"name": "a"}, headers=key("k1"))
        other = await client.post("/api/things", json={"name": "a"}, headers=key("k2"))
        assert store.count() == 2
    assert first.status_code == second.status_code == 201
    assert first.json() == {"id": 1, "name": "a"}
    assert second.content == first.content
    assert second.headers["content-type"] == "application/json"
    assert other.json()["id"] == 2


async def test_without_a_key_every_request_has_its_effect(settings: Settings, store: Store) -> None:
    async with serving(settings, store) as client:
        for _ in range(2):
            assert (await client.post("/api/things", json={"name": "a"})).status_code == 201
        assert store.count() == 2
        assert store.count("idempotency") == 0


async def test_another_body_path_or_query_under_the_key_is_409(settings: Settings, store: Store) -> None:
    async with serving(settings, store) as client:
        await client.post("/api/things", json={"name": "a"}, headers=key("k"))
        answer = await client.post("/api/things", json={"name": "b"}, headers=key("k"))
        problem_of(answer, 409, "idempotency-mismatch")
        first = await client.post("/api/things/1/copies", json={"name": "a"}, headers=key("k"))
        assert first.status_code == 202
        answer = await client.post("/api/things/2/copies", json={"name": "a"}, headers=key("k"))
        problem_of(answer, 409, "idempotency-mismatch")


async def test_what_fails_is_not_remembered(settings: Settings, store: Store) -> None:
    async with serving(settings, store) as client:
        for _ in range(2):
            answer = await client.post("/api/things", json={"name": "refused"}, headers=key("k"))
            problem_of(answer, 409, "conflict")
        answer = await client.post("/api/things", json={"name": "a"}, headers=key("k"))
        assert answer.status_code == 201


async def test_a_key_is_forgotten_after_a_day(settings: Settings, store: Store, clock: FakeClock) -> None:
    async with serving(settings, store) as client:
        await client.post("/api/things", json={"name": "a"}, headers=key("k"))
        clock.advance(KEPT_SECONDS)
        await client.post("/api/things", json={"name": "a"}, headers=key("k"))
        assert store.count() == 1
        clock.advance(1)
        answer = await client.post("/api/things", json={"name": "b"}, headers=key("other"))
        assert store.count("idempotency") == 1
        answer = await client.post("/api/things", json={"name": "b"}, headers=key("k"))
        assert answer.json()["id"] == 3


async def test_a_second_request_while_the_first_runs_is_409(settings: Settings, store: Store) -> None:
    async with serving(settings, store) as client:
        store.gate.clear()
        first = asyncio.create_task(client.post("/api/things", json={"name": "a"}, headers=key("k")))
        while not store.gate._waiters:  # the first write has arrived
            await asyncio.sleep(0)
        answer = await client.post("/api/things", json={"name": "a"}, headers=key("k"))
        problem_of(answer, 409, "idempotency-in-progress")
        others = asyncio.create_task(
            client.post("/api/things", json={"name": "a"}, headers=key("k") | {"x-user": "bo"})
        )
        await asyncio.sleep(0)
        store.gate.set()
        assert (await first).status_code == 201
        assert (await others).json() == (await first).json()
        again = await client.post("/api/things", json={"name": "a"}, headers=key("k"))
        assert again.content == (await first).content


async def test_the_first_answer_and_the_remembered_one_carry_the_same_etag(settings: Settings, store: Store) -> None:
    async with serving(settings, store) as client:
        plain = await client.post("/api/pages", json={"name": "a"})
        first, again = [await client.post("/api/pages", json={"name": "a"}, headers=key("k")) for _ in range(2)]
        none = await client.post("/api/things", json={"name": "a"}, headers=key("k"))
    assert plain.headers["etag"] == first.headers["etag"] == again.headers["etag"] == '"3.json"'
    assert again.content == first.content
    assert "etag" not in none.headers


async def test_a_route_can_compare_what_counts_instead_of_the_raw_body(settings: Settings, store: Store) -> None:
    headers = key("k") | {"content-type": "text/plain"}
    async with serving(settings, store) as client:
        first = await client.post("/api/uploads", content=b"--text--", headers=headers)
        second = await client.post("/api/uploads", content=b"----text", headers=headers)
        answer = await client.post("/api/uploads", content=b"--other--", headers=headers)
        problem_of(answer, 409, "idempotency-mismatch")
    assert first.content == second.content


@pytest.mark.parametrize("value", ["", "a b", "a" * 256, "ä".encode(), "a\tb"])
async def test_a_key_is_visible_ascii(settings: Settings, store: Store, value: str) -> None:
    async with serving(settings, store) as client:
        answer = await client.post("/api/things", json={"name": "a"}, headers={"Idempotency-Key": value})
        assert list(faults_of(answer)) == ["Idempotency-Key"]
        assert store.count() == 0


def test_a_request_looks_at_none_of_the_day_s_others(tmp_path: Path) -> None:
    def steps_of_one_more(conn: Connection, key: str) -> int:
        steps = 0

        def count() -> bool:
            nonlocal steps
            steps += 1
            return False

        conn.set_progress_handler(count, 1)
        idempotency.once(conn, "POST /things", key, b"digest", 201, lambda _: Thing(1, "a"))
        conn.set_progress_handler(None)
        return steps

    with workspace_database(tmp_path) as conn:
        few = steps_of_one_more(conn, "the first")
        for number in range(500):
            idempotency.once(conn, "POST /things", str(number), b"digest", 201, lambda _: Thing(1, "a"))
        assert steps_of_one_more(conn, "the last") < 2 * few


async def test_no_more_keys_are_remembered_than_fit_and_none_is_forgotten_before_its_day(
    settings: Settings, store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "MAX_KEYS", 2)
    async with serving(settings, store) as client:
        for name in ("k1", "k2"):
            assert (await client.post("/api/things", json={"name": "a"}, headers=key(name))).status_code == 201
        refused = await client.post("/api/things", json={"name": "a"}, headers=key("k3"))
        problem_of(refused, 429, "too-many-idempotency-keys")
        assert refused.headers["retry-after"] == "3600"
        # What is remembered still answers, and a request without a key needs no room.
        assert (await client.post("/api/things", json={"name": "a"}, headers=key("k1"))).status_code == 201
        assert (await client.post("/api/things", json={"name": "a"})).status_code == 201
        clock.advance(KEPT_SECONDS + 1)
        assert (await client.post("/api/things", json={"name": "a"}, headers=key("k3"))).status_code == 201
        assert (store.count(), store.count("idempotency")) == (4, 1)

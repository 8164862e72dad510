"""`/app/`: the files of the browser app, when they were built, and nothing but them."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest

from carrel.app import create_app
from carrel.config import Settings
from tests.support.asgi import client_of, running
from tests.support.host import code_of

SCRIPT = b"export const answer = 42;\n" * 40


@pytest.fixture
async def built(settings: Settings, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "carrel.js").write_bytes(SCRIPT)
    (folder / "index.html").write_bytes(b"<!doctype html><title>Carrel</title>")
    (folder / "assets" / "main-1a2b.js").write_bytes(SCRIPT)
    (folder / "assets" / "notes.md").write_bytes(b"not of the app")
    (tmp_path / "secret.js").write_bytes(b"beside the folder")
    app = create_app(msgspec.structs.replace(settings, app_dir=folder))
    async with running(app), client_of(app) as client:
        yield client


async def test_the_page_is_sent_with_a_policy_that_allows_its_own_files_only(built: httpx.AsyncClient) -> None:
    page = await built.get("/app/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"


async def test_a_file_that_is_named_by_its_content_is_kept_for_good_and_the_entry_is_asked_for(
    built: httpx.AsyncClient,
) -> None:
    hashed = await built.get("/app/assets/main-1a2b.js")
    assert hashed.content == SCRIPT
    assert hashed.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in hashed.headers["cache-control"]
    entry = await built.get("/app/carrel.js")
    assert entry.headers["cache-control"] == "no-cache"
    again = await built.get("/app/carrel.js", headers={"If-None-Match": entry.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_files_go_packed_to_whoever_can_unpack_them(built: httpx.AsyncClient) -> None:
    async with built.stream("GET", "/app/carrel.js", headers={"Accept-Encoding": "gzip"}) as answer:
        packed = b"".join([piece async for piece in answer.aiter_raw()])
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == SCRIPT
    assert len(packed) < len(SCRIPT) / 4
    plain = await built.get("/app/carrel.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers


async def test_nothing_else_is_handed_out(built: httpx.AsyncClient) -> None:
    paths = (
        "/app/../secret.js",
        "/app/%2e%2e/secret.js",
        "/app/..%2fsecret.js",
        "/app/assets/notes.md",
        "/app/none.js",
    )
    answers = {path: await built.get(path) for path in paths}
    assert {path: (answer.status_code, code_of(answer)) for path, answer in answers.items()} == dict.fromkeys(
        paths, (404, "route-unknown")
    )


async def test_a_build_that_replaces_the_files_does_not_break_the_pages_that_are_open(
    built: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "dist" / "assets" / "main-1a2b.js").unlink()
    assert (await built.get("/app/assets/main-1a2b.js")).content == SCRIPT


async def test_without_the_files_there_is_no_such_route(settings: Settings, tmp_path: Path) -> None:
    app = create_app(msgspec.structs.replace(settings, app_dir=tmp_path / "nowhere"))
    async with running(app), client_of(app) as client:
        assert code_of(await client.get("/app/")) == "route-unknown"

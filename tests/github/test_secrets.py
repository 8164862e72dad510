"""The real program: after imports, exports and refusals the token is in no file, no answer and no line of the log."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.host import key_of
from tests.support.service import Service
from tests.support.strict_github import REPOSITORY, TOKEN, GitHub, refusal

PRIVATE = "canaryfileWisteria"


@pytest.fixture
async def service(tmp_path: Path, github: GitHub) -> AsyncIterator[Service]:
    service = Service(tmp_path / "service", settings={"CARREL_GITHUB_HOSTS": github.host, "CARREL_LOG_LEVEL": "debug"})
    await asyncio.to_thread(service.start)
    yield service
    if service.process is not None and service.process.poll() is None:
        await asyncio.to_thread(service.stop)


async def test_nothing_of_a_connection_is_readable_outside_of_the_workspace(
    service: Service, github: GitHub, tmp_path: Path
) -> None:
    path = f"{PRIVATE}/{PRIVATE}.md"
    github.refs["main"] = github.commit({path: f"{PRIVATE} text".encode()}, [])
    plugin = {"X-SVC-Plugin-Secret": service.plugin_secret}
    said: list[str] = []
    async with httpx.AsyncClient(base_url=f"{service.url}/api", timeout=60) as client:

        async def ask(method: str, where: str, **kwargs: Any) -> httpx.Response:
            answer = await client.request(method, where, **kwargs)
            said.append(answer.text)
            return answer

        await ask("POST", "/users", json={"uuid": "ada", "membership": "paid"}, headers=plugin)
        session = (
            await client.post("/auth/login", json={"uuid": "ada", "db_key_hex": key_of("ada")}, headers=plugin)
        ).json()
        client.headers["X-SVC-Session-Token"] = session["session_token"]
        body = {"name": PRIVATE, "repository": REPOSITORY, "token": TOKEN, "base_url": github.base_url}
        where = f"/github-connections/{(await ask('POST', '/github-connections', json=body)).json()['id']}"
        taken = (await ask("POST", f"{where}/import", json={"paths": [path]})).json()
        export = {"contents": [taken["imported"][0]["content_id"]], "path": PRIVATE, "message": PRIVATE}
        assert (await ask("POST", f"{where}/export", json=export | {"branch": "other"})).status_code == 201
        for status in (301, 401, 403, 404, 409, 422, 429, 500):
            github.refuse["/git/ref/heads/main"] = [refusal(status, {"Location": f"http://localhost/{TOKEN}"})]
            assert (await ask("GET", f"{where}/tree", params={"path": PRIVATE})).status_code >= 400
        await ask("POST", "/github-connections", json=body | {"base_url": f"https://{TOKEN}", "branch": "a..b"})
        assert not _readable(tmp_path), "while the database is open"
    assert await asyncio.to_thread(service.stop) == 0
    assert not _readable(tmp_path), "after the end"
    assert not [text for text in said if TOKEN in text]
    # The log was written; else nothing would have been proven.
    assert b"/api/github-connections/{connection_id}/import" in service.log_file.read_bytes()


def _readable(folder: Path) -> list[str]:
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert any(path.name == "workspace.db" for path in files)
    return [str(path) for path, body in files.items() if TOKEN.encode() in body or PRIVATE.encode() in body]

"""`POST` and `GET /runs/{id}/export` over HTTP."""

import asyncio
from typing import Any, cast

import httpx
import pytest
from starlette.types import ASGIApp

from carrel.kit.sqlite.database import Connection
from carrel.reports import archive
from carrel.reports import export_store as rows
from tests.support.host import PLUGIN, Host, code_of
from tests.support.web_runs import Headers, ended, planned
from tests.support.zips import entries


async def exported(client: httpx.AsyncClient, session: Headers, run_id: str) -> httpx.Response:
    answer = await client.post(f"/api/runs/{run_id}/export", headers=session)
    assert answer.status_code == 202, answer.text
    assert answer.json()["run_id"] == run_id
    async with asyncio.timeout(60):
        while True:
            answer = await client.get(f"/api/runs/{run_id}/export", headers=session)
            if answer.status_code != 409:
                return answer
            assert code_of(answer) == "export-not-ready"
            await asyncio.sleep(0.02)


async def test_an_export_is_asked_for_waited_for_and_read(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PIECE_BYTES", 5_000)
    session = await host.signed_in("reader-0001")
    run_id = await ended(client, session)
    path = f"/api/runs/{run_id}/export"
    early = await client.get(path, headers=session)
    assert (early.status_code, code_of(early)) == (409, "export-not-ready")
    answer = await exported(client, session, run_id)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["content-disposition"] == f'attachment; filename="carrel-{run_id}.zip"'
    assert int(answer.headers["content-length"]) == len(answer.content) > 10_000
    assert answer.headers["cache-control"] == "no-store"
    plain = await client.get(path, headers=session | {"Accept": "application/octet-stream"})
    assert (plain.headers["content-type"], plain.content) == ("application/octet-stream", answer.content)
    found = entries(answer.content)
    report = await client.get(f"/api/runs/{run_id}/report", headers=session)
    assert found["report.json"] == report.content
    page = await client.get(f"/api/runs/{run_id}/report?format=html", headers=session)
    assert found["report.html"] == page.content

    again = await client.post(path, headers=session)
    assert (again.status_code, again.json()["state"]) == (202, "ready")
    same = await client.get(path, headers=session | {"If-None-Match": answer.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    assert "content-length" not in same.headers
    head = await client.head(path, headers=session)
    assert (head.status_code, head.headers["content-length"]) == (200, answer.headers["content-length"])


async def test_nobody_elses_run_is_exported(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    await exported(client, session, run_id)
    other = await host.signed_in("reader-0002")
    for found in (run_id, "nothing"):
        for answer in (
            await client.post(f"/api/runs/{found}/export", headers=other),
            await client.get(f"/api/runs/{found}/export", headers=other),
        ):
            assert (answer.status_code, code_of(answer)) == (404, "not-found")
    assert (await client.get(f"/api/runs/{run_id}/export")).status_code == 401


async def test_an_export_that_is_too_large_is_507(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MAX_BYTES", 100)
    session = await host.signed_in("reader-0001")
    answer = await exported(client, session, await planned(client, session))
    assert (answer.status_code, code_of(answer)) == (507, "export-too-large")


async def test_a_free_member_takes_everything_along(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    await client.post("/api/users/reader-0001/deactivate", headers=PLUGIN)
    assert (await exported(client, session, run_id)).status_code == 200


async def test_an_export_replaced_on_its_way_out_ends_short(
    app: ASGIApp, client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PIECE_BYTES", 5_000)
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    whole = len((await exported(client, session, run_id)).content)
    read = rows.piece

    def only_the_first(conn: Connection, export: rows.StoredExport, ordinal: int) -> bytes:
        return read(conn, export, ordinal if ordinal == 0 else 10_000)

    monkeypatch.setattr(rows, "piece", only_the_first)
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    path = f"/api/runs/{run_id}/export"
    headers = [(name.lower().encode(), value.encode()) for name, value in session.items()]
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": headers, "http_version": "1.1", "scheme": "http", "client": None, "server": ("test", 80),
        "root_path": "", "extensions": {}, "state": {}, "asgi": {"version": "3.0"},
    }  # fmt: skip
    await app(cast(Any, scope), receive, send)
    start, *bodies = sent
    assert dict(start["headers"])[b"content-length"] == str(whole).encode()
    assert [(len(message["body"]), message["more_body"]) for message in bodies] == [(5_000, True)]

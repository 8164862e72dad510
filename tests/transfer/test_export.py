"""`GET /users/me/export`: a zip of the whole workspace, streamed."""

import json
import os
import signal
from typing import Any, cast

import httpx
import pytest
from starlette.types import ASGIApp

from carrel.errors import Unavailable
from carrel.kit.processes.worker import Worker
from carrel.reports import archive, rendering
from carrel.transfer import outgoing
from tests.support.host import PLUGIN, Host, code_of
from tests.support.processes import at_work
from tests.support.transfers import SECRET, exported, furnished
from tests.support.web_runs import ended, planned
from tests.support.zips import entries, table


async def test_everything_is_in_it_in_readable_form(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    await furnished(client, session)
    run_id = await ended(client, session, name="A run / of mine")
    found = entries(await exported(client, session))

    lines = [json.loads(line) for line in found["contents.jsonl"].splitlines()]
    texts = {line["name"]: found[line["file"]].decode() for line in lines}
    assert texts["Chronicle / ünïcode"] == "The river rose. " * 20
    assert texts["House style"] == "Few, {{WORDS}}."
    assert "contents/2-Chronicle-ünïcode.md" in found
    (earlier,) = [json.loads(line) for line in found["earlier_versions.jsonl"].splitlines()]
    assert (earlier["version"], earlier["body"]) == (1, "Old words.")
    (preset,) = [json.loads(line) for line in found["presets.jsonl"].splitlines()]
    assert preset["name"] == "Which is best?"
    assert json.loads(found["settings.json"])["timezone"] == "Europe/Vienna"
    assert json.loads(found["rate_limits.json"])["openai"]["requests_per_minute"] == 7

    (folder,) = {name.split("/")[1] for name in found if name.startswith("runs/")}
    assert folder == "1-A-run-of-mine"
    run = json.loads(found[f"runs/{folder}/run.json"])
    assert (run["id"], run["state"]) == (run_id, "completed")
    (ranking,) = json.loads(found[f"runs/{folder}/rankings.json"])
    assert ranking["verdict"] == run["verdict"]
    assert ranking["ranking"]
    report = await client.get(f"/api/runs/{run_id}/report?format=html", headers=session)
    assert found[f"runs/{folder}/report.html"] == report.content
    answers = table(found[f"runs/{folder}/answers.csv"])
    assert len(answers) == 4
    assert all(f"runs/{folder}/{row['file']}" in found for row in answers)
    assert len(table(found[f"runs/{folder}/scores.csv"])) == 16
    calls = table(found["calls.csv"])
    assert {row["run_id"] for row in calls} == {run_id}
    assert {row["cost"] for row in calls} == {"0"}
    assert all(name.split("/")[0] in found["README.txt"].decode() for name in found if name != "README.txt")


async def test_a_run_without_answers_has_no_report(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    await planned(client, session)
    found = entries(await exported(client, session))
    assert [name.rpartition("/")[2] for name in found if name.startswith("runs/") and "report" in name] == []


async def test_a_report_that_cannot_be_made_in_time_keeps_nobody_from_the_rest(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await host.signed_in("reader-0001")
    await ended(client, session)
    workers: set[Worker] = set()
    run = Worker.run

    async def noted(worker: Worker, *call: Any, **limits: Any) -> object:
        workers.add(worker)
        return await run(worker, *call, **limits)

    monkeypatch.setattr(Worker, "run", noted)
    names = {name.rpartition("/")[2] for name in entries(await exported(client, session)) if name.startswith("runs/")}
    assert {"run.json", "answers.csv", "logs.jsonl", "report.html"} <= names
    # A process that is stopped answers at no time, however long this one waits for its next turn.
    (worker,) = workers
    assert worker.pid is not None
    os.kill(at_work(worker.pid), signal.SIGSTOP)
    monkeypatch.setattr(rendering, "TIMEOUT_SECONDS", 0.0)
    found = entries(await exported(client, session))
    assert names - {name.rpartition("/")[2] for name in found} == {"report.html"}


async def test_uploaded_files_are_in_it_as_they_came(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outgoing, "STEP_BYTES", 1)
    session = await host.signed_in("reader-0001")
    bodies = {"Chronicle of = 1904.txt": b"The river rose.\r\n" * 100_000, "letter.md": b"# Dear\n"}
    for name, body in bodies.items():
        answer = await client.post("/api/documents", files={"file": (name, body[:900_000])}, headers=session)
        assert answer.status_code == 201, answer.text
    found = entries(await exported(client, session))
    lines = [json.loads(line) for line in found["originals.jsonl"].splitlines()]
    assert {line["file_name"]: found[line["file"]] for line in lines} == {
        name: body[:900_000] for name, body in bodies.items()
    }
    assert "originals/1-Chronicle-of-1904.txt" in found
    ids = {json.loads(line)["id"] for line in found["contents.jsonl"].splitlines()}
    assert {line["content_id"] for line in lines} == ids


async def test_no_key_of_a_provider_is_in_it(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    await furnished(client, session)
    zipped = await exported(client, session)
    found = entries(zipped)
    for secret in (SECRET.encode(), SECRET[-4:].encode(), SECRET[:12].encode()):
        assert secret not in zipped
        assert all(secret not in body for body in found.values())
    (key,) = json.loads(found["provider_keys.json"])
    assert (key["provider"], set(key)) == ("openai", {"provider", "base_url", "created_at", "updated_at"})


async def test_an_empty_workspace_and_a_free_member_have_an_export_too(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    await client.post("/api/users/reader-0001/deactivate", headers=PLUGIN)
    found = entries(await exported(client, session))
    assert found["contents.jsonl"] == found["presets.jsonl"] == b""
    head = await client.head("/api/users/me/export", headers=session)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-disposition"] == 'attachment; filename="carrel-workspace.zip"'


async def test_it_is_sent_in_pieces_and_never_held_whole(
    client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PIECE_BYTES", 2_000)
    monkeypatch.setattr(outgoing, "STEP_BYTES", 1)
    session = await host.signed_in("reader-0001")
    await furnished(client, session)
    async with client.stream("GET", "/api/users/me/export", headers=session) as answer:
        assert "content-length" not in answer.headers
        zipped = b"".join([chunk async for chunk in answer.aiter_bytes()])
    assert len(json.loads(f"[{entries(zipped)['contents.jsonl'].decode().strip().replace(chr(10), ',')}]")) == 7


async def streamed(app: ASGIApp, session: dict[str, str]) -> list[dict[str, Any]]:
    """What the application sends to a reader who leaves as soon as it has begun."""
    sent: list[dict[str, Any]] = []
    asked = [{"type": "http.request", "body": b"", "more_body": False}]

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return asked.pop() if asked else {"type": "http.disconnect"}

    headers = [(name.lower().encode(), value.encode()) for name, value in session.items()]
    path = "/api/users/me/export"
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": headers, "http_version": "1.1", "scheme": "http", "client": None, "server": ("test", 80),
        "root_path": "", "extensions": {}, "state": {}, "asgi": {"version": "3.0"},
    }  # fmt: skip
    await app(cast(Any, scope), receive, send)
    return sent


async def test_a_failure_in_the_middle_ends_the_connection_and_not_the_zip(
    app: ASGIApp, client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PIECE_BYTES", 500)
    session = await host.signed_in("reader-0001")
    await furnished(client, session)

    def fails(*_: object) -> None:
        raise Unavailable

    monkeypatch.setattr(outgoing, "next_run", fails)
    sent = await streamed(app, session)
    assert sent[0]["status"] == 200
    assert all(message["more_body"] for message in sent[1:])


async def test_nothing_is_packed_for_a_reader_who_has_gone(
    app: ASGIApp, client: httpx.AsyncClient, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PIECE_BYTES", 100)
    session = await host.signed_in("reader-0001")
    await furnished(client, session)
    whole = len(await exported(client, session)) // 100
    sent = await streamed(app, session)
    assert len(sent) < whole


async def test_it_needs_a_session(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/users/me/export")
    assert (answer.status_code, code_of(answer)) == (401, "session-token-missing")

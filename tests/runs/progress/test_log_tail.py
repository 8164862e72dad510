"""The live tail of a log, and what a shared log may hold: over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager

import httpx
import pytest

from carrel.accounts.slots import file_key
from carrel.config import Settings
from carrel.kit.sqlite import database
from carrel.runs.model.setup import RunId
from carrel.runs.progress.hub import Hub
from carrel.vault.keyring import UserUuid
from tests.support.busy import Busy, Reader, busy_service
from tests.support.clock import FakeClock
from tests.support.host import ADMIN, code_of
from tests.support.models import TestModels


@pytest.fixture
async def busy(settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Busy]:
    async with busy_service(settings, clock, TestModels(), monkeypatch) as made:
        yield made


async def tail(busy: Busy, ada: Reader, run: str, query: str = "", last: str | None = None) -> httpx.Response:
    headers = ada.session | ({"Last-Event-ID": last} if last else {})
    return await busy.client.get(f"/api/runs/{run}/logs/tail{query}", headers=headers)


def rows(answer: httpx.Response) -> list[dict[str, object]]:
    """What came, with the id of each event and its name, as `sent_as`."""
    found = []
    for block in answer.text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if lines:
            found.append({"id": lines.get("id"), "sent_as": lines["event"]} | json.loads(lines["data"]))
    return found


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[RunId]:
    """The runs whose streams were opened."""
    opened: list[RunId] = []
    subscribed = Hub.subscribed

    def counted(hub: Hub, uuid: UserUuid, run_id: RunId) -> AbstractContextManager[asyncio.Event]:
        opened.append(run_id)
        return subscribed(hub, uuid, run_id)

    monkeypatch.setattr(Hub, "subscribed", counted)
    return opened


async def test_the_tail_tells_every_row_as_it_is_written_and_ends_with_the_run(busy: Busy, opened: list[RunId]) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    tailing = asyncio.create_task(tail(busy, ada, run))
    async with asyncio.timeout(60):
        while not opened:
            await asyncio.sleep(0.01)
    assert not tailing.done()
    busy.models.gate.set()
    async with asyncio.timeout(60):
        answer = await tailing
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = rows(answer)
    logged = (await ada.get(f"/runs/{run}/logs?limit=200"))["items"][::-1]
    assert [row["seq"] for row in told[:-1]] == [row["seq"] for row in logged]
    assert [row["id"] for row in told[:-1]] == [str(row["seq"]) for row in logged]
    assert (told[-1]["sent_as"], told[-1]["state"]) == ("end", "completed")


async def test_every_row_about_a_task_tells_the_kind_of_the_task(busy: Busy) -> None:
    ada = await busy.reader()
    run = await ada.made()
    busy.models.gate.set()
    await ada.post(f"/runs/{run}/start")
    await ada.until(run, "completed")
    tasks = {task["key"]: task["kind"] for task in (await ada.get(f"/runs/{run}/tasks?limit=200"))["items"]}
    logged = (await ada.get(f"/runs/{run}/logs?limit=200"))["items"]
    told = {row["task_key"]: row["kind"] for row in logged if row["task_key"]}
    assert told == tasks
    assert {"generate", "score"} == set(told.values())
    assert {row["kind"] for row in logged if row["task_key"] is None} == {None}
    streamed = rows(await tail(busy, ada, run))
    assert {row["task_key"]: row["kind"] for row in streamed[:-1] if row["task_key"]} == tasks


async def test_the_tail_is_filtered_and_resumed(busy: Busy) -> None:
    ada = await busy.reader()
    run = await ada.made()
    key = "r1.generate.d1.c1.s1"
    await ada.post(f"/runs/{run}/tasks/{key}/skip")
    await ada.post(f"/runs/{run}/start")
    await ada.until(run, "completed_with_errors")
    one = rows(await tail(busy, ada, run, f"?task_key={key}"))
    assert [row["sent_as"] for row in one] == ["task-skipped", "end"]
    warnings = rows(await tail(busy, ada, run, "?level=warning"))
    assert {row["level"] for row in warnings[:-1]} == {"warning"}
    whole = rows(await tail(busy, ada, run))
    rest = rows(await tail(busy, ada, run, last=str(whole[2]["id"])))
    assert rest == whole[3:]
    bad = await tail(busy, ada, run, last="yesterday")
    assert (bad.status_code, code_of(bad)) == (400, "invalid-input")
    unknown = await tail(busy, ada, "nobody")
    assert (unknown.status_code, code_of(unknown)) == (404, "not-found")


async def test_a_tail_counts_among_the_streams_of_its_user(settings: Settings, busy: Busy, opened: list[RunId]) -> None:
    ada = await busy.reader()
    run = await busy.in_flight(ada)
    streams = [asyncio.create_task(tail(busy, ada, run)) for _ in range(settings.max_event_streams)]
    async with asyncio.timeout(60):
        while len(opened) < len(streams):
            await asyncio.sleep(0.01)
    refused = await tail(busy, ada, run)
    assert (refused.status_code, code_of(refused)) == (429, "too-many-streams")
    busy.models.gate.set()
    async with asyncio.timeout(60):
        await asyncio.wait(streams)


CANARY = "canary-7f3a"


async def test_a_shared_log_holds_no_canary_neither_in_the_answer_nor_in_the_service_s_file(
    busy: Busy, settings: Settings
) -> None:
    """Texts, names, prompts, labels, criteria, variables and the uuid are marked; none of the marks gets out."""
    ada = await busy.reader(CANARY)
    body = {"name": CANARY, "type": "input_document", "body": f"A text with {CANARY}."}
    content = (await ada.post("/contents", body))["id"]
    criteria = (await ada.post("/contents", {"name": CANARY, "type": "criteria", "body": f"- name: {CANARY}\n"}))["id"]
    prompt = (
        await ada.post("/contents", {"name": CANARY, "type": "generation_instructions", "body": f"Say {CANARY}."})
    )["id"]
    configuration = {
        "inputs": [content],
        "instructions": prompt,
        "generation": {"candidates": [{"model": "test:one", "label": CANARY}]},
        "scoring": {"judges": [{"model": "test:judge"}], "criteria": criteria},
    }
    run = (await ada.post("/runs", {"configuration": configuration, "name": CANARY}))["id"]
    await ada.post(f"/runs/{run}/start")
    await ada.until(run, "completed")
    shared = await ada.post(f"/runs/{run}/share-logs")
    listed = await busy.client.get("/api/admin/shared-logs", headers=ADMIN)
    found = await busy.client.get(f"/api/admin/shared-logs/{shared['share_id']}", headers=ADMIN)
    assert found.json()["entry_count"] > 5
    assert CANARY not in listed.text + found.text + json.dumps(shared)
    key = file_key(settings.service_key.reveal(), "service")
    path = settings.data_dir / "service.db"
    conn = database.connect(path, key, clock=FakeClock(), new_id=lambda: "id", readonly=True)
    try:
        # The roster and the holders are lists of users, and hold nothing else.
        named = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('roster', 'holder')"
        tables = [name for (name,) in conn.all(named)]
        held = repr([conn.all(f'SELECT * FROM "{name}"') for name in tables])
    finally:
        database.discard(conn)
    assert "task-succeeded" in held
    assert CANARY not in held

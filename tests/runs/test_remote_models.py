"""Runs that call models of an OpenAI-compatible server over real HTTP."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.support import served
from tests.support.host import code_of
from tests.support.model_server import Fault, Running
from tests.support.web_runs import content

KEYS = "/api/provider-keys"
ENDS = ("completed", "completed_with_errors", "failed", "cancelled")


server = served.by()
settings = served.settings


async def store_key(ada: httpx.AsyncClient, server: Running, key: str | None = None) -> None:
    body = {"provider": "openai", "key": key or server.key, "base_url": server.base_url}
    assert (await ada.post(KEYS, json=body)).status_code == 201


async def configuration(ada: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:
    """Two documents, two models, one judge that scores and compares: 4 + 4 + 4 calls."""
    inputs = [await content(ada, {}, "input_document", f"Document {number} says something.") for number in (1, 2)]
    judges = [{"model": "openai:judge-one"}]
    return {
        "inputs": inputs,
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": [{"model": "openai:alpha"}, {"model": "openai:beta"}]},
        "scoring": {"judges": judges, "criteria": await content(ada, {}, "criteria", "- name: Coverage\n")},
        "comparison": {"judges": judges},
    } | changes


async def preset(ada: httpx.AsyncClient, **changes: Any) -> str:
    answer = await ada.post("/api/presets", json={"name": "Remote", **await configuration(ada, **changes)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def execute(ada: httpx.AsyncClient, preset_id: str) -> str:
    answer = await ada.post(f"/api/presets/{preset_id}/execute")
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def ended(ada: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            run: dict[str, Any] = (await ada.get(f"/api/runs/{run_id}")).json()
            if run["state"] in ENDS:
                return run
            await asyncio.sleep(0.02)


async def tasks(ada: httpx.AsyncClient, run_id: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await ada.get(f"/api/runs/{run_id}/tasks?limit=200")).json()["items"]
    return items


async def ranked(ada: httpx.AsyncClient, run_id: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (await ada.get(f"/api/runs/{run_id}/ranking")).json()["ranking"]["rows"]
    return rows


async def test_a_run_calls_real_models_and_ranks_them(ada: httpx.AsyncClient, server: Running) -> None:
    await store_key(ada, server)
    run = await ended(ada, await execute(ada, await preset(ada)))
    assert (run["state"], run["progress"]["succeeded"], run["progress"]["failed"]) == ("completed", 12, 0)
    assert run["spend"] == {"cost": "0", "unknown_calls": 12, "reused": 0}, "nobody knows what these models cost"
    counts = server.counts()
    assert (counts.started, counts.completed) == (12, 12)
    assert {row["candidate"] for row in await ranked(ada, run["id"])} == {"openai:alpha", "openai:beta"}


async def test_without_a_key_nothing_is_made_and_the_answer_says_which_models_need_one(
    ada: httpx.AsyncClient, server: Running
) -> None:
    preset_id = await preset(ada)
    refused = await ada.post(f"/api/presets/{preset_id}/execute")
    assert (refused.status_code, code_of(refused)) == (409, "provider-key-missing")
    assert [fault["path"] for fault in refused.json()["errors"]] == [
        "candidates[0].model", "candidates[1].model", "judges[0].model"
    ]  # fmt: skip
    assert (await ada.get("/api/runs")).json()["items"] == []
    made = await ada.post("/api/runs", json={"preset_id": preset_id})
    start = f"/api/runs/{made.json()['id']}/start"
    refused = await ada.post(start)
    assert (refused.status_code, code_of(refused)) == (409, "provider-key-missing")
    await store_key(ada, server)
    assert (await ada.post(start)).status_code == 202
    await ended(ada, made.json()["id"])


async def test_credits_cannot_pay_for_remote_models_yet(ada: httpx.AsyncClient, server: Running) -> None:
    await store_key(ada, server)
    refused = await ada.post(f"/api/presets/{await preset(ada, billing='credits')}/execute")
    assert (refused.status_code, code_of(refused)) == (409, "credits-unavailable")


async def test_a_key_that_is_removed_on_the_way_fails_the_tasks_that_are_left(
    ada: httpx.AsyncClient, server: Running
) -> None:
    await store_key(ada, server)
    server.hold()
    run_id = await execute(ada, await preset(ada, limits={"concurrency": 1}))
    async with asyncio.timeout(60):
        while not server.counts().started:
            await asyncio.sleep(0.01)
    await ada.delete(f"{KEYS}/openai")
    server.latency(0)
    run = await ended(ada, run_id)
    assert run["state"] in ("completed_with_errors", "failed")
    errors = {task["error"]["code"] for task in await tasks(ada, run_id) if task["state"] == "failed"}
    assert errors == {"provider-key-missing"}
    assert server.counts().started < 12


async def test_a_rejected_key_is_asked_once_for_each_task_and_costs_nothing(
    ada: httpx.AsyncClient, server: Running
) -> None:
    await store_key(ada, server, "sk-wrong-0123456789")
    run = await ended(ada, await execute(ada, await preset(ada)))
    generated = [task for task in await tasks(ada, run["id"]) if task["kind"] == "generate"]
    assert {(task["state"], task["attempts"], task["error"]["code"]) for task in generated} == {
        ("failed", 1, "provider-key-rejected")
    }
    assert (run["state"], run["spend"]) == ("failed", {"cost": "0", "unknown_calls": 0, "reused": 0})


async def test_what_goes_wrong_for_a_while_is_tried_again_and_counted(ada: httpx.AsyncClient, server: Running) -> None:
    await store_key(ada, server)
    server.faults(
        Fault("status", match="Document 1", times=1, status=429, retry_after="0"),
        Fault("truncated", match="Document 2", times=1),
    )
    run = await ended(ada, await execute(ada, await preset(ada)))
    assert (run["state"], run["progress"]["succeeded"]) == ("completed", 12)
    attempts = sum(task["attempts"] for task in await tasks(ada, run["id"]))
    assert attempts == server.counts().started == 24


async def test_refused_answers_lose_and_are_no_failures(ada: httpx.AsyncClient, server: Running) -> None:
    await store_key(ada, server)
    server.faults(Fault("refusal", match='"alpha"'))
    run = await ended(ada, await execute(ada, await preset(ada)))
    assert run["state"] == "completed"
    assert (await ranked(ada, run["id"]))[0]["candidate"] == "openai:beta"


async def test_a_key_is_tested_by_one_free_call(ada: httpx.AsyncClient, server: Running) -> None:
    await store_key(ada, server)
    tested = (await ada.get(f"{KEYS}/test/openai")).json()
    assert (tested["ok"], tested["code"]) == (True, None)
    assert "alpha" in tested["models"]
    assert tested["latency_ms"] >= 0
    assert (await ada.get(f"{KEYS}/openai")).json()["last_test"]["ok"] is True
    await store_key(ada, server, "sk-wrong-0123456789")
    assert (await ada.get(f"{KEYS}/openai")).json()["last_test"] is None, "this key was not tested"
    tested = (await ada.get(f"{KEYS}/test/openai")).json()
    assert (tested["ok"], tested["code"], tested["models"]) == (False, "provider-key-rejected", [])
    assert (await ada.get(f"{KEYS}/openai")).json()["last_test"]["ok"] is False
    assert server.counts().started == 0


async def test_the_key_is_told_to_nobody_and_the_words_of_the_provider_only_where_its_errors_are(
    ada: httpx.AsyncClient, server: Running, capfd: pytest.CaptureFixture[str]
) -> None:
    await store_key(ada, server)
    told = ""
    for fault in (Fault("status", status=401), Fault("status", status=500), Fault("truncated"), Fault("hang")):
        server.faults(fault)
        limits = {"max_attempts": 1, "timeout_seconds": 1}
        run_id = await execute(ada, await preset(ada, limits=limits))
        await ended(ada, run_id)
        for part in ("", "/logs", "/checkpoint", "/report?format=json"):
            told += (await ada.get(f"/api/runs/{run_id}{part}")).text
        tasks_told = (await ada.get(f"/api/runs/{run_id}/tasks")).text
        assert ("Scripted" in tasks_told) == (fault.kind == "status")
        told += (await ada.get(f"{KEYS}/test/openai")).text
    told += (await ada.get(f"{KEYS}/openai")).text + "".join(capfd.readouterr())
    for code in ("provider-key-rejected", "provider-overloaded", "provider-malformed", "provider-timeout"):
        assert code in told
    assert server.key not in told
    assert "Scripted" not in told

"""`/rate-limits` over HTTP, and runs that keep to what is set there."""

import asyncio

import httpx

from tests.support import served
from tests.support.host import Host, code_of, token
from tests.support.model_server import Fault, Running
from tests.support.web_runs import content

URL = "/api/rate-limits"


server = served.by()
settings = served.settings


async def shown(ada: httpx.AsyncClient, provider: str = "openai") -> dict[str, object]:
    answer = await ada.get(URL)
    assert answer.status_code == 200, answer.text
    return next(item for item in answer.json()["items"] if item["provider"] == provider)


async def test_every_provider_has_defaults_until_the_user_sets_others(ada: httpx.AsyncClient) -> None:
    assert await shown(ada) == {
        "provider": "openai",
        "requests_per_minute": None,
        "tokens_per_minute": None,
        "concurrency": 64,
        "is_default": True,
        "concurrency_now": 64,
        "in_flight": 0,
        "wait_seconds": 0.0,
    }
    assert (await shown(ada, "ollama"))["concurrency"] == 4
    answer = await ada.put(f"{URL}/openai", json={"requests_per_minute": 90, "concurrency": 5})
    assert (answer.status_code, answer.json()["requests_per_minute"]) == (200, 90)
    assert (await shown(ada))["concurrency_now"] == 5
    assert (await ada.delete(f"{URL}/openai")).status_code == 204
    assert (await shown(ada))["is_default"]
    assert (await ada.delete(f"{URL}/openai")).status_code == 204


async def test_limits_are_kept_and_hold_after_the_next_sign_in(ada: httpx.AsyncClient, host: Host) -> None:
    await ada.put(f"{URL}/groq", json={"tokens_per_minute": 6000, "concurrency": 3})
    assert code_of(await host.login("ada", "wrong")) == "key-rejected"
    ada.headers.update(token((await host.login("ada")).json()["session_token"]))
    limits = await shown(ada, "groq")
    assert (limits["tokens_per_minute"], limits["concurrency"], limits["is_default"]) == (6000, 3, False)


async def test_a_change_can_be_made_conditional(ada: httpx.AsyncClient) -> None:
    first = await ada.put(f"{URL}/openai", json={"concurrency": 5}, headers={"If-Match": '"0.json"'})
    assert first.status_code == 200
    again = await ada.put(f"{URL}/openai", json={"concurrency": 6}, headers={"If-Match": '"0.json"'})
    assert code_of(again) == "version-mismatch"
    assert (await ada.delete(f"{URL}/openai", headers={"If-Match": first.headers["etag"]})).status_code == 204


async def test_a_provider_that_is_none_and_limits_that_are_none_are_refused(ada: httpx.AsyncClient) -> None:
    assert code_of(await ada.put(f"{URL}/nobody", json={})) == "not-found"
    assert code_of(await ada.delete(f"{URL}/nobody")) == "not-found"
    for bad in ({"concurrency": 0}, {"requests_per_minute": 0}, {"tokens_per_minute": 1 << 40}, {"requests": 1}):
        assert code_of(await ada.put(f"{URL}/openai", json=bad)) == "invalid-input"


async def small_run(ada: httpx.AsyncClient, server: Running) -> str:
    key = {"provider": "openai", "key": server.key, "base_url": server.base_url}
    assert (await ada.post("/api/provider-keys", json=key)).status_code == 201
    inputs = [await content(ada, {}, "input_document", f"Document {number} says something.") for number in (1, 2, 3)]
    configuration = {
        "inputs": inputs,
        "instructions": await content(ada, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": [{"model": "openai:alpha"}, {"model": "openai:beta"}]},
        "scoring": {
            "judges": [{"model": "local:reader"}],
            "criteria": await content(ada, {}, "criteria", "- name: Coverage\n"),
        },
        "limits": {"concurrency": 6},
    }
    answer = await ada.post("/api/runs", json={"configuration": configuration})
    assert answer.status_code == 201, answer.text
    run = str(answer.json()["id"])
    assert (await ada.post(f"/api/runs/{run}/start")).status_code in (200, 202)
    return run


async def done(ada: httpx.AsyncClient, run: str) -> dict[str, object]:
    async with asyncio.timeout(60):
        while True:
            found: dict[str, object] = (await ada.get(f"/api/runs/{run}")).json()
            if found["state"] not in ("running", "pending"):
                return found
            await asyncio.sleep(0.02)


async def test_a_run_has_no_more_calls_at_once_than_its_user_allows(ada: httpx.AsyncClient, server: Running) -> None:
    server.hold()
    await ada.put(f"{URL}/openai", json={"concurrency": 2})
    under_way = await small_run(ada, server)
    async with asyncio.timeout(60):
        while server.counts().in_flight < 2:
            await asyncio.sleep(0.02)
    server.latency(0)
    run = await done(ada, under_way)
    assert run["state"] == "completed"
    counts = server.counts()
    assert (counts.completed, counts.most_in_flight) == (6, 2)


async def test_a_run_waits_for_its_users_limit_and_does_not_fail(ada: httpx.AsyncClient, server: Running) -> None:
    await ada.put(f"{URL}/openai", json={"requests_per_minute": 2})
    run = await small_run(ada, server)
    async with asyncio.timeout(60):
        while server.counts().completed < 2:
            await asyncio.sleep(0.02)
    assert (await ada.get(f"/api/runs/{run}")).json()["state"] == "running"
    assert float(str((await shown(ada))["wait_seconds"])) > 0
    # Setting them free lets the rest go.
    await ada.delete(f"{URL}/openai")
    assert (await done(ada, run))["state"] == "completed"
    assert server.counts().completed == 6


async def test_a_refusal_of_the_providers_makes_the_run_ask_for_less_at_once(
    ada: httpx.AsyncClient, server: Running
) -> None:
    server.faults(Fault("status", status=429, times=1, retry_after="0"))
    run = await done(ada, await small_run(ada, server))
    assert run["state"] == "completed"
    assert server.counts().completed == 6
    assert int(str((await shown(ada))["concurrency_now"])) < 64

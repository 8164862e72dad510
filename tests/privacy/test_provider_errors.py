"""Whatever goes wrong with a provider, its key is told to nobody: every kind of failure, in each of the protocols.

The server repeats the key wherever a server can. It is looked for in logs, in the answers to every route that tells of
the failure, in events, in exports, and in every row of the decrypted workspace but the one that keeps the key.
"""

import asyncio
import io
import logging
import zipfile
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.kit.sqlite import database
from tests.support.clock import FakeClock
from tests.support.host import Host, key_of, service, workspace_file
from tests.support.leaking_server import FAULTS, Fault, LeakingServer, leaking_server, traces
from tests.support.tls import self_signed
from tests.support.web_runs import content

KEYS = {
    "openai": "sk-canary-Vermilion-openai-0001",
    "anthropic": "sk-ant-canary-Vermilion-0002",
    "google": "AIzaCanaryVermilionGoogle0003",
}
MODELS = ("openai:gpt-4o-mini", "anthropic:claude-3-5-haiku-latest", "google:gemini-2.0-flash")
KEY_TABLE = "provider_key"
STREAM = {"Accept": "text/event-stream"}
ENDS = ("completed", "completed_with_errors", "failed", "cancelled")


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[dict[str, LeakingServer]]:
    """Who is called: a plain server for most of the faults, and one for each that is about the way there."""
    async with leaking_server() as plain, leaking_server(self_signed(tmp_path)) as tls:
        async with leaking_server() as gone:
            pass
        yield {"": plain, "speak TLS": tls, "not be there": gone}


async def test_no_key_is_told_to_anybody(
    settings: Settings,
    clock: FakeClock,
    servers: dict[str, LeakingServer],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    told: dict[str, str] = {}
    hosts = tuple(server.host for server in servers.values())
    async with service(replace(settings, provider_hosts=hosts, log_level="debug"), clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        setup = await _setup(client)
        for fault in FAULTS:
            server = servers.get(fault.how, servers[""])
            server.fault = fault
            await _store_keys(client, server)
            here = await _single_calls(client, fault.how) | await _run(client, setup)
            _expect(fault, here)
            told |= {f"{fault.name}: {place}": text for place, text in here.items()}
        told |= {"metering": (await client.get("/api/metering/calls?limit=200")).text}
        told |= {"usage": (await client.get("/api/metering/usage?group_by=provider")).text}
        assert {code for fault in FAULTS if (code := fault.code) not in told["metering"]} == set()
    told |= _rows(settings, clock)
    told |= {"terminal": "".join(capfd.readouterr()), "logging": caplog.text}
    told |= {"addresses": "\n".join(url for server in servers.values() for url in server.urls)}
    assert servers[""].keys == set(KEYS.values()), "the server had something to tell"
    assert servers["speak TLS"].keys == set(), "nobody was told before the certificate was looked at"
    assert "stolen" not in told["addresses"], "no redirect was followed"
    sought = [trace for key in KEYS.values() for trace in traces(key)]
    assert [place for place, text in told.items() if any(trace in text for trace in sought)] == []
    # The provider's sentence is for the person who asked, without the key, and never for the operator's log.
    of_operator = ("terminal", "logging", "addresses")
    assert [place for place in of_operator if "Sentence of theirs" in told[place]] == []


async def _store_keys(client: httpx.AsyncClient, server: LeakingServer) -> None:
    for provider, key in KEYS.items():
        body = {"provider": provider, "key": key, "base_url": server.base_url}
        assert (await client.post("/api/provider-keys", json=body)).is_success


async def _single_calls(client: httpx.AsyncClient, how: str) -> dict[str, str]:
    """Each model asked once, whole and as a stream, as a judge, and its key tested: all at once, for some take time."""

    async def asked(place: str, path: str, body: dict[str, Any] | None, headers: dict[str, str]) -> tuple[str, str]:
        method = "GET" if body is None else "POST"
        answer = await client.request(method, f"/api{path}", json=body, headers=headers)
        return place, f"{answer.headers}\n{answer.text}"

    calls = []
    for model in MODELS:
        body = {"model": model, "prompt": "Say something.", "timeout_seconds": 1}
        judged = {
            "judge": {"model": model},
            "document": "d",
            "answer": "a",
            "criteria": "- name: C",
            "timeout_seconds": 1,
        }
        calls.append(asked(f"generation {model}", "/generation", body, {}))
        calls.append(asked(f"stream {model}", "/generation", body, STREAM))
        calls.append(asked(f"score {model}", "/evaluation/score", judged, {}))
    found = dict(await asyncio.gather(*calls))
    paths = [f"/provider-keys/{provider}" for provider in KEYS] + ["/models"]
    if how != "say nothing":
        # The test of a key waits up to fifteen seconds, which are better spent elsewhere.
        paths += [f"/provider-keys/test/{provider}" for provider in KEYS]
    return found | dict(await asyncio.gather(*(asked(path, path, None, {}) for path in paths)))


async def _setup(client: httpx.AsyncClient) -> str:
    """A preset with a candidate of each protocol; its id."""
    preset = {
        "name": "All three",
        "inputs": [await content(client, {}, "input_document", "The harbour ledger lists forty ships.")],
        "instructions": await content(client, {}, "generation_instructions", "Summarise {{document}}"),
        "generation": {"candidates": [{"model": model} for model in (*MODELS, "local:lead")]},
        "scoring": {
            "judges": [{"model": "local:reader"}],
            "criteria": await content(client, {}, "criteria", "- name: Coverage\n"),
        },
        "limits": {"max_attempts": 1, "timeout_seconds": 1},
    }
    made = await client.post("/api/presets", json=preset)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _run(client: httpx.AsyncClient, preset: str) -> dict[str, str]:
    """A run of it, and everything that it leaves."""
    run = (await client.post(f"/api/presets/{preset}/execute")).json()["id"]
    waits = False
    async with asyncio.timeout(60):
        while (await client.get(f"/api/runs/{run}")).json()["state"] not in ENDS:
            if not waits and '"rate-limited"' in (await client.get(f"/api/runs/{run}/tasks?limit=200")).text:
                # It would wait until the provider takes more.
                waits = True
                assert (await client.post(f"/api/runs/{run}/cancel")).is_success
            await asyncio.sleep(0.02)
    assert (await client.post(f"/api/runs/{run}/share-logs")).is_success
    assert (await client.post(f"/api/runs/{run}/export")).status_code == 202
    parts = ("", "/tasks?limit=200", "/logs?limit=200", "/checkpoint", "/ranking", "/report?format=json", "/report")
    found = {part: (await client.get(f"/api/runs/{run}{part}")).text for part in (*parts, "/events", "/logs/tail")}
    async with asyncio.timeout(60):
        while (export := await client.get(f"/api/runs/{run}/export")).status_code != 200:
            await asyncio.sleep(0.02)
    with zipfile.ZipFile(io.BytesIO(export.content)) as archive:
        found |= {f"export {name}": archive.read(name).decode(errors="replace") for name in archive.namelist()}
    return found


def _expect(fault: Fault, told: dict[str, str]) -> None:
    """What went wrong was told, under its own code: else nothing would have been proven."""
    for model in MODELS:
        assert "event: end" not in told[f"stream {model}"]
    assert told["/tasks?limit=200"].count(f'"code":"{fault.code}"') == len(MODELS)


def _rows(settings: Settings, clock: FakeClock) -> dict[str, str]:
    """Every row of the workspace but those of its keys, decrypted."""
    numbers = count()
    file, key = workspace_file(settings, "ada"), bytes.fromhex(key_of("ada"))
    conn = database.connect(file, key, clock=clock, new_id=lambda: str(next(numbers)), readonly=True)
    try:
        tables = [name for (name,) in conn.all("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        assert {"calls", KEY_TABLE} <= set(tables)
        return {f"table {name}": repr(conn.all(f'SELECT * FROM "{name}"')) for name in tables if name != KEY_TABLE}
    finally:
        database.close(conn)

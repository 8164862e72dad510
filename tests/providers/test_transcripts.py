"""What real providers and servers were seen to answer, played byte by byte through the service."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.host import Host
from tests.support.live_server import live_server
from tests.support.transcript_server import TranscriptServer, transcript_server, transcripts
from tests.support.web_runs import content

Json = dict[str, Any]
TRANSCRIPTS = transcripts()
KEY = "sk-transcript-0123456789"


@asynccontextmanager
async def signed_in(
    transcript: Json, settings: Settings, clock: FakeClock
) -> AsyncIterator[tuple[TranscriptServer, httpx.AsyncClient]]:
    """The server of the transcript, and a user of the service who has stored its key."""
    async with transcript_server(transcript) as server:
        settings = replace(settings, provider_hosts=(f"localhost:{server.port}",))
        async with live_server(settings, clock) as client:
            client.headers.update(await Host(client).signed_in("ada"))
            key = {"provider": transcript["provider"], "key": KEY, "base_url": server.base_url}
            stored = await client.post("/api/provider-keys", json=key)
            assert stored.status_code == 201, stored.text
            yield server, client


def model_of(transcript: Json) -> str:
    listed = transcript.get("models", [{}])[0].get("json", {}).get("data") if "models" in transcript else None
    named = [one["id"] for one in listed or [] if isinstance(one, dict) and one.get("id")]
    return f"{transcript['provider']}:{transcript.get('model') or (named or ['m'])[0]}"


def asked(server: TranscriptServer) -> int:
    return len(server.asked)


def is_said(answer: Json, expected: Json) -> None:
    """The answer is the one that the transcript expects."""
    assert answer["text"] == expected["text"]
    assert answer["finish_reason"] == expected.get("finish", "stop")
    assert answer["thought"] == expected.get("thought")
    if "usage" in expected:
        assert answer["usage"] == expected["usage"]
        assert answer["cost"] is None


def code_in(problem: Json) -> str:
    """The code with which the call ended, from an error of the service."""
    if problem["code"] == "rate-limited":
        return "rate-limited"
    return str(problem["errors"][0]["message"]).removeprefix("the call ended with ")


@pytest.mark.parametrize("name", TRANSCRIPTS)
async def test_the_service_makes_of_it_what_is_right(name: str, settings: Settings, clock: FakeClock) -> None:
    transcript = TRANSCRIPTS[name]
    expect, model = transcript["expect"], model_of(transcript)
    async with signed_in(transcript, settings, clock) as (server, ada):
        test = (await ada.get(f"/api/provider-keys/test/{transcript['provider']}")).json()
        if "test" in expect:
            assert {field: test.get(field) for field in expect["test"]} == expect["test"]
        elif "models" in transcript:
            assert test["ok"], test
        if "model" not in transcript and test.get("models"):
            assert model in [one["model"] for one in (await ada.get("/api/models?of_keys=true")).json()["items"]]
        server.begin_anew()
        body = {
            "model": model,
            "system": "Be brief.",
            "prompt": "Hello?",
            "parameters": transcript.get("parameters", {}),
        }
        if "call" in expect:
            answer = await ada.post("/api/generation", json=body)
            if "code" in expect["call"]:
                assert code_in(answer.json()) == expect["call"]["code"], answer.text
            else:
                assert answer.status_code == 200, answer.text
                is_said(answer.json(), expect["call"])
            assert asked(server) == expect["call"]["requests"]
        server.begin_anew()
        if "stream" in expect:
            name_of, found = await last_event(ada, body)
            if "code" in expect["stream"]:
                assert code_in(found) == expect["stream"]["code"], found
            else:
                assert name_of == "end", found
                is_said(found, expect["stream"])
            assert asked(server) == expect["stream"]["requests"]
        if "compare" in expect:
            asking = {"judge": {"model": model}, "document": "Ships.", "a": "Forty ships.", "b": "Some ships."}
            found = (await ada.post("/api/evaluation/compare", json=asking)).json()
            assert [found["ab"]["word"], found["ba"]["word"]] == expect["compare"]["words"], found
            assert [found["ab"]["fault"], found["ba"]["fault"]] == expect["compare"]["faults"]
            assert asked(server) == expect["compare"]["requests"]


async def last_event(ada: httpx.AsyncClient, body: Json) -> tuple[str, Json]:
    """The end of a streamed answer, or its error, after pieces that are its text."""
    async with ada.stream("POST", "/api/generation", json=body, headers={"Accept": "text/event-stream"}) as answer:
        if answer.status_code != 200:
            return "error", json.loads(await answer.aread())
        text, name = "", ""
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: ") and name == "piece":
                text += json.loads(line.removeprefix("data: "))["text"]
            elif line.startswith("data: "):
                found: Json = json.loads(line.removeprefix("data: "))
                assert name != "end" or text == found["text"], "the pieces are the text"
                return name, found
    raise AssertionError("the stream ended without an end")


@pytest.mark.parametrize("name", [name for name, one in TRANSCRIPTS.items() if "run" in one["expect"]])
async def test_watching_a_run_changes_nothing_of_it(name: str, settings: Settings, clock: FakeClock) -> None:
    transcript = TRANSCRIPTS[name]
    async with signed_in(transcript, settings, clock) as (server, ada):
        ends = []
        for texts in ("false", "true"):
            server.begin_anew()
            ends.append(await end_of_a_run(ada, model_of(transcript), texts))
    unwatched, watched = ends
    assert unwatched == watched == transcript["expect"]["run"]


@pytest.mark.slow
@pytest.mark.soak(campaign="transcripts")
async def test_every_transcript_through_the_service_and_in_runs(
    settings: Settings, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prints a table: what calls made of each transcript, and how a run with it ends, unwatched and watched."""
    rows = []
    for name, transcript in TRANSCRIPTS.items():
        expected = transcript["expect"].get("run")
        try:
            await test_the_service_makes_of_it_what_is_right(name, settings, clock)
            is_right = True
        except AssertionError:
            is_right = False
        ends: list[Json] = []
        async with signed_in(transcript, settings, clock) as (server, ada):
            for texts in ("false", "true") if expected is not None else ():
                server.begin_anew()
                ends.append(await end_of_a_run(ada, model_of(transcript), texts))
        runs = [" ".join((end["state"], *end["codes"])) for end in ends] or ["not asked for"] * 2
        is_right = is_right and all(end == expected for end in ends)
        rows.append((f"{name:<36}{runs[0]:<44}{runs[1]:<44}", is_right))
    with capsys.disabled():
        print(f"\n{'transcript':<36}{'run, unwatched':<44}{'run, watched':<44}right")
        for row, is_right in rows:
            print(f"{row}{'yes' if is_right else 'NO'}")
        print(f"{sum(is_right for _, is_right in rows)} of {len(rows)} right")
    assert all(is_right for _, is_right in rows)


async def end_of_a_run(ada: httpx.AsyncClient, model: str, texts: str) -> Json:
    """How a run with a judge ends while somebody reads its events: its state, and the codes of what failed."""
    configuration = {
        "inputs": [await content(ada, {}, "input_document", "Ships came. They left again.")],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": model}, {"model": "local:lead"}]},
        "comparison": {"judges": [{"model": "local:statistician"}]},
    }
    made = await ada.post("/api/runs", json={"configuration": configuration})
    assert made.status_code == 201, made.text
    run = f"/api/runs/{made.json()['id']}"
    async with asyncio.timeout(60), ada.stream("GET", f"{run}/events", params={"texts": texts}) as answer:
        async for line in answer.aiter_lines():
            if line == "event: run-created":
                assert (await ada.post(f"{run}/start")).status_code == 202
            if line.startswith("event: end"):
                break
    tasks = (await ada.get(f"{run}/tasks")).json()["items"]
    codes = sorted({task["error"]["code"] for task in tasks if task["state"] == "failed"})
    return {"state": (await ada.get(run)).json()["state"], "codes": codes}

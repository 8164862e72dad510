"""Answers while models write them: over HTTP from servers that stream, and what a slow reader misses."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.runs.progress.live_texts import MOST_CHARACTERS, AnswerKey, LivePiece, LiveTexts, Watcher
from carrel.vault.keyring import UserUuid
from tests.support.clock import FakeClock
from tests.support.host import Host
from tests.support.live_server import live_server
from tests.support.streaming_server import MODELS, PIECES, TEXT, USAGE, StreamingServer, streaming
from tests.support.strict_servers import KEY
from tests.support.web_runs import add_keys, content

Json = dict[str, Any]
OWN = ("openai:own-one", "anthropic:claude-own", "google:gemini-own", "local:lead")
"""Models of each protocol without a list price, and one that does not stream."""
FIRST = AnswerKey("r1.generate.d1.c1.s1", "one", "Station 1")
SECOND = AnswerKey("r1.generate.d1.c2.s1", "two", "Station 1")


@pytest.fixture
async def server() -> AsyncIterator[StreamingServer]:
    async with streaming() as server:
        yield server


@pytest.fixture
async def client(settings: Settings, clock: FakeClock, server: StreamingServer) -> AsyncIterator[httpx.AsyncClient]:
    async with live_server(replace(settings, provider_hosts=(f"localhost:{server.port}",)), clock) as client:
        yield client


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, server: StreamingServer) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    await add_keys(client, KEY, server.base_urls)
    return client


async def pending(ada: httpx.AsyncClient, models: tuple[str, ...]) -> str:
    configuration = {
        "inputs": [await content(ada, {}, "input_document", "Ships came. They left again.", "Station 1")],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise."),
        "generation": {"candidates": [{"label": model.partition(":")[0], "model": model} for model in models]},
        "limits": {"max_attempts": 1},
    }
    made = await ada.post("/api/runs", json={"configuration": configuration})
    assert made.status_code == 201, made.text
    return f"/api/runs/{made.json()['id']}"


async def events(answer: httpx.Response) -> AsyncIterator[tuple[str, Json]]:
    name = ""
    async for line in answer.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))


async def test_whoever_watches_reads_answers_while_they_are_written_and_the_books_stay_exact(
    ada: httpx.AsyncClient, server: StreamingServer
) -> None:
    server.fault = "wait"
    run = await pending(ada, OWN)
    said: dict[str, list[Json]] = {}
    async with ada.stream("GET", f"{run}/events", params={"texts": "true"}) as answer:
        async for name, event in events(answer):
            if event.get("event") == "run-created":
                assert (await ada.post(f"{run}/start")).status_code == 202
            if name == "text":
                said.setdefault(event["candidate"], []).append(event)
            if name == "end":
                assert event["state"] == "completed"
            if len(said) == len(OWN) and not server.go_on.is_set():
                assert {part["text"] for model, (part,) in said.items() if model != "local"} == {PIECES[0]}
                server.go_on.set()
    local = said.pop("local")
    assert [part["after"] for part in local] == ["nothing"]
    for model, parts in said.items():
        assert "".join(part["text"] for part in parts) == TEXT, model
        assert [part["after"] for part in parts] == ["nothing", *["text"] * (len(parts) - 1)]
        assert {part["document"] for part in parts} == {"Station 1"}
    tasks = (await ada.get(f"{run}/tasks", params={"kind": "generate"})).json()["items"]
    kept = {task["candidate"]: await ada.get(f"{run}/generated/{task['generated_id']}") for task in tasks}
    assert {kept[model].json()["body"] for model in said} == {TEXT}
    assert kept["local"].json()["body"] == local[0]["text"]
    calls = (await ada.get("/api/metering/calls")).json()["items"]
    columns = [USAGE["output_tokens"], USAGE["cached_tokens"]]
    counted = [[call["output_tokens"], call["cached_read_tokens"]] for call in calls if call["provider"] != "local"]
    assert counted == [columns] * 3, "tokens are those that the streams told at their ends"


async def test_an_answer_that_nobody_watches_or_that_could_lose_its_cost_comes_in_one_piece(
    ada: httpx.AsyncClient, server: StreamingServer
) -> None:
    run = await pending(ada, OWN[:1])
    await ada.post(f"{run}/start")
    async with ada.stream("GET", f"{run}/events") as answer:
        assert "text" not in {name async for name, _ in events(answer)}
    # Another server than the provider's own may tell no tokens at the end of a stream, and this model has a price.
    await ada.put(f"/api/model-prices/{MODELS[0]}", json={"input_per_million": "1", "output_per_million": "1"})
    run = await pending(ada, MODELS[:1])
    async with ada.stream("GET", f"{run}/events", params={"texts": "true"}) as answer:
        async for _, event in events(answer):
            if event.get("event") == "run-created":
                await ada.post(f"{run}/start")
    assert [body.get("stream") for _, body in server.asked] == [None, None]
    refused = await ada.get(f"{run}/events", params={"texts": "all"})
    assert [error["path"] for error in refused.json()["errors"]] == ["texts"]


def test_a_slow_reader_misses_parts_and_is_told_so() -> None:
    watcher = Watcher()
    watcher.begin(FIRST.task_key)
    watcher.add(FIRST, "Forty ")
    watcher.add(FIRST, "ships")
    watcher.add(SECOND, "came, ")
    assert watcher.take() == [LivePiece(*FIRST, "nothing", "Forty ships"), LivePiece(*SECOND, "gap", "came, ")]
    watcher.add(FIRST, "x" * (MOST_CHARACTERS - 1))
    watcher.add(SECOND, "and left")
    assert [(part.after, len(part.text)) for part in watcher.take()] == [("text", MOST_CHARACTERS - 1), ("text", 1)]
    watcher.add(SECOND, "at noon")
    assert watcher.take() == [LivePiece(*SECOND, "gap", "at noon")]
    watcher.add(SECOND, "y" * (MOST_CHARACTERS + 1))
    watcher.add(SECOND, "in the end")
    assert watcher.take() == [LivePiece(*SECOND, "gap", "in the end")]
    assert watcher.take() == []


def test_another_attempt_begins_the_answer_anew_and_nothing_is_kept_for_those_who_left() -> None:
    texts, user = LiveTexts(), UserUuid("ada")
    run: Any = "run"
    assert not texts.is_watched(user, run)
    with texts.watched(user, run) as watcher:
        assert texts.is_watched(user, run)
        texts.of(user, run, FIRST).add("Forty ")
        again = texts.of(user, run, FIRST)
        again.add("\ud83d")
        again.end("?")
        whole = texts.of(user, run, SECOND)
        whole.end("All of it")
        assert watcher.take() == [LivePiece(*FIRST, "nothing", "?"), LivePiece(*SECOND, "nothing", "All of it")]
    assert not texts.is_watched(user, run)
    texts.of(user, run, FIRST).add("to nobody")
    assert watcher.take() == []

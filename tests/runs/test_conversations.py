"""Runs over conversations, through HTTP against strict servers: who gets which turns, and where they are shown."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, NamedTuple

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.runs.engine import batching
from tests.support.batched import MODELS, Servers, batch_servers
from tests.support.host import Host
from tests.support.strict_google import Google
from tests.support.strict_servers import KEY, serving
from tests.support.web_runs import completed, content

GPT, CLAUDE = MODELS
GEMINI = "google:gemini-one"
HELP = [
    {"role": "system", "content": "You work for a library."},
    {"role": "user", "content": "Where is my key?"},
    {"role": "assistant", "content": "At the desk."},
    {"role": "user", "content": "Which desk?"},
    {"role": "user", "content": "Quick, please."},
]
HELPED = [
    ("user", "Where is my key?"),
    ("assistant", "At the desk."),
    ("user", "Which desk?\n\nQuick, please."),
]
GREETED = [{"role": "assistant", "content": "Good morning."}, {"role": "user", "content": "Good morning!"}]


class Providers(NamedTuple):
    """Strict servers of three protocols, two of them with batches."""

    batches: Servers
    google: Google


@pytest.fixture
async def providers() -> AsyncIterator[Providers]:
    async with AsyncExitStack() as stack:
        batches = await stack.enter_async_context(batch_servers())
        for server in batches:
            server.shelf.looks = 1
        yield Providers(batches, await stack.enter_async_context(serving(Google("gemini-one"))))


@pytest.fixture
def settings(settings: Settings, providers: Providers) -> Settings:
    servers = (*providers.batches, providers.google)
    return replace(settings, provider_hosts=tuple(server.host for server in servers))


@pytest.fixture
async def ada(host: Host, client: httpx.AsyncClient, providers: Providers) -> httpx.AsyncClient:
    client.headers.update(await host.signed_in("ada"))
    servers = (*providers.batches, providers.google)
    for provider, server in zip(("openai", "anthropic", "google"), servers, strict=True):
        key = {"provider": provider, "key": KEY, "base_url": server.base_url}
        assert (await client.post("/api/provider-keys", json=key)).status_code == 201
    return client


async def _rows(ada: httpx.AsyncClient, *rows: dict[str, Any]) -> dict[str, str]:
    body = "".join(json.dumps(row) + "\n" for row in rows).encode()
    made = await ada.post("/api/data-sets", files={"file": ("chats.jsonl", body, "application/x")})
    assert made.status_code == 201, made.text
    return {"data_set": made.json()["id"]}


async def _candidate(ada: httpx.AsyncClient, model: str, prompt: str) -> dict[str, Any]:
    return {
        "label": f"{model} {prompt}",
        "model": model,
        "instructions": await content(ada, {}, "generation_instructions", prompt),
    }


def _generated(google: Google) -> list[tuple[str, list[tuple[str, str]]]]:
    """The system text and the turns of each answer that was asked for."""
    bodies = [one.body for one in google.asked if "responseMimeType" not in one.body["generationConfig"]]
    return [
        (
            body.get("systemInstruction", {"parts": [{"text": ""}]})["parts"][0]["text"],
            [
                ("assistant" if turn["role"] == "model" else "user", turn["parts"][0]["text"])
                for turn in body["contents"]
            ],
        )
        for body in bodies
    ]


async def test_a_conversation_is_sent_turn_by_turn_and_shown_so_everywhere(
    ada: httpx.AsyncClient, providers: Providers
) -> None:
    kind, plain = await _candidate(ada, GEMINI, "Be kind."), await _candidate(ada, GEMINI, "Sum up: {{messages}}")
    configuration = {
        "rows": await _rows(ada, {"id": "help", "messages": HELP}, {"id": "hi", "messages": GREETED}),
        "generation": {"candidates": [kind, plain]},
        "comparison": {"judges": [{"model": GEMINI}]},
        "reuse": True,
    }
    run = await completed(ada, configuration)
    transcript = "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in HELP)
    greeting = "assistant: Good morning.\n\nuser: Good morning!"
    assert sorted(_generated(providers.google)) == [
        ("", [("user", f"Sum up: {greeting}")]),
        ("", [("user", f"Sum up: {transcript}")]),
        (
            "Be kind.",
            [("user", "(The conversation begins.)"), ("assistant", "Good morning."), ("user", "Good morning!")],
        ),
        ("Be kind.\n\nYou work for a library.", HELPED),
    ]
    judged = [json.dumps(one.body) for one in providers.google.asked if "responseMimeType" in str(one.body)]
    assert sum(json.dumps(transcript)[1:-1] in body for body in judged) == len(judged) / 2

    where = f"/api/runs/{run['id']}"
    report = (await ada.get(f"{where}/report")).json()
    assert [document["turns"] for document in report["documents"]] == [HELP, GREETED]
    assert report["documents"][0]["text"] == transcript
    ballot = (await ada.post(f"{where}/votes/next")).json()
    assert ballot["turns"] in (HELP, GREETED)
    told = (await ada.get(f"{where}/receipt/texts/d1.turns")).json()
    assert json.loads(told["text"]) == HELP

    # The same transcript in other turns is another question, except where the transcript itself is sent.
    asked = len(providers.google.asked)
    await completed(ada, configuration)
    assert len(providers.google.asked) == asked
    first, rest = transcript.split("\n\nuser: ", 1)
    claimed = [{"role": "system", "content": first.removeprefix("system: ")}, {"role": "user", "content": rest}]
    await completed(ada, configuration | {"rows": await _rows(ada, {"messages": claimed})})
    assert _generated(providers.google)[4:] == [("Be kind.\n\nYou work for a library.", [("user", rest)])]


async def test_what_else_a_row_holds_goes_with_the_instructions(ada: httpx.AsyncClient, providers: Providers) -> None:
    table = await _rows(ada, {"messages": HELP, "question": "Ada is a member.", "lang": "en"})
    followed, named = await _candidate(ada, GEMINI, "Be kind."), await _candidate(ada, GEMINI, "Speak {{lang}}.")
    await completed(ada, {"rows": table, "generation": {"candidates": [followed, named]}})
    (short, short_turns), (system, turns) = sorted(_generated(providers.google), key=lambda one: len(one[0]))
    assert (short, short_turns, turns) == ("Speak en.\n\nYou work for a library.", HELPED, HELPED)
    assert "Be kind." in system
    assert "Ada is a member." in system
    assert system.index("BEGIN DOCUMENT") < system.index("Ada is a member.") < system.index("You work for a library.")


async def test_batches_hold_the_turns_of_both_protocols(
    ada: httpx.AsyncClient, providers: Providers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "LOOK_SECONDS", 0.0)
    configuration = {
        "rows": await _rows(ada, {"messages": HELP}),
        "generation": {"candidates": [await _candidate(ada, model, "Be kind.") for model in MODELS]},
        "economy": True,
    }
    estimate = (await ada.post("/api/runs?dry_run=true", json={"configuration": configuration})).json()
    run = await completed(ada, configuration)
    assert 0 < float(run["spend"]["cost"]) <= float(estimate["worst_cost"])
    [gpt] = [json.loads(line)["body"] for line in providers.batches.openai.files["file-1"].splitlines()]
    turns = [{"role": role, "content": text} for role, text in HELPED]
    system = "Be kind.\n\nYou work for a library."
    assert gpt["messages"] == [{"role": "system", "content": system}, *turns]
    [claude] = [
        request["params"] for one in providers.batches.anthropic.asked if one.body for request in one.body["requests"]
    ]
    assert (claude["system"], claude["messages"]) == (system, turns)

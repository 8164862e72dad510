"""`output: github`: a run that ends sends its answers, and is none the worse when that fails."""

import asyncio
from typing import Any

import httpx

from carrel.config import Settings
from tests.support.clock import FakeClock
from tests.support.host import Host, service
from tests.support.run_setup import text_of
from tests.support.strict_github import REPOSITORY, TOKEN, GitHub, refusal
from tests.support.web_runs import CRITERIA, content

_SECONDS = 30
SENT, NOT_SENT = "answers-sent", "answers-not-sent"


async def begun(ada: httpx.AsyncClient, output: dict[str, Any]) -> str:
    """The path of a run that was just started."""
    judges = [{"model": "local:reader"}, {"model": "local:statistician"}]
    configuration = {
        "inputs": [await content(ada, {}, "input_document", text_of(n), f"Chronicle {n}") for n in range(1, 4)],
        "instructions": await content(ada, {}, "generation_instructions", "Summarise."),
        "generation": {"candidates": [{"model": "local:lead"}, {"model": "local:lexrank"}]},
        "scoring": {"judges": judges, "criteria": await content(ada, {}, "criteria", CRITERIA)},
        "output": {"destination": "github"} | output,
    }
    made = await ada.post("/api/runs", json={"name": "r", "configuration": configuration})
    assert made.status_code == 201, made.text
    run = f"/api/runs/{made.json()['id']}"
    assert (await ada.post(f"{run}/start")).status_code == 202
    return run


async def told(ada: httpx.AsyncClient, run: str) -> list[tuple[str, str, str | None]]:
    """What the log says of sending, once it says anything."""
    async with asyncio.timeout(_SECONDS):
        while True:
            lines = (await ada.get(f"{run}/logs?limit=200")).json()["items"]
            found = [(one["event"], one["level"], one["code"]) for one in lines if one["event"] in (SENT, NOT_SENT)]
            if found:
                return found
            await asyncio.sleep(0.02)


def id_of(connection: str) -> str:
    return connection.rpartition("/")[2]


async def test_a_run_that_ends_sends_its_answers_as_one_commit(
    ada: httpx.AsyncClient, connection: str, github: GitHub
) -> None:
    output = {"connection": id_of(connection), "path": "results", "branch": "carrel", "answers": "all"}
    run = await begun(ada, output)
    assert await told(ada, run) == [(SENT, "info", None)]
    assert (await ada.get(run)).json()["state"] == "completed"
    sent = {path for path in github.files("carrel") if path.startswith("results/")}
    assert len(sent) == 6
    assert "results/d1-Chronicle-1/c1-local-lead.md" in sent
    assert len(github.commits) == 2


async def test_a_failure_is_told_and_fails_nothing(ada: httpx.AsyncClient, connection: str, github: GitHub) -> None:
    github.refuse["/git/ref/heads/main"] = [refusal(401)]
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    assert await told(ada, run) == [(NOT_SENT, "warning", "github-token-rejected")]
    assert (await ada.get(run)).json()["state"] == "completed"
    assert "canary" not in (await ada.get(f"{run}/logs")).text
    # It can be asked for by hand.
    export = await ada.post(f"{connection}/export", json={"run": run.rpartition("/")[2], "answers": "all"})
    assert export.status_code == 201
    assert await told(ada, run) == [(SENT, "info", None), (NOT_SENT, "warning", "github-token-rejected")]


async def test_a_connection_that_is_gone_is_told(ada: httpx.AsyncClient, connection: str) -> None:
    run = await begun(ada, {"connection": id_of(connection), "answers": "all"})
    await ada.delete(connection)
    found = await told(ada, run)
    assert found in ([(NOT_SENT, "warning", "not-found")], [(SENT, "info", None)])


async def test_what_a_stop_interrupted_is_sent_after_the_next_sign_in(
    settings: Settings, github: GitHub, clock: FakeClock
) -> None:
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        body = {"name": "Texts", "repository": REPOSITORY, "token": TOKEN, "base_url": github.base_url}
        made = (await client.post("/api/github-connections", json=body)).json()
        github.held = asyncio.Event()
        run = await begun(client, {"connection": made["id"], "answers": "all"})
        async with asyncio.timeout(_SECONDS):
            await github.reached.wait()
        assert (await client.get(run)).json()["state"] == "completed"
    github.held.set()
    async with service(settings, clock) as client:
        client.headers.update(await Host(client).signed_in("ada"))
        assert await told(client, run) == [(SENT, "info", None)]
    assert len(github.files()) == 7

"""Trends over HTTP: one candidate over the runs of a preset whose answers exist already, good ones and bad ones."""

import asyncio
from datetime import date
from typing import Any

import httpx
import pytest

from carrel.providers import endings
from carrel.providers.endings import End
from carrel.runs.findings import trends
from tests.support.host import Host
from tests.support.run_setup import text_of
from tests.support.web_runs import content

DOCUMENTS = 12
CHECKS: list[dict[str, Any]] = [{"kind": "json", "name": "is JSON", "required": True}, {"kind": "length", "most": 9}]


class Nightly:
    """A preset, and its runs night by night; `new` answers as many documents well as each night says."""

    def __init__(self, client: httpx.AsyncClient, inputs: list[str], good: str, bad: str, **parts: Any) -> None:
        self.client = client
        self.inputs, self.good, self.bad, self.parts = inputs, good, bad, parts
        self.preset = ""

    def body(self, well: int) -> dict[str, Any]:
        texts = {one: self.good if place < well else self.bad for place, one in enumerate(self.inputs)}
        today = dict.fromkeys(self.inputs, self.good)
        candidates = [{"label": "new", "existing": texts}, {"label": "today", "existing": today}]
        return {"name": "Nightly", "inputs": self.inputs, "generation": {"candidates": candidates}, **self.parts}

    async def night(self, well: int) -> str:
        """Save the preset with these answers and run it to its end; the run's id."""
        if not self.preset:
            made = await self.client.post("/api/presets", json=self.body(well))
            assert made.status_code == 201, made.text
            self.preset = made.json()["id"]
        else:
            await self.client.put(f"/api/presets/{self.preset}", json=self.body(well), headers={"If-Match": "*"})
        started = await self.client.post(f"/api/presets/{self.preset}/execute", json={"name": f"{well} well"})
        assert started.status_code == 202, started.text
        run: str = started.json()["id"]
        async with asyncio.timeout(60):
            while (await self.client.get(f"/api/runs/{run}")).json()["state"] == "running":
                await asyncio.sleep(0.02)
        return run

    async def trends(self, **query: Any) -> dict[str, Any]:
        answer = await self.client.get(f"/api/presets/{self.preset}/trends", params=query)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def nightly(client: httpx.AsyncClient, documents: int = DOCUMENTS, **parts: Any) -> Nightly:
    inputs = [await content(client, {}, "input_document", text_of(n), f"Town {n}") for n in range(1, documents + 1)]
    good = await content(client, {}, "output_document", '{"city": "Rome"}')
    bad = await content(client, {}, "output_document", "Sorry.")
    return Nightly(client, inputs, good, bad, **parts)


async def test_without_a_baseline_the_last_good_run_is_the_newest_in_which_no_check_fell(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await nightly(ada, checks=CHECKS)
    first, second, third, fourth = [await made.night(well) for well in (12, 11, 2, 1)]
    found = await made.trends()
    assert (found["candidate"], found["candidates"], found["checks"]) == (
        "new",
        ["new", "today"],
        ["is JSON", "length"],
    )
    points = found["points"]
    assert [one["run"] for one in points] == [fourth, third, second, first]
    assert [one["good"] for one in points] == [False, False, True, True]
    # Each is compared with the last good one, not with the bad one before it.
    assert [one["fell"] for one in points] == [["is JSON"], ["is JSON"], [], []]
    assert found["last_good"] == second
    assert found["rule"].startswith("A run is good if no check of new is clearly below the last good run before it")
    assert [round(one["passes"]["share"], 2) for one in points] == [0.08, 0.17, 0.92, 1.0]
    newest = points[0]
    assert newest["checks"][0] == {"check": "is JSON", "rate": newest["passes"]}
    assert (newest["documents"], newest["cost"], newest["basis"], newest["outcome"]) == (12, "0", "checks", "decided")
    assert (newest["preferred"], newest["gate"], newest["median_latency_ms"]) == (None, None, None)
    # Another candidate never fell.
    assert (await made.trends(candidate="today"))["last_good"] == fourth
    assert found["left_out"] == 0
    monkeypatch.setattr(trends, "MOST_RUNS", 3)
    short = await made.trends()
    assert ([one["run"] for one in short["points"]], short["left_out"]) == ([fourth, third, second], 1)


async def test_with_a_baseline_the_gate_says_which_run_was_good(ada: httpx.AsyncClient) -> None:
    made = await nightly(ada, checks=CHECKS, comparison={"judges": [{"model": "local:reader"}]})
    good, bad = await made.night(12), await made.night(0)
    found = await made.trends(baseline="today", margin=0.3)
    assert (found["candidate"], found["baseline"], found["margin"]) == ("new", "today", 0.3)
    assert [(one["run"], one["gate"], one["good"]) for one in found["points"]] == [
        (bad, "worse", False),
        (good, "not_worse", True),
    ]
    assert found["last_good"] == good
    assert "not worse by 30 points or more" in found["rule"]
    worse = found["points"][0]
    gate = (await ada.get(f"/api/runs/{bad}/gate?baseline=today&candidate=new&margin=0.3")).json()
    assert worse["against"] == gate["sources"][0]["change"]
    ranking = (await ada.get(f"/api/runs/{bad}/ranking")).json()
    (row,) = [one for one in ranking["ranking"]["rows"] if one["candidate"] == "new"]
    assert [worse["preferred"][end] for end in ("share", "low", "high")] == [
        row[end] for end in ("win_share", "low", "high")
    ]
    assert (worse["outcome"], worse["best"]) == (ranking["verdict"]["outcome"], ranking["ranking"]["best"])
    # Too few documents for five points: nobody can say, and nothing is called good.
    strict = await made.trends(baseline="today")
    assert [one["good"] for one in strict["points"]] == [False, None]
    assert strict["last_good"] is None


async def test_a_point_names_what_changed_since_the_run_before(ada: httpx.AsyncClient) -> None:
    made = await nightly(ada, documents=3, checks=CHECKS[:1])
    await made.night(3)
    made.inputs = made.inputs[1:]
    await made.night(2)
    await made.night(1)
    made.parts = {"checks": CHECKS, "comparison": {"judges": [{"model": "local:reader"}]}}
    await made.night(1)
    await made.night(1)
    changed = [one["changed"] for one in (await made.trends())["points"]]
    assert changed == [[], ["judging", "checks"], ["answers"], ["documents", "answers"], []]


async def test_prompts_models_cost_and_time_are_told_and_runs_without_a_result_are_left_out(
    ada: httpx.AsyncClient,
) -> None:
    made = await nightly(ada, documents=2)
    prompts = [await content(ada, {}, "generation_instructions", text) for text in ("Summarise.", "Shorten.")]
    body = {
        "name": "Models",
        "inputs": made.inputs,
        "instructions": prompts[0],
        "generation": {"candidates": [{"model": "local:lead"}]},
    }
    preset = (await ada.post("/api/presets", json=body)).json()["id"]
    empty = (await ada.get(f"/api/presets/{preset}/trends")).json()
    assert (empty["points"], empty["candidate"], empty["last_good"]) == ([], None, None)
    assert empty["rule"] == "Without a baseline and without checks, nobody can say which run is good."
    made.preset = preset
    for prompt in prompts:
        await ada.put(f"/api/presets/{preset}", json=body | {"instructions": prompt}, headers={"If-Match": "*"})
        run = (await ada.post(f"/api/presets/{preset}/execute", json={})).json()["id"]
        async with asyncio.timeout(60):
            while (await ada.get(f"/api/runs/{run}")).json()["state"] == "running":
                await asyncio.sleep(0.02)
    await ada.post("/api/runs", json={"preset_id": preset})  # never started
    newest, oldest = (await made.trends())["points"]
    assert (newest["changed"], oldest["changed"]) == (["prompts"], [])
    assert (newest["cost_per_answer"], newest["basis"], newest["good"]) == ("0", "answers", None)
    assert newest["median_latency_ms"] >= 0


async def test_what_no_run_has_is_refused_and_other_users_see_nothing(ada: httpx.AsyncClient, host: Host) -> None:
    made = await nightly(ada, documents=1, checks=CHECKS)
    await made.night(1)
    trends = f"/api/presets/{made.preset}/trends"
    for query, field in (
        ("?candidate=nobody", "candidate"),
        ("?baseline=nobody", "baseline"),
        ("?candidate=new&baseline=new", "candidate"),
    ):
        refused = await ada.get(trends + query)
        assert refused.status_code == 400
        assert [error["path"] for error in refused.json()["errors"]] == [field]
    assert (await ada.get(f"{trends}?margin=1")).status_code == 400
    assert (await ada.get("/api/presets/nothing/trends")).status_code == 404
    bob = await host.signed_in("bob")
    assert (await ada.get(trends, headers=bob)).status_code == 404


async def test_trends_tell_which_models_of_the_newest_run_end_soon(
    ada: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights = await nightly(ada, 2, comparison={"judges": [{"model": "local:reader"}]})
    await nights.night(2)
    assert (await nights.trends())["endings"] == []
    monkeypatch.setitem(endings.listed, "local:reader", End(date(2027, 2, 1), endings.OF_LIST))
    (ending,) = (await nights.trends())["endings"]
    assert ending["sentence"] == "local:reader is switched off in 17 days, on 1 February 2027."

"""Whether another question follows people better, over HTTP: tested on the half that no criteria were written from."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx
import pytest
from aiohttp import web
from msgspec.structs import replace

from carrel.config import Settings
from tests.runs.verdicts.voting import bring_in
from tests.support.credit_runs import until
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_servers import KEY, serving
from tests.support.web_runs import add_keys, completed, content, ended

DOCUMENTS = 24
HEAD = "document,first,second,verdict,voter,reason\n"


class Taste(Anthropic):
    """Likes the longer answer; where a criterion asks for conciseness the shorter one, and for language the first."""

    def __init__(self) -> None:
        super().__init__("claude-one")
        self.is_open = asyncio.Event()
        self.is_open.set()

    async def call(self, request: web.Request) -> web.Response:
        await self.is_open.wait()
        return await super().call(request)

    def judged(self, request: web.Request, body: bytes) -> web.Response:
        answer = super().judged(request, body)
        found = json.loads(answer.text or "")
        prompt = json.loads(body)["messages"][-1]["content"]
        first, second = (len(prompt.split(f"«BEGIN {side} ANSWER")[1].split("«END")[0]) for side in ("FIRST", "SECOND"))
        winner = "first" if (first < second) == ("- conciseness" in prompt) or "- language" in prompt else "second"
        for block in found["content"]:
            if block["type"] == "text":
                block["text"] = json.dumps({"reason": "So.", "winner": winner})
            elif block["type"] == "tool_use":
                block["input"] = {"reason": "So.", "winner": winner}
        return web.json_response(found, status=answer.status)


@pytest.fixture
async def judge() -> AsyncIterator[Taste]:
    async with serving(Taste()) as server:
        yield server


@pytest.fixture
def settings(settings: Settings, judge: Taste) -> Settings:
    return replace(settings, provider_hosts=(judge.host,))


@pytest.fixture
async def run(ada: httpx.AsyncClient, judge: Taste) -> str:
    """A run whose judge likes long answers; its last two documents have the same text."""
    await add_keys(ada, KEY, {"anthropic": judge.base_url})
    numbers = [*range(1, DOCUMENTS), DOCUMENTS - 1]
    inputs = [await content(ada, {}, "input_document", f"Report {n}.", f"D{i}") for i, n in enumerate(numbers)]
    answers = {
        label: await content(ada, {}, "output_document", text)
        for label, text in (("short", "All is well."), ("long", "As far as anybody can tell, all is well."))
    }
    configuration = {
        "inputs": inputs,
        "generation": {
            "candidates": [{"label": label, "existing": dict.fromkeys(inputs, one)} for label, one in answers.items()]
        },
        "comparison": {"judges": [{"model": "anthropic:claude-one"}]},
    }
    return f"/api/runs/{(await completed(ada, configuration))['id']}"


async def voted(ada: httpx.AsyncClient, run: str, numbers: Iterable[int], voter: str = "Ann", reason: str = "") -> None:
    """People like short answers; on one document in eight, the long one."""
    lines = [f"{n},short,long,{'first' if n % 8 else 'second'},{voter},{reason}" for n in numbers]
    assert (await bring_in(ada, run, HEAD + "\n".join(lines) + "\n")).json()["imported"] == len(lines)


async def judged_again(ada: httpx.AsyncClient, run: str, criteria: str, *, ends: bool = True) -> None:
    changes = {"criteria": await content(ada, {}, "criteria", criteria)}
    assert (await ada.post(f"{run}/reevaluate", json=changes)).is_success
    if ends:
        await until(ada, run.rpartition("/")[2], "completed")


async def since(ada: httpx.AsyncClient, run: str, **params: int) -> Any:
    answer = await ada.get(f"{run}/votes/against-judges", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()["since"]


async def proposal(ada: httpx.AsyncClient, run: str, *, half: bool = True) -> dict[str, Any]:
    found: dict[str, Any] = (await ada.get(f"{run}/criteria-proposal", params={"half": half})).json()
    return found


async def halved(ada: httpx.AsyncClient, run: str) -> tuple[list[int], list[int]]:
    """Vote on all documents one by one, and see which of them the writing half has; both halves."""
    writing: list[int] = []
    for n in range(1, DOCUMENTS + 1):
        await voted(ada, run, [n], reason="too long")
        if (await proposal(ada, run))["votes"] > len(writing):
            writing.append(n)
    return writing, [n for n in range(1, DOCUMENTS + 1) if n not in writing]


async def test_criteria_from_the_one_half_are_tested_on_the_other(ada: httpx.AsyncClient, run: str) -> None:
    writing, testing = await halved(ada, run)
    assert (len(writing), (DOCUMENTS in writing) == (DOCUMENTS - 1 in writing)) == (DOCUMENTS // 2, True)
    assert (await proposal(ada, run, half=False))["votes"] == DOCUMENTS
    await voted(ada, run, testing[:3], voter="Bob")
    assert await since(ada, run) is None
    # A note on a document is of the half of its document.
    for n in (writing[0], testing[0]):
        note = {"document": n, "candidate": "long", "note": "Rambling"}
        assert (await ada.put(f"{run}/notes", json=note)).status_code == 200
    found = await proposal(ada, run)
    assert (found["votes"], found["notes"]) == (len(writing), 1)
    [row] = [one["criterion"] for one in found["proposals"]]

    # The judge is deaf to what another criterion asks for.
    await judged_again(ada, run, "- name: tone\n")
    level = await since(ada, run)
    assert (level["round"], level["changed"], level["votes"]) == (1, ["criteria"], len(testing) + 3)
    texts = {min(n, DOCUMENTS - 1) for n in testing}
    assert (level["difference"]["documents"], level["difference"]["outcome"]) == (len(texts), "undecided")
    # On the last text, one of its two votes is for the long answer.
    share = round(sum(0.5 if n == DOCUMENTS - 1 else float(n % 8 == 0) for n in texts) / len(texts), 6)
    every = (await ada.get(f"{run}/votes/against-judges")).json()["agreement"]
    assert (every["documents"], every["share"]) == (DOCUMENTS - 1, pytest.approx(2.5 / 23, abs=1e-6))
    assert level["agreement"] == level["before"] == share
    assert "no gain shown" in level["sentence"]

    await judged_again(ada, run, f"- name: {row['name']}\n  description: {row['description']}\n")
    better = await since(ada, run)
    assert (better["round"], better["difference"]["outcome"]) == (2, "better")
    assert (better["agreement"], better["before"]) == (pytest.approx(1 - share), share)
    assert better["sentence"].startswith(
        f"On the {len(texts)} documents that were kept for the test, the agreement with people is"
        f" {100 * (1 - share):.0f} % in round 3"
    )
    assert "without looking at votes on these documents" in better["sentence"]
    assert await since(ada, run, round=2) == level
    assert await since(ada, run, round=1) is None

    # Who has no opinion on anything is right half of the time, and does not look better because the pairs are gone.
    await judged_again(ada, run, "- name: language\n")
    flips = await since(ada, run)
    assert (flips["agreement"], flips["votes"], flips["difference"]["outcome"]) == (0.5, better["votes"], "worse")
    assert "points less" in flips["sentence"]

    # Comparisons do not ask for scales.
    await judged_again(ada, run, "- name: language\n  scale: {min: 1, max: 9}\n")
    assert (await since(ada, run))["changed"] == []


async def test_a_round_under_way_is_not_tested_and_one_that_was_cancelled_is_passed_over(
    ada: httpx.AsyncClient, run: str, judge: Taste
) -> None:
    await voted(ada, run, range(1, DOCUMENTS + 1))
    judge.is_open.clear()
    await judged_again(ada, run, "- name: tone\n", ends=False)
    assert await since(ada, run) is None
    assert (await ada.post(f"{run}/cancel")).is_success
    judge.is_open.set()
    await until(ada, run.rpartition("/")[2], "cancelled")
    assert await since(ada, run) is None
    await judged_again(ada, run, "- name: conciseness\n")
    assert (found := await since(ada, run))["round"] == 1
    judge.is_open.clear()
    await judged_again(ada, run, "- name: language\n", ends=False)
    assert await since(ada, run) is None
    assert await since(ada, run, round=3) == found
    judge.is_open.set()
    await until(ada, run.rpartition("/")[2], "completed")


async def test_a_vote_that_is_withdrawn_tests_nothing_and_too_few_votes_say_how_many_more(
    ada: httpx.AsyncClient, run: str
) -> None:
    await judged_again(ada, run, "- name: conciseness\n")
    assert await since(ada, run) is None
    _, testing = await halved(ada, run)
    assert (await since(ada, run))["difference"]["outcome"] == "better"
    for vote in (await ada.get(f"{run}/votes", params={"limit": 100})).json()["items"]:
        if vote["document"] not in testing[:4]:
            assert (await ada.delete(f"{run}/votes/{vote['id']}")).status_code == 204
    few = await since(ada, run)
    assert (few["votes"], few["difference"]["outcome"]) == (4, "undecided")
    # The last two documents are one.
    assert few["sentence"].startswith("Testing round 2 against round 1 takes votes on 1 more document")


async def test_rounds_that_only_score_are_not_tested(ada: httpx.AsyncClient) -> None:
    run = f"/api/runs/{await ended(ada, {}, documents=2, compared=False)}"
    assert (await bring_in(ada, run, f"{HEAD}1,local:lead,local:lexrank,first,Ann,\n")).json()["imported"] == 1
    await judged_again(ada, run, "- name: Clarity\n")
    assert await since(ada, run) is None

"""A person's blind votes over HTTP: shown without names, counted once, beside the judges and not among them."""

import asyncio
import csv
import zipfile
from io import BytesIO
from typing import Any

import httpx
import pytest

from tests.support.host import PLUGIN, Host, code_of
from tests.support.web_runs import ended, planned

LABELS = ("Candidate Alpha", "Candidate Beta", "Candidate Gamma")
MODELS = ("local:lead", "local:lexrank", "local:random")


@pytest.fixture
async def run(ada: httpx.AsyncClient) -> str:
    return f"/api/runs/{await ended(ada, {}, documents=3, models=MODELS, labels=LABELS)}"


async def next_pair(ada: httpx.AsyncClient, run: str) -> dict[str, Any]:
    answer = await ada.post(f"{run}/votes/next")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def cast(ada: httpx.AsyncClient, run: str, pair: str, verdict: str) -> dict[str, Any]:
    answer = await ada.post(f"{run}/votes", json={"pair": pair, "verdict": verdict})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def generated(ada: httpx.AsyncClient, run: str) -> dict[str, str]:
    """The answers' texts, by document and candidate."""
    report = (await ada.get(f"{run}/report", params={"format": "json"})).json()
    return {
        f"{document['document']} {answer['candidate']}": answer["text"]
        for document in report["documents"]
        for answer in document["answers"]
    }


async def test_nothing_in_a_ballot_tells_whose_answers_they_are(ada: httpx.AsyncClient, run: str) -> None:
    answer = await ada.post(f"{run}/votes/next")
    ballot = answer.json()
    assert set(ballot) == {
        "pair", "document_name", "document", "reference", "instructions", "criteria", "first", "second", "left",
    }  # fmt: skip
    report = (await ada.get(f"{run}/report", params={"format": "json"})).json()
    for secret in (*LABELS, *MODELS, "local:", *report["run"]["generated"].values(), *report["run"]["generated"]):
        assert secret not in answer.text
    texts = list((await generated(ada, run)).values())
    assert ballot["first"] in texts
    assert ballot["second"] in texts
    assert ballot["first"] != ballot["second"]
    assert ballot["criteria"] == ["Coverage", "Clarity"]
    voted = await cast(ada, run, ballot["pair"], "first")
    assert set(voted) == {"id", "verdict", "voted_at", "votes"}


async def test_the_pair_stays_until_it_is_voted_on(ada: httpx.AsyncClient, run: str) -> None:
    first = await next_pair(ada, run)
    assert await next_pair(ada, run) == first
    await cast(ada, run, first["pair"], "tie")
    second = await next_pair(ada, run)
    assert second["pair"] != first["pair"]
    assert second["left"] == first["left"] - 1


async def test_every_pair_can_be_voted_on_and_counts_once(ada: httpx.AsyncClient, run: str) -> None:
    texts = await generated(ada, run)
    count = (await ada.get(f"{run}/votes/count")).json()
    assert count["votes"] == 0
    seen: dict[str, tuple[str, str]] = {}
    for voted in range(count["left"]):
        ballot = await next_pair(ada, run)
        assert ballot["left"] == count["left"] - voted - 1
        # A person of plain taste: whatever is earlier in the alphabet.
        verdict = "first" if ballot["first"] < ballot["second"] else "second"
        assert (await cast(ada, run, ballot["pair"], verdict))["votes"] == voted + 1
        seen[ballot["pair"]] = ballot["first"], ballot["second"]
        again = await ada.post(f"{run}/votes", json={"pair": ballot["pair"], "verdict": "tie"})
        assert (again.status_code, code_of(again)) == (409, "vote-counted")
    assert len(set(seen.values())) == count["left"] > 3
    over = await ada.post(f"{run}/votes/next")
    assert (over.status_code, code_of(over)) == (409, "nothing-to-vote-on")
    assert (await ada.get(f"{run}/votes/count")).json() == {"votes": count["left"], "left": 0}
    listed = (await ada.get(f"{run}/votes")).json()["items"]
    assert [vote["id"] for vote in listed] == list(seen)[::-1]
    for vote in listed:
        shown = tuple(texts[f"d{vote['document']} {vote[side]}"] for side in ("first", "second"))
        assert shown == seen[vote["id"]]
        assert vote["winner"] == vote[vote["verdict"]]
    page = (await ada.get(f"{run}/votes", params={"limit": 2})).json()
    rest = (await ada.get(f"{run}/votes", params={"limit": 100, "cursor": page["next_cursor"]})).json()
    assert page["items"] + rest["items"] == listed


async def test_votes_stand_beside_the_ranking_and_move_it_only_when_asked(ada: httpx.AsyncClient, run: str) -> None:
    before = (await ada.get(f"{run}/ranking")).json()
    assert before["human"] is None
    told = (await ada.get(run)).json()
    for _ in range(4):
        await cast(ada, run, (await next_pair(ada, run))["pair"], "first")
    after = (await ada.get(f"{run}/ranking")).json()
    assert after["ranking"] == before["ranking"]
    assert after["human"]["votes"] == 4
    assert [pair["second"] for pair in after["human"]["judges"]] == ["human", "human"]
    assert "a person voted blind on 4 pairs and came to the judges' outcome on" in after["verdict"]["scope"]
    now = (await ada.get(run)).json()
    assert "no human has checked them" in told["verdict"]
    assert "a person has voted blind on some of them" in now["verdict"]
    assert now["version"] > told["version"]
    report = (await ada.get(f"{run}/report", params={"format": "json"})).json()
    assert report["human"] == after["human"]
    assert report["verdict"] == after["verdict"] | {"notes": report["verdict"]["notes"]}
    assert report["agreement"]["pairs"] == [
        pair for pair in report["agreement"]["pairs"] if "human" not in (pair["first"], pair["second"])
    ]
    page = await ada.get(f"{run}/report", headers={"Accept": "text/html"})
    assert "A person voted blind on 4 pairs" in page.text
    together = (await ada.get(f"{run}/ranking", params={"with_human": "true"})).json()
    assert "human" in together["ranking"]["judges"]
    assert together["ranking"]["exploratory"]
    assert together["verdict"]["scope"] == "about documents like these, for these judges, a person among them"
    only = '{"human": 1, "local:reader": 0, "local:statistician": 0}'
    alone = (await ada.get(f"{run}/ranking", params={"with_human": "true", "weights": only})).json()
    assert alone["ranking"]["judges"] == ["human"]
    refused = await ada.get(f"{run}/ranking", params={"weights": only})
    assert (refused.status_code, code_of(refused)) == (400, "invalid-input")


async def test_a_vote_that_is_taken_back_counts_no_more_and_is_not_asked_for_again(
    ada: httpx.AsyncClient, run: str
) -> None:
    left = (await ada.get(f"{run}/votes/count")).json()["left"]
    pair = (await next_pair(ada, run))["pair"]
    await cast(ada, run, pair, "second")
    assert (await ada.delete(f"{run}/votes/{pair}")).status_code == 204
    assert (await ada.get(f"{run}/votes")).json()["items"] == []
    assert (await ada.get(f"{run}/votes/count")).json() == {"votes": 0, "left": left - 1}
    assert (await ada.get(f"{run}/ranking")).json()["human"] is None
    assert "no human has checked them" in (await ada.get(run)).json()["verdict"]
    again = await ada.post(f"{run}/votes", json={"pair": pair, "verdict": "first"})
    assert (again.status_code, code_of(again)) == (409, "vote-counted")
    assert (await ada.delete(f"{run}/votes/{pair}")).status_code == 404


async def test_a_pair_that_nobody_can_tell_apart_is_passed_over(ada: httpx.AsyncClient, run: str) -> None:
    pair = (await next_pair(ada, run))["pair"]
    assert (await ada.delete(f"{run}/votes/{pair}")).status_code == 204
    assert (await next_pair(ada, run))["pair"] != pair


async def test_bad_votes_are_refused(ada: httpx.AsyncClient, run: str) -> None:
    pair = (await next_pair(ada, run))["pair"]
    for body in ({"pair": pair}, {"pair": pair, "verdict": "third"}, {"pair": pair, "verdict": "tie", "why": "x"}):
        answer = await ada.post(f"{run}/votes", json=body)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input")
    unknown = await ada.post(f"{run}/votes", json={"pair": "0190", "verdict": "tie"})
    assert unknown.status_code == 404
    elsewhere = f"/api/runs/{await planned(ada, {}, documents=1)}"
    assert (await ada.post(f"{elsewhere}/votes", json={"pair": pair, "verdict": "tie"})).status_code == 404
    nothing = await ada.post(f"{elsewhere}/votes/next")
    assert (nothing.status_code, code_of(nothing)) == (409, "nothing-to-vote-on")
    assert (await ada.post("/api/runs/none/votes/next")).status_code == 404


async def test_a_run_that_was_voted_on_is_exported_anew_with_its_votes(ada: httpx.AsyncClient, run: str) -> None:
    assert (await ada.post(f"{run}/export")).status_code == 202
    await cast(ada, run, (await next_pair(ada, run))["pair"], "first")
    events = [entry["event"] for entry in (await ada.get(f"{run}/logs")).json()["items"]]
    assert events[0] == "vote-cast"
    assert (await ada.post(f"{run}/export")).status_code == 202
    async with asyncio.timeout(60):
        while (answer := await ada.get(f"{run}/export")).status_code != 200:
            await asyncio.sleep(0.02)
    with zipfile.ZipFile(BytesIO(answer.content)) as archive:
        [row] = csv.DictReader(archive.read("votes.csv").decode("utf-8-sig").splitlines())
    [vote] = (await ada.get(f"{run}/votes")).json()["items"]
    assert (row["id"], row["shown_first"], row["winner"]) == (vote["id"], vote["first"], vote["first"])


async def test_whoever_may_not_execute_may_read_and_take_back_votes_but_not_cast(
    ada: httpx.AsyncClient, run: str, host: Host
) -> None:
    pair = (await next_pair(ada, run))["pair"]
    await cast(ada, run, pair, "first")
    assert (await ada.post("/api/users/ada/deactivate", headers=PLUGIN)).status_code == 200
    for answer in (await ada.post(f"{run}/votes/next"), await ada.post(f"{run}/votes", json={"pair": pair})):
        assert (answer.status_code, code_of(answer)) == (403, "membership-required")
    assert len((await ada.get(f"{run}/votes")).json()["items"]) == 1
    assert (await ada.delete(f"{run}/votes/{pair}")).status_code == 204

"""`/evaluation/judges` over HTTP: passports of runs and votes, and checks that lose nothing."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from carrel.judges import bench
from carrel.judges.checking import AT_ONCE
from tests.support import served
from tests.support.host import Host, code_of
from tests.support.model_server import CRITIC, MODELS, Fault, Running
from tests.support.web_runs import ended

JUDGE = "openai:judge-one"


server = served.by(*MODELS, CRITIC)
settings = served.settings
ada = served.ada


async def check(client: httpx.AsyncClient, model: str = JUDGE) -> httpx.Response:
    return await client.post("/api/evaluation/judges/check", json={"judge": {"model": model}})


async def passport(client: httpx.AsyncClient, model: str) -> dict[str, Any]:
    answer = await client.get(f"/api/evaluation/judges/{model}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_judge_is_checked_and_each_word_is_asked_for_and_metered_once(
    ada: httpx.AsyncClient, server: Running
) -> None:
    answer = await check(ada)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["asked"], found["of"], found["model"]) == (bench.WORDS, bench.WORDS, JUDGE)
    assert found["finished_at"] is not None
    assert [one["trap"] for one in found["traps"]] == list(bench.TRAPS)
    assert 0 <= found["right"]["share"] <= 1
    assert found["passport"]["verdicts"] == bench.PAIRS
    assert found["cost"] is None, "nobody knows what this judge costs"
    assert server.counts().started == bench.WORDS
    calls = (await ada.get("/api/metering/calls?limit=200")).json()["items"]
    assert {(call["model"], call["phase"], call["run_id"]) for call in calls} == {(JUDGE, "compare", None)}
    assert len(calls) == bench.WORDS
    shown = await passport(ada, JUDGE)
    assert (shown["check"], shown["in_runs"], shown["runs"]) == (found, None, 0)
    again = (await check(ada)).json()
    assert again["id"] != found["id"]
    assert server.counts().started == 2 * bench.WORDS


async def test_what_a_check_costs_is_said_before_it_is_made(ada: httpx.AsyncClient, server: Running) -> None:
    async def cost(model: str) -> httpx.Response:
        return await ada.get("/api/evaluation/judges/check-cost", params={"model": model})

    assert (await cost(JUDGE)).json() == {
        "model": JUDGE,
        "host": server.host,
        "calls": bench.WORDS,
        "likely": None,
        "most": None,
    }
    price = {"input_per_million": "1", "output_per_million": "2"}
    assert (await ada.put(f"/api/model-prices/{JUDGE}", json=price)).is_success
    found = (await cost(JUDGE)).json()
    assert 0.010 < float(found["likely"]) < 0.020 < float(found["most"]) < 1
    real = float((await check(ada)).json()["cost"])
    assert real < float(found["likely"]) < 2 * real
    assert (await cost("local:lead")).json()["errors"][0]["path"] == "model"


async def test_a_finished_check_is_passed_or_not_and_the_default_judges_follow_it(
    ada: httpx.AsyncClient, server: Running
) -> None:
    default = "/api/evaluation/judges/default"
    before = (await ada.get(default)).json()
    assert before["judges"] == []
    assert "6 were never checked" in before["sentence"], "the models that this server lists"
    good = f"openai:{CRITIC}"
    found = (await check(ada, good)).json()
    assert (found["passed"], found["right"]["share"]) == (True, 1.0)
    assert (await check(ada)).json()["passed"] is False
    after = (await ada.get(default, params={"candidate": ["mistral:large", "local:lead"]})).json()
    assert [(one["model"], one["grounds"], one["right"]) for one in after["judges"]] == [(good, "check", 1.0)]
    assert after["sentence"] == f"{good} passed its check with 100 %."
    competing = (await ada.get(default, params={"candidate": [good]})).json()
    assert competing["judges"] == []
    assert "1 is of a candidate's family, 1 is known to judge badly and 4 were never checked" in competing["sentence"]
    for judge in ("local:reader", "local:statistician"):
        assert (await check(ada, judge)).json()["passed"] is False
    shown = (await ada.get(default, params={"candidate": ["local:lead", "LOCAL:lexrank"]})).json()
    assert [(one["model"], one["grounds"]) for one in shown["judges"]] == [
        ("local:reader", "demonstration"),
        ("local:statistician", "demonstration"),
    ]
    run_id = await ended(ada, {}, documents=4)
    ranking = (await ada.get(f"/api/runs/{run_id}/ranking")).json()["ranking"]
    assert ranking["distrust"][0]["kind"] == "check", "what they cannot do comes first"


async def test_a_check_that_is_cancelled_in_the_middle_loses_nothing_that_was_paid_for(
    ada: httpx.AsyncClient, server: Running
) -> None:
    server.hold()
    leaving = asyncio.create_task(check(ada))
    await asyncio.to_thread(server.until_in_flight, AT_ONCE)
    leaving.cancel()
    server.latency(0)
    with pytest.raises(asyncio.CancelledError):
        await leaving
    kept = (await passport(ada, JUDGE))["check"]
    assert (kept["asked"], kept["finished_at"]) == (AT_ONCE, None)
    assert server.counts().started == AT_ONCE
    finished = (await check(ada)).json()
    assert (finished["id"], finished["asked"]) == (kept["id"], bench.WORDS)
    assert server.counts().started == bench.WORDS, "no word was asked for twice"


async def test_a_call_that_fails_ends_the_check_and_the_next_one_goes_on(
    ada: httpx.AsyncClient, server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = bench.drawn("the same for both calls")
    monkeypatch.setattr(bench, "drawn", lambda seed: pairs)
    asked_first = json.dumps(pairs[5].better.partition("\n")[0])[1:-1]
    server.faults(Fault("status", match=f"«BEGIN FIRST ANSWER »\\n{asked_first}", times=1))
    answer = await check(ada)
    assert (answer.status_code, code_of(answer)) == (503, "model-call-failed")
    kept = (await passport(ada, JUDGE))["check"]
    assert 0 < kept["asked"] < bench.WORDS
    assert (await check(ada)).json()["id"] == kept["id"]
    assert server.counts().started == bench.WORDS + 1


async def test_two_who_want_a_check_of_one_judge_at_the_same_time_share_it(
    ada: httpx.AsyncClient, server: Running
) -> None:
    first, second = await asyncio.gather(check(ada), check(ada))
    assert first.json() == second.json()
    assert server.counts().started == bench.WORDS
    other = await check(ada, "openai:judge-two")
    assert other.json()["id"] != first.json()["id"]


async def test_a_model_that_cannot_judge_or_has_no_key_is_refused_before_anything_is_kept(
    host: Host, client: httpx.AsyncClient
) -> None:
    client.headers.update(await host.signed_in("eve"))
    answer = await check(client, "openai:judge-one")
    assert code_of(answer) == "provider-key-missing"
    answer = await check(client, "local:lead")
    assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, "judge.model")
    assert (await client.get("/api/evaluation/judges")).json() == {"items": [], "runs": 0}
    answer = await client.get("/api/evaluation/judges/openai:judge-one")
    assert (answer.status_code, code_of(answer)) == (404, "not-found")


async def test_a_passport_follows_runs_and_votes(host: Host, client: httpx.AsyncClient) -> None:
    session = await host.signed_in("eve")
    client.headers.update(session)
    run_id = await ended(client, session, documents=4)
    judges = (await client.get("/api/evaluation/judges")).json()["items"]
    assert [judge["model"] for judge in judges] == ["local:reader", "local:statistician"]
    reader = judges[0]
    assert (reader["runs"], reader["check"], reader["cost_per_verdict"]) == (1, None, "0")
    assert reader["in_runs"]["verdicts"] == 4
    assert reader["in_runs"]["leniency"]["documents"] == 4
    assert reader["in_runs"]["leniency"]["difference"] == -judges[1]["in_runs"]["leniency"]["difference"]
    assert reader["in_runs"]["with_people"]["of"] == 0
    pair = (await client.post(f"/api/runs/{run_id}/votes/next")).json()["pair"]
    assert (await client.post(f"/api/runs/{run_id}/votes", json={"pair": pair, "verdict": "tie"})).is_success
    assert (await passport(client, "local:reader"))["in_runs"]["with_people"]["of"] == 1

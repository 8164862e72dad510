"""The local model server that tests and benchmarks call: the same answers to the same prompts, faults as scripted."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import pytest

from carrel.evaluation.asking import judge, replies
from carrel.providers.base import CompareMatter, Criterion, ScoreMatter
from tests.support.model_server import Fault, Running, model_server

CRITERIA = (Criterion("Coverage", "All of it."), Criterion("Clarity", "Plain.", minimum=0, maximum=10))


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with model_server() as running:
        yield running


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    server.faults()
    server.forget()
    with httpx.Client(
        base_url=server.base_url, headers={"Authorization": f"Bearer {server.key}"}, timeout=60
    ) as client:
        yield client


def asked(prompt: judge.JudgePrompt, model: str = "judge-one") -> dict[str, Any]:
    schema = {"name": "reply", "strict": True, "schema": prompt.schema}
    return {
        "model": model,
        "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.prompt}],
        "response_format": {"type": "json_schema", "json_schema": schema},
    }


def plain(text: str) -> dict[str, Any]:
    return {"model": "alpha", "messages": [{"role": "user", "content": text}]}


def said(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


def scoring(seed: str) -> judge.JudgePrompt:
    return judge.score_prompt(ScoreMatter("A document.", "An answer.", CRITERIA), None, seed)


def comparing(first: str, second: str) -> judge.JudgePrompt:
    return judge.compare_prompt(CompareMatter("A document.", first, second, CRITERIA), None, "seed")


def test_its_scores_and_verdicts_are_what_the_judges_are_asked_for(client: httpx.Client) -> None:
    score = replies.parse_score(said(client.post("/chat/completions", json=asked(scoring("a")))), CRITERIA)
    assert isinstance(score, replies.ScoreReply)
    texts = [f"Answer number {n}." for n in range(8)]
    winners = []
    for first, second in pairwise(texts):
        for prompt in (comparing(first, second), comparing(second, first)):
            verdict = replies.parse_comparison(said(client.post("/chat/completions", json=asked(prompt))))
            assert isinstance(verdict, replies.CompareReply)
            winners.append(verdict.winner)
    assert {"first", "second"} <= set(winners)


def test_two_runs_with_marks_of_their_own_are_answered_alike_and_counted_together(
    server: Running, client: httpx.Client
) -> None:
    answers = [client.post("/chat/completions", json=asked(scoring(seed))).json() for seed in ("one", "two")]
    assert answers[0] == answers[1]
    assert answers[0]["usage"]["prompt_tokens"] > 0
    assert said(client.post("/chat/completions", json=plain("One"))) != said(
        client.post("/chat/completions", json=plain("Two"))
    )
    counts = server.counts()
    assert sorted(tally.completed for tally in counts.prompts.values()) == [1, 1, 2]
    assert (counts.started, counts.completed, counts.in_flight) == (4, 4, 0)


def test_it_wants_its_key_and_knows_its_models(server: Running, client: httpx.Client) -> None:
    assert httpx.get(f"{server.base_url}/models", timeout=60).status_code == 401
    assert client.get("/models").json()["data"][0]["id"] == "alpha"
    assert client.post("/chat/completions", json=plain("One") | {"model": "nobody"}).status_code == 404


def test_faults_come_as_they_are_scripted(server: Running, client: httpx.Client) -> None:
    def message(text: str) -> Any:
        return client.post("/chat/completions", json=plain(text)).json()["choices"][0]["message"]

    server.faults(
        Fault("status", match="case: busy", status=429, retry_after="7", times=1),
        Fault("truncated", match="case: broken"),
        Fault("refusal", match="case: refused"),
        Fault("empty", match="case: void"),
        Fault("hang", match="case: never"),
        Fault("malformed", match="json_schema"),
    )
    busy = client.post("/chat/completions", json=plain("case: busy"))
    assert (busy.status_code, busy.headers["retry-after"]) == (429, "7")
    assert client.post("/chat/completions", json=plain("case: busy")).status_code == 200
    with pytest.raises(json.JSONDecodeError):
        client.post("/chat/completions", json=plain("case: broken")).json()
    assert message("case: refused")["refusal"]
    assert message("case: void")["content"] == ""
    with pytest.raises(httpx.ReadTimeout):
        client.post("/chat/completions", json=plain("case: never"), timeout=0.2)
    first = said(client.post("/chat/completions", json=asked(scoring("a"))))
    assert isinstance(replies.parse_score(first, CRITERIA), replies.ReplyFault)
    again = asked(judge.asked_again(scoring("a"), replies.NOT_JSON))
    assert isinstance(
        replies.parse_score(said(client.post("/chat/completions", json=again)), CRITERIA), replies.ScoreReply
    )

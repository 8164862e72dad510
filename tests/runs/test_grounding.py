"""Candidates that search the web, through HTTP against strict servers: what is kept, and what comes of no page."""

from typing import Any

import httpx

from tests.support import strict_pair
from tests.support.strict_anthropic import Anthropic
from tests.support.strict_google import Google
from tests.support.web_runs import carried_out, content

CLAUDE, GEMINI = "anthropic:claude-one", "google:gemini-one"


strict = strict_pair.by("claude-one", "gemini-one")
settings = strict_pair.settings
ada = strict_pair.ada


async def _configuration(ada: httpx.AsyncClient, text: str, *candidates: dict[str, Any]) -> dict[str, Any]:
    return {
        "inputs": [await content(ada, {}, "input_document", text)],
        "instructions": await content(ada, {}, "generation_instructions", "Tell the news about {{document}}"),
        "generation": {"candidates": list(candidates)},
        "comparison": {"judges": [{"model": GEMINI}]},
    }


async def _answers(ada: httpx.AsyncClient, run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    tasks = (await ada.get(f"/api/runs/{run['id']}/tasks?kind=generate")).json()["items"]
    return {
        task["candidate"]: (await ada.get(f"/api/runs/{run['id']}/generated/{task['generated_id']}")).json()
        for task in tasks
    }


async def test_pages_are_kept_and_shown_with_each_answer(
    ada: httpx.AsyncClient, strict: tuple[Anthropic, Google]
) -> None:
    claude = {"model": CLAUDE, "grounding": "required"}
    gemini = {"model": GEMINI, "grounding": "allowed"}
    plain = {"label": "plain", "model": GEMINI, "parameters": {"max_output_tokens": 100}}
    run = await carried_out(ada, await _configuration(ada, "ships", claude, gemini, plain))
    assert (run["state"], run["spend"]["unknown_calls"]) == ("completed", run["progress"]["total"])
    answers = await _answers(ada, run)
    assert {name: answer["citations"] for name, answer in answers.items()} == {
        CLAUDE: [{"url": "https://example.org/ships", "title": "Ships"}],
        GEMINI: [{"url": "https://example.org/ships", "title": "example.org"}],
        "plain": [],
    }
    report = (await ada.get(f"/api/runs/{run['id']}/report")).json()
    shown = {answer["candidate"]: answer["citations"] for answer in report["documents"][0]["answers"]}
    assert shown == {name: answer["citations"] for name, answer in answers.items()}
    searched = [one.body for one in strict[0].asked if one.body.get("tools")]
    assert [body["tools"] for body in searched] == [
        [{"type": "web_search_20250305", "name": "web_search", "max_uses": 5}]
    ]


async def test_an_answer_that_had_to_search_and_names_no_page_loses_by_rule(ada: httpx.AsyncClient) -> None:
    required = {"label": "required", "model": CLAUDE, "grounding": "required"}
    allowed = {"label": "allowed", "model": CLAUDE, "grounding": "allowed"}
    run = await carried_out(ada, await _configuration(ada, "offline ships", required, allowed))
    assert run["state"] == "completed"
    answers = await _answers(ada, run)
    assert {name: (one["citations"], one["lacks_citations"]) for name, one in answers.items()} == {
        "required": ([], True),
        "allowed": ([], False),
    }
    report = (await ada.get(f"/api/runs/{run['id']}/report")).json()
    [verdict] = report["documents"][0]["verdicts"]
    assert (verdict["by_rule"], verdict["a"], verdict["b"]) == ("b", "required", "allowed")


async def test_a_search_is_refused_where_it_cannot_be_made_or_paid(ada: httpx.AsyncClient) -> None:
    async def faults(candidate: dict[str, Any], **changes: Any) -> list[str]:
        configuration = await _configuration(ada, "ships", candidate, {"model": GEMINI}) | changes
        answer = await ada.post("/api/runs?dry_run=true", json={"configuration": configuration})
        assert answer.status_code == 400, answer.text
        return [fault["path"] for fault in answer.json()["errors"]]

    path = "configuration.generation.candidates[0].grounding"
    assert await faults({"model": "local:lexrank", "grounding": "allowed"}) == [path]
    assert await faults({"model": CLAUDE, "grounding": "allowed"}, billing="credits") == [path]
    assert path in await faults({"model": CLAUDE, "grounding": "allowed"}, limits={"budget": "1"})

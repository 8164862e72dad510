"""Small requests over texts that refer to each other very often cost a bounded amount, and resolve each text once."""

from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from carrel.config import Settings
from carrel.contents import budget
from tests.support.probe import problem_of
from tests.support.web_runs import CRITERIA


async def content(ada: httpx.AsyncClient, kind: str, body: str, **variables: str) -> str:
    fields = {"name": "A content", "type": kind, "body": body, "variables": variables}
    return str((await ada.post("/api/contents", json=fields)).json()["id"])


async def run_of(ada: httpx.AsyncClient, candidates: list[dict[str, Any]], documents: list[str]) -> dict[str, Any]:
    scoring = {"judges": [{"model": "local:reader"}], "criteria": await content(ada, "criteria", CRITERIA)}
    return {"configuration": {"inputs": documents, "generation": {"candidates": candidates}, "scoring": scoring}}


@pytest.fixture(autouse=True)
def small_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_REFERENCES", 1_000)


@pytest.mark.parametrize("path", ["/api/runs?dry_run=true", "/api/runs"])
async def test_a_run_whose_texts_hold_too_many_placeholders_together_is_refused(
    ada: httpx.AsyncClient, path: str
) -> None:
    letter = await content(ada, "fragment", "x")
    kind = "generation_instructions"
    candidates = [
        {"label": label, "model": "local:lead", "instructions": await content(ada, kind, "{{A}}" * 400, A=letter)}
        for label in ("one", "two", "three")
    ]
    documents = [await content(ada, "input_document", "A river.")]
    answer = await ada.post(path, json=await run_of(ada, candidates, documents))
    problem_of(answer, 400, "resolve-budget")
    assert (await ada.get("/api/runs")).json()["items"] == []
    assert (await ada.post(path, json=await run_of(ada, candidates[:2], documents))).status_code in (200, 201)


@pytest.mark.parametrize("path", ["/api/runs?dry_run=true", "/api/runs"])
async def test_a_text_that_a_run_names_often_is_resolved_once(ada: httpx.AsyncClient, path: str) -> None:
    letter = await content(ada, "fragment", "x")
    answer = await content(ada, "output_document", "{{A}}" * 900, A=letter)
    documents = [await content(ada, "input_document", f"River {number}.") for number in range(3)]
    candidates = [{"label": label, "existing": dict.fromkeys(documents, answer)} for label in ("one", "two", "three")]
    made = await ada.post(path, json=await run_of(ada, candidates, documents))
    assert made.status_code in (200, 201), made.text


async def test_a_content_with_too_many_placeholders_is_not_resolved(ada: httpx.AsyncClient) -> None:
    letter = await content(ada, "fragment", "x")
    many = await content(ada, "fragment", "{{A}}" * 1_001, A=letter)
    problem_of(await ada.post(f"/api/contents/{many}/resolve", json={}), 400, "resolve-budget")


class TestTooLongTogether:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, max_run_text_bytes=5_000)

    async def test_documents_that_are_too_long_together_make_no_run(self, ada: httpx.AsyncClient) -> None:
        candidates = [{"model": "local:lead", "instructions": await content(ada, "generation_instructions", "Go on.")}]
        documents = [await content(ada, "input_document", "é" * 1_000) for _ in range(3)]
        answer = await ada.post("/api/runs", json=await run_of(ada, candidates, documents))
        problem_of(answer, 400, "resolve-budget")
        fewer = await ada.post("/api/runs", json=await run_of(ada, candidates, documents[:2]))
        assert fewer.status_code == 201, fewer.text
